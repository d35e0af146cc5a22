package bot

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// commit ends a turn that was answered: reply, cursor, manifest, session, usage
// and ledger are stored at once. A message that was answered alone moves
// nothing.
func (t *turn) commit(ctx context.Context) error {
	if t.DryRun || t.alone() {
		return t.finish(ctx, t.doneState(), t.doneWhy(), nil)
	}
	next := t.result.Next
	shown := slices.Clone(next.Shown)
	for _, id := range t.replies {
		shown = append(shown, earshot.Shown{ID: id})
	}
	attached, err := t.given(next.Attached)
	if err != nil {
		return err
	}
	return t.finish(ctx, earshot.TurnDone, "", &earshot.Turn{
		Answer: earshot.Answer{Anchor: t.queued.Anchor, Replies: t.replies}, Policy: t.input.Policy.Name, Hash: t.result.Hash,
		Cursor: next.Cursor, Epoch: next.Epoch, Shown: shown, Attached: attached, Session: t.session(),
		Names: next.Names, Form: string(t.input.Policy.WithDefaults().Frame), Zone: t.input.Zone,
		Ledger: t.ledger(), Usage: t.usage, Time: t.Now(), Metadata: t.metadata(),
	})
}

// metaProcessed is up to when what was said has been answered: a Slack ts,
// which the store moves forward only.
const metaProcessed = "last_processed_ts"

// metadata is what a turn that was answered leaves with its conversation.
func (t *turn) metadata() map[string]*string {
	at := t.place.Anchor.Time.TS()
	m := map[string]*string{metaProcessed: &at}
	if t.Answer.OwnedThreads {
		maps.Copy(m, t.ownedBy(t.Identity.ID))
	}
	return m
}

// session is what the turn adds to the session: what the last request held that
// the session did not, with its files, calls and results, and the reply. So the
// next turn's request begins with this one's. The reply is as it was posted: no
// request has held the model's own form of it, and what guard took out of it
// must not come back.
func (t *turn) session() []earshot.SessionEntry {
	if !t.input.Policy.Session {
		return nil
	}
	return append(llm.Record(t.asked), earshot.SessionEntry{Role: earshot.Assistant, Text: t.text})
}

// ToolSection stands in the ledger of a turn for what tools have told.
const ToolSection = "tools"

// ledger is the prompt's, with what tools have told: it stays in the session, so
// that its deletion must end the epoch, as that of everything else that was read.
func (t *turn) ledger() earshot.Ledger {
	out := slices.Clone(t.result.Ledger)
	at := map[earshot.MessageID]int{}
	for i, row := range out {
		at[row.ID] = i
	}
	for _, id := range t.read {
		row := earshot.LedgerRow{ID: id, Section: ToolSection, Verdict: earshot.Snippet, Reason: ToolSection}
		i, known := at[id]
		switch {
		case id == "":
		case !known:
			at[id] = len(out)
			out = append(out, row)
		case out[i].Verdict == earshot.Out:
			out[i] = row
		}
	}
	return out
}

// doneState is how an answered turn ends: a dry run is dropped.
func (t *turn) doneState() earshot.TurnState {
	if t.DryRun {
		return earshot.TurnDropped
	}
	return earshot.TurnDone
}

func (t *turn) doneWhy() string {
	if t.DryRun {
		return "dry run"
	}
	return ""
}

// finish ends the turn in the store and tells of it.
func (t *turn) finish(ctx context.Context, state earshot.TurnState, why string, c *earshot.Turn) error {
	if err := t.flush(ctx); err != nil && !errors.Is(err, earshot.ErrConflict) {
		return err
	}
	t.Fault(faultBeforeFinish)
	err := t.Store.Finish(ctx, t.lease, t.queued.ID, state, why, c, t.arrivals...)
	if errors.Is(err, earshot.ErrConflict) {
		if now, e := t.Store.QueuedTurn(ctx, t.queued.ID); e == nil && final(now.State) {
			return errEnded
		}
	}
	if err != nil {
		return err
	}
	t.arrivals = nil
	t.Fault(faultAfterFinish)
	t.tell(context.WithoutCancel(ctx), t.queued.ID, t.report())
	return nil
}

func (t *turn) report() Report {
	return Report{Text: t.text, Result: t.result, Usage: t.usage, Calls: t.calls, Took: time.Since(t.since)}
}

// tell reports how a turn ended, to the log and to who wants to know.
func (b *Bot) tell(ctx context.Context, id earshot.TurnID, r Report) {
	var err error
	if r.Turn, err = b.Store.QueuedTurn(ctx, id); err != nil {
		b.Log.Error("read a turn that has ended", "turn", id, "err", err)
		return
	}
	if r.Posts, err = b.Store.Posts(ctx, id); err != nil {
		b.Log.Error("read the posts of a turn that has ended", "turn", id, "err", err)
	}
	facts := append(about(r.Turn.Conversation), "turn", id, "state", r.Turn.State, "message", r.Turn.Anchor,
		"tokens", r.Result.Tokens.Total, "input", r.Usage.Input, "output", r.Usage.Output, "took", r.Took)
	switch r.Turn.State {
	case earshot.TurnFailed, earshot.TurnParked:
		b.Log.Error("turn", append(facts, "why", r.Turn.Why)...)
	default:
		b.Log.Info("turn", append(facts, "why", r.Turn.Why)...)
	}
	b.Done(r)
}
