package access

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
)

// CapabilityTime is how long a capability is valid at most.
const CapabilityTime = time.Hour

// A capability is ec_1.SECRET.PAYLOAD.MAC: the version, the id of the secret that
// signs it, JSON in base64url, and HMAC-SHA256 of all that stands before it. The MAC
// covers the text as it is sent and is compared as text, so there is no second way
// to write the same capability.
const (
	capabilityMark    = "ec_"
	capabilityVersion = "ec_1."
	secretNote        = "access/secret/" // and the id
)

// capabilityData is the payload. Names are short: models' programs pass it on with
// each call.
type capabilityData struct {
	Owner   string       `json:"o"`           // the ID of the principal that it was made for
	Name    string       `json:"n,omitempty"` // of an owner that is not stored: its name …
	Subject string       `json:"u,omitempty"` // … and who it is
	Actor   string       `json:"a,omitempty"`
	Scope   [3]string    `json:"s"`           // platform, workspace, channel
	Conv    *[2]string   `json:"c,omitempty"` // agent and name; its scope is that of the capability
	AtTime  earshot.Time `json:"t,omitempty"`
	AtID    string       `json:"m,omitempty"`
	Zone    string       `json:"z,omitempty"`
	Expires earshot.Time `json:"e"`
	Issuer  string       `json:"i,omitempty"` // of a user
	OwnerIs Kind         `json:"k"`
}

// Mint makes a capability: a token with which somebody, such as the program that runs
// a model's tools, reads for p what f names and nothing else. It is read-only. It is
// valid until f.Expires (zero: an hour), an hour or p's own expiry, whichever comes
// first, and void once p's key is revoked. ErrForbidden if p does not see f.Scope, or
// is a capability itself; ErrInvalid if f is over or its conversation is of another
// channel; ErrUnavailable.
func (g *Gate) Mint(ctx context.Context, p Principal, f CapabilityScope) (string, error) {
	now := earshot.TimeOf(g.now())
	until := now + earshot.Time(CapabilityTime.Microseconds())
	for _, t := range []earshot.Time{f.Expires, p.Expires} {
		if t != 0 {
			until = min(until, t)
		}
	}
	switch {
	case p.Kind == Capability || p.Fixed != nil || !p.Sees(f.Scope) || f.Scope.Channel == "":
		return "", ErrForbidden
	case until <= now:
		return "", fmt.Errorf("%w: the capability would have expired", earshot.ErrInvalid)
	case f.Conversation != (earshot.ConversationID{}) && f.Conversation.Scope != f.Scope:
		return "", fmt.Errorf("%w: the conversation is of another channel", earshot.ErrInvalid)
	}
	d := capabilityData{
		Owner: p.ID, OwnerIs: p.Kind,
		Scope:  [3]string{string(f.Scope.Platform), string(f.Scope.Workspace), string(f.Scope.Channel)},
		AtTime: f.At.Time, AtID: string(f.At.ID), Zone: f.Zone, Expires: until,
	}
	if f.Conversation != (earshot.ConversationID{}) {
		d.Conv = &[2]string{string(f.Conversation.Agent), f.Conversation.Name}
	}
	switch p.Kind {
	case Key: // its name and whether it still exists are in the store
	case User:
		d.Name, d.Subject, d.Actor, d.Issuer = p.Name, p.Subject, p.Actor, g.Issuer()
	case Local:
		d.Name = p.Name
	default:
		return "", ErrForbidden
	}
	payload, err := json.Marshal(d)
	if err != nil {
		return "", err
	}
	id, key, err := g.secrets.current(ctx, g.store)
	if err != nil {
		return "", unavailableError("read the secret of capabilities", err)
	}
	text := capabilityVersion + id + "." + base64.RawURLEncoding.EncodeToString(payload)
	if text += "." + macOf(key, text); len(text) > TokenBytes {
		return "", fmt.Errorf("%w: the capability would be longer than %d bytes", earshot.ErrInvalid, TokenBytes)
	}
	return text, nil
}

// capability returns the owner of a capability, narrowed to what it fixes.
func (g *Gate) capability(ctx context.Context, bearer string) (Principal, error) {
	parts := strings.Split(bearer, ".")
	if len(parts) != 4 || parts[0]+"." != capabilityVersion || !isKeyID(parts[1]) {
		return Principal{}, refuse("not the form of a capability")
	}
	key, ok, err := g.secrets.byID(ctx, g.store, parts[1])
	if err != nil {
		return Principal{}, unavailableError("read the secret of capabilities", err)
	}
	if !ok {
		return Principal{}, refuse("the capability is signed with no secret of this store")
	}
	text := bearer[:len(bearer)-len(parts[3])-1]
	if subtle.ConstantTimeCompare([]byte(macOf(key, text)), []byte(parts[3])) != 1 {
		return Principal{}, refuse("the signature of the capability is wrong")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return Principal{}, refuse("the payload of the capability is not base64url")
	}
	var d capabilityData
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.DisallowUnknownFields() // a bound that this program does not know must not be dropped
	if err := dec.Decode(&d); err != nil {
		return Principal{}, refuse("the payload of the capability cannot be read")
	}
	if d.Expires <= earshot.TimeOf(g.now()) {
		return Principal{}, refuse("the capability has expired")
	}
	owner, err := g.owner(ctx, d)
	if err != nil {
		return Principal{}, err
	}
	return narrowPrincipal(owner, d)
}

// owner returns the principal that a capability was made for, if it still exists.
func (g *Gate) owner(ctx context.Context, d capabilityData) (Principal, error) {
	id, isKey := strings.CutPrefix(d.Owner, "key:")
	switch {
	case d.OwnerIs == Key && isKey && isKeyID(id):
		k, err := g.readKey(ctx, id)
		return k.principal(), err
	case d.OwnerIs == User && g.Issuer() != "" && d.Issuer == g.Issuer(),
		d.OwnerIs == Local:
		// Neither is stored. What a user reached when the capability was made bounds
		// it, and so does the expiry of the user's token.
		return Principal{ID: d.Owner, Name: d.Name, Kind: d.OwnerIs, Subject: d.Subject, Actor: d.Actor}, nil
	}
	return Principal{}, refuse("the capability was made for somebody who is not known any more")
}

// narrowPrincipal returns the owner of a capability with its reach.
func narrowPrincipal(p Principal, d capabilityData) (Principal, error) {
	s := earshot.Scope{Platform: earshot.Platform(d.Scope[0]), Workspace: earshot.WorkspaceID(d.Scope[1]), Channel: earshot.ChannelID(d.Scope[2])}
	if !p.Sees(s) || s.Channel == "" {
		return Principal{}, refuse("the key of the capability does not reach its channel")
	}
	f := CapabilityScope{Scope: s, At: earshot.Position{Time: d.AtTime, ID: earshot.MessageID(d.AtID)}, Zone: d.Zone, Expires: d.Expires}
	if d.Conv != nil {
		f.Conversation = earshot.ConversationID{Agent: earshot.AgentID(d.Conv[0]), Scope: s, Name: d.Conv[1]}
	}
	p.Kind, p.ReadOnly, p.Fixed, p.Expires = Capability, true, &f, d.Expires
	p.Reach = Reach{Workspaces: []earshot.WorkspaceID{s.Workspace}, Channels: []earshot.ChannelID{s.Channel}}
	return p, nil
}

// macOf returns the signature of a capability's text, in base64url.
func macOf(key []byte, text string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(text))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// signingSecrets are the keys of the signatures. They are notes, so that all replicas of a
// store share them. A store can be given several, by replicas that start at the same
// time: a capability names the one that signs it, so each of them is valid. They are
// stored in clear. Whoever reads them has the database, and so everything that a
// capability could let them read.
type signingSecrets struct {
	mu    sync.Mutex        // guards the fields below
	signs string            // the id of the one that signs; "" when it is not known yet
	of    map[string][]byte // by id; a note of this kind is never changed
}

// current returns the secret that signs, and makes one where there is none.
func (s *signingSecrets) current(ctx context.Context, st earshot.Notes) (id string, key []byte, err error) {
	if id, key := s.cachedSecret(""); key != nil {
		return id, key, nil
	}
	list, err := st.Notes(ctx, secretNote, 1)
	if err == nil && len(list) == 0 {
		raw, key := make([]byte, keyIDBytes), make([]byte, sha256.Size)
		_, _ = rand.Read(raw) // never fails
		_, _ = rand.Read(key)
		id := strings.ToLower(base32.StdEncoding.EncodeToString(raw))
		if err = st.PutNote(ctx, earshot.Note{Key: secretNote + id, Data: key}); err == nil {
			list, err = st.Notes(ctx, secretNote, 1)
		}
	}
	if err != nil {
		return "", nil, err
	}
	if len(list) == 0 {
		return "", nil, fmt.Errorf("the secret is gone: %w", earshot.ErrNotFound)
	}
	id = strings.TrimPrefix(list[0].Key, secretNote)
	return id, list[0].Data, s.keep(id, list[0].Data, true)
}

// byID returns one secret; ok is false where there is none.
func (s *signingSecrets) byID(ctx context.Context, st earshot.Notes, id string) (key []byte, ok bool, err error) {
	if _, key := s.cachedSecret(id); key != nil {
		return key, true, nil
	}
	key, ok, err = readNote(ctx, st, secretNote+id)
	if err != nil || !ok {
		return nil, false, err
	}
	return key, true, s.keep(id, key, false)
}

// cachedSecret returns a secret that was read before, nil if it was not. The id "" stands
// for the one that signs.
func (s *signingSecrets) cachedSecret(id string) (string, []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "" {
		id = s.signs
	}
	return id, s.of[id]
}

// keep remembers a secret of the store.
func (s *signingSecrets) keep(id string, key []byte, signs bool) error {
	if len(key) != sha256.Size {
		return fmt.Errorf("secret %s of capabilities has %d bytes, want %d", id, len(key), sha256.Size)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string][]byte{}
	}
	if s.of[id] = key; signs {
		s.signs = id
	}
	return nil
}
