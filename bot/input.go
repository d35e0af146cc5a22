package bot

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/inputref"
)

// ErrChanged is in the chain of [Input]'s error when something that the turn read
// was erased or replaced since.
var ErrChanged = errors.New("what the turn read has changed")

// Input returns what a turn's prompt was made of, read from the store again:
// [assemble.Turn] makes of it the prompt that the turn's Hash is of. The error
// wraps [ErrChanged] where that is no longer possible.
func Input(ctx context.Context, st Store, q earshot.QueuedTurn) (assemble.Input, error) {
	in, err := inputref.Load(ctx, st, q)
	if errors.Is(err, inputref.ErrChanged) {
		err = changedError{err}
	}
	return in, err
}

// A changedError is an error of inputref that is [ErrChanged] to callers.
type changedError struct{ error }

// Is implements the interface of [errors.Is].
func (e changedError) Is(target error) bool { return target == ErrChanged }
