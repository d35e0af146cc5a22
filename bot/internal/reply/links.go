package reply

import (
	"net/url"
	"strings"
)

// Links are the addresses that may be clickable in a reply: those that somebody
// in the conversation wrote, and those of the operator's hosts. A value is used
// by one goroutine at a time.
type Links struct {
	exact map[string]bool
	hosts []string // lower case
}

// NewLinks allows the addresses on hosts and on their subdomains.
func NewLinks(hosts []string) *Links {
	l := &Links{exact: map[string]bool{}}
	for _, h := range hosts {
		l.hosts = append(l.hosts, strings.ToLower(h))
	}
	return l
}

// Allow allows every address in a text, each exactly as it is written there.
func (l *Links) Allow(text string) {
	for _, at := range findAddresses(text) {
		l.exact[text[at[0]:at[1]]] = true
	}
}

// allows reports whether an address may be clickable.
func (l *Links) allows(address string) bool {
	if l.exact[address] {
		return true
	}
	for i := 0; i < len(address); i++ {
		if c := address[i]; c <= ' ' || c >= 0x7F || c == '\\' || c == '|' {
			return false
		}
	}
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return false
	}
	host := strings.ToLower(u.Hostname())
	for _, h := range l.hosts {
		if host == h || strings.HasSuffix(host, "."+h) {
			return true
		}
	}
	return false
}
