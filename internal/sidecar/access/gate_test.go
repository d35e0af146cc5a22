package access_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/store"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// mutated returns a token that differs from the given one: by a bit, a character, a
// cut, a repetition, an exchange, or by parts of another token.
func mutated(r *rand.Rand, token, other string) string {
	b := []byte(token)
	i, j := r.IntN(len(b)), r.IntN(len(b))
	switch r.IntN(8) {
	case 0:
		b[i] ^= 1 << r.IntN(8)
	case 1:
		const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=\n+/ "
		b[i] = letters[r.IntN(len(letters))]
	case 2:
		b = b[:i]
	case 3:
		b = append(b, b[min(i, j):max(i, j)]...)
	case 4:
		b[i], b[j] = b[j], b[i]
	case 5:
		b = append(b[:i], b[i+1:]...)
	case 6:
		b = append(b[:i:i], append([]byte{byte(r.IntN(256))}, b[i:]...)...)
	case 7:
		n := min(len(other), i)
		b = append([]byte(other[:n]), b[n:]...)
	}
	return string(b)
}

// TestNoMutatedTokenIsTaken changes keys, capabilities and JWTs in 10,000 ways each.
func TestNoMutatedTokenIsTaken(t *testing.T) {
	t.Parallel()
	s, st := newOIDC(t), openStore(t)
	g := openGate(t, st, s.options())
	key, _ := createKey(t, st, access.KeySpec{Name: "one"})
	key2, _ := createKey(t, st, access.KeySpec{Name: "two"})
	owner, owner2 := authenticate(t, g, key), authenticate(t, g, key2)
	f := fixed()
	f.At.ID = "1773154325.646160"
	for name, tokens := range map[string][2]string{
		"keys":         {key, key2},
		"capabilities": {mint(t, g, owner, fixed()), mint(t, g, owner2, f)},
		"JWTs":         {s.token(nil), s.token(obj{"sub": "mallory"})},
		"JWTs by an elliptic curve": {
			signES256(ecKey(), obj{"alg": "ES256", "kid": "ec-1"}, s.claims(nil)),
			signES256(ecKey(), obj{"alg": "ES256", "kid": "ec-1"}, s.claims(obj{"sub": "mallory"})),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(1, 2))
			for n := 0; n < 10_000; {
				token := mutated(r, tokens[0], tokens[1])
				if token == tokens[0] || token == tokens[1] {
					continue
				}
				n++
				if p, err := g.Authenticate(t.Context(), token); !errors.Is(err, access.ErrUnauthenticated) {
					t.Fatalf("got %v and %v, want ErrUnauthenticated for %q, which was %q", p.ID, err, token, tokens[0])
				}
			}
			authenticate(t, g, tokens[0])
		})
	}
}

func TestAStoreThatFailsDoesNotMakeATokenInvalid(t *testing.T) {
	t.Parallel()
	st := openStore(t)
	key, _ := createKey(t, st, access.KeySpec{Name: "bot"})
	token := mint(t, openGate(t, st, access.Options{}), access.Principal{ID: "local", Kind: access.Local}, access.CapabilityScope{Scope: c1})
	g := openGate(t, brokenNotes{st}, access.Options{})
	for _, bearer := range []string{key, token} {
		if _, err := g.Authenticate(t.Context(), bearer); !errors.Is(err, access.ErrUnavailable) || errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("got %v, want ErrUnavailable", err)
		}
	}
	if _, err := g.Mint(t.Context(), access.Principal{ID: "local", Kind: access.Local}, access.CapabilityScope{Scope: c1}); !errors.Is(err, access.ErrUnavailable) {
		t.Errorf("got %v, want ErrUnavailable", err)
	}
}

type brokenNotes struct{ earshot.Store }

func (brokenNotes) Notes(context.Context, string, int) ([]earshot.Note, error) {
	return nil, errors.New("the disk is gone")
}

func TestNothingOfATokenIsLogged(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	s, st := newOIDC(t), openStore(t)
	o := s.options()
	o.Log = slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug}))
	g := openGate(t, st, o)
	key, _ := createKey(t, st, access.KeySpec{Name: "bot"})
	_, secret, _ := strings.Cut(strings.TrimPrefix(key, "ek_"), "_")
	jwt := s.token(obj{"sub": "canary-of-a-subject", "aud": "canary-of-an-audience"})
	capability := mint(t, g, authenticate(t, g, key), fixed())
	for _, token := range []string{key[:len(key)-1], jwt, capability[:len(capability)-1], "canary-of-nothing", signRS256(rsaKey(), `{"alg":"canary-of-an-alg"}`, s.claims(nil))} {
		if _, err := g.Authenticate(t.Context(), token); !errors.Is(err, access.ErrUnauthenticated) || strings.Contains(err.Error(), "canary") {
			t.Errorf("got %v, want ErrUnauthenticated", err)
		}
	}
	if n := strings.Count(out.String(), "a token was refused"); n != 5 {
		t.Errorf("%d refusals were logged, want 5", n)
	}
	for _, canary := range []string{secret[:20], "canary", part(jwt, 1)[:40], part(jwt, 2)[:40], part(capability, 3)[:30]} {
		if strings.Contains(out.String(), canary) {
			t.Errorf("%q was logged", canary)
		}
	}
}

// FuzzAuthenticate holds that nothing but the tokens that were made is accepted, and
// that nothing ends the process. KEY, CAPABILITY and JWT in an input stand for tokens
// that are valid: each process of the fuzzer makes its own.
func FuzzAuthenticate(f *testing.F) {
	s, st := newOIDC(f), openStore(f)
	g := openGate(f, st, s.options())
	key, _ := createKey(f, st, access.KeySpec{Name: "bot"})
	capability, jwt := mint(f, g, authenticate(f, g, key), fixed()), s.token(nil)
	whole := strings.NewReplacer("KEY", key, "CAPABILITY", capability, "JWT", jwt)
	for _, seed := range []string{
		"KEY", "CAPABILITY", "JWT", "JWT=", "JWT.JWT", "KEY ", "ek_KEY", "ec_1.CAPABILITY", "CAPABILITY.x",
		"", "ek_", "ec_1.", "..", "eyJhbGciOiJub25lIn0.e30.", "ec_1.aaaaaaaaaaaaaaaa.e30.AAAA", "ek_aaaaaaaaaaaaaaaa_",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, input string) {
		token := whole.Replace(input)
		p, err := g.Authenticate(t.Context(), token)
		if made := token == key || token == capability || token == jwt; made != (err == nil) {
			t.Errorf("got %v and %v for %q", p.ID, err, token)
		}
		if err != nil && !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("got %v, want ErrUnauthenticated", err)
		}
	})
}

// FuzzClaims has the issuer sign whatever it is given, and holds that a token that is
// accepted has somebody, an end and a reach that is bounded.
func FuzzClaims(f *testing.F) {
	s := newOIDC(f)
	g := openGate(f, openStore(f), s.options())
	const claims = `{"iss":"ISS","aud":"earshot","sub":"alice","exp":1777637400,"earshot_workspaces":["T1"],"earshot_channels":["C1"],"scope":"read","act":{"sub":"bot"}}`
	for _, head := range []string{`{"alg":"ES256","kid":"ec-1"}`, `{"alg":"ES256","typ":"JWT"}`} {
		f.Add(head, claims)
		f.Add(head, strings.Replace(claims, `["T1"]`, `[]`, 1))
		f.Add(head, strings.Replace(claims, `["T1"]`, `""`, 1))
		f.Add(head, strings.Replace(claims, `"sub"`, `"aud":"x","sub"`, 1))
	}
	f.Fuzz(func(t *testing.T, head, claims string) {
		p, err := g.Authenticate(t.Context(), signES256(ecKey(), head, strings.ReplaceAll(claims, "ISS", s.URL)))
		if err != nil {
			if !errors.Is(err, access.ErrUnauthenticated) {
				t.Errorf("got %v, want ErrUnauthenticated", err)
			}
			return
		}
		if p.Kind != access.User || p.Subject == "" || p.Expires <= earshot.TimeOf(testNow) || len(p.Reach.Workspaces) == 0 || slices.Contains(p.Reach.Workspaces, "") || slices.Contains(p.Reach.Channels, "") {
			t.Errorf("got %+v", p)
		}
	})
}

func BenchmarkAuthenticate(b *testing.B) {
	st, err := store.Open(b.Context(), "sqlite:"+b.TempDir()+"/bench.db", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { st.Close() })
	s := newOIDC(b)
	g := openGate(b, st, s.options())
	key, _ := createKey(b, st, access.KeySpec{Name: "bot"})
	for name, token := range map[string]string{
		"key": key, "capability": mint(b, g, authenticate(b, g, key), fixed()), "jwt": s.token(nil),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := g.Authenticate(b.Context(), token); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestRates(t *testing.T) {
	t.Parallel()
	now := testNow
	g := openGate(t, openStore(t), access.Options{
		Now:   func() time.Time { return now },
		Rates: access.Rates{Principal: access.Rate{PerSecond: 10, Burst: 3}, Channel: access.Rate{PerSecond: 1, Burst: 2}},
	})
	alice, bob, c2 := access.Principal{ID: "a"}, access.Principal{ID: "b"}, earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C2"}
	allows := func(what string, p access.Principal, s earshot.Scope, wantWait time.Duration) {
		t.Helper()
		if wait, ok := g.Allow(p, s); wait != wantWait || ok != (wantWait == 0) {
			t.Errorf("%s: got %v %v, want to wait %v", what, wait, ok, wantWait)
		}
	}
	allows("1 of 3", alice, c1, 0)
	allows("2 of 3, 2 of the channel's 2", alice, c1, 0)
	allows("the channel has none left", alice, c1, time.Second)
	allows("another person finds none either", bob, c1, time.Second)
	allows("3 of 3: the one that was refused took none", alice, c2, 0)
	allows("the person has none left", alice, earshot.Scope{}, 100*time.Millisecond)
	allows("who has none left takes none of a channel", alice, c2, 100*time.Millisecond)
	allows("another person has", bob, c2, 0)
	if wait, ok := g.AllowChannel(c2); ok || wait != time.Second {
		t.Errorf("the channel alone: got %v %v, want to wait a second", wait, ok)
	}
	now = now.Add(time.Second)
	allows("a second later", alice, c1, 0)
	if _, ok := g.AllowChannel(c2); !ok {
		t.Error("the channel alone, a second later: refused")
	}

	unbounded := openGate(t, openStore(t), access.Options{Rates: access.Rates{Principal: access.Rate{PerSecond: -1}, Channel: access.Rate{PerSecond: -1}}})
	preset := openGate(t, openStore(t), access.Options{Now: func() time.Time { return now }})
	for range 1000 {
		if _, ok := preset.Allow(alice, c1); !ok {
			t.Fatal("the default refuses one of a thousand at once")
		}
	}
	if wait, ok := preset.Allow(alice, c1); ok || wait != 2*time.Millisecond {
		t.Errorf("got %v %v, want to wait 2ms", wait, ok)
	}
	for range 3000 {
		if _, ok := unbounded.Allow(alice, c1); !ok {
			t.Fatal("a rate without a bound refuses")
		}
	}
}
