package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
)

// Who has asked may end the answer while it is made: by the button at the growing answer, or
// by a word. The store keeps that (earshot.Stopper), so that whichever process answers, or
// takes over, ends the turn; in this one it ends at once. An answer that is whole is posted:
// settle_stop.go has the end.

const chooseStop = "stop"

// stopChoices is the button at an answer that grows.
func (o *Options) stopChoices() []Choice {
	return []Choice{{ID: chooseStop, Label: o.say(words.Stop), Style: ChoiceDanger}}
}

const whyStop = "stop"

// mostUnfinished is among how many of a channel's unfinished turns, the newest, one is looked
// for.
const mostUnfinished = 200

// isStopWord reports whether a text says to stop, and nothing else.
func isStopWord(text string) bool { return words.Means(text, words.SaidStop) }

// stopAgain is for how long, in microseconds, the word of somebody who has stopped a turn is
// still about that one: they say it twice, and the platform may deliver it twice.
const stopAgain = earshot.Time(60_000_000)

// stopByWord ends what is answered to somebody in a conversation, where a message to the
// agent says so and nothing else. Such a message asks for nothing. It may be a repeat of one
// that has ended something.
func (b *Bot) stopByWord(ctx context.Context, e Event, id earshot.ConversationID) (taken bool, err error) {
	m := e.Message
	if e.By.Emoji != "" || m.Deleted || m.Edited != 0 || !isStopWord(b.identity.WithoutMentions(m.Text)) {
		return false, nil
	}
	asked := earshot.TurnQuery{Agent: b.agent, Scope: &id.Scope, States: earshot.UnfinishedStates(), Limit: mostUnfinished}
	unfinished, err := b.store.QueuedTurns(ctx, asked)
	if err != nil {
		return false, fmt.Errorf("look up what is answered: %w", err)
	}
	asked.States, asked.Limit = []earshot.TurnState{earshot.TurnDropped}, maxRepeats
	dropped, err := b.store.QueuedTurns(ctx, asked)
	if err != nil {
		return false, fmt.Errorf("look up what was stopped: %w", err)
	}
	for _, q := range slices.Concat(unfinished, dropped) {
		if q.Conversation != id || q.Anchor == m.ID {
			continue
		}
		if q.Stopped != 0 {
			taken = taken || q.StoppedBy == m.Author.ID && q.Stopped >= m.Time-stopAgain
			continue
		}
		if q.State.Final() {
			continue
		}
		asked, err := b.HasAsked(ctx, q, m.Author.ID)
		if err != nil {
			return false, err
		}
		if !asked {
			continue
		}
		if _, err := b.Stop(ctx, q.ID, m.Author.ID); err != nil {
			return false, err
		}
		taken = true
	}
	return taken, nil
}

// HasAsked reports whether a turn answers somebody.
func (b *Bot) HasAsked(ctx context.Context, q earshot.QueuedTurn, who earshot.AuthorID) (bool, error) {
	if by, ok := q.AskedBy(); ok {
		return by.ID == who, nil
	}
	list, err := b.store.ByID(ctx, q.Conversation.Scope, q.Anchor)
	if err != nil {
		return false, fmt.Errorf("look up who has asked: %w", err)
	}
	return len(list) > 0 && list[0].Author.ID == who, nil
}

// stopByButton ends the turn whose growing answer has the button that somebody chose.
func (b *Bot) stopByButton(ctx context.Context, c Chosen) (private words.Key, err error) {
	q, ok, err := b.turnOfPost(ctx, c)
	if err != nil || !ok {
		return words.Ended, err
	}
	if asked, err := b.HasAsked(ctx, q, c.By.ID); err != nil || !asked {
		return words.NotAsker, err
	}
	running, err := b.Stop(ctx, q.ID, c.By.ID)
	if err != nil || !running {
		return words.Ended, err
	}
	return "", nil
}

// turnOfPost returns the turn of the message at which somebody chose something. ok is false
// where it is no post of this agent's, or another than the choice says.
func (b *Bot) turnOfPost(ctx context.Context, c Chosen) (q earshot.QueuedTurn, ok bool, err error) {
	err = b.store.Confirm(ctx, c.Scope, c.Key, c.Message) // it arrived, whatever the platform said
	if err == nil {
		q, err = b.store.Posted(ctx, c.Scope, c.Message)
	}
	switch {
	case errors.Is(err, earshot.ErrNotFound), errors.Is(err, earshot.ErrConflict), errors.Is(err, earshot.ErrInvalid):
		return q, false, nil
	case err != nil:
		return q, false, fmt.Errorf("look up what was chosen at: %w", err)
	}
	return q, q.Conversation.Agent == b.agent, nil
}

// Stop ends a turn, by is "" for an operator, and reports whether it had not ended yet. What
// was written of the answer stays, and says so.
func (b *Bot) Stop(ctx context.Context, id earshot.TurnID, by earshot.AuthorID) (running bool, err error) {
	q, err := b.store.StopTurn(ctx, id, by)
	if errors.Is(err, earshot.ErrConflict) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("stop turn %d: %w", id, err)
	}
	b.log.Info("a turn is stopped", append(conversationAttrs(q.Conversation), "turn", id, "by", q.StoppedBy)...)
	b.running.stop(id)
	b.wakeUp()
	return true, nil
}

// runningTurns are the turns that this process answers, with what ends them.
type runningTurns struct {
	mu   sync.Mutex
	ends map[earshot.TurnID]context.CancelCauseFunc
}

// add has stop end a turn's context until forget is called.
func (r *runningTurns) add(id earshot.TurnID, end context.CancelCauseFunc) (forget func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ends == nil {
		r.ends = map[earshot.TurnID]context.CancelCauseFunc{}
	}
	r.ends[id] = end
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.ends, id)
	}
}

func (r *runningTurns) stop(id earshot.TurnID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if end := r.ends[id]; end != nil {
		end(outcome{kind: stopped})
	}
}
