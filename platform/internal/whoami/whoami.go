// Package whoami remembers in a store who a bot is, so that it can work while its
// platform does not say so. Start with [Memory]; [FailureCause] tells errors of the platform
// from those of the store.
package whoami

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/secret"
)

// A Store is where it is remembered.
type Store interface {
	PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error
	earshot.Notes
}

// A Memory is of the bot that a token belongs to. T says who that is, as JSON.
type Memory[T comparable] struct {
	Platform earshot.Platform
	Token    secret.Secret
	Store    Store
	Whole    func(T) bool // reports whether what is stored says who the bot is
}

// key is the key of the note that says whose the token is. The token cannot be computed
// from it.
func (m Memory[T]) key() string {
	mac := hmac.New(sha256.New, []byte("earshot: whose token it is"))
	mac.Write([]byte(m.Token.Reveal()))
	return string(m.Platform) + "/self/" + hex.EncodeToString(mac.Sum(nil))
}

// Recall returns what is remembered. ok is false where that is nothing whole.
func (m Memory[T]) Recall(ctx context.Context) (was T, ok bool, err error) {
	list, err := m.Store.Notes(ctx, m.key(), 1)
	if err != nil {
		return was, false, fmt.Errorf("%s: read who the bot is: %w", m.Platform, err)
	}
	if len(list) == 0 || json.Unmarshal(list[0].Data, &was) != nil || !m.Whole(was) {
		var none T
		return none, false, nil // Remember overwrites it
	}
	return was, true, nil
}

// Remember stores who the bot is. keep, unless it is nil, takes over what was stored and
// is not known now.
func (m Memory[T]) Remember(ctx context.Context, now T, keep func(was T, now *T)) error {
	was, ok, err := m.Recall(ctx)
	if err != nil {
		return err
	}
	if ok && keep != nil {
		keep(was, &now)
	}
	if ok && was == now {
		return nil
	}
	data, err := json.Marshal(now)
	if err == nil {
		err = m.Store.PutNote(ctx, earshot.Note{Key: m.key(), Data: data})
	}
	if err != nil {
		return fmt.Errorf("%s: remember the bot: %w", m.Platform, err)
	}
	return nil
}

// Forget removes what is remembered of the token.
func (m Memory[T]) Forget(ctx context.Context) error {
	if err := m.Store.DropNote(ctx, m.key()); err != nil {
		return fmt.Errorf("%s: forget the bot: %w", m.Platform, err)
	}
	return nil
}

// idsKey is the key of the note that has the ids of an app's bot.
func (m Memory[T]) idsKey(app string) string { return string(m.Platform) + "/bot/" + app }

// IDs returns the ids by which the bot of an app was known over the store, the first of
// all first; none where nothing is stored.
func (m Memory[T]) IDs(ctx context.Context, app string) ([]earshot.AuthorID, error) {
	list, err := m.Store.Notes(ctx, m.idsKey(app), 1)
	if err != nil {
		return nil, fmt.Errorf("%s: read the bot's ids: %w", m.Platform, err)
	}
	var ids []earshot.AuthorID
	if len(list) == 0 || list[0].Key != m.idsKey(app) || json.Unmarshal(list[0].Data, &ids) != nil {
		return nil, nil // AddIDs overwrites it
	}
	return ids, nil
}

// AddIDs stores the ids that the bot of an app has now beside those that it had before,
// as of an app that was installed again, and returns all, as [Memory.IDs] does: the bot
// stays the one that its conversations in the store are of. Call it before Remember. of
// returns the ids of another token's bot, or none where that is another app's: it is
// asked where a store of an older version does not have the ids.
func (m Memory[T]) AddIDs(ctx context.Context, app string, now []earshot.AuthorID, of func(was T) []earshot.AuthorID) ([]earshot.AuthorID, error) {
	ids, err := m.IDs(ctx, app)
	if err != nil {
		return nil, err
	}
	stored := len(ids)
	if stored == 0 {
		if ids, err = m.guess(ctx, now, of); err != nil {
			return nil, err
		}
	}
	for _, id := range now {
		if id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	if len(ids) == stored {
		return ids, nil
	}
	data, err := json.Marshal(ids)
	if err == nil {
		err = m.Store.PutNote(ctx, earshot.Note{Key: m.idsKey(app), Data: data})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: remember the bot's ids: %w", m.Platform, err)
	}
	return ids, nil
}

// guess returns the ids with which a list begins that is not stored yet: those that the
// bot has now where it has worked with this token, else those that it had with another.
func (m Memory[T]) guess(ctx context.Context, now []earshot.AuthorID, of func(was T) []earshot.AuthorID) ([]earshot.AuthorID, error) {
	_, known, err := m.Recall(ctx)
	if err != nil || known {
		return slices.Clone(now[:min(len(now), 1)]), err
	}
	list, err := m.Store.Notes(ctx, string(m.Platform)+"/self/", 0)
	if err != nil {
		return nil, fmt.Errorf("%s: read who the bot was: %w", m.Platform, err)
	}
	var ids []earshot.AuthorID
	for _, n := range list {
		var was T
		if json.Unmarshal(n.Data, &was) == nil && m.Whole(was) {
			for _, id := range of(was) {
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
		}
	}
	return ids, nil
}

// Identity returns a bot of a name with the ids that are stored of it, and those that it
// has now.
func Identity(name string, stored, now []earshot.AuthorID) earshot.Identity {
	all := slices.Clone(stored)
	for _, id := range now {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	x := earshot.Identity{ID: all[0], Name: name}
	if len(all) > 1 {
		x.Aliases = all[1:]
	}
	return x
}

// Introduce stores the bot among a workspace's authors: by this entry a reader of the
// store knows which of the bots this one is. user is the id by which people mention it.
func (m Memory[T]) Introduce(ctx context.Context, w earshot.WorkspaceID, i earshot.Identity, user earshot.AuthorID) error {
	who := []earshot.Author{{ID: i.ID, Name: i.Name, Kind: earshot.Bot}}
	if user != i.ID {
		who = append(who, earshot.Author{ID: user, Name: i.Name, Kind: earshot.Bot})
	}
	if err := m.Store.PutAuthors(ctx, m.Platform, w, who...); err != nil {
		return fmt.Errorf("%s: store the bot: %w", m.Platform, err)
	}
	return nil
}

// An askError is how a question to the platform has ended.
type askError struct{ error }

// Unwrap returns the error of the call.
func (e *askError) Unwrap() error { return e.error }

// MarkFailed marks the error of a question to the platform.
func MarkFailed(err error) error { return &askError{err} }

// FailureCause returns the error that [MarkFailed] has marked in err. ok is false where err did not
// come from asking the platform, as one of the store.
func FailureCause(err error) (ok bool, cause error) {
	var asked *askError
	if !errors.As(err, &asked) {
		return false, nil
	}
	return true, asked.error
}
