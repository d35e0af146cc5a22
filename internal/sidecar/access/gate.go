package access

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// Errors of a gate.
var (
	// ErrUnauthenticated is returned for a bearer token that is not valid, whatever
	// the reason. Tell the caller nothing else; errors.Unwrap gives the reason, for
	// the log. It holds nothing of the token.
	ErrUnauthenticated = errors.New("unauthenticated")
	// ErrUnavailable is returned when it cannot be known whether a token is valid:
	// the store or the issuer did not answer. The caller may try again.
	ErrUnavailable = errors.New("cannot be checked now")
	// ErrForbidden is returned to a caller who is known and may not do what is asked.
	ErrForbidden = errors.New("forbidden")
)

// unauthenticatedError is ErrUnauthenticated with its reason.
type unauthenticatedError struct{ why error }

func (e *unauthenticatedError) Error() string        { return ErrUnauthenticated.Error() }
func (e *unauthenticatedError) Is(target error) bool { return target == ErrUnauthenticated }
func (e *unauthenticatedError) Unwrap() error        { return e.why }

// refuse returns ErrUnauthenticated with a reason. No part of a token belongs in it.
func refuse(why string) error { return &unauthenticatedError{errors.New(why)} }

// Options are what a gate may be told. The zero value accepts API keys and
// capabilities.
type Options struct {
	OIDC   *OIDC            // nil: no JWT is accepted
	Rates  Rates            // how many requests are allowed
	Now    func() time.Time // nil: time.Now
	Client *http.Client     // asks the issuer; nil: one of its own. Each answer is waited for five seconds at most
	Log    *slog.Logger     // failures to reach the issuer, and at Debug why a token was refused; nil discards
}

// A Gate says who sent a request. It is safe for concurrent use and runs nothing in
// the background.
type Gate struct {
	store  earshot.Notes
	now    func() time.Time
	log    *slog.Logger
	issuer *issuer // nil without OIDC

	secrets    signingSecrets
	principals *buckets[string]
	channels   *buckets[earshot.Scope]
}

// Open returns the gate of a store. Nothing is asked over the network: the issuer is
// looked up when the first JWT comes. The error says which option is wrong.
func Open(st earshot.Notes, o Options) (*Gate, error) {
	g := &Gate{
		store: st, now: o.Now, log: o.Log,
		principals: newBuckets[string](o.Rates.Principal),
		channels:   newBuckets[earshot.Scope](o.Rates.Channel),
	}
	if g.now == nil {
		g.now = time.Now
	}
	if g.log == nil {
		g.log = slog.New(slog.DiscardHandler)
	}
	if o.OIDC != nil {
		i, err := newIssuer(*o.OIDC, o.Client, g.now, g.log)
		if err != nil {
			return nil, err
		}
		g.issuer = i
	}
	return g, nil
}

// Issuer returns the address of the OIDC issuer whose tokens are accepted, and ""
// where there is none. RFC 9728 has it in its document.
func (g *Gate) Issuer() string {
	if g.issuer == nil {
		return ""
	}
	return g.issuer.o.Issuer
}

// Authenticate returns who a bearer token belongs to: an API key, a capability or a
// JWT, told apart by its form. It reads the store on each call, so that a revoked key
// is refused at once; a stream that lasts asks again from time to time. The errors
// are ErrUnauthenticated and ErrUnavailable.
func (g *Gate) Authenticate(ctx context.Context, bearer string) (Principal, error) {
	p, err := g.recognise(ctx, bearer)
	if err != nil {
		if errors.Is(err, ErrUnauthenticated) {
			g.log.DebugContext(ctx, "a token was refused", "err", errors.Unwrap(err))
		}
		return Principal{}, err
	}
	return p, nil
}

func (g *Gate) recognise(ctx context.Context, bearer string) (Principal, error) {
	switch {
	case bearer == "":
		return Principal{}, refuse("there is no token")
	case len(bearer) > TokenBytes:
		return Principal{}, refuse("the token is too long")
	case strings.HasPrefix(bearer, keyMark):
		return g.key(ctx, bearer)
	case strings.HasPrefix(bearer, capabilityMark):
		return g.capability(ctx, bearer)
	case g.issuer == nil:
		return Principal{}, refuse("not an API key or a capability, and no issuer is set")
	}
	return g.issuer.user(ctx, bearer)
}

// TokenBytes is how long a bearer token may be.
const TokenBytes = 8 << 10

// readNote returns the data of one note; ok is false where there is none.
func readNote(ctx context.Context, st earshot.Notes, key string) (data []byte, ok bool, err error) {
	list, err := st.Notes(ctx, key, 1)
	if err != nil || len(list) == 0 || list[0].Key != key {
		return nil, false, err
	}
	return list[0].Data, true, nil
}

// unavailableError returns ErrUnavailable and what caused it, for the log. A caller who
// has gone gets the context's error with it.
func unavailableError(what string, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrUnavailable, what, err)
}
