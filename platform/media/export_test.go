package media

import (
	"context"
	"net"
	"net/netip"
)

// Network puts x on a test's network: lookup tells addresses, dial connects to
// those that the guard has let pass. Certificates are not looked at.
func (x *Files) Network(lookup func(host string) []netip.Addr, dial func(ctx context.Context, address string) (net.Conn, error)) {
	d := x.fetcher.dialer
	d.lookup = func(_ context.Context, _, host string) ([]netip.Addr, error) {
		if list := lookup(host); len(list) > 0 {
			return list, nil
		}
		return nil, &net.DNSError{Err: "no such host", IsNotFound: true}
	}
	d.dial = func(ctx context.Context, _, address string) (net.Conn, error) { return dial(ctx, address) }
	x.fetcher.transport.TLSClientConfig.InsecureSkipVerify = true
}

// KeepAlive lets connections be used again until the returned function is
// called: a test with a thousand requests is about what is sent, not about
// handshakes.
func (x *Files) KeepAlive() (stop func()) {
	x.fetcher.transport.DisableKeepAlives = false
	return x.fetcher.transport.CloseIdleConnections
}

// Held returns how many bytes the cache holds, and of how many files.
func (x *Files) Held() (bytes int64, files int) {
	x.cache.mu.Lock()
	defer x.cache.mu.Unlock()
	return x.cache.weight, len(x.cache.byKey)
}

// Public reports whether an address may be dialled.
var Public = isPublicAddr
