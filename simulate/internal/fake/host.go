// Package fake is what every fake platform is made of, whichever platform it is: a
// server on loopback that ends with all that it started, orders from scripts, the
// counting of faults, and the ways in which an answer gets lost.
package fake

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// A Host is the server of a fake platform, and whatever ends with it.
type Host struct {
	URL  string          // without a slash at its end
	Life context.Context //nolint:containedctx // ends with Close; every goroutine of the fake ends with it
	Busy sync.WaitGroup  // the goroutines of the fake; Close waits for them

	platform string
	listener net.Listener
	server   *http.Server // nil before Serve
	stop     context.CancelFunc

	mu      *sync.Mutex
	changes int        // counts what happens; guarded by mu
	changed *sync.Cond // something happened
}

// Listen returns the host of a fake whose state mu guards. It listens on l, or where
// that is nil on address, which has to be a loopback one; "" is a free port.
func Listen(platform string, mu *sync.Mutex, l net.Listener, address string) (*Host, error) {
	if l == nil {
		var err error
		if l, err = loopback(address); err != nil {
			return nil, err
		}
	}
	h := &Host{URL: "http://" + l.Addr().String(), platform: platform, listener: l, mu: mu, changed: sync.NewCond(mu)}
	h.Life, h.stop = context.WithCancel(context.Background())
	return h, nil
}

// loopback refuses every address that others could reach.
func loopback(address string) (net.Listener, error) {
	address = cmp.Or(address, "127.0.0.1:0")
	at, err := netip.ParseAddrPort(address)
	if err != nil || !at.Addr().IsLoopback() {
		return nil, fmt.Errorf("listen on %q: a fake platform serves loopback only; use an address such as 127.0.0.1:8090", address)
	}
	return net.Listen("tcp", address) //nolint:noctx // a local socket: nothing to wait for
}

// Serve answers requests from now on. It is called once.
func (h *Host) Serve(front http.Handler) {
	h.server = &http.Server{Handler: front, ReadHeaderTimeout: 10 * time.Second}
	h.Busy.Go(func() {
		// The error is that of Close.
		_ = h.server.Serve(h.listener)
	})
}

// Close stops the server and waits until every goroutine has ended. cut closes the
// open sockets; the mutex is held meanwhile. It may be called twice.
func (h *Host) Close(cut func()) error {
	h.stop()
	if h.server == nil {
		return h.listener.Close()
	}
	h.mu.Lock()
	cut()
	h.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := h.server.Shutdown(ctx)
	if err != nil {
		err = h.server.Close()
	}
	h.Busy.Wait()
	h.mu.Lock()
	h.Happened()
	h.mu.Unlock()
	return err
}

// After runs f when a time has passed, unless Close comes first.
func (h *Host) After(wait time.Duration, f func()) {
	if h.Life.Err() != nil {
		return
	}
	h.Busy.Go(func() {
		if h.Wait(wait) {
			f()
		}
	})
}

// Wait waits, and reports whether the time has passed before Close.
func (h *Host) Wait(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-h.Life.Done():
		return false
	}
}

// ErrClosed is what who waits gets when the fake is closed meanwhile.
func (h *Host) ErrClosed() error { return fmt.Errorf("the fake %s was closed", h.platform) }

// Happened wakes those who wait in Until. The mutex is held.
func (h *Host) Happened() {
	h.changes++
	h.changed.Broadcast()
}

// Until waits until is says so, and asks it whenever something has happened. The
// mutex is not held while it is asked. The error is ctx's, or that of Close.
func (h *Host) Until(ctx context.Context, is func() bool) error {
	stop := context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.Happened()
	})
	defer stop()
	for {
		h.mu.Lock()
		seen := h.changes
		h.mu.Unlock()
		if is() {
			return nil
		}
		h.mu.Lock()
		for h.changes == seen && ctx.Err() == nil && h.Life.Err() == nil {
			h.changed.Wait()
		}
		h.mu.Unlock()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if h.Life.Err() != nil {
			return h.ErrClosed()
		}
	}
}
