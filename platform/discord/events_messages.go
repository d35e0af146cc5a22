package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// A messageHead is where a message is.
type messageHead struct {
	ID      string `json:"id"`
	Channel string `json:"channel_id"`
	Guild   string `json:"guild_id"`       // "" for direct messages
	App     string `json:"application_id"` // of a webhook that a program made
	Flags   int    `json:"flags"`
}

func readHead(raw []byte) (h messageHead, ok bool) {
	_ = json.Unmarshal(raw, &h) // a field of another kind costs itself
	return h, h.ID != "" && h.Channel != ""
}

// message hands a message or an edit to the bot.
func (p *Platform) message(ctx context.Context, x *delivery) error {
	head, ok := readHead(x.Data)
	if !ok {
		p.o.Log.Warn("a message cannot be kept: it has no id or channel", "delivery", x.Delivery)
		return nil
	}
	// What one person alone is told comes as an event too, in the form of a direct message
	// (github.com/discord/discord-api-docs/issues/4557). It is in no history.
	if head.Flags&ephemeral != 0 {
		return nil
	}
	at, ok, err := p.listensTo(ctx, x, head.Guild, head.Channel)
	if err != nil || !ok {
		return err
	}
	d, err := p.directory.decode(ctx, head.Guild, x.Data)
	if errors.Is(err, discordmsg.ErrNotMessage) || errors.Is(err, discordmsg.ErrTooLarge) {
		p.o.Log.Warn("a message cannot be kept", "delivery", x.Delivery, "err", err)
		return nil
	}
	if err != nil {
		return err
	}
	for _, note := range d.Notes {
		p.o.Log.Debug("a part of a message cannot be read", "delivery", x.Delivery, "part", note)
	}
	if err := p.referenced(ctx, x, at, &d); err != nil {
		return err
	}
	if err := p.learnSubject(ctx, at); err != nil {
		return err
	}
	if d.Starter {
		return nil
	}
	m := p.located(ctx, at, d.Message)
	if d.Begun == m.ID {
		if known, err := p.knows(ctx, at.channel(), m.ID); err != nil || known {
			return err
		}
	}
	if !d.Whole {
		return p.previews(ctx, x, at, m)
	}
	if x.Type == "MESSAGE_UPDATE" && m.Shared == nil { // a preview that was there is removed
		m.Shared = []earshot.SharedContent{}
	}
	if p.unreadable(at.Guild, &m) {
		return p.unread(ctx, at, m)
	}
	if d.Webhook == "" && slices.Contains([]earshot.AuthorKind{earshot.Human, earshot.Bot}, m.Author.Kind) {
		if err := p.directory.meet(ctx, at.Guild, m.Author); err != nil {
			return err
		}
	}
	// By a preview or a thread that was added nobody asks anew. Nor is a thread's name a
	// question.
	e := dispatchMessage{channel: at.channel(), message: m, raw: true, known: x.Type == "MESSAGE_UPDATE" && m.Edited == 0 || d.Begun == m.ID}
	switch {
	case p.identity.Is(m.Author.ID):
		// Only we can change our posts, and replacing a placeholder by its answer is no
		// edit.
		e.key, e.message.Edited = d.Nonce, 0
	case d.Webhook != "":
		why, repeats, err := p.proxied(ctx, head.App, at, &e.message)
		if err != nil {
			return err
		}
		e.refused, e.known = why, e.known || repeats
	case d.AskedBy.ID != "": // the roles that it tells are ours
		why, err := p.Refused(ctx, at.channel(), m.Author.ID)
		if err != nil {
			return err
		}
		e.refused = why
	default:
		if x.Type == "MESSAGE_CREATE" && m.Author.Kind == earshot.Human {
			p.proxyUse.heard(at.Guild, m, p.withdrawals.has)
		}
		e.groups = d.Roles
		if e.refused = p.notAllowed(m.Author.ID, d.Roles); at.Guild != "" {
			p.learnRefusal(person{at.Guild, string(m.Author.ID)}, e.refused != "")
		}
	}
	return p.pass(ctx, x, e)
}

// listensTo returns the place of an event. ok is false where nothing of it is kept: it
// is not on the list of channels, or Discord does not say what it is, so that nobody
// knows who may read it.
func (p *Platform) listensTo(ctx context.Context, x *delivery, guild, channel string) (at place, ok bool, err error) {
	at, err = p.directory.placeIn(ctx, guild, channel)
	if errors.Is(err, errNoAccess) {
		p.o.Log.Warn("an event is not kept: its channel cannot be looked up", "channel", channel, "type", x.Type, "err", err)
		return at, false, nil
	}
	if err != nil {
		return at, false, err
	}
	allowed, err := p.allowed(ctx, at)
	return at, allowed, err
}

// located returns a message as it stands in the channel that has it.
func (p *Platform) located(ctx context.Context, at place, m earshot.Message) earshot.Message {
	m.Thread = at.thread()
	if m.Thread == m.ID {
		// A forum post's first message: of all threads, only those of a forum begin
		// with a message of their own id.
		m.Text = discordmsg.PrependTitle(at.Name, m.Text)
		m.Subject = p.directory.subject(ctx, at.ChannelInfo, true)
	}
	return p.withoutOwnName(m)
}

// withoutOwnName returns m without a name of its thread that is ours. Another name is that
// of now, also of an old message.
func (p *Platform) withoutOwnName(m earshot.Message) earshot.Message {
	switch {
	case p.ownName(m, m.Subject):
		m.Subject = nil
	case m.Subject != nil && m.Subject.AsOf == 0:
		m.Subject.AsOf = earshot.TimeOf(p.o.Now())
	}
	return m
}

// knows reports whether the store has a message of an id, if only as deleted. What a
// thread really began with is not replaced by the thread's name.
func (p *Platform) knows(ctx context.Context, c earshot.Channel, id earshot.MessageID) (bool, error) {
	stored, err := p.o.Store.ByID(ctx, c.Scope(), id)
	if err != nil {
		return false, fmt.Errorf("is message %s known: %w", id, err)
	}
	return len(stored) > 0, nil
}

// referenced records the message that a reply or a thread's beginning refers to,
// where the object has it and the store does not: it comes for free. One that was
// deleted is recorded as such; of one that is not told nothing is known.
func (p *Platform) referenced(ctx context.Context, x *delivery, at place, d *discordmsg.DecodedMessage) error {
	var list []earshot.Message
	switch {
	case d.Referenced != nil:
		r := d.Referenced
		if r.Channel != "" && r.Channel != at.ID {
			var ok bool
			var err error
			if at, ok, err = p.listensTo(ctx, x, at.Guild, r.Channel); err != nil || !ok {
				return err
			}
		}
		m := p.located(ctx, at, r.Message)
		if r.Starter || p.unreadable(at.Guild, &m) {
			return nil
		}
		list = append(list, m)
	case d.Gone && d.Message.ReplyTo != "":
		list = append(list, discordmsg.Tombstone(d.Message.ReplyTo))
	default:
		return nil
	}
	s := at.channel().Scope()
	stored, err := p.o.Store.ByID(ctx, s, list[0].ID)
	if err != nil {
		return fmt.Errorf("message %s: %w", list[0].ID, err)
	}
	switch {
	case len(stored) > 0 && (stored[0].Deleted || !list[0].Deleted):
		return nil
	case len(stored) > 0:
		return p.pass(ctx, x, dispatchMessage{channel: at.channel(), message: list[0], suffix: "gone", more: true})
	}
	if err := p.enterWorkspace(ctx, s.Workspace); err != nil {
		return err
	}
	if _, err := p.o.Store.Record(ctx, s, list...); err != nil {
		return fmt.Errorf("message %s: %w", list[0].ID, err)
	}
	return nil
}

// previews takes over what an update carries that is not the whole message: Discord
// has found what a link leads to.
func (p *Platform) previews(ctx context.Context, x *delivery, at place, m earshot.Message) error {
	if len(m.Shared) == 0 {
		return nil
	}
	stored, err := p.o.Store.Message(ctx, at.channel().Scope(), m.ID)
	if errors.Is(err, earshot.ErrNotFound) || err == nil && stored.Deleted {
		return nil
	}
	if err != nil {
		return fmt.Errorf("message %s: %w", m.ID, err)
	}
	stored.Shared = m.Shared
	stored.Mentions, stored.Reactions, stored.Files = nil, nil, nil // the update has none; keep what is stored
	return p.pass(ctx, x, dispatchMessage{channel: at.channel(), message: stored, known: true})
}

// unreadable reports whether a message says nothing only because Discord does not let
// the bot read it: without MESSAGE_CONTENT the texts, embeds and attachments of others
// are empty, but for direct messages and what mentions the bot.
func (p *Platform) unreadable(guild string, m *earshot.Message) bool {
	return !p.Content() && guild != "" && m.Text == "" && len(m.Files)+len(m.Shared) == 0 &&
		m.Author.Kind != earshot.System && !p.identity.Is(m.Author.ID) && !p.identity.MentionedIn(m)
}

// hides reports whether history shows a message without its text for that reason.
func (p *Platform) hides(c earshot.Channel, raw []byte) bool {
	d, err := discordmsg.Decode(raw, p.directory.names(guildOf(c)))
	return err == nil && !d.Starter && p.unreadable(guildOf(c), &d.Message)
}

// errHidden refuses a page of history of which Discord hides a text: what was said
// then stays a gap, which is read once the intent is granted.
var errHidden = &backfill.ScopeError{Scope: "MESSAGE_CONTENT", Err: errors.New("discord shows messages without their text")}

// unreadEvery is how often it is written how far a channel could not be read.
const unreadEvery = time.Minute

// An unreadSpan is a time in which messages of a channel could not be read.
type unreadSpan struct{ from, to, written earshot.Time }

// unread records that something was said in a channel that could not be read. Without
// that an empty channel would look like a silent one. It is written at most once a
// minute, so up to a minute may be missing at the end.
func (p *Platform) unread(ctx context.Context, at place, m earshot.Message) error {
	s := at.channel().Scope()
	p.unreadMu.Lock()
	defer p.unreadMu.Unlock()
	was, ok := p.unreadSpans.Get(s)
	now := unreadSpan{from: m.Time, to: m.Time, written: m.Time}
	if ok {
		now = unreadSpan{from: min(was.from, m.Time), to: max(was.to, m.Time), written: was.written}
		if now.from == was.from && now.to-now.written < earshot.Time(unreadEvery/time.Microsecond) {
			p.unreadSpans.Put(s, now)
			return nil
		}
		now.written = now.to
	}
	list := []earshot.Coverage{{From: now.from, To: now.to, State: earshot.Missing, Why: "MESSAGE_CONTENT is not granted"}}
	if ok && (was.from != now.from || was.written != now.to) {
		list = append(list, earshot.Coverage{From: was.from, To: was.written})
	}
	if err := p.o.Store.PutCoverage(ctx, s, list...); err != nil {
		return fmt.Errorf("coverage of channel %s: %w", s.Channel, err)
	}
	p.unreadSpans.Put(s, now)
	return nil
}
