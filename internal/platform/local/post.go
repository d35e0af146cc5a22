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
	bot.Writer
} = (*Platform)(nil)

// MaxText implements [bot.Sizer].
func (p *Platform) MaxText() int { return 12_000 }

// Post implements [bot.Platform]. The draft's key is the message's identity:
// the same one again is the message that there is.
func (p *Platform) Post(ctx context.Context, d bot.Draft) (earshot.Message, error) {
	m, err := p.Find(ctx, d)
	if !errors.Is(err, earshot.ErrNotFound) {
		return m, err
	}
	m = earshot.Message{ID: keyed("r", string(d.Channel.ID), d.Key), Author: p.agent(), Text: d.Text}
	if m.Time, err = p.now(ctx, d.Channel.Scope()); err != nil {
		return earshot.Message{}, err
	}
	m.Thread, m.ReplyTo = stands(d.Place)
	if _, err := p.store.Record(ctx, d.Channel.Scope(), m); err != nil {
		return earshot.Message{}, fmt.Errorf("post in %s: %w", d.Channel.ID, err)
	}
	p.tell(Update{Channel: d.Channel, Change: earshot.New, Message: m})
	return m, nil
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
