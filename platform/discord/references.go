package discord

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// maxReferences bounds the requests of one call of [Platform.FetchReferences].
const maxReferences = 20

// FetchReferences asks Discord for messages of a channel that others refer to and that
// the store does not know, such as [gather.Unknown] finds, and records them: each with
// one request, and one that is gone as deleted, so that it is never asked for again.
// What Discord does not tell now stays unknown. It does not wait for rate limits. The
// error is the store's, or ctx's.
func (p *Platform) FetchReferences(ctx context.Context, c earshot.Channel, list []gather.Reference) error {
	if c.Platform != earshot.Discord {
		return nil
	}
	for _, r := range list[:min(len(list), maxReferences)] {
		stored, err := p.o.Store.ByID(ctx, c.Scope(), r.ID)
		if err != nil {
			return fmt.Errorf("is message %s known: %w", r.ID, err)
		}
		if len(stored) > 0 {
			continue
		}
		messages, err := p.reference(ctx, c, r)
		limited := (*discordapi.LimitedError)(nil)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			p.o.Log.Debug("a message that others refer to is not read", "channel", c.ID, "message", r.ID, "err", err)
			if errors.As(err, &limited) || discordapi.Refused(err, discordapi.MissingAccess, discordapi.MissingPermissions) || !discordapi.Undone(err) {
				return nil // the others would fare no better
			}
		case len(messages) > 0:
			if _, err := p.o.Store.Record(ctx, c.Scope(), messages...); err != nil {
				return fmt.Errorf("record message %s: %w", r.ID, err)
			}
		}
	}
	return nil
}

// reference reads a message that others refer to.
func (p *Platform) reference(ctx context.Context, c earshot.Channel, r gather.Reference) ([]earshot.Message, error) {
	at := section{id: string(c.ID)}
	if r.Thread != "" {
		var err error
		if at, err = p.threadOf(ctx, c, r.Thread); err != nil {
			return nil, err
		}
		if r.Root && at.rootless() {
			return nil, nil
		}
		if r.Root {
			at = at.ofRoot(c)
		}
	}
	f, err := p.one(ctx, c, at, r.ID)
	if err != nil || f.Unread {
		return nil, err
	}
	out := []earshot.Message{f.Message}
	d, err := p.directory.decode(ctx, guildOf(c), f.Raw)
	if err != nil || d.Message.ReplyTo == "" {
		return out, nil
	}
	// What it replies to in its turn comes with it.
	switch above := d.Referenced; {
	case d.Gone:
		out = append(out, discordmsg.Tombstone(d.Message.ReplyTo))
	case above != nil && above.Message.ID == d.Message.ReplyTo:
		m := above.Message
		m.Thread = at.thread
		if at.post && m.ID == at.thread {
			m.Text = discordmsg.Titled(at.title, m.Text)
		}
		out = append(out, m)
	}
	return out, nil
}
