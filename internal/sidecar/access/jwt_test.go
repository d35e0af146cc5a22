package access_test

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// signHS256 makes a token with a shared secret.
func signHS256(secret []byte, head, claims any) string {
	signed := b64([]byte(text(head))) + "." + b64([]byte(text(claims)))
	h := hmac.New(sha256.New, secret)
	h.Write([]byte(signed))
	return signed + "." + b64(h.Sum(nil))
}

// resigned returns a token with another signature.
func resigned(token, signature string) string {
	return token[:strings.LastIndex(token, ".")+1] + signature
}

// part returns one of a token's three parts.
func part(token string, n int) string { return strings.Split(token, ".")[n] }

// TestHostileTokensAreRefused holds the list of threats.md: every known way to make
// a reader of JWTs believe what the issuer has not said. Those that are accepted are
// there to show that the others are not refused for another reason.
func TestHostileTokensAreRefused(t *testing.T) {
	t.Parallel()
	s := newOIDC(t)
	var asked atomic.Int32
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_ = json.NewEncoder(w).Encode(obj{"keys": []any{rsaJWK("mine", &otherRSA().PublicKey)}})
	}))
	t.Cleanup(stranger.Close)

	valid := s.token(nil)
	publicDER := must(x509.MarshalPKIXPublicKey(&rsaKey().PublicKey))
	publicPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: publicDER})
	modulus := rsaKey().N.Bytes()
	rs := func(head, claims any) string { return signRS256(rsaKey(), head, claims) }
	with := func(changes obj) obj { return changed(rsHead, changes) }
	none := func(alg string) string {
		return b64([]byte(text(obj{"alg": alg, "typ": "JWT"}))) + "." + part(valid, 1) + "."
	}
	claimsJSON := text(s.claims(nil))
	at := func(d time.Duration) int64 { return testNow.Add(d).Unix() }
	mine := func(head obj) string { return signRS256(otherRSA(), head, s.claims(nil)) }

	tests := []struct {
		name  string
		token string
		good  bool
	}{
		{"a valid one", valid, true},
		{"a valid one by an elliptic curve", signES256(ecKey(), obj{"alg": "ES256", "kid": "ec-1"}, s.claims(nil)), true},
		{"no kid, and one key for the algorithm", rs(with(obj{"kid": nil}), s.claims(nil)), true},
		{"the type of an access token", rs(with(obj{"typ": "application/at+JWT"}), s.claims(nil)), true},
		{"an audience among several", s.token(obj{"aud": []string{"other", "earshot"}}), true},
		{"a thumbprint in the header", rs(with(obj{"x5t": "AAAA"}), s.claims(nil)), true},
		{"the issuer's key, and a jku that is not followed", rs(with(obj{"jku": stranger.URL}), s.claims(nil)), true},
		{"nbf a little ahead", s.token(obj{"nbf": at(50 * time.Second)}), true},
		{"iat a little ahead", s.token(obj{"iat": at(50 * time.Second)}), true},
		{"exp with a fraction", s.token(obj{"exp": float64(at(time.Minute)) + 0.5}), true},

		{"alg none", none("none"), false},
		{"alg None", none("None"), false},
		{"alg NONE with a signature", resigned(none("NONE"), part(valid, 2)), false},
		{"alg none, and the signature of another", b64([]byte(`{"alg":"none"}`)) + "." + part(valid, 1) + "." + part(valid, 2), false},
		{"alg empty", rs(with(obj{"alg": ""}), s.claims(nil)), false},
		{"no alg", rs(with(obj{"alg": nil}), s.claims(nil)), false},
		{"alg a list", rs(with(obj{"alg": []string{"RS256"}}), s.claims(nil)), false},
		{"alg in lower case", rs(with(obj{"alg": "rs256"}), s.claims(nil)), false},
		{"Alg for alg", rs(`{"Alg":"RS256","kid":"rsa-1"}`, s.claims(nil)), false},
		{"HS256 with the public key as PEM", signHS256(publicPEM, obj{"alg": "HS256", "kid": "rsa-1"}, s.claims(nil)), false},
		{"HS256 with the public key as DER", signHS256(publicDER, obj{"alg": "HS256", "kid": "rsa-1"}, s.claims(nil)), false},
		{"HS256 with the modulus", signHS256(modulus, obj{"alg": "HS256", "kid": "rsa-1"}, s.claims(nil)), false},
		{"HS256 with an empty secret", signHS256(nil, obj{"alg": "HS256"}, s.claims(nil)), false},
		{"HS256 with a shared secret of the key set", signHS256([]byte("secret-secret-secret-secret-1234"), obj{"alg": "HS256", "kid": "shared"}, s.claims(nil)), false},
		{"an algorithm that the issuer's key could do and that is not allowed", signPS512(t, rsaKey(), obj{"alg": "PS512", "kid": "rsa-1"}, s.claims(nil)), false},
		{"ES256 with the kid of the RSA key", signES256(ecKey(), obj{"alg": "ES256", "kid": "rsa-1"}, s.claims(nil)), false},
		{"RS256 with the kid of the elliptic key", rs(with(obj{"kid": "ec-1"}), s.claims(nil)), false},
		{"ES256 with a key of another curve", signES256(wideEC(), obj{"alg": "ES256", "kid": "ec-wide"}, s.claims(nil)), false},
		{"ES256 with r and s zero", resigned(signES256(ecKey(), obj{"alg": "ES256", "kid": "ec-1"}, s.claims(nil)), b64(make([]byte, 64))), false},
		{"ES256 with r and s the order of the curve", resigned(signES256(ecKey(), obj{"alg": "ES256", "kid": "ec-1"}, s.claims(nil)), b64(append(ecKey().Params().N.Bytes(), ecKey().Params().N.Bytes()...))), false},
		{"ES256 by another key", signES256(otherEC(), obj{"alg": "ES256", "kid": "ec-1"}, s.claims(nil)), false},

		{"signed by another key", mine(rsHead), false},
		{"signed by another key, which the header brings (jwk)", mine(with(obj{"kid": nil, "jwk": rsaJWK("mine", &otherRSA().PublicKey)})), false},
		{"signed by another key, where the header points (jku)", mine(with(obj{"kid": "mine", "jku": stranger.URL})), false},
		{"signed by another key, where the header points (x5u)", mine(with(obj{"kid": "mine", "x5u": stranger.URL})), false},
		{"signed by another key, with a certificate (x5c)", mine(with(obj{"x5c": []string{base64.StdEncoding.EncodeToString(publicDER)}})), false},
		{"signed by a key of the issuer that is for encryption", mine(with(obj{"kid": "enc-1"})), false},
		{"an unknown kid", rs(with(obj{"kid": "rsa-9"}), s.claims(nil)), false},
		{"an empty kid", rs(with(obj{"kid": ""}), s.claims(nil)), false},
		{"a kid that is a path", rs(with(obj{"kid": "../../dev/null"}), s.claims(nil)), false},
		{"a kid that is a query", rs(with(obj{"kid": "rsa-1' OR '1'='1"}), s.claims(nil)), false},
		{"a kid that is a number", rs(with(obj{"kid": 1}), s.claims(nil)), false},
		{"a kid that is null", rs(`{"alg":"RS256","kid":null}`, s.claims(nil)), false},

		{"a crit that is known to nobody", rs(with(obj{"crit": []string{"x"}, "x": true}), s.claims(nil)), false},
		{"crit and b64 false", rs(with(obj{"crit": []string{"b64"}, "b64": false}), s.claims(nil)), false},
		{"b64 false without crit", rs(with(obj{"b64": false}), s.claims(nil)), false},
		{"an empty crit", rs(with(obj{"crit": []string{}}), s.claims(nil)), false},
		{"compressed", rs(with(obj{"zip": "DEF"}), s.claims(nil)), false},
		{"the type of a logout token", rs(with(obj{"typ": "logout+jwt"}), s.claims(nil)), false},
		{"the type of a proof", rs(with(obj{"typ": "dpop+jwt"}), s.claims(nil)), false},
		{"a type that is no text", rs(with(obj{"typ": 5}), s.claims(nil)), false},
		{"bound to a key of its holder", s.token(obj{"cnf": obj{"jkt": "x"}}), false},

		{"another issuer", s.token(obj{"iss": "https://id.example.com"}), false},
		{"the issuer with a slash more", s.token(obj{"iss": s.URL + "/"}), false},
		{"no issuer", s.token(obj{"iss": nil}), false},
		{"issuers in a list", s.token(obj{"iss": []string{s.URL}}), false},
		{"another audience", s.token(obj{"aud": "earshot2"}), false},
		{"several other audiences", s.token(obj{"aud": []string{"a", "b"}}), false},
		{"an empty list of audiences", s.token(obj{"aud": []string{}}), false},
		{"no audience", s.token(obj{"aud": nil}), false},
		{"the audience as a name of an object", s.token(obj{"aud": obj{"earshot": true}}), false},
		{"the audience in other case", s.token(obj{"aud": "Earshot"}), false},
		{"no exp", s.token(obj{"exp": nil}), false},
		{"exp now", s.token(obj{"exp": at(0)}), false},
		{"exp a second ago", s.token(obj{"exp": at(-time.Second)}), false},
		{"exp as text", s.token(obj{"exp": "9999999999"}), false},
		{"exp null", rs(rsHead, strings.Replace(claimsJSON, `"exp":`, `"exp":null,"x":`, 1)), false},
		{"exp beyond all time", rs(rsHead, strings.Replace(claimsJSON, `"exp":`, `"exp":1e300,"x":`, 1)), false},
		{"exp beyond all numbers", rs(rsHead, strings.Replace(claimsJSON, `"exp":`, `"exp":1e999,"x":`, 1)), false},
		{"exp negative", s.token(obj{"exp": -1}), false},
		{"EXP for exp", rs(rsHead, strings.Replace(claimsJSON, `"exp"`, `"EXP"`, 1)), false},
		{"nbf two minutes ahead", s.token(obj{"nbf": at(2 * time.Minute)}), false},
		{"nbf as text", s.token(obj{"nbf": "soon"}), false},
		{"iat two minutes ahead", s.token(obj{"iat": at(2 * time.Minute)}), false},

		{"no sub", s.token(obj{"sub": nil}), false},
		{"an empty sub", s.token(obj{"sub": ""}), false},
		{"a sub that is a number", s.token(obj{"sub": 7}), false},
		{"a sub with a line break", s.token(obj{"sub": "a\nb"}), false},
		{"a sub without end", s.token(obj{"sub": strings.Repeat("a", 256)}), false},
		{"an actor that is nobody", s.token(obj{"act": obj{}}), false},
		{"an actor that is a text", s.token(obj{"act": "bot"}), false},
		{"no workspaces", s.token(obj{"earshot_workspaces": nil}), false},
		{"an empty list of workspaces", s.token(obj{"earshot_workspaces": []string{}}), false},
		{"an empty workspace", s.token(obj{"earshot_workspaces": []string{""}}), false},
		{"an empty text for workspaces", s.token(obj{"earshot_workspaces": ""}), false},
		{"workspaces null", rs(rsHead, strings.Replace(claimsJSON, `["T1"]`, `null`, 1)), false},
		{"workspaces of numbers", s.token(obj{"earshot_workspaces": []int{1}}), false},
		{"workspaces true", s.token(obj{"earshot_workspaces": true}), false},
		{"an empty list of channels", s.token(obj{"earshot_channels": []string{}}), false},
		{"channels null", rs(rsHead, strings.Replace(claimsJSON, `["T1"]`, `["T1"],"earshot_channels":null`, 1)), false},
		{"a scope that is a number", s.token(obj{"scope": 1}), false},

		{"a claim that stands twice", rs(rsHead, strings.Replace(claimsJSON, `"sub":"alice"`, `"sub":"alice","sub":"bob"`, 1)), false},
		{"a claim that stands twice, written otherwise", rs(rsHead, strings.Replace(claimsJSON, `"sub":"alice"`, `"sub":"alice","\u0073ub":"bob"`, 1)), false},
		{"a name that stands twice within a claim", s.rawActor(`{"sub":"a","sub":"b"}`), false},
		{"a header that stands twice", rs(`{"alg":"RS256","alg":"RS256","kid":"rsa-1"}`, s.claims(nil)), false},
		{"a header that is null", rs(`null`, s.claims(nil)), false},
		{"a header that is a list", rs(`["RS256"]`, s.claims(nil)), false},
		{"a header with more behind it", rs(`{"alg":"RS256","kid":"rsa-1"}{}`, s.claims(nil)), false},
		{"claims that are a text", rs(rsHead, `"alice"`), false},
		{"claims with broken UTF-8", rs(rsHead, strings.Replace(claimsJSON, "alice", "al\xffce", 1)), false},
		{"claims with more behind them", rs(rsHead, claimsJSON+claimsJSON), false},
		{"claims that were changed", part(valid, 0) + "." + b64([]byte(strings.Replace(claimsJSON, "alice", "admin", 1))) + "." + part(valid, 2), false},
		{"a header that was changed", b64([]byte(text(with(obj{"typ": "at+jwt"})))) + "." + part(valid, 1) + "." + part(valid, 2), false},
		{"the signature of another token", resigned(valid, part(s.token(obj{"sub": "bob"}), 2)), false},
		{"no signature", resigned(valid, ""), false},
		{"half a signature", valid[:len(valid)-100], false},
		{"a signature with a byte more", valid + "AA", false},
		{"two parts", part(valid, 0) + "." + part(valid, 1), false},
		{"four parts", valid + "." + part(valid, 2), false},
		{"empty parts", "..", false},
		{"padding", valid + "==", false},
		{"padding of a part", part(valid, 0) + "=." + part(valid, 1) + "." + part(valid, 2), false},
		{"the other alphabet of base64", stdAlphabet(s), false},
		{"bits that stand for nothing", looseBits(valid), false},
		{"a line break within", valid[:40] + "\n" + valid[40:], false},
		{"a space in front", " " + valid, false},
		{"with Bearer in front", "Bearer " + valid, false},
		{"the JSON form of a signature", text(obj{"payload": part(valid, 1), "protected": part(valid, 0), "signature": part(valid, 2)}), false},
		{"the JSON form of several signatures", text(obj{"payload": part(valid, 1), "signatures": []any{obj{"protected": part(valid, 0), "signature": part(valid, 2)}}}), false},
		{"encrypted", b64([]byte(`{"alg":"RSA-OAEP","enc":"A256GCM","kid":"rsa-1"}`)) + ".AAAA.AAAA.AAAA.AAAA", false},
		{"encrypted, in three parts", rs(with(obj{"enc": "A256GCM"}), s.claims(nil)), false},
		{"huge", s.token(obj{"x": strings.Repeat("x", 8<<10)}), false},
		{"deep", rs(rsHead, strings.Repeat(`{"a":`, 900)+"1"+strings.Repeat("}", 900)), false},
		{"nothing", "", false},
		{"a NUL", "\x00", false},
	}
	hostile := 0
	g := openGate(t, openStore(t), s.options())
	for _, tt := range tests {
		if !tt.good {
			hostile++
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := g.Authenticate(t.Context(), tt.token)
			switch {
			case tt.good && (err != nil || p.Subject != "alice"):
				t.Errorf("got %v: %v, want alice", err, errors.Unwrap(err))
			case !tt.good && !errors.Is(err, access.ErrUnauthenticated):
				t.Errorf("got %v, want ErrUnauthenticated", err)
			case !tt.good && (err.Error() != "unauthenticated" || errors.Unwrap(err) == nil):
				t.Errorf("got %q because of %v, want no reason for the caller and one for the log", err, errors.Unwrap(err))
			case !tt.good && (p.Kind != "" || p.Sees(earshot.Scope{Workspace: "T1", Channel: "C1"})):
				t.Errorf("got %v with the error", p)
			}
		})
	}
	t.Cleanup(func() {
		if n := asked.Load(); n != 0 {
			t.Errorf("an address from a header was asked %d times", n)
		}
	})
	if hostile < 40 {
		t.Errorf("only %d vectors", hostile)
	}
}

// rawActor is a signed token with act as it is written here.
func (s *oidcServer) rawActor(act string) string {
	c := text(s.claims(nil))
	return signRS256(rsaKey(), rsHead, c[:len(c)-1]+`,"act":`+act+`}`)
}

func signPS512(t *testing.T, k *rsa.PrivateKey, head, claims any) string {
	t.Helper()
	signed := b64([]byte(text(head))) + "." + b64([]byte(text(claims)))
	sum := sha512.Sum512([]byte(signed))
	return signed + "." + b64(must(rsa.SignPSS(rand.Reader, k, 7, sum[:], nil)))
}

// stdAlphabet returns a token in base64 with + and /, which are in it for sure.
func stdAlphabet(s *oidcServer) string {
	for n := 0; ; n++ {
		token := s.token(obj{"n": n})
		if out := strings.NewReplacer("-", "+", "_", "/").Replace(token); out != token {
			return out
		}
	}
}

// looseBits changes the bits of the last character that no byte has.
func looseBits(token string) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(alphabet, token[len(token)-1])
	return token[:len(token)-1] + string(alphabet[last^1]) // 256 bytes leave four bits of the last character
}

func TestATokenSaysHowFarItReaches(t *testing.T) {
	t.Parallel()
	s := newOIDC(t)
	me := access.Principal{
		ID: "user:" + s.URL + " alice", Name: "alice", Kind: access.User, Subject: "alice",
		Expires: earshot.TimeOf(testNow.Add(10 * time.Minute)),
		Reach:   access.Reach{Workspaces: []earshot.WorkspaceID{"T1"}},
	}
	tests := []struct {
		name   string
		claims obj
		oidc   func(*access.OIDC)
		want   func(*access.Principal)
	}{
		{"workspaces", nil, nil, func(*access.Principal) {}},
		{"one workspace as a text", obj{"earshot_workspaces": "T1"}, nil, func(*access.Principal) {}},
		{"channels", obj{"earshot_channels": []string{"C2", "C1"}}, nil, func(p *access.Principal) { p.Reach.Channels = []earshot.ChannelID{"C1", "C2"} }},
		{"on behalf of", obj{"act": obj{"sub": "bot", "act": obj{"sub": "inner"}}}, nil, func(p *access.Principal) { p.Actor = "bot" }},
		{"other names of claims", obj{"https://x/ws": []string{"T9"}, "chans": []string{"C9"}}, func(o *access.OIDC) {
			o.WorkspacesClaim, o.ChannelsClaim = "https://x/ws", "chans"
		}, func(p *access.Principal) {
			p.Reach = access.Reach{Workspaces: []earshot.WorkspaceID{"T9"}, Channels: []earshot.ChannelID{"C9"}}
		}},
		{"all workspaces, which the settings allow", obj{"earshot_workspaces": nil}, func(o *access.OIDC) { o.AllWorkspaces = true }, func(p *access.Principal) { p.Reach.Workspaces = nil }},
		{"its workspaces, where the settings would allow all", nil, func(o *access.OIDC) { o.AllWorkspaces = true }, func(*access.Principal) {}},
		{"a scope to read", obj{"scope": "openid read"}, nil, func(p *access.Principal) { p.ReadOnly = true }},
		{"a scope to read and write", obj{"scope": "read write"}, nil, func(*access.Principal) {}},
		{"a scope of others", obj{"scope": "openid email"}, nil, func(*access.Principal) {}},
		{"a scope as a list under another name", obj{"scp": []string{"chat.read"}}, func(o *access.OIDC) {
			o.ReadScope = "chat.read"
		}, func(p *access.Principal) { p.ReadOnly = true }},
		{"a scope that must be there to write, and is not", nil, func(o *access.OIDC) { o.WriteScope = "chat.write" }, func(p *access.Principal) { p.ReadOnly = true }},
		{"a scope that must be there to write, and is", obj{"scope": "chat.write"}, func(o *access.OIDC) { o.WriteScope = "chat.write" }, func(*access.Principal) {}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := s.options()
			if tt.oidc != nil {
				tt.oidc(o.OIDC)
			}
			got, err := openGate(t, openStore(t), o).Authenticate(t.Context(), s.token(tt.claims))
			want := me
			tt.want(&want)
			if diff := cmp.Diff(got, want); diff != "" || err != nil {
				t.Errorf("got %v: %v (-got +want):\n%s", err, errors.Unwrap(err), diff)
			}
		})
	}
}

// TestTheTokenOfThePageIsAccepted signs the claims of docs/access.md as their issuer
// would.
func TestTheTokenOfThePageIsAccepted(t *testing.T) {
	t.Parallel()
	page := string(must(os.ReadFile("../../../docs/access.md")))
	_, claims, _ := strings.Cut(page, "```json\n")
	claims, _, _ = strings.Cut(claims, "```")
	s := newOIDC(t)
	got := authenticate(t, openGate(t, openStore(t), s.options()), signRS256(rsaKey(), rsHead, strings.ReplaceAll(claims, "https://id.example.com/realms/acme", s.URL)))
	want := access.Principal{
		ID: "user:" + s.URL + " 8c1f0b9e", Name: "8c1f0b9e", Kind: access.User, Subject: "8c1f0b9e", Actor: "support-app", ReadOnly: true,
		Expires: earshot.TimeOf(testNow.Add(10 * time.Minute)),
		Reach:   access.Reach{Workspaces: []earshot.WorkspaceID{"T0ACME"}, Channels: []earshot.ChannelID{"C0OPS", "C0SUPPORT"}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}
