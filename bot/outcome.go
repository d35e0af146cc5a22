package bot

import (
	"context"
	"errors"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/llm"
)

// An outcome says how a turn's way through this process ended. (The exported
// Outcome is that of an event.) It is an error, so that a function deep in the line
// can return it, and so that it can be the cause with which a context ends;
// [outcomeOf] reads it back.
type outcome struct {
	kind outcomeKind
	why  string         // for the operator: of gaveUp and unclear
	say  words.Key      // what the person is told: of gaveUp
	text string         // of stopped, what was written so far; of gaveUp, what the person was told already
	err  error          // of retry, remake and waitForPlatform
	wait time.Duration  // of waitForPlatform and listening; of retry the least
	next attemptOptions // of remake

	model bool // of retry: the language model cannot be reached
}

type outcomeKind int

const (
	// retry: there was an error that may pass. The turn is claimed again after a pause,
	// until it had its tries.
	retry outcomeKind = iota
	// ended: the turn has its final state in the store.
	ended
	// endedElsewhere: another process, or an operator, ended the turn.
	endedElsewhere
	// withdrawn: the question was deleted.
	withdrawn
	// stopped: somebody has stopped the turn.
	stopped
	// gaveUp: there is no answer. The person is told so, and the turn fails.
	gaveUp
	// unclear: nobody can find out whether a post arrived. An operator has to
	// look, and the turn is parked.
	unclear
	// remake: the prompt is made again at once, as next says.
	remake
	// waitForPlatform: the platform takes no post at the moment. The turn keeps
	// its answer and is claimed again after wait.
	waitForPlatform
	// listening: people may go on talking. The turn is claimed again after wait.
	listening
	// waiting: a person is asked something. The turn is claimed again once that is decided.
	waiting
	// stopping: the bot stops. The turn is claimed again, by any process.
	stopping
	// leaseLost: another process has taken over the conversation.
	leaseLost
)

// giveUp is the outcome of a turn without an answer.
func giveUp(why string, say words.Key) outcome { return outcome{kind: gaveUp, why: why, say: say} }

// outcomeOf returns the outcome that an error carries: ended for nil, and retry
// for an error that carries none.
func outcomeOf(err error) outcome {
	var o outcome
	switch {
	case err == nil:
		return outcome{kind: ended}
	case errors.Is(err, earshot.ErrFenced):
		return outcome{kind: leaseLost, err: err}
	case errors.As(err, &o):
		return o
	}
	return outcome{kind: retry, err: err}
}

// isKind reports whether an error carries an outcome of a kind.
func isKind(err error, kind outcomeKind) bool { return err != nil && outcomeOf(err).kind == kind }

// Error implements error.
func (o outcome) Error() string {
	switch {
	case o.why != "":
		return o.why
	case o.err != nil:
		return o.err.Error()
	}
	switch o.kind {
	case endedElsewhere:
		return "the turn was ended elsewhere"
	case withdrawn:
		return "the question was deleted"
	case stopped:
		return "somebody has stopped the turn"
	case waiting:
		return "a person is asked something"
	case stopping:
		return "the bot stops"
	}
	return "the turn has ended"
}

// Is reports whether it says that nobody wants the answer any more ([llm.ErrUnwanted]).
func (o outcome) Is(target error) bool {
	switch o.kind {
	case ended, endedElsewhere, withdrawn, stopped, gaveUp:
		return target == llm.ErrUnwanted
	}
	return false
}

// eitherEnds returns a context that ends with hard, and with the outcome stopping
// when soft ends.
func eitherEnds(soft, hard context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(hard)
	stop := context.AfterFunc(soft, func() { cancel(outcome{kind: stopping}) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
