package bot

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot/internal/address"
	"github.com/earshot-ai/earshot/bot/internal/attach"
	"github.com/earshot-ai/earshot/internal/inputref"
	"github.com/earshot-ai/earshot/llm"
)

// commit ends a turn that was answered: reply, cursor, manifest, session, usage and
// ledger are stored in one transaction. A question that is answered without context
// changes nothing of its conversation, and neither does silence where the agent reads
// along: the next turn shows the message as if nothing had been asked.
func (t *turn) commit(ctx context.Context, p prompt, a answer, replies []earshot.MessageID) error {
	why := a.why
	if t.ambient {
		why = earshot.WhyAfter(earshot.WhyAmbient, why)
	}
	if t.opts.DryRun || t.isIsolated() || t.ambient && a.why != "" {
		return t.finishUncommitted(ctx, why)
	}
	next := p.result.Next
	records, err := t.journal.fileRecords()
	if err != nil {
		return err
	}
	shown := withoutUnread(next.Shown, p.input.Messages, records)
	asked, err := t.askMessages(ctx)
	if err != nil {
		return err
	}
	for _, id := range replies {
		shown = append(shown, earshot.ShownRevision{ID: id, Seen: assemble.Told})
	}
	for _, m := range asked { // the session has the call and what came of it
		shown = append(shown, earshot.ShownRevision{ID: m.ID, Revision: m.Edited, Seen: assemble.Seen(&m, 0)})
	}
	return t.finish(ctx, earshot.TurnDone, why, &earshot.Turn{
		Answer: earshot.Answer{Anchor: t.queued.Anchor, Replies: replies}, Policy: p.input.Policy.Name, Hash: p.result.Hash,
		Cursor: next.Cursor, Epoch: next.Epoch, Shown: shown,
		Attached: p.files.Attached(next.Attached, records, len(p.input.Conversation.Turns)+1), Session: sessionEntries(p, a),
		Names: next.Names, Form: string(p.input.Policy.WithDefaults().Frame), Zone: p.input.Zone,
		Ledger: inputref.Ledger(p.result.Ledger, a.read...), Usage: t.report.Usage, Time: t.now(), Metadata: t.metadata(p, a),
	})
}

// withoutUnread returns what a prompt has shown without the files that could not be read
// for a reason that may pass: the next turn tries again.
func withoutUnread(list []earshot.ShownRevision, messages []earshot.Message, records map[earshot.ArtifactID]attach.Record) []earshot.ShownRevision {
	list = slices.Clone(list)
	for _, m := range messages {
		for _, f := range m.Files {
			i := slices.IndexFunc(list, func(s earshot.ShownRevision) bool { return s.ID == m.ID })
			if i >= 0 && attach.MayPass(records[f.ID]) {
				list[i].Seen = assemble.Unread(list[i].Seen, f)
			}
		}
	}
	return list
}

// finishUncommitted ends an answered turn that leaves nothing with its conversation.
// A dry run is dropped.
func (t *turn) finishUncommitted(ctx context.Context, why string) error {
	if t.opts.DryRun {
		return t.finish(ctx, earshot.TurnDropped, "dry run", nil)
	}
	return t.finish(ctx, earshot.TurnDone, why, nil)
}

// metaProcessed is up to when messages have been answered: a Slack ts, which the
// store moves forward only.
const metaProcessed = "last_processed_ts"

// metadata is the change of the conversation's metadata by an answered turn.
// Who says nothing owns the thread no longer than before, so that people who talk to each
// other get it back.
func (t *turn) metadata(p prompt, a answer) map[string]*string {
	at := t.place.Anchor.Time.TS()
	m := map[string]*string{metaProcessed: &at}
	p.offer.addMetadata(m)
	if rule := ruleOf(p.input, t.opts.agentName); rule != "" && t.Bot.opts.Rules != nil {
		m[metaRule] = &rule
	}
	switch {
	case !t.opts.Answer.OwnedThreads:
	case a.left:
		maps.Copy(m, address.NobodysMetadata())
	case a.why == "":
		maps.Copy(m, address.OwnerMetadata(t.identity.ID, t.now()))
	}
	return m
}

// sessionEntries returns what the turn adds to the session: the messages of the last request
// that the session did not have, with their files, calls and results, and the reply.
// So the next turn's request begins with this one's. The reply is as it was posted,
// so that links and mentions that were removed from it do not come back.
func sessionEntries(p prompt, a answer) []earshot.SessionEntry {
	if !p.input.Policy.Session {
		return nil
	}
	return append(llm.Record(attach.WithoutShown(a.sent)), earshot.SessionEntry{Role: earshot.Assistant, Text: a.text})
}

// ToolSection is the section of a ledger row whose message the model read in a
// tool's result.
const ToolSection = inputref.ToolSection

// finish ends the turn in the store, with what has arrived, and reports it.
func (t *turn) finish(ctx context.Context, state earshot.TurnState, why string, c *earshot.Turn) error {
	if err := t.journal.flush(ctx); err != nil && !errors.Is(err, earshot.ErrConflict) {
		return err
	}
	if err := t.withdrawApprovals(ctx); err != nil {
		return err
	}
	t.fault(faultBeforeFinish)
	err := t.store.Finish(ctx, t.lease, t.queued.ID, state, why, c, t.outbox.arrivals...)
	if errors.Is(err, earshot.ErrConflict) {
		if now, e := t.store.QueuedTurn(ctx, t.queued.ID); e == nil && now.State.Final() {
			return outcome{kind: endedElsewhere}
		}
	}
	if err != nil {
		return err
	}
	t.outbox.arrivals = nil
	t.fault(faultAfterFinish)
	t.tell(context.WithoutCancel(ctx), t.queued.ID, t.finalReport())
	return nil
}
