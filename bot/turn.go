package bot

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot/internal/slots"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/llm"
)

// The line of a message. Each verb is a method in the file with its name; further
// files with that name at the front hold its parts.
//
//	1 address    is the message for us, and in which conversation
//	2 record     the event, its message and, if it is for us, a turn: durable
//	3 claim      the conversation's lease, and which question is answered
//	4 gather     what the prompt can be made of, from the platform and the store
//	5 assemble   the prompt, with its files; the queue records it
//	6 generate   the model, with the channel's tools; each step in the journal
//	7 post       the outbox, then the platform: one visible reply
//	8 commit     reply, cursor, manifest, session, usage, ledger: at once
//
// A turn that comes to no answer is ended by settle. What an earlier process left
// half done, takeover.go continues.

// Handle records an event and, when it is for us, opens a turn, in one
// transaction. Once it returns without error all of it is durable, and the
// platform may be told so; after an error it must not be. The same event a second
// time changes nothing.
func (b *Bot) Handle(ctx context.Context, e Event) (Outcome, error) {
	if answered, err := b.chooseByWord(ctx, e); err != nil || answered {
		if err != nil {
			return Outcome{}, err
		}
		return b.record(ctx, e, nil, whyAnswer)
	}
	conversation, why, err := b.address(ctx, &e)
	if err != nil {
		return Outcome{}, err
	}
	if e.By.Emoji != "" && conversation == nil {
		return Outcome{Why: why}, nil // it tells nothing of the message
	}
	if conversation != nil && e.Refused == "" {
		if stopped, err := b.stopByWord(ctx, e, *conversation); err != nil {
			return Outcome{}, err
		} else if stopped {
			return b.record(ctx, e, nil, whyStop)
		}
		if answered, err := b.answerByWord(ctx, e, *conversation); err != nil {
			return Outcome{}, err
		} else if answered {
			return b.record(ctx, e, nil, whyAnswer)
		}
	}
	return b.record(ctx, e, conversation, why)
}

// serve answers the next question of a conversation whose lease is ours, and
// releases the lease. soft ends when the bot is to stop; a reply that may be
// visible already is completed all the same, until hard ends with the lease.
func (b *Bot) serve(soft, hard context.Context, lease earshot.Lease, queued []earshot.QueuedTurn, slot *slots.Slot) {
	t, err := b.choose(hard, lease, queued, slot)
	if t == nil {
		b.release(hard, lease, nil, outcomeOf(err))
		return
	}
	o := t.answer(soft, hard)
	slot.Give()
	o = t.settle(hard, o)
	if o.kind != ended {
		t.outbox.save(hard)
	}
	if o.kind != leaseLost {
		t.giveBackSpend(hard)
	}
	t.outbox.stopWriting(hard, t.report.Text)
	b.release(hard, lease, t, o)
}

// answer takes one turn down the rest of the line.
func (t *turn) answer(soft, hard context.Context) (o outcome) {
	defer t.recoverPanic(&o)
	soft, stop := eitherEnds(soft, hard)
	defer stop()
	soft, stopWatching := t.watch(soft)
	defer stopWatching()
	if err := t.slot.Take(soft); err != nil {
		return outcomeOf(err)
	}
	if done, err := t.takeOver(hard); done || err != nil {
		return outcomeOf(err)
	}
	if stop, err := t.isStopped(hard); err != nil {
		return outcomeOf(err)
	} else if stop {
		return outcome{kind: stopped}
	}
	if err := t.showDecided(hard); err != nil {
		return outcomeOf(err)
	}
	how := attemptOptions{budget: t.opts.Budget, counter: t.opts.Count()}
	for n := 0; ; n++ {
		o := outcomeOf(t.try(soft, hard, how))
		if o.kind == retry && isKind(context.Cause(soft), stopped) {
			o = outcome{kind: stopped}
		}
		switch {
		case o.kind != remake:
			return o
		case n == maxAttempts:
			return outcome{kind: retry, err: o.err}
		}
		how = o.next
	}
}

// try makes one prompt, has it answered, and posts the answer.
func (t *turn) try(soft, hard context.Context, how attemptOptions) error {
	if why, err := t.leavesAlone(soft); err != nil || why != "" {
		return t.staySilent(hard, why, err)
	}
	p, recorded, err := t.resume(soft, how)
	if err != nil {
		return err
	}
	if !recorded {
		if how.keeps, err = t.mayGoOn(soft, how); err != nil {
			return err
		}
		if err := t.mayBeginAgain(soft, how); err != nil {
			return err
		}
		found, err := t.gather(soft, how)
		if err != nil {
			return err
		}
		if p, err = t.assemble(soft, found); err != nil {
			return err
		}
	}
	t.ambient = t.ambient && !p.calls(t.identity)
	if done, err := t.reserve(soft, hard, p); err != nil || done {
		return err
	}
	if err := t.begin(soft, &p); err != nil {
		return err
	}
	if done, err := t.decide(soft, hard, p); err != nil || done {
		return err
	}
	placeholder, err := t.announce(soft, hard)
	if err != nil {
		return err
	}
	if err := t.slot.Take(soft); err != nil {
		return err
	}
	a, err := t.generate(soft, hard, p, placeholder)
	if err != nil {
		return err
	}
	replies, err := t.post(hard, &a)
	if err != nil {
		return err
	}
	return t.commit(hard, p, a, replies)
}

// maxAttempts is how often a prompt is made again at once, because something in it
// was deleted, or the model could not read it.
const maxAttempts = 5

// An attemptOptions says how a prompt is made. Later attempts of a turn leave something
// out.
type attemptOptions struct {
	counter  assemble.Counter
	budget   assemble.Budget
	halved   bool // the budget is half of what it was: the model could not read the prompt
	newEpoch bool // the session is not continued: it cannot be sent
	// refused: the provider refused the session's files. noFiles: it refused this
	// turn's own.
	refused, noFiles bool
	edits            int // how often the question was edited while the model worked
	// keeps: what the model has said and its tools have returned goes on under the new
	// prompt, because the turn has waited for a person and others of its conversation did not.
	keeps bool
}

// A claimedTurn is what a claim decides: the turn, where it belongs, and under which
// lease. Nothing changes it.
type claimedTurn struct {
	*Bot
	opts   *Options // as they held in the channel when the turn was claimed
	lease  earshot.Lease
	queued earshot.QueuedTurn
	place  Place
	merged []earshot.MessageID // the messages that the turn answers besides its anchor, oldest first
	called bool                // one of them calls the agent; else it may stay silent
	since  time.Time           // when this process claimed it
	slot   *slots.Slot         // given back wherever the turn waits for the platform
	log    *slog.Logger        // names the conversation and the turn
}

// scope is the channel of the turn.
func (c *claimedTurn) scope() earshot.Scope { return c.lease.Conversation.Scope }

// isIsolated reports whether the question is answered without context: the turn
// reads no session and commits nothing.
func (c *claimedTurn) isIsolated() bool { return c.place.Anchor.Isolated() }

// A turn is one turn on its way through this process.
type turn struct {
	claimedTurn
	journal  *journal
	outbox   *outbox
	report   Report // what is known of the turn so far
	hasAsked bool   // a person was asked something, see approve.go
	// ambient: nobody called the agent when the prompt was made. It may stay silent, and
	// it says nothing of what went wrong.
	ambient  bool
	spent    turnSpend
	decision *llm.Response // of an ambient turn: whether it says something; nil before
}

// recoverPanic makes a panic the outcome of its turn: one message that causes a
// panic must not stop the others.
func (t *turn) recoverPanic(o *outcome) {
	if p := recover(); p != nil {
		t.log.Error("a turn panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		*o = giveUp(fmt.Sprintf("panic: %v", p), words.Failed)
	}
}
