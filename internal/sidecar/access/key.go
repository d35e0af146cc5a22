package access

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/secret"
)

// An API key is ek_ID_SECRET: the id is public and names the note that has the key's
// hash and reach.
const (
	keyMark     = "ek_"
	keyNote     = "access/key/" // and the id
	keyIDBytes  = 10            // 16 characters of base32
	keyIDLength = 16
)

// NameBytes is how long the name of a key may be.
const NameBytes = 100

// A KeySpec says which key to make.
type KeySpec struct {
	Name       string                // required; what people call it, unique among the keys of a store
	Workspaces []earshot.WorkspaceID // empty: every workspace
	Channels   []earshot.ChannelID   // empty: every channel of the workspaces
	ReadOnly   bool
	Expires    earshot.Time // zero: never
}

// A StoredKey is an API key as it is stored, without its secret, which nobody can
// get back.
type StoredKey struct {
	ID       string
	Name     string
	Reach    Reach
	ReadOnly bool
	Created  earshot.Time
	Expires  earshot.Time // zero: never

	hash [sha256.Size]byte
}

// Expired reports whether the key is no longer accepted.
func (k StoredKey) Expired(now time.Time) bool {
	return k.Expires != 0 && k.Expires <= earshot.TimeOf(now)
}

// keyData is a key's note.
type keyData struct {
	Name       string                `json:"name"`
	Hash       []byte                `json:"hash"`
	Workspaces []earshot.WorkspaceID `json:"workspaces,omitempty"`
	Channels   []earshot.ChannelID   `json:"channels,omitempty"`
	ReadOnly   bool                  `json:"read_only,omitempty"`
	Created    earshot.Time          `json:"created"`
	Expires    earshot.Time          `json:"expires,omitempty"`
}

// A KeyStore is what making a key needs of a store.
type KeyStore interface {
	earshot.Notes
	FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error)
}

// An AmbiguousError is returned for a channel of a [KeySpec] without workspaces that
// is stored in several, or where the channels are stored in different ones.
type AmbiguousError struct {
	Channel    earshot.ChannelID // "" when it is about all of them together
	Workspaces []earshot.WorkspaceID
}

func (e *AmbiguousError) Error() string {
	what := "the channels are stored"
	if e.Channel != "" {
		what = fmt.Sprintf("channel %s is stored", e.Channel)
	}
	names := make([]string, len(e.Workspaces))
	for i, w := range e.Workspaces {
		names[i] = string(w)
	}
	return what + " in several workspaces: " + strings.Join(names, ", ")
}

// CreateKey makes an API key and stores its hash. The secret is shown to nobody
// again. Channels without a workspace belong to the one in which they are stored; a
// channel that is not stored yet may be of any workspace. ErrInvalid for a name that
// is empty, too long or no plain text, for an empty id and for a time that is over;
// ErrConflict for a name that another key has; an [AmbiguousError].
func CreateKey(ctx context.Context, st KeyStore, spec KeySpec) (secret.Secret, StoredKey, error) {
	return createKey(ctx, st, spec, earshot.ClockOf(st, time.Now)())
}

func createKey(ctx context.Context, st KeyStore, spec KeySpec, now time.Time) (secret.Secret, StoredKey, error) {
	k := StoredKey{
		Name:     spec.Name,
		Reach:    Reach{Workspaces: sortUnique(spec.Workspaces), Channels: sortUnique(spec.Channels)},
		ReadOnly: spec.ReadOnly, Created: earshot.TimeOf(now), Expires: spec.Expires,
	}
	none := secret.Secret{}
	if err := checkKey(k, now); err != nil {
		return none, k, err
	}
	var err error
	if k.Reach.Workspaces, err = pinWorkspaces(ctx, st, k.Reach); err != nil {
		return none, k, err
	}
	if err := checkNameFree(ctx, st, k, now); err != nil {
		return none, k, err
	}
	id, text := make([]byte, keyIDBytes), make([]byte, 32)
	_, _ = rand.Read(id) // never fails
	_, _ = rand.Read(text)
	k.ID = strings.ToLower(base32.StdEncoding.EncodeToString(id))
	whole := keyMark + k.ID + "_" + base64.RawURLEncoding.EncodeToString(text)
	k.hash = hashOf(whole)
	data, err := json.Marshal(keyData{
		Name: k.Name, Hash: k.hash[:], Workspaces: k.Reach.Workspaces, Channels: k.Reach.Channels,
		ReadOnly: k.ReadOnly, Created: k.Created, Expires: k.Expires,
	})
	if err != nil {
		return none, k, err
	}
	if err := st.PutNote(ctx, earshot.Note{Key: keyNote + k.ID, Data: data}); err != nil {
		return none, k, err
	}
	// Whoever makes a key of the same name at the same time may have passed the first
	// check too. The second one sees the other in at least one of the two.
	if err := checkNameFree(ctx, st, k, now); err != nil {
		return none, k, errors.Join(err, st.DropNote(context.WithoutCancel(ctx), keyNote+k.ID))
	}
	return secret.New(whole), k, nil
}

// checkKey returns ErrInvalid for a key that cannot be made.
func checkKey(k StoredKey, now time.Time) error {
	switch {
	case k.Name == "":
		return fmt.Errorf("%w: a key needs a name", earshot.ErrInvalid)
	case len(k.Name) > NameBytes || !utf8.ValidString(k.Name) || strings.TrimSpace(k.Name) != k.Name || strings.ContainsFunc(k.Name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("%w: the name of a key is at most %d bytes of printable text", earshot.ErrInvalid, NameBytes)
	case strings.HasPrefix(k.Name, keyMark):
		return fmt.Errorf("%w: the name of a key does not begin with %s, as keys themselves do", earshot.ErrInvalid, keyMark)
	case slices.Contains(k.Reach.Workspaces, "") || slices.Contains(k.Reach.Channels, ""):
		return fmt.Errorf("%w: the id of a workspace or a channel is empty", earshot.ErrInvalid)
	case k.Expired(now):
		return fmt.Errorf("%w: a key cannot expire in the past", earshot.ErrInvalid)
	}
	return nil
}

// pinWorkspaces returns the workspaces of a reach. Channel ids are unique within a workspace
// only, so channels that are named alone are those of the workspace where they are
// stored.
func pinWorkspaces(ctx context.Context, st KeyStore, r Reach) ([]earshot.WorkspaceID, error) {
	if len(r.Workspaces) > 0 || len(r.Channels) == 0 {
		return r.Workspaces, nil
	}
	list, err := st.FindChannels(ctx, earshot.ChannelQuery{IDs: r.Channels})
	if err != nil {
		return nil, err
	}
	var all []earshot.WorkspaceID
	for _, id := range r.Channels {
		var in []earshot.WorkspaceID
		for _, c := range list {
			if c.ID == id {
				in = append(in, c.Workspace)
			}
		}
		if in = sortUnique(in); len(in) > 1 {
			return nil, &AmbiguousError{Channel: id, Workspaces: in}
		}
		all = append(all, in...)
	}
	if all = sortUnique(all); len(all) > 1 {
		return nil, &AmbiguousError{Workspaces: all}
	}
	return all, nil
}

// checkNameFree returns ErrConflict when another key has k's name. One that has expired makes
// room.
func checkNameFree(ctx context.Context, st earshot.Notes, k StoredKey, now time.Time) error {
	list, err := Keys(ctx, st)
	if err != nil {
		return err
	}
	for _, other := range list {
		switch {
		case other.ID == k.ID || other.Name != k.Name && other.ID != k.Name:
		case other.ID != k.Name && other.Expired(now):
			if err := st.DropNote(ctx, keyNote+other.ID); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%w: key %s has the name %q", earshot.ErrConflict, other.ID, other.Name)
		}
	}
	return nil
}

// Keys lists the stored API keys, expired ones too, by name and id.
func Keys(ctx context.Context, st earshot.Notes) ([]StoredKey, error) {
	notes, err := st.Notes(ctx, keyNote, 0)
	if err != nil {
		return nil, err
	}
	list := make([]StoredKey, 0, len(notes))
	for _, n := range notes {
		k, err := decodeKey(strings.TrimPrefix(n.Key, keyNote), n.Data)
		if err != nil {
			return nil, err
		}
		list = append(list, k)
	}
	slices.SortFunc(list, func(x, y StoredKey) int {
		return strings.Compare(x.Name+"\x00"+x.ID, y.Name+"\x00"+y.ID)
	})
	return list, nil
}

// RevokeKey removes a key, by its name, its id (with ek_ in front or not) or the whole
// key. It is refused from then on by every process, and so is each capability that
// was made under it. ErrNotFound when there is none; ErrConflict when several have the
// name.
func RevokeKey(ctx context.Context, st earshot.Notes, idOrName string) error {
	id, whole := strings.CutPrefix(idOrName, keyMark)
	if whole {
		id, _, _ = strings.Cut(id, "_")
	}
	if isKeyID(id) {
		if _, ok, err := readNote(ctx, st, keyNote+id); err != nil {
			return err
		} else if ok {
			return st.DropNote(ctx, keyNote+id)
		}
	}
	list, err := Keys(ctx, st)
	if err != nil {
		return err
	}
	var found []string
	for _, k := range list {
		if k.Name == idOrName {
			found = append(found, k.ID)
		}
	}
	switch len(found) {
	case 0:
		return fmt.Errorf("no key has this id or name: %w", earshot.ErrNotFound)
	case 1:
		return st.DropNote(ctx, keyNote+found[0])
	}
	return fmt.Errorf("%w: several keys have this name: %s", earshot.ErrConflict, strings.Join(found, ", "))
}

// key returns the owner of an API key.
func (g *Gate) key(ctx context.Context, bearer string) (Principal, error) {
	id, text, ok := strings.Cut(strings.TrimPrefix(bearer, keyMark), "_")
	if !ok || text == "" || !isKeyID(id) {
		return Principal{}, refuse("not the form of an API key")
	}
	k, err := g.readKey(ctx, id)
	if err != nil {
		return Principal{}, err
	}
	if hash := hashOf(bearer); subtle.ConstantTimeCompare(hash[:], k.hash[:]) != 1 {
		return Principal{}, refuse("the secret of key " + id + " is wrong")
	}
	return k.principal(), nil
}

// readKey returns a key that is neither revoked nor expired.
func (g *Gate) readKey(ctx context.Context, id string) (StoredKey, error) {
	data, ok, err := readNote(ctx, g.store, keyNote+id)
	if err != nil {
		return StoredKey{}, unavailableError("read a key", err)
	}
	if !ok {
		return StoredKey{}, refuse("there is no key " + id)
	}
	k, err := decodeKey(id, data)
	if err != nil {
		return StoredKey{}, unavailableError("read a key", err)
	}
	if k.Expired(g.now()) {
		return StoredKey{}, refuse("key " + id + " has expired")
	}
	return k, nil
}

func (k StoredKey) principal() Principal {
	return Principal{ID: "key:" + k.ID, Name: k.Name, Kind: Key, Reach: k.Reach, ReadOnly: k.ReadOnly, Expires: k.Expires}
}

func decodeKey(id string, data []byte) (StoredKey, error) {
	var d keyData
	if err := json.Unmarshal(data, &d); err != nil {
		return StoredKey{}, fmt.Errorf("key %s: %w", id, err)
	}
	k := StoredKey{
		ID: id, Name: d.Name, Reach: Reach{Workspaces: d.Workspaces, Channels: d.Channels},
		ReadOnly: d.ReadOnly, Created: d.Created, Expires: d.Expires,
	}
	// An empty list in a reach bounds nothing, so an empty id must not get there.
	if copy(k.hash[:], d.Hash) != sha256.Size || len(d.Hash) != sha256.Size || slices.Contains(d.Workspaces, "") || slices.Contains(d.Channels, "") {
		return StoredKey{}, fmt.Errorf("key %s: its note is damaged", id)
	}
	return k, nil
}

// hashOf returns what is stored of a key. The secret has 256 random bits, so nobody
// can go through the possible ones, and a slow hash with a salt, as for passwords,
// would only make each request slow. The whole key is hashed, its id too: a hash
// that somebody copies to another id fits no key.
func hashOf(whole string) [sha256.Size]byte { return sha256.Sum256([]byte(whole)) }

// isKeyID reports whether s has the form of a key's id. Nothing else may become part
// of a note's key.
func isKeyID(s string) bool {
	return len(s) == keyIDLength && !strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '2' || r > '7') })
}

// sortUnique returns a sorted copy without duplicates; nil when there is nothing.
func sortUnique[T ~string](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return slices.Compact(slices.Sorted(slices.Values(list)))
}
