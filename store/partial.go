package store

import (
	"context"
	"log/slog"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/memory"
	"github.com/earshot-ai/earshot/store/internal/partial"
)

// A Transient is a store that keeps only some of its channels on the disk. Each
// process has its own; any number of them share the disk.
type Transient struct {
	earshot.Store
	partial *partial.Store
	now     func() time.Time
}

// Partial returns a store over disk that keeps in this process's memory what is said
// in the channels for which transient reports true. Close closes disk too.
//
// Of a transient channel the disk holds what an unfinished turn needs, so that no
// kill loses a question and no replica answers it twice: the question, the turn's
// input, journal and posts. Once the turn has ended, bare ids, counts and usage
// stay. There are no sessions, summaries, files or names of such a channel on the
// disk, and no raw events. Transient must always report the same for a channel, in
// all processes: erase a channel that becomes transient.
//
// o may be nil; its Now dates what the memory holds, and is by default the clock of disk.
func Partial(disk earshot.Store, transient func(earshot.Scope) bool, o *Options) Transient {
	var opts Options
	if o != nil {
		opts = *o
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	if opts.Now == nil {
		opts.Now = earshot.ClockOf(disk, time.Now)
	}
	p := partial.New(disk, memory.Open(opts.Now), transient, earshot.TimeOf(opts.Now()), opts.Log)
	return Transient{p, p, opts.Now}
}

// Sweep removes what processes that died have left on the disk of turns that have
// ended, and returns how many messages lost their text there. Call it at the start
// and from time to time.
func (t Transient) Sweep(ctx context.Context) (int, error) { return t.partial.Sweep(ctx) }

// Trim forgets what the memory holds of the channels with more than most messages,
// and returns which they are: their history must be read from the platform again.
func (t Transient) Trim(ctx context.Context, most int) ([]earshot.Scope, error) {
	return t.partial.Trim(ctx, most)
}

// Now implements [earshot.Clock].
func (t Transient) Now() time.Time { return t.now() }

// Scrub implements [earshot.Scrubber].
func (t Transient) Scrub(ctx context.Context) error { return t.partial.Scrub(ctx) }
