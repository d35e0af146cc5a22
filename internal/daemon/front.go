package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// drain is how long requests that are under way are waited for at the end.
const drain = 5 * time.Second

// A front serves HTTP at an address. The zero front serves nothing.
type front struct {
	listener net.Listener
	handler  http.Handler
}

// listen takes an address, so that it is known, and taken, before anything
// runs. An address of "" makes the zero front.
func listen(ctx context.Context, address string, h http.Handler) (front, error) {
	if address == "" {
		return front{}, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return front{}, fmt.Errorf("listen on %s: %w; choose another address, or stop what listens there", address, err)
	}
	return front{l, h}, nil
}

// Address returns the address with its port, "" for the zero front.
func (f front) Address() string {
	if f.listener == nil {
		return ""
	}
	return f.listener.Addr().String()
}

// Run answers requests until ctx ends, and then waits for those that are under
// way.
func (f front) Run(ctx context.Context) error {
	if f.listener == nil {
		<-ctx.Done()
		return nil
	}
	// No deadline for writing: answers are small, and readers are close by.
	srv := &http.Server{Handler: f.handler, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute}
	stopped := make(chan struct{})
	defer func() { <-stopped }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		defer close(stopped)
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
		defer cancel()
		if err := srv.Shutdown(end); err != nil {
			_ = srv.Close()
		}
	}()
	if err := srv.Serve(f.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", f.listener.Addr(), err)
	}
	return nil
}

// Close gives the address back, where Run has not.
func (f front) Close() error {
	if f.listener == nil {
		return nil
	}
	return f.listener.Close()
}
