package bot

import (
	"context"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A Report says how a turn ended.
type Report struct {
	Turn   earshot.QueuedTurn // as it is stored
	Text   string             // what was said, or with DryRun would have been
	Posts  []earshot.Post
	Result assemble.Result // the prompt; zero when there was none
	Usage  earshot.Usage
	Models map[string]earshot.Usage // of each model that answered, as its provider names it
	Calls  int                      // of the model, by this process
	Took   time.Duration
}

// finalReport is the turn's report at its end.
func (t *turn) finalReport() Report {
	r := t.report
	r.Took = time.Since(t.since)
	return r
}

// tell reports how a turn ended, to the log and to [Options.Done].
func (b *Bot) tell(ctx context.Context, id earshot.TurnID, r Report) {
	var err error
	if r.Turn, err = b.store.QueuedTurn(ctx, id); err != nil {
		b.log.Error("read a turn that has ended", "turn", id, "err", err)
		return
	}
	if r.Posts, err = b.store.Posts(ctx, id); err != nil {
		b.log.Error("read the posts of a turn that has ended", "turn", id, "err", err)
	}
	facts := append(conversationAttrs(r.Turn.Conversation), "turn", id, "state", r.Turn.State, "message", r.Turn.Anchor,
		"tokens", r.Result.Tokens.Total, "input", r.Usage.Input, "output", r.Usage.Output, "took", r.Took, "why", r.Turn.Why)
	switch r.Turn.State {
	case earshot.TurnFailed, earshot.TurnParked:
		b.log.Error("turn", facts...)
	default:
		b.log.Info("turn", facts...)
	}
	b.opts.Done(r)
}
