package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

var _ backfill.Source = (*Platform)(nil)

// maxPage is how many messages a page of history has at most (Get Channel Messages).
const maxPage = 100

// History reads what stands at a channel's top level within the window, newest first,
// as [backfill.Source] asks. Of a forum these are the first messages of its posts. In
// a private thread nothing stands at the top level.
func (p *Platform) History(ctx context.Context, c earshot.Channel, w backfill.Window) (backfill.Page, error) {
	if c.Platform != earshot.Discord {
		return backfill.Page{}, fmt.Errorf("history: %w", backfill.ErrNotThere)
	}
	x, err := p.directory.place(ctx, string(c.ID))
	switch {
	case err != nil:
		return backfill.Page{}, mapRefusal(err)
	case x.Thread():
		return backfill.Page{NewestFirst: true}, nil
	case x.forum():
		return p.forumPosts(ctx, c, w)
	}
	return p.page(ctx, c, section{id: string(c.ID)}, w)
}

// Replies reads replies of a thread within the window, newest first, as
// [backfill.Source] asks. The first page has the thread's root too, where the store
// does not have it.
func (p *Platform) Replies(ctx context.Context, c earshot.Channel, root earshot.MessageID, w backfill.Window) (backfill.Page, error) {
	if c.Platform != earshot.Discord {
		return backfill.Page{}, fmt.Errorf("history: %w", backfill.ErrNotThere)
	}
	at, err := p.threadOf(ctx, c, root)
	if err != nil {
		return backfill.Page{}, mapRefusal(err)
	}
	page, err := p.page(ctx, c, at, w)
	if err != nil || w.Cursor != "" || at.rootless() {
		return page, err
	}
	for _, m := range page.Messages {
		if m.Message.ID == root {
			return page, nil
		}
	}
	if _, err := p.o.Store.Message(ctx, c.Scope(), root); !errors.Is(err, earshot.ErrNotFound) {
		return page, err
	}
	found, ok, err := p.root(ctx, c, at)
	if err != nil {
		p.o.Log.Debug("the first message of a thread is not read", "channel", c.ID, "thread", root, "err", err)
	}
	if ok {
		page.Messages = append(page.Messages, found)
	}
	return page, nil
}

// A section is a Discord channel or thread, and how its messages stand in a channel of
// Earshot.
type section struct {
	id      string            // of the Discord channel or thread
	thread  earshot.MessageID // of which its messages are; "" for a channel's top level
	post    bool              // it is a forum's post, and its first message is the root
	alone   bool              // it is a private thread, which is a channel by itself
	bare    bool              // it was started from no message, as far as that is known
	subject *earshot.Subject  // of a forum's post
}

// rootless reports whether the thread has no message that it begins with.
func (x section) rootless() bool { return x.alone || x.bare }

// stands returns a message as it stands in the section.
func (x section) stands(m earshot.Message) earshot.Message {
	m.Thread = x.thread
	if x.post && m.ID == x.thread {
		if m.Subject = x.subject; m.Subject != nil {
			m.Text = discordmsg.PrependTitle(m.Subject.Name, m.Text)
		}
	}
	return m
}

// ofRoot returns where the first message of the thread stands.
func (x section) ofRoot(c earshot.Channel) section {
	if x.post {
		return x
	}
	return section{id: string(c.ID)}
}

// threadOf returns the thread of a root.
func (p *Platform) threadOf(ctx context.Context, c earshot.Channel, root earshot.MessageID) (section, error) {
	at := section{id: string(root), thread: root}
	x, err := p.directory.place(ctx, string(c.ID))
	if err != nil {
		return at, err
	}
	at.alone = x.Thread()
	_, at.bare = p.directory.noRoot.Get(root)
	if at.post = x.forum(); at.post {
		if post, err := p.directory.place(ctx, string(root)); err == nil {
			at.subject = p.directory.subject(ctx, post.ChannelInfo, true)
		}
	}
	return at, nil
}

// page reads one page of a channel or thread: Get Channel Messages. The ids of Discord
// begin with their time, so the window's ends are ids. A message that cannot be read
// costs itself, not the page.
func (p *Platform) page(ctx context.Context, c earshot.Channel, at section, w backfill.Window) (backfill.Page, error) {
	most := maxPage
	if w.Limit > 0 {
		most = min(most, w.Limit)
	}
	before := w.Cursor
	if before == "" {
		before = discordmsg.SnowflakeAt(w.Latest + 1000) // ids of the window's last millisecond are below it
	}
	list, err := fetchMessages(ctx, p.client.Try, at.id, url.Values{"limit": {strconv.Itoa(most)}, "before": {before}})
	if err != nil {
		return backfill.Page{}, mapRefusal(err)
	}
	if len(list) == 0 {
		if err := p.mayRead(ctx, p.client.Try, c, at.id); err != nil {
			return backfill.Page{}, mapRefusal(err)
		}
	}
	page := backfill.Page{NewestFirst: true, Messages: make([]backfill.HistoryMessage, 0, len(list))}
	over := len(list) < most
	for _, raw := range list {
		id, said, ok := discordmsg.Stamp(raw) // a thread's name has another id than the message that tells it
		if !ok {
			continue
		}
		f, ok := p.found(ctx, c, at, raw)
		if said < w.Oldest { // Discord's pages end by number
			over = true
			if ok {
				page.Beside = append(page.Beside, f)
			}
			continue
		}
		if ok && f.Unread && p.hides(c, raw) {
			return backfill.Page{}, errHidden
		}
		if ok {
			page.Messages = append(page.Messages, f)
		}
		page.Cursor = string(id)
	}
	if over {
		page.Cursor = ""
	}
	return page, errors.Join(p.keepOwn(ctx, c, page.Messages), p.keepOwn(ctx, c, page.Beside))
}

// An apiCaller is [discordapi.Client.Call] or [discordapi.Client.Try].
type apiCaller func(ctx context.Context, e *rest.Endpoint, params []any, query url.Values, body any) (json.RawMessage, error)

// fetchMessages asks for messages of a Discord channel or thread: Get Channel Messages.
func fetchMessages(ctx context.Context, call apiCaller, id string, query url.Values) (list []json.RawMessage, err error) {
	raw, err := call(ctx, rest.GetMessages, []any{id}, query, nil)
	if err == nil && json.Unmarshal(raw, &list) != nil {
		err = fmt.Errorf("%w with messages", discordapi.ErrNotAnswered)
	}
	return list, err
}

// mayRead returns the refusal where the bot may not read the history of a channel or
// thread. Discord then shows no messages at all (Get Channel Messages), and refuses
// only to show one: that of the channel's own id is asked for, which mostly does not
// exist.
func (p *Platform) mayRead(ctx context.Context, call apiCaller, c earshot.Channel, id string) error {
	if guildOf(c) == "" {
		return nil
	}
	_, err := call(ctx, rest.GetMessage, []any{id, id}, nil, nil)
	if discordapi.IsRefused(err, discordapi.UnknownMessage) {
		return nil
	}
	return err
}

// one reads one message: Get Channel Message. One that is gone is a deletion.
func (p *Platform) one(ctx context.Context, c earshot.Channel, at section, id earshot.MessageID) (backfill.HistoryMessage, error) {
	raw, err := p.client.Try(ctx, rest.GetMessage, []any{at.id, id}, nil, nil)
	if discordapi.IsRefused(err, discordapi.UnknownMessage) {
		return backfill.HistoryMessage{Event: earshot.Event{Message: discordmsg.Tombstone(id)}}, nil
	}
	if err != nil {
		return backfill.HistoryMessage{}, err
	}
	f, ok := p.found(ctx, c, at, raw)
	if !ok || f.Message.ID != id {
		return backfill.HistoryMessage{}, fmt.Errorf("%w with the message", discordapi.ErrNotAnswered)
	}
	found := []backfill.HistoryMessage{f}
	return found[0], p.keepOwn(ctx, c, found)
}

// root reads the first message of a thread. A thread can be started from no message,
// and then nothing but its first message tells that from a thread whose first message
// was deleted; it begins with its name, which the channel tells. ok is false where that
// is gone too; it is asked once.
func (p *Platform) root(ctx context.Context, c earshot.Channel, at section) (f backfill.HistoryMessage, ok bool, err error) {
	f, err = p.one(ctx, c, at.ofRoot(c), at.thread)
	if err != nil || !f.Message.Deleted || at.post {
		return f, err == nil, err
	}
	list, err := fetchMessages(ctx, p.client.Try, string(at.thread), url.Values{"limit": {"1"}, "after": {"0"}})
	if discordapi.IsRefused(err, discordapi.UnknownChannel) {
		return f, true, nil // the thread was deleted too, or there was none
	}
	if err != nil {
		return backfill.HistoryMessage{}, false, err
	}
	for _, raw := range list {
		if d, err := p.directory.decode(ctx, guildOf(c), raw); err == nil && d.Starter {
			return f, true, nil
		}
	}
	near, err := p.pageAround(ctx, c, at.ofRoot(c), at.thread)
	if err != nil {
		return backfill.HistoryMessage{}, false, err
	}
	if f, ok := near[at.thread]; ok {
		return f, true, nil
	}
	p.directory.noRoot.Put(at.thread, struct{}{})
	return backfill.HistoryMessage{}, false, nil
}

// found decodes one message of history; ok is false for what is no message, and for the
// name of a thread whose first message is known.
func (p *Platform) found(ctx context.Context, c earshot.Channel, at section, raw json.RawMessage) (f backfill.HistoryMessage, ok bool) {
	d, err := p.directory.decode(ctx, guildOf(c), raw)
	if err != nil || d.Starter || p.unreadable(guildOf(c), &d.Message) {
		f.Unread = true
		f.Message.ID, f.Message.Time, ok = discordmsg.Stamp(raw)
		return f, ok
	}
	m := d.Message
	if d.Begun == m.ID {
		if known, err := p.knows(ctx, c, m.ID); err != nil || known {
			f.Message.ID, f.Message.Time, _ = discordmsg.Stamp(raw)
			f.Unread = err != nil
			return f, err != nil
		}
	}
	m = p.withoutOwnName(at.stands(m))
	return backfill.HistoryMessage{Event: earshot.Event{Raw: raw, Message: m}, Key: d.Nonce}, m.Time != 0
}

// keepOwn gives the messages of ours that the store has the text that is stored: it is
// what was written, before it was put into Discord's form, and a placeholder's drafts
// are stored nowhere.
func (p *Platform) keepOwn(ctx context.Context, c earshot.Channel, list []backfill.HistoryMessage) error {
	var ours []earshot.MessageID
	for _, f := range list {
		if p.identity.Is(f.Message.Author.ID) && !f.Unread {
			ours = append(ours, f.Message.ID)
		}
	}
	if len(ours) == 0 {
		return nil
	}
	stored, err := p.o.Store.ByID(ctx, c.Scope(), ours...)
	if err != nil {
		return fmt.Errorf("read our own messages of channel %s: %w", c.ID, err)
	}
	for _, have := range stored {
		for i := range list {
			if m := &list[i].Message; m.ID == have.ID {
				m.Text, m.Edited, m.Mentions = have.Text, have.Edited, have.Mentions
			}
		}
	}
	return nil
}

// guildOf returns the guild of a channel, "" for a DM.
func guildOf(c earshot.Channel) string {
	return strings.TrimPrefix(string(c.Workspace), string(discordmsg.DirectMessages))
}

// mapRefusal turns an error of the client into what backfill decides by.
func mapRefusal(err error) error {
	var limited *discordapi.LimitedError
	switch {
	case errors.As(err, &limited):
		return &backfill.LimitError{Wait: limited.Wait, Err: err}
	case discordapi.IsRefused(err, discordapi.MissingAccess, discordapi.MissingPermissions):
		return &backfill.ScopeError{Scope: "View Channel and Read Message History", Err: err}
	case discordapi.IsRefused(err, discordapi.UnknownChannel, discordapi.UnknownMessage, discordapi.UnknownGuild):
		return fmt.Errorf("%w: %w", backfill.ErrNotThere, err)
	}
	return err
}
