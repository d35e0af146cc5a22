package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A placeholder holds the reply's place from before the model is asked. It goes
// through the outbox as any post, with a kind of its own, and once it is there
// it gets its last text by updates, which may be repeated: the reply, the
// apology, or the word that the question was taken back. So a process may die
// anywhere, and the next one puts the text again. What the placeholder says
// meanwhile is not kept: the store has our message without a text.

// announce posts the placeholder, unless something of the turn can be seen
// already, or its answer is there. A platform that takes none at the moment is
// not waited for: the model is asked meanwhile.
func (t *turn) announce(soft, hard context.Context) error {
	if _, able := t.Platform.(Updater); !able || t.Placeholder == "" || t.DryRun {
		return nil
	}
	if soft.Err() != nil {
		return context.Cause(soft)
	}
	posts, err := t.Store.Posts(hard, t.queued.ID)
	if err != nil || visible(ofKind(posts, kindReply)) {
		return err
	}
	if _, whole := t.answeredAt(t.steps); whole {
		return nil
	}
	t.begins(t.Now())
	if l, able := t.Platform.(Limiter); able && !l.PlaceholderFits(t.place) {
		return nil // the reply is posted whole, or becomes what an earlier process has placed
	}
	if err := t.deliver(hard, kindPlaceholder, []string{t.Placeholder}); err != nil {
		var out *platformDown
		if !errors.As(err, &out) {
			return err
		}
		t.Log.Warn("no placeholder for now", append(about(t.lease.Conversation), "turn", t.queued.ID, "err", err)...)
		return nil
	}
	t.Fault(faultAfterPlaceholder)
	if p, ok, err := t.held(hard); err != nil {
		return err
	} else if ok {
		t.placed = &p
	}
	return nil
}

// held returns the placeholder that can be seen and may still get a text. Where
// it is not known whether one arrived it looks, and gives up one that did not.
func (t *turn) held(ctx context.Context) (p earshot.Post, ok bool, err error) {
	if _, able := t.Platform.(Updater); !able {
		return p, false, nil
	}
	posts, err := t.Store.Posts(ctx, t.queued.ID)
	if err != nil {
		return p, false, err
	}
	for _, p := range ofKind(posts, kindPlaceholder) {
		if p.State == earshot.PostSent {
			gone, err := t.gone(ctx, p.Message)
			if gone || err != nil {
				return earshot.Post{}, false, err
			}
			return p, true, nil
		}
		if !seen(p) {
			continue
		}
		t.slot.give()
		m, err := t.find(ctx, &p)
		if err != nil {
			return p, false, err
		}
		if m.ID != "" {
			p.State = earshot.PostSent
			p.Message, err = t.arrived(ctx, p, m, false)
			return p, err == nil, err
		}
		p.State, p.Text = earshot.PostFailed, ""
		if err := t.putPost(ctx, p); err != nil {
			return p, false, fmt.Errorf("give up a placeholder: %w", err)
		}
	}
	return earshot.Post{}, false, nil
}

// gone reports whether a message of ours was deleted.
func (t *turn) gone(ctx context.Context, id earshot.MessageID) (bool, error) {
	stored, err := t.Store.ByID(ctx, t.lease.Conversation.Scope, id)
	return err == nil && len(stored) > 0 && stored[0].Deleted, err
}

// become makes the reply of the placeholder, and posts what is left of it. A
// [PostError] means that the whole reply is to be posted beside it.
func (t *turn) become(ctx context.Context, p earshot.Post, texts []string) error {
	posts, err := t.Store.Posts(ctx, t.queued.ID)
	if err != nil {
		return err
	}
	replies := ofKind(posts, kindReply)
	if visible(replies) && len(replies) == len(texts) {
		return &PostError{Err: errors.New("all of the reply was posted before a restart")}
	}
	var never *PostError
	err = t.replace(ctx, p, texts[0])
	if errors.As(err, &never) && visible(replies) && len(replies) == len(texts)-1 {
		err = t.became(ctx, p, texts[0]) // before a restart, or the rest would not be there
	}
	if err != nil {
		return err
	}
	if err := t.deliver(ctx, kindReply, texts[1:]); err != nil {
		return err
	}
	t.replies = append([]earshot.MessageID{p.Message}, t.replies...)
	return nil
}

// replace gives the placeholder its last text, which is stored with the end of
// the turn. Tries counts, as in sendOnce, the updates that did not return. A
// [PostError] means that the placeholder takes no text any more.
func (t *turn) replace(ctx context.Context, p earshot.Post, text string) error {
	if p.Tries > 2*maxEnds {
		return &giveUp{fmt.Sprintf("the process ended %d times while it updated post %d", maxEnds, p.Chunk), sayFailed}
	}
	before := p
	p.Text, p.Tries = text, p.Tries+1
	if err := t.putPost(ctx, p); err != nil {
		return fmt.Errorf("write what the placeholder becomes: %w", err)
	}
	t.slot.give()
	t.Fault(faultBeforeUpdate)
	if t.updates.lost {
		// An update whose fate is not known must not arrive after this one.
		if err := sleep(ctx, t.Limits.Look); err != nil {
			return err
		}
	}
	if err := t.update(ctx, p); err != nil {
		before.Text = text
		if put := t.putPost(ctx, before); put != nil {
			return errors.Join(put, err)
		}
		return err
	}
	t.Fault(faultAfterUpdate)
	return t.became(ctx, p, text)
}

// became notes what the placeholder says, until it is stored with the end of the
// turn.
func (t *turn) became(ctx context.Context, p earshot.Post, text string) error {
	m, err := t.saying(ctx, earshot.Message{ID: p.Message}, text)
	if err != nil {
		return err
	}
	t.arrivals = slices.DeleteFunc(t.arrivals, func(a earshot.Arrival) bool { return a.Key == p.Key })
	t.arrivals = append(t.arrivals, earshot.Arrival{Key: p.Key, Message: m})
	return nil
}

// update puts a post's text in its message's place, again and again until it is
// there.
func (t *turn) update(ctx context.Context, p earshot.Post) error {
	whole := t.draft(p)
	whole.Growing = false
	for {
		if err := t.stands(ctx, true); err != nil {
			return err
		}
		call, cancel := context.WithTimeout(ctx, postTime)
		err := t.Platform.(Updater).Update(call, whole, p.Message)
		cancel()
		if err == nil {
			return nil
		}
		retry := t.Limits.Look
		var e *PostError
		if errors.As(err, &e) {
			if e.Retry <= 0 {
				return err
			}
			retry = e.Retry
		}
		if err := t.pause(ctx, fmt.Errorf("update message %s: %w", p.Message, err), retry); err != nil {
			return err
		}
	}
}

// saying returns our own message with a text as it is to be stored, whatever the
// platform has told of it so far.
func (t *turn) saying(ctx context.Context, m earshot.Message, text string) (earshot.Message, error) {
	stored, err := t.Store.ByID(ctx, t.lease.Conversation.Scope, m.ID)
	if err != nil {
		return m, err
	}
	if len(stored) > 0 {
		was := stored[0]
		if m.Time == 0 {
			m.Time, m.Thread, m.ReplyTo = was.Time, was.Thread, was.ReplyTo
		}
		if m.Edited = was.Edited; was.Text != "" && was.Text != text {
			m.Edited = max(was.Edited+1, t.Now()) // or the other text might win
		}
	}
	if m.Time == 0 {
		m.Time = t.Now()
	}
	m.Author, m.Text = t.self(), text
	return m, nil
}

// unsaid returns an event about our own placeholder as it is recorded: what it
// says is the turn's to store, and no edit. Drafts are kept nowhere.
func (b *Bot) unsaid(ctx context.Context, e Event) (Event, error) {
	if _, able := b.Platform.(Updater); !able || e.Message.Deleted || !b.Identity.Is(e.Message.Author.ID) {
		return e, nil
	}
	scope := e.Channel.Scope()
	ours := e.Key != "" && e.Key[0] == kindPlaceholder || b.Placeholder != "" && e.Message.Text == b.Placeholder
	if !ours {
		q, err := b.Store.Posted(ctx, scope, e.Message.ID)
		if errors.Is(err, earshot.ErrNotFound) {
			return e, nil
		}
		if err != nil {
			return e, err
		}
		posts, err := b.Store.Posts(ctx, q.ID)
		if err != nil {
			return e, err
		}
		for _, p := range ofKind(posts, kindPlaceholder) {
			ours = ours || p.Message == e.Message.ID
		}
		if !ours {
			return e, nil
		}
	}
	e.Raw, e.Message.Text, e.Message.Edited, e.Message.Mentions = nil, "", 0, nil
	stored, err := b.Store.ByID(ctx, scope, e.Message.ID)
	if err == nil && len(stored) > 0 {
		e.Message.Text, e.Message.Edited = stored[0].Text, stored[0].Edited
	}
	return e, err
}
