// Package settings checks the options of an adapter, and fills in what they leave open.
package settings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// Problems are what is wrong with the options of a platform.
type Problems struct {
	Platform earshot.Platform
	list     []error
}

// Add adds one.
func (p *Problems) Add(format string, args ...any) {
	p.list = append(p.list, fmt.Errorf(string(p.Platform)+": "+format, args...))
}

// API checks the URL of an API, such as form.
func (p *Problems) API(at, form string) {
	if u, err := url.Parse(at); err != nil || !isAbsoluteURL(u, "https", "http") || u.RawQuery != "" {
		p.Add("the API URL is not of the form %s", form)
	}
}

// Gateway checks the URL of a socket, such as form; "" is none.
func (p *Problems) Gateway(at, form string) {
	if u, err := url.Parse(at); at != "" && (err != nil || !isAbsoluteURL(u, "wss", "ws")) {
		p.Add("the gateway URL is not of the form %s", form)
	}
}

// isAbsoluteURL reports whether a URL has a host and one of the schemes, and neither a user
// nor a fragment.
func isAbsoluteURL(u *url.URL, schemes ...string) bool {
	return u.Host != "" && slices.Contains(schemes, u.Scheme) && u.User == nil && u.Fragment == ""
}

// OneOf checks that a value is one of those allowed, of which the first is the default.
func (p *Problems) OneOf(name string, value *string, allowed ...string) {
	if *value == "" {
		*value = allowed[0]
	}
	if !slices.Contains(allowed, *value) {
		p.Add("%s %q is none of %s", name, *value, strings.Join(allowed, ", "))
	}
}

// Err returns an error that names all problems, nil where there are none.
func (p *Problems) Err() error { return errors.Join(p.list...) }

// Or sets v to other where it is nil.
func Or[T any](v **T, other *T) {
	if *v == nil {
		*v = other
	}
}

// Outside fills in what reaches outside of the process, where it is nil: a client with a
// time-out, the clock, a random time below a bound, and a log that discards.
func Outside(client **http.Client, now *func() time.Time, jitter *func(most time.Duration) time.Duration, log **slog.Logger) {
	Or(client, &http.Client{Timeout: 30 * time.Second})
	Clock(now, jitter, log)
}

// Clock is [Outside] without a client.
func Clock(now *func() time.Time, jitter *func(most time.Duration) time.Duration, log **slog.Logger) {
	if *now == nil {
		*now = time.Now
	}
	if *jitter == nil {
		*jitter = rand.N[time.Duration]
	}
	Or(log, slog.New(slog.DiscardHandler))
}

// SameHost returns a client that follows no redirect: the token must not be sent to
// where one points.
func SameHost(c *http.Client) *http.Client {
	out := *c
	out.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &out
}

// Hooks fills in the functions that are told of what happens, where they are nil: that an
// event was not kept is logged, and the rest is ignored.
func Hooks(log *slog.Logger, missed *func(from, to time.Time), acknowledged *func(after time.Duration), refused *func(error), left *func(context.Context, earshot.Scope) error) {
	if *missed == nil {
		*missed = func(time.Time, time.Time) {}
	}
	if *acknowledged == nil {
		*acknowledged = func(time.Duration) {}
	}
	if *refused == nil {
		*refused = func(err error) { log.Error("an event was not kept; it comes again", "err", err) }
	}
	if *left == nil {
		*left = func(context.Context, earshot.Scope) error { return nil }
	}
}
