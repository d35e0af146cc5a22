package bot

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// What came of a call that was agreed to, as its approval has it.
const (
	resultDone    = "it was done"
	resultFailed  = "the tool says that it failed"
	resultNotRun  = "it could not be done"
	resultUnknown = "nobody knows whether it was done"
)

// resultKeys are the same for the channel.
var resultKeys = map[string]words.Key{
	resultDone: words.ResultDone, resultFailed: words.ResultFailed, resultNotRun: words.ResultNotRun, resultUnknown: words.ResultUnknown,
}

// askApprovals asks people for the calls of a response that need a person's yes, all at
// once, and learns how they are decided. While one is open the outcome is waiting.
func (x *modelExchange) askApprovals(ctx, hard context.Context, calls []llm.Call) error {
	open := false
	for i, c := range calls {
		t, args, ok := x.callOf(c)
		if !ok || !t.Approve || i >= maxCalls || x.hasResult(c) || x.opts.DryRun || x.ambient {
			continue
		}
		if what, _ := wrongArgs(t.Name, args); what != "" {
			continue // it will not run
		}
		if c.Name == AskTool {
			if what, _ := x.whyNotAsk(c); what != "" {
				continue
			}
		}
		a, err := x.askApproval(ctx, hard, c, t, args)
		if err != nil {
			return err
		}
		open = open || a.State == earshot.ApprovalOpen
	}
	if !open {
		return nil
	}
	if err := x.outbox.takeAway(hard); err != nil {
		return err
	}
	waits, err := x.store.AwaitApprovals(hard, x.lease, x.queued.ID)
	if err != nil {
		return fmt.Errorf("wait for a person: %w", err)
	}
	if waits {
		return outcome{kind: waiting}
	}
	if q, err := x.store.QueuedTurn(ctx, x.queued.ID); err != nil || q.Stopped != 0 {
		return cmp.Or(err, error(outcome{kind: stopped})) // it waits for nobody
	}
	return x.askApprovals(ctx, hard, calls) // they were decided meanwhile
}

// askApproval asks for one call, unless that was done before, as of one that was begun.
func (x *modelExchange) askApproval(ctx, hard context.Context, c llm.Call, t toolbox.Tool, args string) (earshot.Approval, error) {
	a, err := x.store.AskApproval(ctx, x.lease, earshot.Approval{
		ID: earshot.ApprovalID(string(kindApproval) + x.opts.NewKey()), Turn: x.queued.ID, Asker: x.place.Asker().ID,
		Call: c.ID, Tool: t.Name, Args: []byte(args),
		Asked: x.now(), Expires: x.now() + earshot.Time(x.opts.Approve.Expire/time.Microsecond),
	})
	if err != nil {
		return a, fmt.Errorf("ask for an approval: %w", err)
	}
	x.fault(faultAfterAsk)
	if x.approvals == nil {
		x.approvals = map[string]earshot.Approval{}
	}
	x.approvals[c.ID], x.hasAsked = a, true
	switch a.State {
	case earshot.ApprovalOpen:
		x.outbox.startWaiting(a.Asked)
	case earshot.ApprovalAgreed, earshot.ApprovalRefused:
		// A process that ended before it asked in the thread, and somebody has decided it elsewhere
		// meanwhile: the thread is told all the same.
		if asked, err := x.outbox.hasPost(hard, string(a.ID)); err != nil || asked {
			return a, err
		}
		x.outbox.startWaiting(x.now())
	default:
		return a, nil
	}
	_, able := x.platform.(Chooser)
	text, choices := x.askText(a, able), x.opts.approvalChoices()
	if a.Tool == AskTool {
		if text, choices, err = x.askQuestion(ctx, a, able); err != nil {
			return a, err
		}
	}
	if a.State != earshot.ApprovalOpen {
		if choices, text = nil, x.answeredText(a, text); a.Tool != AskTool {
			text = x.decidedText(a)
		}
	}
	return a, x.outbox.ask(hard, a, text, choices)
}

// mayRun reports whether a call was agreed to with exactly these arguments, or needs nobody
// to agree. Otherwise the call has a result that says so.
func (c *ownCall) mayRun() bool {
	if !c.tool.Approve {
		return true
	}
	a, asked := c.x.approvals[c.of.ID]
	remedy := "say that it was not done, and do not try to do the same in another way"
	switch {
	case !asked:
		c.fail("a person has to agree to this, and nobody asked you for it", remedy)
	case a.State == earshot.ApprovalAgreed && string(a.Args) == c.args:
		return true
	case a.State == earshot.ApprovalRefused && a.Why != "":
		c.fail("a person said no to this call: "+quoted(a.Why), remedy)
	case a.State == earshot.ApprovalRefused:
		c.fail("a person said no to this call", remedy)
	case a.State == earshot.ApprovalExpired:
		c.fail("nobody agreed to this call in time", remedy)
	default:
		c.fail("nobody agreed to this call", remedy)
	}
	c.result.NotRun = true
	return false
}

// noteResults notes with approvals what came of their calls, as the journal has it: also of
// those of a process that ended between the two.
func (t *turn) noteResults(ctx context.Context, list []earshot.Approval) error {
	for i, a := range list {
		if a.State != earshot.ApprovalAgreed || a.Result != "" || a.Tool == AskTool {
			continue
		}
		if len(t.journal.steps) == 0 {
			if err := t.journal.read(ctx); err != nil {
				return err
			}
		}
		r, known := t.journal.resultOf(a.Call)
		if !known {
			continue
		}
		list[i].Result = resultDone
		switch {
		case r.Unknown:
			list[i].Result = resultUnknown
		case r.NotRun:
			list[i].Result = resultNotRun
		case r.Failed:
			list[i].Result = resultFailed
		}
		if err := t.store.NoteApproval(ctx, t.lease, a.ID, list[i].Result); err != nil {
			return fmt.Errorf("note what came of an approval: %w", err)
		}
	}
	return nil
}
