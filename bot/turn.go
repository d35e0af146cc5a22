package bot

import (
	"context"
	"errors"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// The line that a message takes, in eight verbs; each has a file.
//
//	1 record     the event, its message and, if it is for us, a turn: durable
//	2 address    is it for us, and in which conversation
//	3 claim      the conversation's lease, and which of its turns is answered
//	4 gather     what the turn can use, from the store and the platform
//	5 assemble   the prompt; the queue is told of it
//	6 generate   the model, with the channel's tools; every step in the journal;
//	             where there is a placeholder, that is announced first
//	7 post       the outbox, then the platform: one visible reply
//	8 commit     reply, cursor, manifest, session, usage, ledger: at once

// Handle records an event and, when it is for us, opens a turn, in one
// transaction. Once it returns without error all of it is durable, and the
// platform may be told so; after an error it must not. The same event again
// changes nothing.
func (b *Bot) Handle(ctx context.Context, e Event) (Outcome, error) {
	ask, why, err := b.address(ctx, e)
	if err != nil {
		return Outcome{}, err
	}
	return b.record(ctx, e, ask, why)
}

// work answers what comes next in a conversation whose lease is ours, and gives
// the lease back. soft ends when the bot is to stop; what may be visible already
// is brought to its end all the same, until hard ends with the lease.
func (b *Bot) work(soft, hard context.Context, lease earshot.Lease, turns []earshot.QueuedTurn, own *slot) {
	t, err := b.choose(hard, lease, turns)
	if t == nil {
		b.release(hard, lease, nil, err)
		return
	}
	t.slot = own
	err = t.answer(soft, hard)
	own.give()
	err = t.settle(hard, err)
	if err != nil {
		t.land(hard)
	}
	t.written(hard)
	b.release(hard, lease, t, err)
}

// answer takes one turn down the rest of the line.
func (t *turn) answer(soft, hard context.Context) (err error) {
	defer t.recovered(&err)
	soft, stop := both(soft, hard)
	defer stop()
	soft, rest := t.watch(soft)
	defer rest()
	if err := t.slot.take(soft); err != nil {
		return err
	}
	if ended, err := t.goOn(hard); ended || err != nil {
		return err
	}
	for again := 0; ; again++ {
		if err := t.gather(soft); err != nil {
			return err
		}
		if err := t.assemble(soft); err != nil {
			if again < maxAgain && isAgain(err) {
				continue
			}
			return err
		}
		if err := t.announce(soft, hard); err != nil {
			return err
		}
		if err := t.slot.take(soft); err != nil {
			return err
		}
		if err := t.generate(soft); err != nil {
			if again < maxAgain && (t.withoutSession(err) || t.smaller(err) || errors.Is(err, errAnew)) {
				continue
			}
			return err
		}
		if err := t.post(hard); err != nil {
			return err
		}
		return t.commit(hard)
	}
}

// maxAgain is how often a turn is gathered anew at once, because something was
// deleted or the model could not read so much.
const maxAgain = 5

// A turn is one turn on its way through this process.
type turn struct {
	*Bot
	lease  earshot.Lease
	queued earshot.QueuedTurn
	place  Place
	since  time.Time // when this process took it up
	slot   *slot     // given back wherever the turn waits for the platform

	counter assemble.Counter
	budget  assemble.Budget
	halved  bool

	input  assemble.Input
	result assemble.Result
	steps  []earshot.Step
	links  links // what may stay live in the reply
	files  turnFiles
	bare   bool // nothing is attached: the provider has refused files
	// anew: the session cannot go on, and a first turn is made. declined: because
	// the provider has refused files while the session held some; none is given.
	anew, declined bool
	together       []earshot.MessageID // what the turn answers besides its anchor, oldest first

	read  []earshot.MessageID // what tools have told of
	asked []llm.Message       // the last request's messages, without the session's

	last     *earshot.Step     // of the journal, until it is written with the first post
	arrivals []earshot.Arrival // what is there, until it is written with the turn's end

	exists    earshot.Time  // since when there is what is said now
	idle      time.Duration // slept for the platform while the lease was held
	withdrawn bool          // the question was deleted, and the placeholder may say so
	partly    bool          // some of the reply can be seen, and the rest must not follow

	text    string        // of the reply
	placed  *earshot.Post // the placeholder, once it can be seen
	updates updates       // of it, so far
	wrote   bool          // the platform was told that an answer is written
	usage   earshot.Usage
	calls   int // of the model, by this process
	replies []earshot.MessageID
}
