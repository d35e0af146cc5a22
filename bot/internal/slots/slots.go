package bot

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/tools"
)

// A turn works while its prompt is made and the model answers; it waits while
// the platform takes a post or an update, looks for one, or reads history: for
// a rate, for a retry, or for the network. [Limits.Parallel] bounds the turns
// that work. Those that wait have no slot, so that an answer held up by a limit
// holds up no other conversation.

// roomFactor bounds the turns that work or wait, as a multiple of those that
// may work: each keeps its prompt in memory and its lease alive.
const roomFactor = 4

// slots are counting semaphores: a token in a channel is a place taken.
type slots struct {
	room chan struct{} // of turns that work or wait
	work chan struct{} // of turns that work
}

func newSlots(parallel int) slots {
	return slots{room: make(chan struct{}, roomFactor*parallel), work: make(chan struct{}, parallel)}
}

// enter takes a place in room for one more turn; false when ctx ended.
func (s slots) enter(ctx context.Context) bool {
	select {
	case s.room <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// leave gives places in room back.
func (s slots) leave(places int) {
	for range places {
		<-s.room
	}
}

// empty takes what is left of room, and so waits until every other turn is at
// its end. It returns how many places that were.
func (s slots) empty() (places int) {
	for ; places < cap(s.room)-1; places++ {
		s.room <- struct{}{}
	}
	return places
}

// A slot is one turn's right to work. Only the turn's goroutine uses it.
type slot struct {
	work chan struct{}
	held bool
}

// take waits for a slot, unless it is held already. The error is why ctx ended.
func (s *slot) take(ctx context.Context) error {
	if s.held {
		return nil
	}
	select {
	case s.work <- struct{}{}:
		s.held = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// give gives the slot back, if it is held.
func (s *slot) give() {
	if s.held {
		s.held = false
		<-s.work
	}
}

// An awayFetcher gives the turn's slot back while a tool waits for history. The
// turn takes one again when the tool has answered.
type awayFetcher struct {
	tools.Fetcher
	slot *slot
}

func (f awayFetcher) FetchThread(ctx context.Context, s earshot.Scope, root earshot.MessageID, upTo earshot.Position) error {
	f.slot.give()
	return f.Fetcher.FetchThread(ctx, s, root, upTo)
}

func (f awayFetcher) FetchSince(ctx context.Context, s earshot.Scope, since earshot.Time, upTo earshot.Position) error {
	f.slot.give()
	return f.Fetcher.FetchSince(ctx, s, since, upTo)
}
