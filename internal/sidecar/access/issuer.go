package access

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// OIDC says whose JSON Web Tokens are accepted, and what they say about reach.
// docs/access.md has an example.
type OIDC struct {
	Issuer   string // required: the issuer's address, as it stands in iss; https, except on loopback
	Audience string // required: must be among the token's aud

	WorkspacesClaim string // lists workspaces; "": earshot_workspaces
	ChannelsClaim   string // lists channels, all where a token has none; "": earshot_channels
	AllWorkspaces   bool   // a token without WorkspacesClaim reaches every workspace; else it is refused

	ReadScope  string // "": read. A token whose scope has it, and not WriteScope, is read-only
	WriteScope string // "": write. Where it is set here, each token whose scope does not have it is read-only
}

// Bounds of what is asked of an issuer.
const (
	askTimeout  = 5 * time.Second
	askAgain    = 10 * time.Second // after an answer or a failure, whatever tokens come
	keysFresh   = 10 * time.Minute // older ones are asked for again, so that a withdrawn key ends
	keysUsable  = 24 * time.Hour   // how long they are used when the issuer does not answer
	answerBytes = 1 << 20
	maxKeys     = 100
)

// algorithms are those of the signatures that are accepted, each with the keys it takes.
// Every issuer signs with one of them where nobody has told it otherwise, and each further
// one is one more to get wrong. Both are asymmetric: there is no secret that the issuer and
// Earshot both know.
var algorithms = map[string]func(crypto.PublicKey) bool{
	"RS256": func(k crypto.PublicKey) bool {
		r, ok := k.(*rsa.PublicKey)
		return ok && r.N.BitLen() >= 2048 && r.N.BitLen() <= 8192
	},
	"ES256": func(k crypto.PublicKey) bool {
		e, ok := k.(*ecdsa.PublicKey)
		return ok && e.Curve == elliptic.P256()
	},
}

// An issuer is an OIDC issuer and the keys that it signs with now.
type issuer struct {
	o      OIDC
	client *http.Client
	now    func() time.Time
	log    *slog.Logger

	asking chan struct{} // a semaphore of one, for who asks

	mu      sync.Mutex // guards the fields below
	keys    []jose.JSONWebKey
	fetched time.Time // when keys came; zero: never
	asked   time.Time // when they were asked for last, in vain or not
}

// newIssuer checks the settings and fills in their defaults. It does not ask the
// issuer.
func newIssuer(o OIDC, client *http.Client, now func() time.Time, log *slog.Logger) (*issuer, error) {
	var errs []error
	if u, err := url.Parse(o.Issuer); err != nil || !isSafe(u) || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		errs = append(errs, errors.New("the OIDC issuer is an https address without a query, such as https://id.example.com/realm"))
	}
	if o.Audience == "" {
		errs = append(errs, errors.New("the OIDC audience is missing: it is what the issuer writes into aud of tokens for Earshot"))
	}
	for field, preset := range map[*string]string{
		&o.WorkspacesClaim: "earshot_workspaces", &o.ChannelsClaim: "earshot_channels", &o.ReadScope: "read",
	} {
		if *field == "" {
			*field = preset
		}
	}
	if o.WorkspacesClaim == o.ChannelsClaim {
		errs = append(errs, errors.New("the OIDC claims of workspaces and of channels have the same name"))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &issuer{o: o, client: guardClient(client), now: now, log: log, asking: make(chan struct{}, 1)}, nil
}

// isSafe reports whether keys may be fetched from an address: nobody on the way can
// change them.
func isSafe(u *url.URL) bool {
	if u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Scheme == "https" || u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// guardClient returns a copy of client (nil: one of its own, which keeps no connection)
// with bounds on time, on redirects and on the size of an answer.
func guardClient(client *http.Client) *http.Client {
	c := http.Client{}
	if client != nil {
		c = *client
	}
	if c.Transport == nil {
		t := &http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, ForceAttemptHTTP2: true}
		c.Transport = t
	}
	c.Transport = boundedTransport{c.Transport}
	if c.Timeout == 0 || c.Timeout > askTimeout {
		c.Timeout = askTimeout
	}
	c.CheckRedirect = func(r *http.Request, via []*http.Request) error {
		if len(via) > 3 || !isSafe(r.URL) {
			return errors.New("a redirect that is not followed")
		}
		return nil
	}
	return &c
}

// boundedTransport cuts answers off after answerBytes.
type boundedTransport struct{ http.RoundTripper }

func (b boundedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !isSafe(r.URL) { // the address of the keys comes from the issuer's document
		return nil, errors.New("the address is neither https nor loopback")
	}
	resp, err := b.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, answerBytes), resp.Body}
	}
	return resp, err
}

// signers returns the keys that may have signed a token: those with its kid, or the
// only one for its algorithm if it has no kid. The issuer is asked for its keys when
// they are old or when none fits, at most once in ten seconds. The errors are
// ErrUnauthenticated and ErrUnavailable.
func (i *issuer) signers(ctx context.Context, kid *string, alg string) ([]crypto.PublicKey, error) {
	found, fetched, asked := i.cachedKeys(kid, alg)
	age := i.now().Sub(fetched)
	fresh := !fetched.IsZero() && age >= 0 && age < keysFresh
	if len(found) > 0 && fresh {
		return found, nil
	}
	usable := !fetched.IsZero() && age < keysUsable
	if since := i.now().Sub(asked); asked.IsZero() || since < 0 || since >= askAgain {
		if err := i.refresh(ctx, asked); err != nil {
			return nil, unavailableError("wait for the issuer's keys", err)
		}
		if found, fetched, _ = i.cachedKeys(kid, alg); !fetched.IsZero() {
			age = i.now().Sub(fetched)
			usable = age < keysUsable
		}
	}
	switch {
	case !usable:
		return nil, unavailableError("the keys of the issuer", errors.New("they could not be fetched"))
	case len(found) == 0:
		return nil, refuse("the issuer has no key of this id for this algorithm")
	}
	return found, nil
}

// cachedKeys returns the keys that fit among those at hand.
func (i *issuer) cachedKeys(kid *string, alg string) (found []crypto.PublicKey, fetched, asked time.Time) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, k := range i.keys {
		if (kid == nil || k.KeyID == *kid) && (k.Algorithm == "" || k.Algorithm == alg) && algorithms[alg](k.Key) {
			found = append(found, k.Key)
		}
	}
	if kid == nil && len(found) > 1 {
		found = nil // any of them would be a guess
	}
	return found, i.fetched, i.asked
}

// refresh asks the issuer for its keys, unless somebody else did since the caller
// looked. A failure is logged; the keys at hand stay. The error is ctx's.
func (i *issuer) refresh(ctx context.Context, seen time.Time) error {
	select {
	case i.asking <- struct{}{}:
		defer func() { <-i.asking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	i.mu.Lock()
	done := !i.asked.Equal(seen)
	i.mu.Unlock()
	if done {
		return nil
	}
	// Others wait for this answer too, so it does not end with its first caller.
	askCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	keys, err := i.fetch(askCtx)
	if err != nil {
		i.log.Warn("the issuer's keys could not be fetched", "issuer", i.o.Issuer, "err", shortenError(err))
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.asked = i.now()
	if err == nil {
		i.keys, i.fetched = keys, i.asked
	}
	return nil
}

// shortenError returns an error's text without what else the issuer's server wrote.
func shortenError(err error) string {
	const most = 300
	return strings.ToValidUTF8(err.Error()[:min(len(err.Error()), most)], "")
}

// fetch asks for the issuer's document, which must name the issuer itself, and for
// the keys that it points to.
func (i *issuer) fetch(ctx context.Context) ([]jose.JSONWebKey, error) {
	p, err := oidc.NewProvider(oidc.ClientContext(ctx, i.client), i.o.Issuer)
	if err != nil {
		return nil, err
	}
	var document struct {
		Keys string `json:"jwks_uri"`
	}
	if err := p.Claims(&document); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, document.Keys, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := i.client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return nil, err
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the issuer's keys: status %d", resp.StatusCode)
	}
	return decodeKeys(body)
}

// decodeKeys reads a JWK set. A key that cannot be read or is not for signatures is
// skipped, as RFC 7517 says; a set without any other is an error.
func decodeKeys(body []byte) ([]jose.JSONWebKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(body, &set); err != nil {
		return nil, fmt.Errorf("the issuer's keys: %w", err)
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("the issuer has %d keys, more than %d", len(set.Keys), maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var k jose.JSONWebKey
		if err := k.UnmarshalJSON(raw); err == nil && k.Valid() && k.IsPublic() && (k.Use == "" || k.Use == "sig") {
			keys = append(keys, k)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("the issuer has no key that can be used")
	}
	return keys, nil
}
