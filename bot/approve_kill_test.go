package bot_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// slowPanel is a slow slate whose posts have buttons.
type slowPanel struct{ slow }

func (slowPanel) MaxChoices() int { return 5 }

func (s slowPanel) Update(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	_, err := slowly(ctx, s.slow, func() (int, error) { return 0, panel{s.slate}.Update(ctx, d, id) })
	return err
}

// TestKillsWhilePeopleAreAsked kills processes at random instants, while people are asked,
// click twice, and tools act on a tracker that survives them. Whatever happens, what was
// refused is not done, what was agreed to is done once at most, and each question gets its
// one answer, which tells of all.
func TestKillsWhilePeopleAreAsked(t *testing.T) {
	t.Parallel()
	kills := 0
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) { kills += killWhileToolsAct(t, seed, true) })
	}
	t.Logf("%d kills", kills)
	if kills < 300 {
		t.Errorf("%d kills, want at least 300", kills)
	}
}

// clickUntil has people click at what they are asked, each twice, until done.
func clickUntil(done <-chan struct{}, w *world, b *bot.Bot, seed uint64) {
	chance := rand.New(rand.NewPCG(seed, 2))
	for {
		select {
		case <-done:
			return
		case <-time.After(time.Duration(chance.Int64N(int64(8*time.Second))) + 1):
		}
		for _, x := range w.board.asks() {
			c := bot.Chosen{Scope: x.Channel.Scope(), Message: x.id, Key: x.Key, Choice: "do", By: alice}
			if chance.IntN(4) == 0 {
				c.Choice = "dont"
			}
			for range 2 {
				_, _ = b.Choose(context.Background(), c) // of a dead process nothing is known
			}
		}
	}
}

// checkApprovals compares what was decided with what was done, by the call.
func (w *world) checkApprovals(seed uint64, done map[string]int) {
	w.t.Helper()
	list, err := w.store.Approvals(w.t.Context(), earshot.ApprovalQuery{Limit: 1000})
	if err != nil {
		w.t.Fatal(err)
	}
	agreed := map[string]bool{}
	for _, a := range list {
		call := "create_issue " + string(a.Args)
		switch a.State {
		case earshot.ApprovalAgreed:
			agreed[call] = true
		case earshot.ApprovalRefused:
			if done[call] > 0 {
				w.t.Errorf("seed %d: %s was done and refused", seed, call)
			}
		default:
			w.t.Errorf("seed %d: %s is %s at the end", seed, call, a.State)
		}
	}
	for call := range done {
		if !agreed[call] {
			w.t.Errorf("seed %d: nobody agreed to %s", seed, call)
		}
	}
	asked := 0
	for _, s := range w.board.all() {
		if strings.Contains(s, "A call of `create_issue`") {
			asked++
		}
	}
	if asks := w.board.asks(); asked != len(list) || len(asks) > 0 {
		w.t.Errorf("seed %d: %d approvals, %d messages that say how they were decided, %d that still ask", seed, len(list), asked, len(asks))
	}
}
