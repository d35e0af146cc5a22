package slack

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// A Handler takes an event and returns once it is durable, as [bot.Bot.Handle]
// does. An error means that it may not be kept.
type Handler func(ctx context.Context, e bot.Event) (bot.Outcome, error)

// errPanic is what a panic while an event was taken becomes.
var errPanic = errors.New("the event was not taken: a panic")

// take takes one delivery, by whichever way it came. When it returns nil the
// delivery is durable, or nothing is to be made of it, and it may be
// acknowledged; after an error it must come again. Before it is known who the
// bot is the delivery is kept as it came.
func (p *Platform) take(ctx context.Context, c slackmsg.Callback, raw []byte, handle Handler) error {
	if kept, err := p.keep(ctx, c, raw); kept || err != nil {
		return err
	}
	return p.use(ctx, c, raw, handle)
}

// use makes of a delivery what is to be made of it.
func (p *Platform) use(ctx context.Context, c slackmsg.Callback, raw []byte, handle Handler) (err error) {
	defer func() {
		if r := recover(); r != nil {
			// What panicked may hold a message: the log gets the place only.
			p.o.Log.Error("an event panicked", "delivery", c.ID, "type", slackapi.Word(c.Event.Type, "_"), "at", place(debug.Stack()))
			err = errPanic
		}
	}()
	kind := c.Event.Type
	if c.Event.Subtype != "" {
		kind += "." + c.Event.Subtype
	}
	if c.Type == "app_rate_limited" || c.Event.Type == "app_rate_limited" {
		p.heard.count("app_rate_limited", true, p.o.Now())
		return p.rateLimited(c)
	}
	ours, err := p.ours(ctx, c)
	if err != nil {
		return err
	}
	if !ours {
		p.heard.count("other_workspace", false, p.o.Now())
		return nil
	}
	if c.Event.Agent {
		p.agent.Store(true)
	}
	do, known := uses[c.Event.Type]
	p.heard.count(kind, known, p.o.Now())
	if !known {
		return nil
	}
	return do(p, ctx, delivery{Callback: c, raw: raw, handle: handle})
}

// place is the first line of a stack that is this module's, below the panic.
func place(stack []byte) string {
	lines := strings.Split(string(stack), "\n")
	past := false
	for _, l := range lines {
		past = past || strings.HasPrefix(l, "panic(")
		if name, _, ok := strings.Cut(l, "("); ok && past && strings.HasPrefix(name, "github.com/earshot-ai/") {
			return name
		}
	}
	return "unknown"
}

// A delivery is a callback on its way.
type delivery struct {
	slackmsg.Callback
	raw    []byte
	handle Handler
}

// uses says what is made of which event. What is not listed is acknowledged
// and counted.
var uses = map[string]func(*Platform, context.Context, delivery) error{
	"message":               (*Platform).message,
	"app_mention":           (*Platform).message,
	"reaction_added":        (*Platform).reaction,
	"reaction_removed":      (*Platform).reaction,
	"channel_rename":        (*Platform).channelChanged,
	"group_rename":          (*Platform).channelChanged,
	"member_joined_channel": (*Platform).joined,
	"member_left_channel":   (*Platform).left,
	"channel_left":          (*Platform).left,
	"group_left":            (*Platform).left,
	"channel_deleted":       (*Platform).left,
	"group_deleted":         (*Platform).left,
	"app_uninstalled":       (*Platform).removed,
	"tokens_revoked":        (*Platform).removed,
	"user_change":           (*Platform).userChanged,
	"user_profile_changed":  (*Platform).userChanged,
	"subteam_created":       (*Platform).groupChanged,
	"subteam_updated":       (*Platform).groupChanged,
	// A person opened the bot's DM, or looks at something beside it. What is
	// said there comes as messages; where they look is another channel's affair.
	"app_home_opened":                  (*Platform).seen,
	"app_context_changed":              (*Platform).seen,
	"assistant_thread_started":         (*Platform).seen,
	"assistant_thread_context_changed": (*Platform).seen,
}

func (p *Platform) seen(context.Context, delivery) error { return nil }

// ours reports whether a delivery is for the workspace of our token. Of an
// event in a shared channel Slack names one of the workspaces that have the
// app, not always this one: there the channel decides.
func (p *Platform) ours(ctx context.Context, c slackmsg.Callback) (bool, error) {
	if len(c.Teams)+len(c.Enterprises) == 0 || slices.Contains(c.Teams, p.workspace) ||
		p.enterprise != "" && slices.Contains(c.Enterprises, p.enterprise) {
		return true, nil
	}
	if !c.Shared || c.Event.Channel.ID == "" {
		return false, nil
	}
	_, err := p.o.Store.Channel(ctx, p.scope(c.Event.Channel.ID))
	if errors.Is(err, earshot.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// message hands a message, an edit or a deletion to the bot. An app_mention is
// the same message once more, under another delivery, and may be the first to
// come: it opens the turn then, and the copy that follows opens none.
func (p *Platform) message(ctx context.Context, x delivery) error {
	soon, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	d, err := p.names.decode(soon, x.raw)
	if err != nil {
		// It has no ts: there is nothing by which it could be kept.
		p.o.Log.Warn("a message cannot be kept", "delivery", x.ID, "err", err)
		return nil
	}
	for _, note := range d.Notes {
		p.o.Log.Debug("a part of a message cannot be read", "delivery", x.ID, "part", note)
	}
	told := x.Event.Channel
	if d.Message.ID == "" || told.ID == "" {
		return nil // Ignored, for a reason that has nothing to record
	}
	if d.Reason == slackmsg.ReplyNotice {
		return p.replied(ctx, p.scope(told.ID), d.Message)
	}
	p.unedited(&d)
	key := x.Event.Key
	if d.Whole {
		// Who gave it its last text knows the message by its id. Another store
		// of the same app does not, and takes the text as it is.
		key = ""
	}
	channel, err := p.names.channel(ctx, told)
	if err != nil {
		return fmt.Errorf("message %s: %w", d.Message.ID, err)
	}
	if changesChannel(x.Event) {
		p.names.keep(channel, channelTTL)
	}
	_, err = x.handle(ctx, bot.Event{
		Event: earshot.Event{
			Delivery: x.ID, Client: d.ClientID, Raw: withoutToken(x.raw, x.Token),
			Received: earshot.TimeOf(p.o.Now()), Message: p.rooted(channel, d.Message),
		},
		Channel: channel, Key: key,
	})
	if err != nil {
		return fmt.Errorf("message %s: %w", d.Message.ID, err)
	}
	return nil
}

// replied keeps what a notice tells of the replies that a stored root has. A
// root that is not stored brings that when it is read from history.
func (p *Platform) replied(ctx context.Context, s earshot.Scope, root earshot.Message) error {
	if root.Replies == nil {
		return nil
	}
	m, err := p.o.Store.Message(ctx, s, root.ID)
	if errors.Is(err, earshot.ErrNotFound) || err == nil && m.Deleted {
		return nil
	}
	if err == nil {
		m.Replies = root.Replies
		m.Mentions, m.Reactions, m.Files = nil, nil, nil // they tell nothing, and may have changed meanwhile
		_, err = p.o.Store.Record(ctx, s, m)
	}
	if err != nil {
		return fmt.Errorf("replies of message %s: %w", root.ID, err)
	}
	return nil
}

// oldPost is the age after which a post of ours that was updated gets no other
// text: no turn lives as long. Posts of versions that did not mark their last
// update are told by it.
const oldPost = earshot.Time(time.Hour / time.Microsecond)

// unedited takes the edit off a post of ours, which only we can update: with an
// answer in its placeholder's stead, which is no edit.
func (p *Platform) unedited(d *slackmsg.Decoded) {
	m := &d.Message
	if d.Key == "" || m.Deleted || !p.identity.Is(m.Author.ID) {
		d.Key, d.Whole = "", false
		return
	}
	d.Whole = d.Whole || m.Edited != 0 && m.Edited < earshot.TimeOf(p.o.Now())-oldPost
	m.Edited = 0
}

// rooted says of a message at the top level of a DM whether it begins a thread:
// under agent_view each does. Slack gives a root its own ts as thread_ts only
// once it has replies, which says nothing.
func (p *Platform) rooted(c earshot.Channel, m earshot.Message) earshot.Message {
	if c.Kind == earshot.KindDM && m.Root() == "" && !m.Deleted {
		m.Thread = ""
		if p.agent.Load() {
			m.Thread = m.ID
		}
	}
	return m
}

// withoutToken removes the old verification token from what is stored: it is a
// secret, and of no use here.
func withoutToken(raw []byte, token string) []byte {
	if len(token) < 8 {
		return raw
	}
	return []byte(strings.ReplaceAll(string(raw), `"`+token+`"`, `"***"`))
}

// reaction counts an emoji on a message that is stored. A message that is not
// brings its reactions when it is read from history. Counts are as Slack tells
// them, one by one: who gave one is not kept, and what was missed is made good
// by the next reading of history. The store counts, since another replica may
// do so at the same time.
func (p *Platform) reaction(ctx context.Context, x delivery) error {
	if x.Event.Item == "" || x.Event.Channel.ID == "" || x.Event.Reaction == "" || !p.heard.remember(x.ID) {
		return nil
	}
	by := 1
	if x.Event.Type == "reaction_removed" {
		by = -1
	}
	_, err := p.o.Store.React(ctx, p.scope(x.Event.Channel.ID), x.Event.Item, x.Event.Reaction, by)
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		p.heard.forget(x.ID)
		return fmt.Errorf("reaction to message %s: %w", x.Event.Item, err)
	}
	return nil
}

// rateLimited is told that Slack dropped events of a minute, because there
// were more than 30,000 in an hour.
func (p *Platform) rateLimited(c slackmsg.Callback) error {
	p.o.Log.Warn("slack dropped events of a minute: more than 30,000 came within an hour", "minute", c.Minute)
	if c.Minute > 0 {
		from := time.Unix(c.Minute, 0)
		p.o.Missed(from, from.Add(time.Minute))
	}
	return nil
}
