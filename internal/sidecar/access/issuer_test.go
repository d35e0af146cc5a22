package access_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// The keys of the tests' issuer: made once, because RSA keys take a while.
var (
	rsaKey   = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	otherRSA = sync.OnceValue(func() *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, 2048)) })
	ecKey    = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	otherEC  = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)) })
	wideEC   = sync.OnceValue(func() *ecdsa.PrivateKey { return must(ecdsa.GenerateKey(elliptic.P384(), rand.Reader)) })
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// testNow is what the gate's clock shows in these tests.
var testNow = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// An oidcServer is an OIDC issuer on loopback: its document and its keys.
type oidcServer struct {
	*httptest.Server

	mu       sync.Mutex // guards the fields below
	keys     []map[string]any
	requests map[string]int // by path
	broken   bool           // answers 500
	document func(map[string]any)
}

func newOIDC(t testing.TB) *oidcServer {
	s := &oidcServer{requests: map[string]int{}, keys: []map[string]any{
		rsaJWK("rsa-1", &rsaKey().PublicKey), ecJWK("ec-1", &ecKey().PublicKey), ecJWK("ec-wide", &wideEC().PublicKey),
		{"kty": "oct", "kid": "shared", "k": "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LTEyMzQ"},
		{"kty": "strange", "kid": "strange"},
		func() map[string]any { k := rsaJWK("enc-1", &otherRSA().PublicKey); k["use"] = "enc"; return k }(),
	}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *oidcServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[r.URL.Path]++
	w.Header().Set("Content-Type", "application/json")
	switch {
	case s.broken:
		w.WriteHeader(http.StatusInternalServerError)
	case r.URL.Path == "/.well-known/openid-configuration":
		d := map[string]any{"issuer": s.URL, "jwks_uri": s.URL + "/keys", "authorization_endpoint": s.URL + "/a", "token_endpoint": s.URL + "/t"}
		if s.document != nil {
			s.document(d)
		}
		_ = json.NewEncoder(w).Encode(d)
	case r.URL.Path == "/keys":
		_ = json.NewEncoder(w).Encode(map[string]any{"keys": s.keys})
	default:
		http.NotFound(w, r)
	}
}

// set changes what the issuer answers.
func (s *oidcServer) set(change func(*oidcServer)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// count returns how often a path was asked for.
func (s *oidcServer) count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[path]
}

// options are those of a gate that takes this issuer's tokens.
func (s *oidcServer) options() access.Options {
	return access.Options{OIDC: &access.OIDC{Issuer: s.URL, Audience: "earshot"}, Now: func() time.Time { return testNow }}
}

func rsaJWK(kid string, k *rsa.PublicKey) map[string]any {
	return map[string]any{"kty": "RSA", "kid": kid, "use": "sig", "n": b64(k.N.Bytes()), "e": b64(big.NewInt(int64(k.E)).Bytes())}
}

func ecJWK(kid string, k *ecdsa.PublicKey) map[string]any {
	size := (k.Curve.Params().BitSize + 7) / 8
	point := must(k.Bytes())[1:]
	return map[string]any{"kty": "EC", "kid": kid, "use": "sig", "crv": k.Curve.Params().Name, "x": b64(point[:size]), "y": b64(point[size:])}
}

func b64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// obj is a JSON object.
type obj = map[string]any

// claimsOf are valid claims, with changes; a nil value takes a claim away.
func (s *oidcServer) claims(changes obj) obj {
	c := obj{
		"iss": s.URL, "aud": "earshot", "sub": "alice", "exp": testNow.Add(10 * time.Minute).Unix(), "iat": testNow.Unix(),
		"earshot_workspaces": []string{"T1"},
	}
	return changed(c, changes)
}

func changed(c, changes obj) obj {
	c = maps.Clone(c)
	for k, v := range changes {
		if c[k] = v; v == nil {
			delete(c, k)
		}
	}
	return c
}

// text writes JSON as it is given, an object as JSON.
func text(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return string(must(json.Marshal(v)))
}

// signRS256 makes a token from a header and claims, objects or raw JSON.
func signRS256(k *rsa.PrivateKey, head, claims any) string {
	signed := b64([]byte(text(head))) + "." + b64([]byte(text(claims)))
	sum := sha256.Sum256([]byte(signed))
	return signed + "." + b64(must(rsa.SignPKCS1v15(nil, k, crypto.SHA256, sum[:])))
}

// signES256 is signRS256 for an elliptic curve.
func signES256(k *ecdsa.PrivateKey, head, claims any) string {
	signed := b64([]byte(text(head))) + "." + b64([]byte(text(claims)))
	sum := sha256.Sum256([]byte(signed))
	r, s, err := ecdsa.Sign(rand.Reader, k, sum[:])
	if err != nil {
		panic(err)
	}
	sig := make([]byte, 64)
	if r.BitLen() <= 256 && s.BitLen() <= 256 {
		r.FillBytes(sig[:32])
		s.FillBytes(sig[32:])
	}
	return signed + "." + b64(sig)
}

var rsHead = obj{"alg": "RS256", "typ": "JWT", "kid": "rsa-1"}

// token is a valid one, with changes of its claims.
func (s *oidcServer) token(changes obj) string { return signRS256(rsaKey(), rsHead, s.claims(changes)) }

func TestKeysOfTheIssuerAreAskedForOnceAndWhenTheyChange(t *testing.T) {
	t.Parallel()
	s, now := newOIDC(t), testNow
	o := s.options()
	o.Now = func() time.Time { return now }
	g := openGate(t, openStore(t), o)
	if n := s.count("/keys"); n != 0 {
		t.Fatalf("got %d requests before the first token, want 0", n)
	}
	accepts := func(what, token string, keys int) {
		t.Helper()
		if _, err := g.Authenticate(t.Context(), token); err != nil {
			t.Errorf("%s: %v (%v)", what, err, errors.Unwrap(err))
		}
		if n := s.count("/keys"); n != keys {
			t.Errorf("%s: keys were asked for %d times, want %d", what, n, keys)
		}
	}
	refuses := func(what, token string, want error, keys int) {
		t.Helper()
		if _, err := g.Authenticate(t.Context(), token); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", what, err, want)
		}
		if n := s.count("/keys"); n != keys {
			t.Errorf("%s: keys were asked for %d times, want %d", what, n, keys)
		}
	}
	old := s.token(obj{"exp": testNow.Add(1000 * time.Hour).Unix()})
	head2 := obj{"alg": "RS256", "kid": "rsa-2"}
	next := signRS256(otherRSA(), head2, s.claims(obj{"exp": testNow.Add(1000 * time.Hour).Unix()}))
	refuses("of another issuer", s.token(obj{"iss": "https://id.example.com"}), access.ErrUnauthenticated, 0)
	accepts("the first", old, 1)
	accepts("the second", old, 1)
	for range 100 {
		refuses("of an unknown key, just after", next, access.ErrUnauthenticated, 1)
	}
	s.set(func(s *oidcServer) { s.keys = append(s.keys, rsaJWK("rsa-2", &otherRSA().PublicKey)) })
	now = now.Add(10 * time.Second)
	accepts("of the next key", next, 2)
	s.set(func(s *oidcServer) { s.keys = s.keys[1:] })
	now = now.Add(9 * time.Minute)
	accepts("of a withdrawn key, for a while", old, 2)
	now = now.Add(time.Minute)
	refuses("of a withdrawn key", old, access.ErrUnauthenticated, 3)
	s.set(func(s *oidcServer) { s.broken = true })
	now = now.Add(23 * time.Hour)
	accepts("while the issuer is away", next, 3)
	now = now.Add(time.Hour)
	refuses("while the issuer is away for a day", next, access.ErrUnavailable, 3)
	s.set(func(s *oidcServer) { s.broken = false })
	refuses("just after the issuer is back", next, access.ErrUnavailable, 3)
	now = now.Add(10 * time.Second)
	accepts("when the issuer is back", next, 4)
}

func TestAnIssuerThatIsNotWhatItSaysIsNotBelieved(t *testing.T) {
	t.Parallel()
	stranger := newOIDC(t)
	for name, change := range map[string]func(*oidcServer){
		"a document of another issuer": func(s *oidcServer) { s.document = func(d map[string]any) { d["issuer"] = s.URL + "/other" } },
		"keys at an address without TLS": func(s *oidcServer) {
			s.document = func(d map[string]any) { d["jwks_uri"] = "http://198.51.100.7/keys" }
		},
		"keys in a file":      func(s *oidcServer) { s.document = func(d map[string]any) { d["jwks_uri"] = "file:///etc/keys" } },
		"no address of keys":  func(s *oidcServer) { s.document = func(d map[string]any) { delete(d, "jwks_uri") } },
		"no keys":             func(s *oidcServer) { s.keys = nil },
		"shared secrets only": func(s *oidcServer) { s.keys = s.keys[3:5] },
		"too many keys":       func(s *oidcServer) { s.keys = append(s.keys, make([]map[string]any, 101)...) },
		"an answer without end": func(s *oidcServer) {
			s.document = func(d map[string]any) { d["padding"] = string(make([]byte, 2<<20)) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newOIDC(t)
			s.set(change)
			g := openGate(t, openStore(t), s.options())
			if _, err := g.Authenticate(t.Context(), s.token(nil)); !errors.Is(err, access.ErrUnavailable) {
				t.Errorf("got %v, want ErrUnavailable", err)
			}
		})
	}
	if n := stranger.count("/keys"); n != 0 {
		t.Errorf("the stranger was asked %d times", n)
	}
}

func TestManyCallersAskTheIssuerOnce(t *testing.T) {
	t.Parallel()
	s := newOIDC(t)
	g := openGate(t, openStore(t), s.options())
	token := s.token(nil)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := g.Authenticate(t.Context(), token); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := s.count("/keys"); n != 1 {
		t.Errorf("keys were asked for %d times, want 1", n)
	}
}

func TestSettingsThatWouldAcceptTooMuchAreRefused(t *testing.T) {
	t.Parallel()
	good := access.OIDC{Issuer: "https://id.example.com/realm", Audience: "earshot"}
	if _, err := access.Open(openStore(t), access.Options{OIDC: &good}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*access.OIDC){
		"no issuer":               func(o *access.OIDC) { o.Issuer = "" },
		"an issuer without TLS":   func(o *access.OIDC) { o.Issuer = "http://id.example.com" },
		"an issuer with a query":  func(o *access.OIDC) { o.Issuer += "?a=b" },
		"an issuer with a user":   func(o *access.OIDC) { o.Issuer = "https://a:b@id.example.com" },
		"no audience":             func(o *access.OIDC) { o.Audience = "" },
		"one claim for two lists": func(o *access.OIDC) { o.ChannelsClaim = "earshot_workspaces" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := good
			change(&o)
			if _, err := access.Open(openStore(t), access.Options{OIDC: &o}); err == nil {
				t.Error("it was accepted")
			}
		})
	}
}

// TestNotEachKeyOfTheIssuerIsUsed holds what a key has to be besides having signed.
func TestNotEachKeyOfTheIssuerIsUsed(t *testing.T) {
	t.Parallel()
	small := must(rsa.GenerateKey(rand.Reader, 1024))
	forOther := func(k map[string]any) map[string]any { k["alg"] = "RS512"; return k }
	for name, tt := range map[string]struct {
		keys []map[string]any
		by   *rsa.PrivateKey
		head obj
		good bool
	}{
		"the key":                               {[]map[string]any{rsaJWK("k", &rsaKey().PublicKey)}, rsaKey(), obj{"alg": "RS256", "kid": "k"}, true},
		"a key too small":                       {[]map[string]any{rsaJWK("k", &small.PublicKey)}, small, obj{"alg": "RS256", "kid": "k"}, false},
		"a key for another algorithm":           {[]map[string]any{forOther(rsaJWK("k", &rsaKey().PublicKey))}, rsaKey(), obj{"alg": "RS256", "kid": "k"}, false},
		"two keys of one id":                    {[]map[string]any{rsaJWK("k", &otherRSA().PublicKey), rsaJWK("k", &rsaKey().PublicKey)}, rsaKey(), obj{"alg": "RS256", "kid": "k"}, true},
		"one key that could be, and no kid":     {[]map[string]any{ecJWK("e", &ecKey().PublicKey), rsaJWK("k", &rsaKey().PublicKey)}, rsaKey(), obj{"alg": "RS256"}, true},
		"several keys that could be, no kid":    {[]map[string]any{rsaJWK("a", &otherRSA().PublicKey), rsaJWK("k", &rsaKey().PublicKey)}, rsaKey(), obj{"alg": "RS256"}, false},
		"a key without an id, and a kid":        {[]map[string]any{rsaJWK("", &rsaKey().PublicKey)}, rsaKey(), obj{"alg": "RS256", "kid": "k"}, false},
		"a key with a private part beside ours": {[]map[string]any{changed(rsaJWK("p", &otherRSA().PublicKey), obj{"d": b64(otherRSA().D.Bytes())}), rsaJWK("k", &rsaKey().PublicKey)}, rsaKey(), obj{"alg": "RS256", "kid": "k"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newOIDC(t)
			s.set(func(s *oidcServer) { s.keys = tt.keys })
			_, err := openGate(t, openStore(t), s.options()).Authenticate(t.Context(), signRS256(tt.by, tt.head, s.claims(nil)))
			if tt.good && err != nil || !tt.good && !errors.Is(err, access.ErrUnauthenticated) {
				t.Errorf("got %v: %v, want it taken: %v", err, errors.Unwrap(err), tt.good)
			}
		})
	}
}

// TestTheIssuerIsNotFollowedAnywhere holds that neither the issuer's document nor a
// redirect leads to where an answer could be changed on its way.
func TestTheIssuerIsNotFollowedAnywhere(t *testing.T) {
	t.Parallel()
	s := newOIDC(t)
	var outside int
	o := s.options()
	for target, want := range map[string]error{s.URL + "/keys": nil, "http://keys.example.com/keys": access.ErrUnavailable} {
		o.Client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			switch {
			case r.URL.Hostname() == "keys.example.com":
				outside++
				r = r.Clone(r.Context())
				r.URL = must(r.URL.Parse(s.URL + "/keys"))
			case r.URL.Path == "/moved":
				return &http.Response{StatusCode: http.StatusFound, Header: http.Header{"Location": {target}}, Body: http.NoBody, Request: r}, nil
			}
			return plain.RoundTrip(r)
		})}
		for _, keys := range []string{s.URL + "/moved", target} {
			s.set(func(s *oidcServer) { s.document = func(d map[string]any) { d["jwks_uri"] = keys } })
			if _, err := openGate(t, openStore(t), o).Authenticate(t.Context(), s.token(nil)); !errors.Is(err, want) {
				t.Errorf("keys at %s, and perhaps %s: got %v, want %v", keys, target, err, want)
			}
		}
	}
	if outside != 0 {
		t.Errorf("%d requests went outside", outside)
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var plain = &http.Transport{DisableKeepAlives: true}
