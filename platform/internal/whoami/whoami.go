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

// Introduce stores the bot among a workspace's authors: by this entry a reader of the
// store knows which of the bots this one is.
func (m Memory[T]) Introduce(ctx context.Context, w earshot.WorkspaceID, i earshot.Identity) error {
	if err := m.Store.PutAuthors(ctx, m.Platform, w, earshot.Author{ID: i.ID, Name: i.Name, Kind: earshot.Bot}); err != nil {
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
