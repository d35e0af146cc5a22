// Package slots bounds how many turns run at the same time.
//
// A turn works while its prompt is made and the model answers. It waits while
// the platform takes a post or an update, searches for a post, or reads history.
// A [Pool] bounds the turns that work; a turn that waits gives its [Slot] back,
// so that a rate limit in one conversation delays no other. A second, larger
// bound is on the turns that work or wait, because each of them keeps its prompt
// in memory and renews its lease.
package slots

import "context"

// waitFactor is how many turns may work or wait for each that may work.
const waitFactor = 4

// A Pool is two counting semaphores: a token in a channel is a place taken. It
// is safe for concurrent use.
type Pool struct {
	turns   chan struct{} // that work or wait
	working chan struct{}
}

// New returns a pool in which parallel turns may work at the same time.
func New(parallel int) Pool {
	return Pool{turns: make(chan struct{}, waitFactor*parallel), working: make(chan struct{}, parallel)}
}

// Enter waits for a place for one more turn. It reports false when ctx ended.
func (p Pool) Enter(ctx context.Context) bool {
	select {
	case p.turns <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// Leave gives places back.
func (p Pool) Leave(places int) {
	for range places {
		<-p.turns
	}
}

// TakeAll takes every place but the caller's own, and so waits until all other
// turns have ended. It returns how many places it took.
func (p Pool) TakeAll() (places int) {
	for ; places < cap(p.turns)-1; places++ {
		p.turns <- struct{}{}
	}
	return places
}

// Slot returns a slot that is not taken.
func (p Pool) Slot() *Slot { return &Slot{working: p.working} }

// A Slot is one turn's right to work. One goroutine uses it.
type Slot struct {
	working chan struct{}
	taken   bool
}

// Take waits for the slot, unless it is taken already. The error is the cause
// with which ctx ended.
func (s *Slot) Take(ctx context.Context) error {
	if s.taken {
		return nil
	}
	select {
	case s.working <- struct{}{}:
		s.taken = true
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Give gives the slot back, if it is taken.
func (s *Slot) Give() {
	if s.taken {
		s.taken = false
		<-s.working
	}
}
