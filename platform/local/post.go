package local

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	bot.Chooser
	bot.FileSender
} = (*Platform)(nil)

// MaxText implements [bot.Sizer].
func (p *Platform) MaxText() int { return 12_000 }

// Post implements [bot.Platform]. The draft's key identifies the message: posted
// again, it is the existing one. A placeholder is stored as a message without text,
// and is seen like that by HTTP; a terminal shows what is written so far.
func (p *Platform) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	p.offer(d, idOfPost(d.Key))
	m, err := p.Find(ctx, d)
	if !errors.Is(err, earshot.ErrNotFound) {
		return m, err
	}
	if d.Text, err = p.labelled(ctx, d); err != nil {
		return earshot.Message{}, err
	}
	m = earshot.Message{ID: idOfPost(d.Key), Author: p.agent(), Text: d.Text}
	if d.Growing {
		m.Text = ""
	}
	if m.Time, err = p.now(ctx, d.Channel.Scope()); err != nil {
		return earshot.Message{}, err
	}
	m.Thread, m.ReplyTo = answerThread(d.Place)
	if _, err := p.store.Record(ctx, d.Channel.Scope(), m); err != nil {
		return earshot.Message{}, fmt.Errorf("post in %s: %w", d.Channel.ID, err)
	}
	if !d.Growing {
		p.tell(Update{Channel: d.Channel, Change: earshot.New, Message: m})
	}
	return m, nil
}

// SendFile implements [bot.FileSender]. Sent again under its key a file is the existing one.
func (p *Platform) SendFile(ctx context.Context, at bot.Place, f bot.TextFile) error {
	m := earshot.Message{ID: idOfPost(f.Key), Author: p.agent()}
	_, err := p.store.Message(ctx, at.Channel.Scope(), m.ID)
	if err == nil {
		return nil
	}
	if errors.Is(err, earshot.ErrNotFound) {
		m.Files, err = p.share(at.Channel.Scope(), m.ID, []Upload{{Name: f.Name, Data: []byte(f.Text)}})
	}
	if err == nil {
		m.Time, err = p.now(ctx, at.Channel.Scope())
	}
	if err != nil {
		return &bot.PostError{Err: err}
	}
	m.Thread, m.ReplyTo = answerThread(at)
	if _, err := p.store.Record(ctx, at.Channel.Scope(), m); err != nil {
		return fmt.Errorf("send a file in %s: %w", at.Channel.ID, err)
	}
	p.tell(Update{Channel: at.Channel, Change: earshot.New, Message: m, Content: f.Text})
	return nil
}

// Update implements [bot.Updater]. A draft that still grows is shown by Writing and
// not stored.
func (p *Platform) Update(ctx context.Context, d bot.Draft, id earshot.MessageID) error {
	others := p.offer(d, id)
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
		if others {
			p.tell(Update{Channel: d.Channel, Change: earshot.Updated, Message: m})
		}
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

// labelled returns a draft's text with the names of whom it mentions, as the texts have
// that people type.
func (p *Platform) labelled(ctx context.Context, d bot.Draft) (string, error) {
	if len(d.Mentions) == 0 {
		return d.Text, nil
	}
	list, err := p.store.Authors(ctx, p.o.Platform, p.o.Workspace)
	if err != nil {
		return "", fmt.Errorf("list people: %w", err)
	}
	text := d.Text
	for _, a := range list {
		if slices.Contains(d.Mentions, a.ID) && a.Name != "" {
			text = strings.ReplaceAll(text, "<@"+string(a.ID)+">", "<@"+string(a.ID)+"|"+a.Name+">")
		}
	}
	return text, nil
}

// Remove implements [bot.Remover]. Removing a message that is gone is no error.
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
	p.choices.Drop(place{at.Channel.Scope(), id})
	gone := earshot.Message{ID: m.ID, Time: m.Time, Thread: m.Thread, Deleted: true}
	if _, err := p.store.Record(ctx, at.Channel.Scope(), gone); err != nil {
		return fmt.Errorf("delete message %s: %w", id, err)
	}
	if m.Text != "" { // a placeholder was never shown
		p.tell(Update{Channel: at.Channel, Change: earshot.Gone, Message: gone})
	}
	return nil
}

// Find implements [bot.Finder]. Before a post's id was made of its key alone, it was
// derived: a post that was under way during an upgrade has that one.
func (p *Platform) Find(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	m, err := p.store.Message(ctx, d.Channel.Scope(), idOfPost(d.Key))
	if errors.Is(err, earshot.ErrNotFound) {
		return p.store.Message(ctx, d.Channel.Scope(), deriveID("r", string(d.Channel.ID), d.Key))
	}
	return m, err
}

// Writing implements [bot.Writer].
func (p *Platform) Writing(_ context.Context, at bot.Place, text string, done bool) {
	thread, _ := answerThread(at)
	p.tell(Update{Channel: at.Channel, Draft: &Draft{Anchor: at.Anchor.ID, Thread: thread, Text: text, Done: done}})
}

// answerThread returns where an answer belongs: in the question's thread, in a thread that
// begins with the question, or in direct messages after it. A question that is a reply
// by reference is answered by one.
func answerThread(at bot.Place) (thread, replyTo earshot.MessageID) {
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
