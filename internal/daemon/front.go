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

// A front is an address at which HTTP is served.
type front struct {
	listener net.Listener
	handler  http.Handler
}

// listen takes an address for the platform's HTTP front, so that it is known,
// and taken, before anything runs.
func (d *Daemon) listen(ctx context.Context, addr, path string, h http.Handler) error {
	at, err := d.front(ctx, addr, h)
	d.Address, d.Path = at, path
	return err
}

// front takes an address and returns it as it is then.
func (d *Daemon) front(ctx context.Context, addr string, h http.Handler) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return "", fmt.Errorf("listen on %s: %w", addr, err)
	}
	d.fronts = append(d.fronts, front{l, h})
	return l.Addr().String(), nil
}

// serve answers requests until ctx ends, and then those that are under way.
func (f front) serve(ctx context.Context) error {
	// No deadline for writing: what is answered is small, and its reader near.
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
