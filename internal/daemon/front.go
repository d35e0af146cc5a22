package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// drain is how long requests that are under way are waited for at the end.
const drain = 5 * time.Second

// A front serves HTTP at an address. The zero front serves nothing.
type front struct {
	listener net.Listener
	handler  http.Handler
	log      *slog.Logger // gets what the HTTP server has to say, such as panics of handlers
}

// listen takes an address, so that it is known, and taken, before anything
// runs. An address of "" makes the zero front.
func listen(ctx context.Context, address string, h http.Handler, log *slog.Logger) (front, error) {
	if address == "" {
		return front{}, nil
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return front{}, fmt.Errorf("listen on %s: %w; choose another address, or stop what listens there", address, err)
	}
	return front{l, h, log}, nil
}

// fronts are those of one daemon.
type fronts []front

// listen adds a front, which may be the zero one.
func (f *fronts) listen(ctx context.Context, address string, h http.Handler, log *slog.Logger) error {
	one, err := listen(ctx, address, h, log)
	if err != nil {
		return err
	}
	*f = append(*f, one)
	return nil
}

// Run runs all of them.
func (f fronts) Run(ctx context.Context) error {
	var parts []func(context.Context) error
	for _, one := range f {
		parts = append(parts, one.Run)
	}
	return runTogether(ctx, parts...)
}

// Close closes all of them.
func (f fronts) Close() error {
	var problems []error
	for _, one := range f {
		if err := one.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// Address returns the address with its port, "" for the zero front.
func (f front) Address() string {
	if f.listener == nil {
		return ""
	}
	return f.listener.Addr().String()
}

// Reachable returns an address to call a front at: one that listens on every address is
// called on this machine's.
func Reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		return net.JoinHostPort("localhost", port)
	}
	return address
}

// Run answers requests until ctx ends, and then waits for those that are under
// way.
func (f front) Run(ctx context.Context) error {
	if f.listener == nil {
		<-ctx.Done()
		return nil
	}
	stopped := make(chan struct{})
	defer func() { <-stopped }()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// No deadline for writing: answers are small, and streams last.
	srv := &http.Server{
		Handler: streamsUntil(ctx, f.handler), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
		ErrorLog: slog.NewLogLogger(f.log.Handler(), slog.LevelWarn),
	}
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

// streamsUntil returns h with the streams of events ended when ctx ends. The server
// would wait for them until the time for draining is over.
func streamsUntil(ctx context.Context, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && (strings.Contains(r.Header.Get("Accept"), "text/event-stream") || strings.HasSuffix(r.URL.Path, "/events")) {
			until, end := context.WithCancel(r.Context())
			defer end()
			defer context.AfterFunc(ctx, end)()
			r = r.WithContext(until)
		}
		h.ServeHTTP(w, r)
	})
}
