package access

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/golang-jwt/jwt/v5"

	"github.com/earshot-ai/earshot"
)

// leeway is by how much the clocks of the issuer and of this machine may differ where
// a token is not valid yet. Its end is not moved.
const leeway = time.Minute

// maxIDBytes bounds sub (OpenID Connect Core 2: 255 characters) and the ids of
// workspaces and channels.
const maxIDBytes = 255

// user returns the person or the program that a JWT is about. What can be refused
// without the issuer's keys is, so that a stranger's token makes nobody ask for them.
func (i *issuer) user(ctx context.Context, bearer string) (Principal, error) {
	h, c, err := readToken(bearer)
	if err != nil {
		return Principal{}, err
	}
	if algorithms[h.alg] == nil {
		return Principal{}, refuse("the algorithm is not among those that are allowed")
	}
	expires, err := c.end()
	if err != nil {
		return Principal{}, err
	}
	if iss, _ := c.text("iss"); iss != i.o.Issuer || expires <= earshot.TimeOf(i.now()) {
		return Principal{}, refuse("the token is of another issuer, or has expired")
	}
	keys, err := i.signers(ctx, h.kid, h.alg)
	if err != nil {
		return Principal{}, err
	}
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{h.alg}), jwt.WithStrictDecoding(),
		jwt.WithIssuer(i.o.Issuer), jwt.WithAudience(i.o.Audience),
		jwt.WithExpirationRequired(), jwt.WithIssuedAt(), jwt.WithLeeway(leeway), jwt.WithTimeFunc(i.now),
	)
	_, err = parser.ParseWithClaims(bearer, jwt.MapClaims{}, func(*jwt.Token) (any, error) {
		set := jwt.VerificationKeySet{}
		for _, k := range keys {
			set.Keys = append(set.Keys, k)
		}
		return set, nil
	})
	if err != nil {
		return Principal{}, &unauthenticatedError{err}
	}
	p, err := i.principal(c)
	p.Expires = expires
	return p, err
}

// principal returns who verified claims speak of.
func (i *issuer) principal(c claims) (Principal, error) {
	sub, ok := c.text("sub")
	if !ok || !isSubject(sub) {
		return Principal{}, refuse("the token has no sub, or one that is no plain text")
	}
	p := Principal{ID: "user:" + i.o.Issuer + " " + sub, Name: sub, Kind: User, Subject: sub}
	if raw, ok := c["act"]; ok { // RFC 8693: the outermost is who acts now
		var act claims
		if json.Unmarshal(raw, &act) == nil {
			p.Actor, _ = act.text("sub")
		}
		if !isSubject(p.Actor) {
			return Principal{}, refuse("the token's act names nobody")
		}
	}
	var err error
	if p.Reach, err = i.reach(c); err != nil {
		return Principal{}, err
	}
	scopes, err := c.scopes()
	if err != nil {
		return Principal{}, err
	}
	write := i.o.WriteScope
	if write == "" {
		write = "write"
	}
	reads := i.o.WriteScope != "" || slices.Contains(scopes, i.o.ReadScope)
	p.ReadOnly = reads && !slices.Contains(scopes, write)
	return p, nil
}

// reach returns what verified claims may see. In a [Reach] an empty list bounds
// nothing, so a token whose claims name nothing is refused here.
func (i *issuer) reach(c claims) (Reach, error) {
	workspaces, named, err := claimIDs[earshot.WorkspaceID](c, i.o.WorkspacesClaim)
	switch {
	case err != nil:
		return Reach{}, err
	case !named && !i.o.AllWorkspaces:
		return Reach{}, refuse("the token has no claim that names workspaces")
	case named && len(workspaces) == 0:
		return Reach{}, refuse("the token's list of workspaces is empty")
	}
	channels, named, err := claimIDs[earshot.ChannelID](c, i.o.ChannelsClaim)
	switch {
	case err != nil:
		return Reach{}, err
	case named && len(channels) == 0:
		return Reach{}, refuse("the token's list of channels is empty")
	}
	return Reach{Workspaces: workspaces, Channels: channels}, nil
}

// A header is what is used of a JWT's header. Addresses of keys and keys themselves
// (jku, jwk, x5u, x5c) are not.
type header struct {
	alg string
	kid *string // nil: none
}

// claims are the claims of a JWT, each as JSON. No name stands twice in it or in an
// object within.
type claims map[string]jsontext.Value

// readToken reads a JWT in its compact form. Nothing is verified. What two readers
// could take for different things is refused: names that stand twice, broken UTF-8,
// other base64, extensions that must be understood.
func readToken(bearer string) (header, claims, error) {
	parts := strings.Split(bearer, ".")
	if len(parts) != 3 {
		return header{}, nil, refuse("not the form of a JWT that is signed")
	}
	var values [3]claims
	for n, part := range parts {
		raw, err := base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil || len(raw) == 0 || strings.ContainsAny(part, "\r\n") { // the decoder skips line breaks
			return header{}, nil, refuse("a part of the JWT is not base64url")
		}
		if n < 2 && json.Unmarshal(raw, &values[n]) != nil || n < 2 && values[n] == nil {
			return header{}, nil, refuse("a part of the JWT is no JSON object, or has a name twice")
		}
	}
	head := values[0]
	for _, name := range []string{"crit", "b64", "enc", "zip"} {
		if _, ok := head[name]; ok {
			return header{}, nil, refuse("the JWT's header has " + name)
		}
	}
	h := header{}
	var ok bool
	if h.alg, ok = head.text("alg"); !ok {
		return header{}, nil, refuse("the JWT's header has no alg")
	}
	if _, has := head["kid"]; has {
		kid, ok := head.text("kid")
		if !ok {
			return header{}, nil, refuse("the JWT's kid is no text")
		}
		h.kid = &kid
	}
	if _, has := head["typ"]; has {
		typ, _ := head.text("typ")
		switch strings.TrimPrefix(strings.ToLower(typ), "application/") {
		case "jwt", "at+jwt":
		default: // a logout token, a proof of possession
			return header{}, nil, refuse("the JWT's typ is not that of a token for access")
		}
	}
	if _, ok := values[1]["cnf"]; ok {
		// RFC 7800: valid only together with a proof, which a bearer does not bring.
		return header{}, nil, refuse("the JWT is bound to a key of its holder")
	}
	return h, values[1], nil
}

// text returns a claim that is a string.
func (c claims) text(name string) (string, bool) {
	raw, ok := c[name]
	if !ok || raw.Kind() != '"' {
		return "", false
	}
	var s string
	err := json.Unmarshal(raw, &s)
	return s, err == nil
}

// end returns exp.
func (c claims) end() (earshot.Time, error) {
	var seconds float64
	if raw, ok := c["exp"]; !ok || raw.Kind() != '0' || json.Unmarshal(raw, &seconds) != nil {
		return 0, refuse("the token has no exp that is a number")
	}
	if seconds < 1 || seconds >= 1e11 { // year 5138
		return 0, refuse("the token's exp is no time")
	}
	return earshot.Time(seconds * 1e6), nil
}

// scopes returns what a token says that it may do: the words of scope (RFC 8693, RFC 9068),
// or of scp where it has none, as Microsoft and Okta write it. Either is a text with spaces
// between the words, or a list.
func (c claims) scopes() ([]string, error) {
	name := "scope"
	if _, ok := c[name]; !ok {
		name = "scp"
	}
	if text, ok := c.text(name); ok {
		return strings.Fields(text), nil
	}
	list, _, err := claimIDs[string](c, name)
	return list, err
}

// claimIDs returns the ids of a claim: a list, or the only one; named is false where
// there is no such claim. Whatever else stands there is refused.
func claimIDs[T ~string](c claims, name string) (list []T, named bool, err error) {
	raw, ok := c[name]
	if !ok {
		return nil, false, nil
	}
	if one, ok := c.text(name); ok {
		list = []T{T(one)}
	} else if raw.Kind() != '[' || json.Unmarshal(raw, &list) != nil {
		err = errors.New("the claim " + name + " is no list of texts")
	}
	for _, id := range list {
		if id == "" || len(id) > maxIDBytes || strings.ContainsFunc(string(id), unicode.IsControl) {
			err = errors.New("the claim " + name + " has an id that is empty, too long or no plain text")
		}
	}
	if err != nil {
		return nil, true, &unauthenticatedError{err}
	}
	return sortUnique(list), true, nil
}

func isSubject(s string) bool {
	return s != "" && len(s) <= maxIDBytes && !strings.ContainsFunc(s, unicode.IsControl)
}
