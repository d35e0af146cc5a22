package discord

import (
	"context"
	"fmt"
	"strconv"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// deleted hands deletions to the bot, one event for each message. They are kept also
// for messages that were never seen, which may still come.
func (p *Platform) deleted(ctx context.Context, x *delivery) error {
	d, ok := discordmsg.ReadDeleteEvent(x.Data)
	if !ok {
		return nil
	}
	at, ok, err := p.listensTo(ctx, x, d.Guild, d.Channel)
	if err != nil || !ok {
		return err
	}
	if x.Type == "MESSAGE_DELETE" {
		return p.withdrawn(ctx, x, at, d.IDs[0])
	}
	return p.tombstones(ctx, x, at.channel(), d.IDs)
}

// tombstones hands the deletions of several messages to the bot.
func (p *Platform) tombstones(ctx context.Context, x *delivery, c earshot.Channel, ids []earshot.MessageID) error {
	for i, id := range ids {
		e := dispatchMessage{channel: c, message: discordmsg.Tombstone(id), suffix: strconv.Itoa(i), more: i < len(ids)-1}
		if err := p.pass(ctx, x, e); err != nil {
			return err
		}
	}
	return nil
}

// threadGone handles the deletion of a thread. What was said in it is gone on Discord,
// which tells only the thread. In a thread of a channel that goes on, it must not be
// shown any more, so all of it becomes tombstones; the message that the thread was
// started from stays, except in a forum, where it is the post's. A private thread is a
// channel, and is left as one.
func (p *Platform) threadGone(ctx context.Context, x *delivery) error {
	c, ok := readPlace(x.Data, "")
	if !ok {
		return nil
	}
	if c.Type == discordmsg.PrivateThread {
		return p.channelGone(ctx, x)
	}
	if c.Parent == "" {
		return nil
	}
	at, ok, err := p.listensTo(ctx, x, c.Guild, c.Parent)
	if err != nil || !ok {
		return err
	}
	if at.Type == unknownType {
		if known, err := p.directory.place(ctx, at.ID); err == nil {
			at = known
		}
	}
	p.directory.places.Drop(c.ID)
	id, thread := c.Where()
	if id != at.channel().ID || thread == "" {
		return nil
	}
	ids := []earshot.MessageID{}
	if at.forum() {
		ids = append(ids, thread)
	}
	for m, err := range p.o.Store.Range(ctx, at.channel().Scope(), earshot.ThreadOf(thread), earshot.Position{}, earshot.Position{}) {
		if err != nil {
			return fmt.Errorf("messages of thread %s: %w", thread, err)
		}
		if m.ID != thread {
			ids = append(ids, m.ID)
		}
	}
	return p.tombstones(ctx, x, at.channel(), ids)
}
