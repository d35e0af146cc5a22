package local

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

var _ interface {
	bot.Platform
	bot.Finder
	bot.Sizer
	bot.Updater
	bot.Remover
	bot.Writer
} = (*Platform)(nil)

// MaxText implements [bot.Sizer].
func (p *Platform) MaxText() int { return 12_000 }

// Post implements [bot.Platform]. The draft's key is the message's identity:
// the same one again is the message that there is. A placeholder is kept as a
// message without a text, which is how people see it over HTTP; a terminal
// shows what is written so far.
func (p *Platform) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	m, err := p.Find(ctx, d)
	if !errors.Is(err, earshot.ErrNotFound) {
		return m, err
	}
	m = earshot.Message{ID: keyed("r", string(d.Channel.ID), d.Key), Author: p.agent(), Text: d.Text}
	if d.Growing {
		m.Text = ""
	}
	if m.Time, err = p.now(ctx, d.Channel.Scope()); err != nil {
		return earshot.Message{}, err
	}
	m.Thread, m.ReplyTo = stands(d.Place)
	if _, err := p.store.Record(ctx, d.Channel.Scope(), m); err != nil {
		return earshot.Message{}, fmt.Errorf("post in %s: %w", d.Channel.ID, err)
	}
	if !d.Growing {
		p.tell(Update{Channel: d.Channel, Change: earshot.New, Message: m})
	}
	return m, nil
}

// Update implements [bot.Updater]. What still grows is shown by Writing and
// kept nowhere.
func (p *Platform) Update(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	if d.Growing {
		return nil
	}
	m, err := p.store.Message(ctx, d.Channel.Scope(), id)
	switch {
	case errors.Is(err, earshot.ErrNotFound), err == nil && (m.Deleted || !p.o.Agent.Is(m.Author.ID)):
		return &bot.PostError{Err: fmt.Errorf("message %s in %s is not there any more", id, d.Channel.ID)}
	case err != nil:
		return fmt.Errorf("update message %s: %w", id, err)
	case m.Text == d.Text:
		return nil
	}
	change := earshot.New
	if m.Text != "" {
		change = earshot.Edited
		now, err := p.now(ctx, d.Channel.Scope())
		if err != nil {
			return err
		}
		m.Edited = max(now, m.Edited+1)
	}
	m.Text, m.Tokens = d.Text, 0
	if _, err := p.store.Record(ctx, d.Channel.Scope(), m); err != nil {
		return fmt.Errorf("update message %s: %w", id, err)
	}
	p.tell(Update{Channel: d.Channel, Change: change, Message: m})
	return nil
}

// Remove implements [bot.Remover]. One that is not there any more is gone.
func (p *Platform) Remove(ctx context.Context, at bot.Place, id earshot.MessageID) error {
	m, err := p.store.Message(ctx, at.Channel.Scope(), id)
	switch {
	case errors.Is(err, earshot.ErrNotFound), err == nil && m.Deleted:
		return nil
	case err == nil && !p.o.Agent.Is(m.Author.ID):
		return &bot.PostError{Err: fmt.Errorf("message %s in %s is not ours", id, at.Channel.ID)}
	case err != nil:
		return fmt.Errorf("delete message %s: %w", id, err)
	}
	gone := earshot.Message{ID: m.ID, Time: m.Time, Thread: m.Thread, Deleted: true}
	if _, err := p.store.Record(ctx, at.Channel.Scope(), gone); err != nil {
		return fmt.Errorf("delete message %s: %w", id, err)
	}
	if m.Text != "" { // a placeholder was never shown
		p.tell(Update{Channel: at.Channel, Change: earshot.Gone, Message: gone})
	}
	return nil
}

// Find implements [bot.Finder].
func (p *Platform) Find(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	return p.store.Message(ctx, d.Channel.Scope(), keyed("r", string(d.Channel.ID), d.Key))
}

// Writing implements [bot.Writer].
func (p *Platform) Writing(_ context.Context, at bot.Place, text string, done bool) {
	thread, _ := stands(at)
	p.tell(Update{Channel: at.Channel, Draft: &Draft{Anchor: at.Anchor.ID, Thread: thread, Text: text, Done: done}})
}

// stands returns where an answer belongs: in the thread of what it answers,
// in one that the question then begins, or after it in direct messages. A
// question that is a reply by reference is answered by one.
func stands(at bot.Place) (thread, replyTo earshot.MessageID) {
	switch {
	case at.Thread != "":
		return at.Thread, ""
	case at.Anchor.ReplyTo != "":
		return "", at.Anchor.ID
	case at.Channel.Kind == earshot.KindDM:
		return "", ""
	}
	return at.Anchor.ID, ""
}
