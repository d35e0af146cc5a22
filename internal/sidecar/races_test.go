package sidecar_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// TestTwoSidecarsOverOneStoreCommitOnce has two sidecars over one database open turns
// for the same question and commit all of them at once, while messages that they show
// are deleted. A question is answered once, or not at all where something of it was
// deleted; whoever loses is told so, and the turns of the conversation have no gap.
func TestTwoSidecarsOverOneStoreCommitOnce(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, r *races) {
		rounds := 24
		if testing.Short() {
			rounds = 8
		}
		for n := range rounds {
			r.round(n)
		}
		turns, err := r.stores[0].Turns(t.Context(), r.conversation, 0)
		if err != nil || len(turns) != r.committed {
			t.Fatalf("%d turns, %d were committed: %v", len(turns), r.committed, err)
		}
		for i, turn := range turns {
			if turn.Number != i || len(turn.Answer.Replies) != 1 {
				t.Errorf("turn %d has number %d and replies %v", i, turn.Number, turn.Answer.Replies)
			}
		}
		if r.committed < rounds/2 || r.overtaken == 0 {
			t.Errorf("%d of %d questions were answered, %d commits came too late", r.committed, rounds, r.overtaken)
		}
		t.Logf("%d of %d questions were answered, %d commits came too late", r.committed, rounds, r.overtaken)
	})
}

// TestTwoSidecarsOpenOneQuestion has two sidecars over one database open turns for the
// same question at once: one gets the claim, and the others are told who. When it runs out
// its holder and the others race for it again; then it is committed, while the others still
// try.
func TestTwoSidecarsOpenOneQuestion(t *testing.T) {
	t.Parallel()
	overBoth(t, func(t *testing.T, r *races) {
		rounds := 12
		if testing.Short() {
			rounds = 4
		}
		for n := range rounds {
			r.claimed(n)
		}
		turns, err := r.stores[0].Turns(t.Context(), r.conversation, 0)
		if err != nil || len(turns) != rounds {
			t.Errorf("%d turns for %d questions: %v", len(turns), rounds, err)
		}
		for n := range rounds {
			r.elsewhere(n)
		}
	})
}

// claimed asks a question that three callers of each sidecar want to answer.
func (r *races) claimed(n int) {
	r.t.Helper()
	ctx, question := r.t.Context(), earshot.MessageID(fmt.Sprintf("q%d", n))
	r.say(string(question), "<@U0BOT> and now?", n+1)
	open := func(s *sidecar.Service, hold time.Duration) (*earshot.Draft, error) {
		c, err := s.Context(ctx, everyone, sidecar.ContextRequest{Channel: visible.Place{Channel: "C1"}, Anchor: question, Agent: "U0BOT", Open: true, Claim: sidecar.Claim{Hold: hold}})
		return c.Draft, err
	}
	// race runs six that open, and besides them what else holds the question or ends it.
	race := func(what string, hold time.Duration, besides func() (*earshot.Draft, error)) (won *earshot.Draft) {
		r.t.Helper()
		won = nil
		drafts, errs := make([]*earshot.Draft, 7), make([]error, 7)
		var wg sync.WaitGroup
		for i := range 6 {
			wg.Go(func() { drafts[i], errs[i] = open(r.services[i%2], hold) })
		}
		if besides != nil {
			wg.Go(func() { drafts[6], errs[6] = besides() })
		}
		wg.Wait()
		for i, d := range drafts {
			if d != nil && errs[i] == nil && won != nil {
				r.t.Errorf("%s, round %d: turns %d and %d both have the question", what, n, won.ID, d.ID)
			}
			if d != nil && errs[i] == nil {
				won = d
			}
		}
		for _, err := range errs {
			var taken *sidecar.Taken
			if err != nil && (!errors.As(err, &taken) || won != nil && taken.Turn != won.ID) {
				r.t.Errorf("%s, round %d: who lost is told %v, %+v", what, n, err, taken)
			}
		}
		if won == nil {
			r.t.Fatalf("%s, round %d: nobody has the question: %v", what, n, errs)
		}
		return won
	}
	first := race("opening", time.Minute, nil)
	at, err := r.services[n%2].Renew(ctx, everyone, first.ID, sidecar.Renewal{Hold: time.Microsecond})
	r.must(err)
	for earshot.TimeOf(time.Now()) <= at.Expires { // the claim runs out
		time.Sleep(time.Microsecond)
	}
	holder := race("after it ran out", time.Minute, func() (*earshot.Draft, error) {
		held, err := r.services[n%2].Renew(ctx, everyone, first.ID, sidecar.Renewal{Hold: time.Minute})
		return &held.Draft, err
	})
	race("while it is committed", time.Minute, func() (*earshot.Draft, error) {
		done, err := r.services[n%2].Commit(ctx, everyone, holder.ID, sidecar.Reply{Text: "an answer"})
		return &earshot.Draft{ID: done.Turn}, err
	})
}

// elsewhere has two conversations claim one question at once.
func (r *races) elsewhere(n int) {
	r.t.Helper()
	var wg sync.WaitGroup
	errs := make([]error, 6)
	for i := range errs {
		wg.Go(func() {
			_, errs[i] = r.stores[i%2].OpenDraft(r.t.Context(), earshot.Draft{
				Conversation: earshot.ConversationID{Agent: "U0BOT", Scope: channel.Scope(), Name: fmt.Sprint("elsewhere ", n, " ", i)},
				Anchor:       earshot.MessageID(fmt.Sprint("elsewhere", n)), Expires: earshot.Time(4e15), Prompt: earshot.Prompt{Hash: "h"},
			})
		})
	}
	wg.Wait()
	won := 0
	for _, err := range errs {
		var taken *earshot.Claimed
		if err == nil {
			won++
		} else if !errors.As(err, &taken) {
			r.t.Errorf("elsewhere, round %d: %v", n, err)
		}
	}
	if won != 1 {
		r.t.Errorf("elsewhere, round %d: %d conversations have the question", n, won)
	}
}

// overBoth runs a test with two sidecars over one database of each engine.
func overBoth(t *testing.T, f func(t *testing.T, r *races)) {
	t.Helper()
	for name, spec := range map[string]func() string{
		"postgres": func() string { return pgtest.Spec(t) },
		"sqlite":   func() string { return filepath.Join(t.TempDir(), "earshot.db") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &races{t: t, at: spec()}
			r.start()
			f(t, r)
		})
	}
}

// races are two sidecars over one store, and what became of their turns.
type races struct {
	t            *testing.T
	at           string
	stores       []earshot.Store
	services     []*sidecar.Service
	conversation earshot.ConversationID

	committed, overtaken int
}

var (
	channel  = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "ops", Kind: earshot.KindChannel}
	everyone = access.Principal{ID: "key:test", Kind: access.Key}
	alice    = earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
)

func (r *races) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *races) start() {
	for range 2 {
		st, err := store.Open(r.t.Context(), r.at, nil)
		r.must(err)
		r.t.Cleanup(func() { _ = st.Close() })
		r.stores = append(r.stores, st)
		r.services = append(r.services, sidecar.New(st, search.New(st, nil), nil, sidecar.Options{}))
	}
	r.conversation = earshot.ConversationID{Agent: "U0BOT", Scope: channel.Scope(), Name: "m0"}
	r.must(r.stores[0].PutChannel(r.t.Context(), channel))
	_, err := r.services[0].PutAgent(r.t.Context(), everyone, visible.Agent{Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Workspace: "T1"})
	r.must(err)
	r.say("m0", "the thread", 0)
}

// say records a message of the thread.
func (r *races) say(id, text string, n int) {
	r.t.Helper()
	m := earshot.Message{ID: earshot.MessageID(id), Time: earshot.Time(1_772_442_000_000_000 + int64(n)*1e6), Author: alice, Text: text}
	if id != "m0" {
		m.Thread = "m0"
	}
	_, err := r.stores[0].Record(r.t.Context(), channel.Scope(), m)
	r.must(err)
}

// round asks a question, which four turns of each sidecar answer at once. In every
// third round a message before the question is deleted meanwhile, and in every sixth
// the question.
func (r *races) round(n int) {
	r.t.Helper()
	ctx := r.t.Context()
	before, question := fmt.Sprintf("b%d", n), fmt.Sprintf("q%d", n)
	r.say(before, "something before it", 10*n+1)
	r.say(question, "<@U0BOT> and now?", 10*n+2)
	const each = 4
	var drafts []*earshot.Draft
	for _, s := range r.services {
		for range each {
			c, err := s.Context(ctx, everyone, sidecar.ContextRequest{Channel: visible.Place{Channel: "C1"}, Anchor: earshot.MessageID(question), Agent: "U0BOT", Open: true, Claim: sidecar.Claim{Again: true}})
			r.must(err)
			if c.Conversation != r.conversation {
				r.t.Fatalf("the turn is of %v", c.Conversation)
			}
			drafts = append(drafts, c.Draft)
		}
	}
	gone := map[int]string{2: before, 5: question}[n%6]
	var wg sync.WaitGroup
	errs := make([]error, len(drafts))
	for i, d := range drafts {
		wg.Go(func() {
			// Every draft is committed by the other sidecar than the one that opened it.
			_, errs[i] = r.services[1-i/each].Commit(ctx, everyone, d.ID, sidecar.Reply{
				Text: "an answer", Messages: []earshot.Message{{ID: earshot.MessageID(fmt.Sprintf("r%d-%d", n, i)), Text: "an answer"}},
			})
		})
	}
	if gone != "" {
		wg.Go(func() {
			_, err := r.stores[n%2].Record(ctx, channel.Scope(), earshot.Message{ID: earshot.MessageID(gone), Time: 1, Deleted: true})
			if err != nil {
				r.t.Error(err)
			}
		})
	}
	wg.Wait()
	done := 0
	for i, err := range errs {
		var late *sidecar.Overtaken
		switch {
		case err == nil:
			done++
		case errors.As(err, &late):
			r.overtaken++
		default:
			r.t.Errorf("round %d, commit %d: %v", n, i, err)
		}
	}
	if done > 1 || done == 0 && gone == "" {
		r.t.Errorf("round %d (%q was deleted): %d commits", n, gone, done)
	}
	r.committed += done
}
