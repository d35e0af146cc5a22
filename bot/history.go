package bot

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/earshot-ai/earshot"
)

// noHistory begins the reason of a gap that a failed [Historian] leaves.
const noHistory = "history: "

// history asks the platform for what was said when nobody listened. It has
// little time; that it could not be loaded is told to the model, until it can.
func (t *turn) history(ctx context.Context) {
	h, able := t.Platform.(Historian)
	if !able {
		return
	}
	call, cancel := context.WithTimeout(ctx, t.Limits.History)
	defer cancel()
	t.slot.give()
	failed := t.fill(call, h)
	ctx = context.WithoutCancel(ctx)
	scope := t.lease.Conversation.Scope
	gap := earshot.Coverage{Thread: t.place.Thread}
	var err error
	if failed != nil {
		t.Log.Warn("history", append(about(t.lease.Conversation), "turn", t.queued.ID, "err", failed)...)
		gap.State, gap.Why = earshot.Missing, noHistory+failed.Error()
		err = t.Store.PutCoverage(ctx, scope, gap)
	} else {
		var known []earshot.Coverage
		known, err = t.Store.Coverage(ctx, scope)
		for _, c := range known {
			if c.Thread == gap.Thread && c.From == 0 && c.To == 0 && strings.HasPrefix(c.Why, noHistory) {
				err = t.Store.PutCoverage(ctx, scope, gap) // without a state: it is no gap any more
			}
		}
	}
	if err != nil {
		t.Log.Warn("coverage", append(about(t.lease.Conversation), "err", err)...)
	}
}

// fill makes an error of a panic: whatever becomes of the history, there is an
// answer.
func (t *turn) fill(ctx context.Context, h Historian) (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.Log.Error("reading history panicked", append(about(t.lease.Conversation), "turn", t.queued.ID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))...)
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return h.Fill(ctx, t.place)
}
