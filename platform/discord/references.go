package discord

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// maxReferences bounds the requests of one call of [Platform.FetchReferences].
const maxReferences = 20

// FetchReferences asks Discord for messages of a channel that others refer to and that
// the store does not know, such as [gather.Unknown] finds, and records them: each with
// one request, together with what it replies to in its turn as far as that stands near
// it, and one that is gone as deleted, so that it is never asked for again.
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
			if errors.As(err, &limited) || discordapi.IsRefused(err, discordapi.MissingAccess, discordapi.MissingPermissions) || !discordapi.Undone(err) {
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

// around is how many messages are asked for together with one that others refer to:
// what it replies to was mostly said shortly before.
const around = 50

// reference reads a message that others refer to, and what it replies to in its turn,
// as far as the same answer has that.
func (p *Platform) reference(ctx context.Context, c earshot.Channel, r gather.Reference) ([]earshot.Message, error) {
	at := section{id: string(c.ID)}
	thread := at
	if r.Thread != "" {
		var err error
		if at, err = p.threadOf(ctx, c, r.Thread); err != nil {
			return nil, err
		}
		if r.Root && at.rootless() {
			return nil, nil
		}
		if thread = at; r.Root {
			at = at.ofRoot(c)
		}
	}
	page, err := p.pageAround(ctx, c, at, r.ID)
	if err != nil {
		return nil, err
	}
	f, ok := page[r.ID]
	if !ok {
		// It is gone; or the bot may not read history, which Discord answers with an
		// empty list.
		if r.Root {
			f, ok, err = p.root(ctx, c, thread)
		} else {
			f, err = p.one(ctx, c, at, r.ID)
			ok = true
		}
		if err != nil || !ok {
			return nil, err
		}
	}
	var out []earshot.Message
	for ok = true; ok && !f.Unread; f, ok = page[f.Message.ReplyTo] {
		delete(page, f.Message.ID)
		out = append(out, f.Message)
		if above, known := p.within(ctx, c, at, f); known {
			if _, ok := page[above.ID]; !ok {
				out = append(out, above)
			}
		}
	}
	return out, nil
}

// pageAround reads the messages around one, by id: Get Channel Messages.
func (p *Platform) pageAround(ctx context.Context, c earshot.Channel, at section, id earshot.MessageID) (map[earshot.MessageID]backfill.HistoryMessage, error) {
	list, err := fetchMessages(ctx, p.client.Try, at.id, url.Values{"limit": {strconv.Itoa(around)}, "around": {string(id)}})
	if err != nil {
		return nil, err
	}
	var found []backfill.HistoryMessage
	for _, raw := range list {
		if f, ok := p.found(ctx, c, at, raw); ok {
			found = append(found, f)
		}
	}
	page := make(map[earshot.MessageID]backfill.HistoryMessage, len(found))
	err = p.keepOwn(ctx, c, found)
	for _, f := range found {
		page[f.Message.ID] = f
	}
	return page, err
}

// within returns what a message replies to, where its own JSON has that.
func (p *Platform) within(ctx context.Context, c earshot.Channel, at section, f backfill.HistoryMessage) (m earshot.Message, ok bool) {
	d, err := p.directory.decode(ctx, guildOf(c), f.Raw)
	if err != nil || d.Message.ReplyTo == "" {
		return m, false
	}
	above := d.Referenced
	if above == nil || above.Message.ID != d.Message.ReplyTo {
		return discordmsg.Tombstone(d.Message.ReplyTo), d.Gone
	}
	m = at.stands(above.Message)
	return m, !p.unreadable(guildOf(c), &m)
}
