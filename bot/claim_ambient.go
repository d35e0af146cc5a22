package bot

import (
	"context"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
)

// Where the agent reads along ([Ambient]) each message that people address to nobody has
// a turn of its own, whose Why begins with [earshot.WhyAmbient] from its opening on. It
// waits until nothing was said for a while, and is silent where people went on talking,
// or where the agent has said enough in this hour. Then a model decides: see
// generate_decide.go.

// ambientQuiet is for how long nothing may be said so that the agent is asked. People who
// write in several lines pause for two or three seconds between them, and somebody who
// knows the answer has begun to write it.
const ambientQuiet = 5 * time.Second

// whyTalk is why a message is left alone that people have gone on from.
const whyTalk = silent + "people went on talking"

// letTalkGoOn ends the ambient turns among others, which come to nothing where a later
// message of their conversation is looked at, and returns the rest. The outcome is
// listening where the chosen turn is to wait for silence.
func (b *Bot) letTalkGoOn(ctx context.Context, lease earshot.Lease, chosen pendingQuestion, others []pendingQuestion) (rest []pendingQuestion, err error) {
	if wait := ambientQuiet - b.ago(chosen.Opened); chosen.ambient && chosen.Hash == "" && wait > 0 {
		return nil, outcome{kind: listening, wait: wait}
	}
	for _, q := range others {
		if !q.ambient {
			rest = append(rest, q)
			continue
		}
		if err := b.drop(ctx, lease, q.QueuedTurn, earshot.WhyAfter(earshot.WhyAmbient, whyTalk)); err != nil {
			return nil, err
		}
	}
	return rest, nil
}

// leavesAlone returns why an ambient turn ends before a model is asked; "" where one is,
// or has decided.
func (t *turn) leavesAlone(ctx context.Context) (why string, err error) {
	if !t.ambient {
		return "", nil
	}
	steps, err := t.store.Steps(ctx, t.queued.ID)
	if err != nil {
		return "", err
	}
	if decisionIn(steps) != nil || t.decision != nil {
		return "", nil
	}
	if t.queued.Ends > 0 {
		return silent + "the process ended while it was looked at", nil
	}
	hour, err := t.lastHour(ctx)
	if err != nil {
		return "", err
	}
	later, err := t.store.ByID(ctx, t.scope(), hour.later...)
	if err != nil {
		return "", err
	}
	at := t.place.Anchor
	for _, m := range later {
		if m.Position().Compare(at.Position()) > 0 && !m.Deleted && (m.Root() == at.Root() || m.Root() == at.ID) {
			return whyTalk, nil
		}
	}
	return t.bounded(hour), nil
}

// bounded returns why nothing more is said in this hour; "" where something may be.
func (t *turn) bounded(h ambientHour) string {
	switch most := t.opts.Ambient.Hourly; {
	case h.said >= most:
		return silent + "it has said enough here within the last hour (answer.ambient_hourly)"
	case h.asked >= most*AsksPerAnswer:
		return silent + "a model was asked often enough here within the last hour (answer.ambient_hourly)"
	}
	return ""
}

// An ambientHour is what came of the other ambient turns of a channel within the last
// hour, whoever ran them: the queue is the count, so that it outlives a process and is one
// for all replicas.
type ambientHour struct {
	asked int // turns with a prompt
	said  int // with an answer or an emoji, or with a decision to give one
	later []earshot.MessageID
}

// lastHour reads the channel's newest turns, back to an hour ago.
func (t *turn) lastHour(ctx context.Context) (h ambientHour, err error) {
	scope, from := t.scope(), t.now()-earshot.Time(time.Hour/time.Microsecond)
	q := earshot.TurnQuery{Agent: t.agent, Scope: &scope, Limit: 100, States: earshot.AskedStates()}
	for {
		list, err := t.store.QueuedTurns(ctx, q)
		if err != nil {
			return h, err
		}
		for _, x := range list {
			q.Before = x.ID
			if x.ID > t.queued.ID {
				h.later = append(h.later, x.Anchor)
			}
			if x.ID == t.queued.ID || x.Opened < from || !x.Ambient() || x.Hash == "" {
				continue
			}
			h.asked++
			said, err := t.hasSaid(ctx, x)
			if err != nil {
				return h, err
			}
			if said {
				h.said++
			}
		}
		if len(list) < q.Limit || list[len(list)-1].Opened < from {
			return h, nil
		}
	}
}

// hasSaid reports whether an ambient turn is not silent, or is not to be.
func (t *turn) hasSaid(ctx context.Context, q earshot.QueuedTurn) (bool, error) {
	if q.State.Final() {
		return !strings.HasPrefix(q.Reason(), silent), nil
	}
	steps, err := t.store.Steps(ctx, q.ID)
	if err != nil {
		return false, err
	}
	d := decisionIn(steps)
	return d != nil && verdictOf(*d, true).silence == "", nil
}

// staySilent ends an ambient turn without a word. With an error it ends nothing.
func (t *turn) staySilent(ctx context.Context, why string, err error) error {
	if err != nil {
		return err
	}
	if !strings.HasPrefix(why, silent) {
		why = silent + why
	}
	return t.finish(ctx, earshot.TurnDone, earshot.WhyAfter(earshot.WhyAmbient, why), nil)
}

// calls reports whether a prompt's question calls the agent, as after an edit.
func (p *prompt) calls(self earshot.Identity) bool {
	m := p.question()
	return m != nil && self.CalledIn(m)
}
