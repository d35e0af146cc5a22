// Package rescue keeps an event that panics from ending the process.
package rescue

import (
	"errors"
	"log/slog"
	"runtime/debug"
	"strings"
)

// ErrPanic is returned in place of a panic in the handling of an event.
var ErrPanic = errors.New("the event was not taken: a panic")

// HandleEvent handles an event. Where that panics it returns [ErrPanic], and logs the place and
// the facts. The panic's value may contain a message: it is not logged.
func HandleEvent(log *slog.Logger, handle func() error, facts ...any) (err error) {
	defer func() {
		if r := recover(); r != nil {
			log.Error("an event panicked", append(facts, "at", panicPlace(debug.Stack()))...)
			err = ErrPanic
		}
	}()
	return handle()
}

// panicPlace returns the first function of a stack that is this module's, below the panic.
func panicPlace(stack []byte) string {
	past := false
	for l := range strings.SplitSeq(string(stack), "\n") {
		past = past || strings.HasPrefix(l, "panic(")
		if name, _, ok := strings.Cut(l, "("); ok && past && strings.HasPrefix(name, "github.com/earshot-ai/") {
			return name
		}
	}
	return "unknown"
}
