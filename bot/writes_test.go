package bot_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// A tally is a store that counts its writes.
type tally struct {
	bot.Store
	mu     sync.Mutex
	writes []string
}

func (s *tally) note(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, what)
}

func (s *tally) Accept(ctx context.Context, c earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.AcceptResult, error) {
	s.note("accept")
	return s.Store.Accept(ctx, c, e, ask)
}

func (s *tally) Record(ctx context.Context, c earshot.Scope, list ...earshot.Message) ([]earshot.RecordResult, error) {
	s.note("record")
	return s.Store.Record(ctx, c, list...)
}

func (s *tally) Begin(ctx context.Context, l earshot.Lease, id earshot.TurnID, p earshot.Prompt) error {
	s.note("begin")
	return s.Store.Begin(ctx, l, id, p)
}

func (s *tally) AddStep(ctx context.Context, l earshot.Lease, id earshot.TurnID, step earshot.Step, posts ...earshot.Post) error {
	s.note("step")
	return s.Store.AddStep(ctx, l, id, step, posts...)
}

func (s *tally) PutPost(ctx context.Context, l earshot.Lease, p earshot.Post) error {
	s.note("post")
	return s.Store.PutPost(ctx, l, p)
}

func (s *tally) Confirm(ctx context.Context, c earshot.Scope, key string, id earshot.MessageID) error {
	s.note("confirm")
	return s.Store.Confirm(ctx, c, key, id)
}

func (s *tally) Finish(ctx context.Context, l earshot.Lease, id earshot.TurnID, state earshot.TurnState, why string, t *earshot.Turn, arrived ...earshot.Arrival) error {
	s.note("finish")
	return s.Store.Finish(ctx, l, id, state, why, t, arrived...)
}

// TestHowOftenATurnWaitsForTheDisk lists the writes of a turn besides those of the
// lease; each is a transaction.
func TestHowOftenATurnWaitsForTheDisk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, placeholder string
		want              []string
	}{
		{"a reply that is posted whole", "", []string{"accept", "begin", "step", "finish"}},
		{"a placeholder", "…", []string{"accept", "begin", "post", "record", "confirm", "step", "finish"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := &tally{}
			placing(t, func(o *bot.Options) { s.Store, o.Store, o.Placeholder = o.Store, s, c.placeholder }, func(w *world, _ *slate) {
				w.say(general, alice, "m1", "<@U0BOT> hi")
				w.rest(time.Minute)
				same(t, "turns", w.turns(), []string{"m1 done"})
				same(t, "writes", s.writes, c.want)
			})
		})
	}
}
