package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
	"github.com/earshot-ai/earshot/secret"
)

// An Installation is the app in one workspace, as somebody there has installed it.
type Installation struct {
	Workspace earshot.WorkspaceID
	Name      string // the workspace's
	App       string
	Bot, By   earshot.AuthorID // the bot's user, and who installed it
	Scopes    []string
	At        earshot.Time

	Token   secret.Secret // of the bot; the first one where Refresh is set
	Refresh secret.Secret // where the tokens rotate
}

// Same reports whether two installations of a workspace are one.
func (i Installation) Same(as Installation) bool {
	return i.At == as.At && i.Token.Reveal() == as.Token.Reveal()
}

// A sealedInstallation is an Installation as it is encrypted.
type sealedInstallation struct {
	Name    string           `json:"name,omitempty"`
	App     string           `json:"app"`
	Bot     earshot.AuthorID `json:"bot"`
	By      earshot.AuthorID `json:"by,omitempty"`
	Scopes  []string         `json:"scopes"`
	At      earshot.Time     `json:"at"`
	Token   string           `json:"token"`
	Refresh string           `json:"refresh,omitempty"`
}

// Installations keep the installations of an app in a store, encrypted.
type Installations struct {
	keys  *secret.Keyring
	store earshot.Notes
}

// NewInstallations returns the installations that a store has.
func NewInstallations(keys *secret.Keyring, store earshot.Notes) *Installations {
	return &Installations{keys, store}
}

// The keys of the notes with installations, and with those that have ended and of which
// something may be stored; the workspace follows.
const (
	installedKey   = "slack/installed/"
	uninstalledKey = "slack/uninstalled/"
)

// List returns all installations, by workspace. What was sealed with an old key is sealed
// with the new one. An installation that cannot be read is left out, and named by the error.
func (x *Installations) List(ctx context.Context) ([]Installation, error) {
	list, err := x.store.Notes(ctx, installedKey, 0)
	if err != nil {
		return nil, fmt.Errorf("slack: list the installations: %w", err)
	}
	var out []Installation
	var problems []error
	for _, n := range list {
		i, err := x.open(n)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		if !x.keys.Current(n.Data) {
			problems = append(problems, x.put(ctx, i))
		}
		out = append(out, i)
	}
	return out, errors.Join(problems...)
}

// Of returns the installation in a workspace; ok is false where there is none.
func (x *Installations) Of(ctx context.Context, w earshot.WorkspaceID) (i Installation, ok bool, err error) {
	list, err := x.store.Notes(ctx, installedKey+string(w), 1)
	if err != nil {
		return i, false, fmt.Errorf("slack: look for the installation in %s: %w", w, err)
	}
	if len(list) == 0 || list[0].Key != installedKey+string(w) {
		return i, false, nil
	}
	i, err = x.open(list[0])
	return i, err == nil, err
}

// Put stores an installation, in place of the workspace's former one.
func (x *Installations) Put(ctx context.Context, i Installation) error {
	if !slackmsg.IsID(string(i.Workspace)) {
		return errors.New("slack: an installation names no workspace")
	}
	if err := x.put(ctx, i); err != nil {
		return err
	}
	// An erasure says so before it looks for an installation, and this the other way round: one
	// of the two sees the other.
	if erasing, err := x.isErasing(ctx, i.Workspace); err != nil {
		return err
	} else if erasing {
		return errors.Join(ErrErasing, x.store.DropNote(ctx, installedKey+string(i.Workspace)), x.mark(ctx, i.Workspace))
	}
	return x.store.DropNote(ctx, uninstalledKey+string(i.Workspace))
}

func (x *Installations) put(ctx context.Context, i Installation) error {
	data, err := json.Marshal(sealedInstallation{i.Name, i.App, i.Bot, i.By, i.Scopes, i.At, i.Token.Reveal(), i.Refresh.Reveal()})
	if err == nil {
		key := installedKey + string(i.Workspace)
		err = x.store.PutNote(ctx, earshot.Note{Key: key, Data: x.keys.Seal(data, key)})
	}
	if err != nil {
		return fmt.Errorf("slack: store the installation in %s: %w", i.Workspace, err)
	}
	return nil
}

// open decrypts a note, whose key what it has is bound to.
func (x *Installations) open(n earshot.Note) (Installation, error) {
	w := earshot.WorkspaceID(strings.TrimPrefix(n.Key, installedKey))
	data, err := x.keys.Open(n.Data, n.Key)
	var s sealedInstallation
	if err == nil && json.Unmarshal(data, &s) != nil {
		err = secret.ErrSealed
	}
	if err != nil {
		return Installation{}, fmt.Errorf("slack: the token of workspace %s cannot be decrypted: %w; set EARSHOT_TOKEN_KEY_OLD to the key before this one, or install the app there again", w, err)
	}
	return Installation{
		Workspace: w, Name: s.Name, App: s.App, Bot: s.Bot, By: s.By, Scopes: s.Scopes, At: s.At, Token: secret.New(s.Token), Refresh: secret.New(s.Refresh),
	}, nil
}

// End removes an installation and its tokens. That it has ended is remembered until
// [Installations.Forget], with the time now.
func (x *Installations) End(ctx context.Context, w earshot.WorkspaceID, now earshot.Time) error {
	data, err := json.Marshal(now)
	if err == nil {
		err = x.store.PutNote(ctx, earshot.Note{Key: uninstalledKey + string(w), Data: data})
	}
	if err == nil {
		err = x.store.DropNote(ctx, installedKey+string(w))
	}
	if err != nil {
		return fmt.Errorf("slack: end the installation in %s: %w", w, err)
	}
	return nil
}

// ErrErasing is what [Installations.Put] returns while what is stored of the workspace is erased.
var ErrErasing = errors.New("slack: the workspace is being erased")

// erasing is what the note of an ended installation says while the workspace is erased. Who
// reads a time of it takes it for long ago.
const erasing = `"erasing"`

// BeginErasing says that a workspace is about to be erased, and reports whether it may be: not
// where it was installed again.
func (x *Installations) BeginErasing(ctx context.Context, w earshot.WorkspaceID) (bool, error) {
	if err := x.mark(ctx, w); err != nil {
		return false, err
	}
	_, installed, err := x.Of(ctx, w)
	if err == nil && installed {
		err = x.Forget(ctx, w)
	}
	return err == nil && !installed, err
}

func (x *Installations) mark(ctx context.Context, w earshot.WorkspaceID) error {
	return x.store.PutNote(ctx, earshot.Note{Key: uninstalledKey + string(w), Data: []byte(erasing)})
}

func (x *Installations) isErasing(ctx context.Context, w earshot.WorkspaceID) (bool, error) {
	list, err := x.store.Notes(ctx, uninstalledKey+string(w), 1)
	return err == nil && len(list) == 1 && list[0].Key == uninstalledKey+string(w) && string(list[0].Data) == erasing, err
}

// An EndedInstallation is one that was uninstalled at a time.
type EndedInstallation struct {
	Workspace earshot.WorkspaceID
	At        earshot.Time
}

// Ended returns the installations that have ended and were not forgotten yet.
func (x *Installations) Ended(ctx context.Context) ([]EndedInstallation, error) {
	list, err := x.store.Notes(ctx, uninstalledKey, 0)
	if err != nil {
		return nil, fmt.Errorf("slack: list what was uninstalled: %w", err)
	}
	var out []EndedInstallation
	for _, n := range list {
		e := EndedInstallation{Workspace: earshot.WorkspaceID(strings.TrimPrefix(n.Key, uninstalledKey))}
		_ = json.Unmarshal(n.Data, &e.At) // of a damaged note: long ago
		out = append(out, e)
	}
	return out, nil
}

// Forget removes that an installation has ended.
func (x *Installations) Forget(ctx context.Context, w earshot.WorkspaceID) error {
	return x.store.DropNote(ctx, uninstalledKey+string(w))
}
