package bot_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/store"
)

// The state machine of a turn over stores that keep nothing of their channels: each
// process has a memory of its own, and all share a disk.

// faultBeforeClean is between the end of a turn and the removal of its text.
const faultBeforeClean = "before clean"

// unclean is the disk of a process that may die before it removes a turn's text.
type unclean struct {
	bot.Store
	x *machine
	p *process
}

func (u unclean) Record(ctx context.Context, s earshot.Scope, list ...earshot.Message) ([]earshot.RecordResult, error) {
	u.x.mu.Lock()
	hit := u.x.armed == faultBeforeClean && u.tombstones(ctx, s, list)
	if hit {
		u.x.armed = ""
	}
	u.x.mu.Unlock()
	if hit {
		u.p.dead.Store(true)
		return nil, errDead
	}
	return u.Store.Record(ctx, s, list...)
}

// tombstones reports whether the list removes a question whose turn has ended.
func (u unclean) tombstones(ctx context.Context, s earshot.Scope, list []earshot.Message) bool {
	turns, err := u.Store.QueuedTurns(ctx, earshot.TurnQuery{Scope: &s, Limit: 10_000})
	return err == nil && slices.ContainsFunc(turns, func(q earshot.QueuedTurn) bool {
		return q.State.Final() && slices.ContainsFunc(list, func(m earshot.Message) bool { return m.Deleted && m.ID == q.Anchor })
	})
}

// nothingLeft asserts that the disk has no text of a channel.
func (x *machine) nothingLeft(ctx context.Context) {
	p := store.Partial(x.store, func(earshot.Scope) bool { return true }, nil)
	if _, err := p.Sweep(ctx); err != nil {
		x.failf("sweep: %v", err)
	}
	for _, c := range []earshot.Channel{general, direct} {
		list, err := x.store.Since(ctx, c.Scope(), 0, 0)
		if err != nil {
			x.failf("since: %v", err)
		}
		for _, m := range list {
			if !m.Deleted || m.Text != "" || m.Author.Name != "" {
				x.failf("the disk has %s: %+v", m.ID, m)
			}
			events, err := x.store.Events(ctx, c.Scope(), m.ID)
			if err != nil || slices.ContainsFunc(events, func(e earshot.Event) bool { return len(e.Raw) > 0 }) {
				x.failf("the disk has the raw events of %s, %v", m.ID, err)
			}
		}
	}
	turns, err := x.store.QueuedTurns(ctx, earshot.TurnQuery{Limit: 10_000})
	if err != nil {
		x.failf("turns: %v", err)
	}
	for _, q := range turns {
		whole, err := x.store.QueuedTurn(ctx, q.ID)
		if err != nil || len(whole.Input) > 0 {
			x.failf("the disk has the input of turn %d, %v", q.ID, err)
		}
		steps, err := x.store.Steps(ctx, q.ID)
		if err != nil || slices.ContainsFunc(steps, func(s earshot.Step) bool { return len(s.Data) > 0 }) {
			x.failf("the disk has the journal of turn %d (%s): %+v, %v", q.ID, q.State, steps, err)
		}
		posts, err := x.store.Posts(ctx, q.ID)
		if err != nil || slices.ContainsFunc(posts, func(p earshot.Post) bool { return strings.Contains(p.Text, "reply ") }) {
			x.failf("the disk has the posts of turn %d (%s): %+v, %v", q.ID, q.State, posts, err)
		}
		for n := range 50 {
			t, err := x.store.Turn(ctx, q.Conversation, n)
			if err == nil && len(t.Session)+len(t.Ledger)+len(t.Shown)+len(t.Names)+len(t.Attached) > 0 {
				x.failf("the disk has a turn's session: %+v", t)
			}
		}
	}
}

func TestWhateverHappensWithoutAStoredChannel(t *testing.T) {
	t.Parallel()
	for _, placeholder := range []bool{false, true} {
		t.Run(fmt.Sprintf("placeholder %v", placeholder), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				script := acts(append(points(placeholder), faultBeforeClean, faultBeforeClean)).Draw(rt, "script")
				var x *machine
				synctest.Test(t, func(t *testing.T) {
					x = newMachine(memory(t), 9*time.Second, placeholder)
					x.partly = true
					x.play(t, script)
					x.nothingLeft(t.Context())
					x.check(t.Context())
				})
				if len(x.errs) > 0 {
					rt.Fatal(strings.Join(x.errs, "\n"))
				}
			})
		})
	}
}

// TestAKillAtEachPointWithoutAStoredChannel kills once at every point, and then
// before the text of a turn is removed.
func TestAKillAtEachPointWithoutAStoredChannel(t *testing.T) {
	t.Parallel()
	for _, placeholder := range []bool{false, true} {
		for _, point := range append(points(placeholder), faultBeforeClean) {
			t.Run(fmt.Sprintf("placeholder %v/%s", placeholder, point), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					x := newMachine(memory(t), 9*time.Second, placeholder)
					x.partly = true
					say, wait := act{kind: "say"}, act{kind: "wait", wait: 8 * time.Second}
					x.play(t, []act{{kind: "kill", point: point}, say, say, wait, say, wait, say, wait, wait, say, say})
					x.nothingLeft(t.Context())
					x.check(t.Context())
					for _, e := range x.errs {
						t.Error(e)
					}
					if x.n < 2 {
						t.Errorf("nothing died at %s", point)
					}
				})
			})
		}
	}
}
