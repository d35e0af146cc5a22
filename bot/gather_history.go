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

// fillHistory asks the platform for messages from before the bot listened, within
// [Limits.History]. A failure is recorded as a gap in the coverage, which the
// model sees, until a later call succeeds.
func (t *turn) fillHistory(ctx context.Context) {
	h, able := t.platform.(Historian)
	if !able {
		return
	}
	call, cancel := context.WithTimeout(ctx, t.limits.History)
	defer cancel()
	t.slot.Give()
	failed := t.fill(call, h)
	ctx = context.WithoutCancel(ctx)
	gap := earshot.Coverage{Thread: t.place.Thread}
	var err error
	if failed != nil {
		t.log.Warn("history", "err", failed)
		gap.State, gap.Why = earshot.Missing, noHistory+failed.Error()
		err = t.store.PutCoverage(ctx, t.scope(), gap)
	} else {
		var known []earshot.Coverage
		known, err = t.store.Coverage(ctx, t.scope())
		for _, c := range known {
			if c.Thread == gap.Thread && c.From == 0 && c.To == 0 && strings.HasPrefix(c.Why, noHistory) {
				err = t.store.PutCoverage(ctx, t.scope(), gap) // without a state the gap is closed
			}
		}
	}
	if err != nil {
		t.log.Warn("coverage", "err", err)
	}
}

// fill makes an error of a panic: the question is answered without the history.
func (t *turn) fill(ctx context.Context, h Historian) (err error) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("reading history panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return h.Fill(ctx, t.place)
}
