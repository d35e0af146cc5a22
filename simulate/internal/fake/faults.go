package fake

import (
	"math/rand/v2"
	"net"
	"net/http"
	"path"
)

// An Aim says which of the calls or events that a fault is for do meet it.
type Aim struct {
	On     string  // a name, with * as a wildcard; "" is every name
	Skip   int     // how many that match are spared first
	Times  int     // how many are struck then; 0 is all
	Chance float64 // of each, between 0 and 1; 0 is certain

	seen, done int
}

// Hits counts what is named name, and reports whether it meets the fault.
func (a *Aim) Hits(name string, rng *rand.Rand) bool {
	if a.On != "" {
		if ok, err := path.Match(a.On, name); !ok || err != nil {
			return false
		}
	}
	if a.Times > 0 && a.done >= a.Times {
		return false
	}
	if a.seen++; a.seen <= a.Skip {
		return false
	}
	if a.Chance > 0 && rng.Float64() >= a.Chance {
		return false
	}
	a.done++
	return true
}

// Reset ends the connection without an answer.
func Reset(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return // it has ended already
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0) // a reset rather than an orderly end
	}
	_ = conn.Close()
}

// Hang gives no answer until the caller gives up, or Close.
func (h *Host) Hang(w http.ResponseWriter, r *http.Request) {
	select {
	case <-r.Context().Done():
	case <-h.Life.Done():
	}
	Reset(w)
}

// Broken answers as a server does that is broken: with a page, and no JSON.
func Broken(w http.ResponseWriter, status int) {
	http.Error(w, "<html><body>Server Error</body></html>", status)
}
