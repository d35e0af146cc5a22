package access

import (
	"net/netip"
	"time"
)

// Tries slows those who show wrong keys or tokens: from one address so many may be
// wrong at once, and one more for each interval after that. Right ones cost nothing.
// It is safe for concurrent use.
type Tries struct {
	wrong *buckets[string]
}

// NewTries returns Tries that allow burst wrong ones at once and one more after each
// interval.
func NewTries(burst int, interval time.Duration) *Tries {
	return &Tries{newBuckets[string](Rate{PerSecond: 1 / interval.Seconds(), Burst: burst})}
}

// Wait returns how long an address, as in [http.Request.RemoteAddr], must wait
// before its next token is looked at; 0 where it may try.
func (t *Tries) Wait(address string, now time.Time) time.Duration {
	missing := 1 - t.wrong.limiter(addressPrefix(address)).TokensAt(now)
	if missing <= 0 {
		return 0
	}
	return time.Duration(missing / float64(t.wrong.limit) * float64(time.Second))
}

// Wrong counts a token that was looked at and is wrong. It reports whether the
// address must wait now.
func (t *Tries) Wrong(address string, now time.Time) (slowed bool) {
	t.wrong.limiter(addressPrefix(address)).AllowN(now, 1)
	return t.Wait(address, now) > 0
}

// addressPrefix returns an address without its port; of IPv6 the first half, since one
// machine has all of the rest.
func addressPrefix(address string) string {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return address
	}
	ip := at.Addr().Unmap().WithZone("")
	if ip.Is6() {
		if p, err := ip.Prefix(64); err == nil {
			return p.String()
		}
	}
	return ip.String()
}
