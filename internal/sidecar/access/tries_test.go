package access_test

import (
	"testing"
	"time"

	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

func TestWrongTokensOfOneAddressSlowNoOther(t *testing.T) {
	t.Parallel()
	now := time.Now()
	tries := access.NewTries(3, time.Minute)
	for i, want := range []bool{false, false, true} {
		if slowed := tries.Wrong("192.0.2.7:1000", now); slowed != want {
			t.Errorf("wrong token %d: slowed %v, want %v", i+1, slowed, want)
		}
		tries.Wrong("[2001:db8::1]:5000", now)
	}
	for address, want := range map[string]time.Duration{
		"192.0.2.7:2000":          time.Minute, // another port
		"[::ffff:192.0.2.7]:2000": time.Minute, // the same address
		"192.0.2.8:1000":          0,
		"[2001:db8::ffff:2]:1":    time.Minute, // the same machine, for all that is known
		"[2001:db8:0:1::1]:1":     0,
		"@":                       0, // a socket without addresses
	} {
		if got := tries.Wait(address, now); (got - want).Abs() > time.Millisecond {
			t.Errorf("%s waits %v, want %v", address, got, want)
		}
	}
	if got := tries.Wait("192.0.2.7:1", now.Add(time.Minute)); got != 0 {
		t.Errorf("after the wait: %v", got)
	}
}
