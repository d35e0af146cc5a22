package media

import (
	"context"
	"errors"
	"net"
	"net/netip"
)

// errInside says that an address was not dialled because it is not on the public
// network.
var errInside = errors.New("the address is not a public one")

// notPublic are the networks without hosts on the public network, besides those
// that [netip.Addr] recognises. The registries:
// https://www.iana.org/assignments/iana-ipv4-special-registry and
// https://www.iana.org/assignments/iana-ipv6-special-registry. Networks that
// carry an IPv4 address within (6to4, Teredo, NAT64) could lead anywhere.
var notPublic = parsePrefixes(
	"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
	"::/96", "::ffff:0:0/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fec0::/10",
)

func parsePrefixes(list ...string) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, s := range list {
		out[i] = netip.MustParsePrefix(s)
	}
	return out
}

// isPublicAddr reports whether a can be the address of a host on the public network.
func isPublicAddr(a netip.Addr) bool {
	a = a.Unmap()
	if !a.IsGlobalUnicast() || a.IsPrivate() || a.Zone() != "" {
		return false
	}
	for _, p := range notPublic {
		if p.Contains(a) {
			return false
		}
	}
	return true
}

// A guardedDialer connects to public addresses only. It resolves names itself and
// dials the address that it has checked, so that a name cannot resolve to one
// address for the check and to another for the connection.
type guardedDialer struct {
	override string // host:port that may be on this machine
	lookup   func(ctx context.Context, network, host string) ([]netip.Addr, error)
	dial     func(ctx context.Context, network, address string) (net.Conn, error)
}

func (d *guardedDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addresses, err := d.lookup(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	allowed := isPublicAddr
	if standsIn(d.override, address) {
		allowed = func(a netip.Addr) bool { return a.Unmap().IsLoopback() || isPublicAddr(a) }
	}
	err = errInside
	for _, a := range addresses {
		if !allowed(a) {
			continue
		}
		var conn net.Conn
		if conn, err = d.dial(ctx, network, net.JoinHostPort(a.Unmap().String(), port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}
