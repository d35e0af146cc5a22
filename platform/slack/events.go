package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/internal/rescue"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// A Handler handles an event and returns once it is durable, as [bot.Bot.Handle]
// does. After an error the event is not acknowledged, and comes again.
type Handler func(ctx context.Context, e bot.Event) (bot.Outcome, error)

// take handles one delivery, by whichever way it came. When it returns nil the
// delivery is durable or has no effect, and may be acknowledged; after an error it
// must come again. Before it is known who the bot is, the delivery is stored as it
// came.
func (p *Platform) take(ctx context.Context, c slackmsg.Callback, raw []byte, handle Handler) error {
	if kept, err := p.storeEarly(ctx, c, raw); kept || err != nil {
		return err
	}
	return p.use(ctx, c, raw, handle)
}

// use handles a delivery by the type of its event.
func (p *Platform) use(ctx context.Context, c slackmsg.Callback, raw []byte, handle Handler) error {
	return rescue.HandleEvent(p.o.Log, func() error { return p.useEvent(ctx, delivery{Callback: c, raw: raw, handle: handle}) },
		"delivery", c.ID, "type", slackapi.SafeWord(c.Event.Type, "_"))
}

func (p *Platform) useEvent(ctx context.Context, c delivery) error {
	if c.Type == "app_rate_limited" || c.Event.Type == "app_rate_limited" {
		return p.rateLimited(c.Callback)
	}
	ours, err := p.ours(ctx, c.Callback)
	if err != nil || !ours {
		return err
	}
	if c.Event.Agent {
		p.agent.Store(true)
	}
	if do, known := uses[c.Event.Type]; known {
		return do(p, ctx, c)
	}
	return nil
}

// A delivery is a callback with its bytes and its handler.
type delivery struct {
	slackmsg.Callback
	raw    []byte
	handle Handler
}

// uses has the function for each type of event. Types that are not listed are
// acknowledged.
var uses = map[string]func(*Platform, context.Context, delivery) error{
	"message":               (*Platform).message,
	"app_mention":           (*Platform).message,
	"reaction_added":        (*Platform).reaction,
	"reaction_removed":      (*Platform).reaction,
	"channel_rename":        (*Platform).channelChanged,
	"group_rename":          (*Platform).channelChanged,
	"channel_id_changed":    (*Platform).moved,
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
	"app_home_opened":       (*Platform).homeOpened,
	// A person looks at something beside the bot's DM: it belongs to another channel.
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

// message hands a message, an edit or a deletion to the bot. A mention arrives
// twice, as app_mention and as message, in either order: the first opens the turn,
// and the bot recognises the second by the message's id.
func (p *Platform) message(ctx context.Context, x delivery) error {
	soon, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	d, err := p.names.decode(soon, x.raw)
	if err != nil {
		// It has no ts, and so no id to store it by.
		p.o.Log.Warn("a message cannot be kept", "delivery", x.ID, "err", err)
		return nil
	}
	for _, note := range d.Notes {
		p.o.Log.Debug("a part of a message cannot be read", "delivery", x.ID, "part", note)
	}
	at := x.Event.Channel
	if d.Message.ID == "" || at.ID == "" {
		return nil // Ignored, for a reason that has nothing to record
	}
	if d.Reason == slackmsg.ReplyNotice {
		return p.replied(ctx, p.scope(at.ID), d.Message)
	}
	p.unedited(&d)
	p.attribute(soon, &d)
	key := x.Event.Key
	if d.Whole {
		// The store of the bot that posted it knows the message by its id. Another
		// store of the same app does not, and takes the text as it comes.
		key = ""
	}
	channel, err := p.names.channel(ctx, at, x.Event.Time)
	if err != nil {
		return fmt.Errorf("message %s: %w", d.Message.ID, err)
	}
	d.Message.AsOf = earshot.ListsAt(x.Event.Time)
	refused := cmp.Or(p.byGroup(soon, &d.Message), p.Refused(soon, d.Message.Author.ID))
	out, err := x.handle(ctx, bot.Event{
		Event: earshot.Event{
			Delivery: x.ID, Client: d.ClientID, Raw: withoutToken(x.raw, x.Token),
			Received: earshot.TimeOf(p.o.Now()), Message: p.rooted(channel, d.Message),
			Form: d.Form, Refused: refused,
		},
		Channel: channel, Key: key,
	})
	if err != nil {
		return fmt.Errorf("message %s: %w", d.Message.ID, err)
	}
	if out.Opened {
		p.title(ctx, channel, p.rooted(channel, d.Message))
	}
	return nil
}

// Refused returns why an author is not answered, for [earshot.Event].Refused; "" where
// nothing speaks against it.
func (p *Platform) Refused(ctx context.Context, author earshot.AuthorID) earshot.Refusal {
	a := p.o.Allow
	if len(a.Users)+len(a.Groups) == 0 || slices.Contains(a.Users, string(author)) || len(a.Groups) > 0 && p.names.inGroups(ctx, author, a.Groups) {
		return ""
	}
	return earshot.RefusedAuthor
}

// InGroups implements [bot.GroupReader]. Slack tells it with the scope usergroups:read alone.
func (p *Platform) InGroups(ctx context.Context, _ earshot.Scope, who earshot.AuthorID, ids []string) (bool, error) {
	soon, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	return p.names.inGroups(soon, who, ids), nil
}

// NotAllowed is an [earshot.AllowList]: the people whom the list of who is answered does
// not name. Without a list it names everybody.
func (p *Platform) NotAllowed(ctx context.Context, _ earshot.Scope, ids []earshot.AuthorID) (map[earshot.AuthorID]bool, error) {
	not := map[earshot.AuthorID]bool{}
	for _, id := range ids {
		not[id] = p.Refused(ctx, id) != ""
	}
	return not, nil
}

// byGroup makes a mention of the bot of the mention of a user group that has it as a
// member, unless the message names it anyway. Otherwise it says why the message is not
// answered, where that may be because of a group.
func (p *Platform) byGroup(ctx context.Context, m *earshot.Message) earshot.Refusal {
	ids := m.CalledGroups()
	if len(ids) == 0 || m.Deleted || p.identity.CalledIn(m) {
		return ""
	}
	switch in, known := p.names.inGroup(ctx, ids); {
	case in && p.o.NoGroups:
		return earshot.RefusedGroup
	case in:
		m.Mentions = append(m.Mentions, p.identity.ID)
	case !known && !p.o.NoGroups:
		p.warnGroups.Do(func() {
			p.o.Log.Warn("who is in a user group cannot be read, so its mentions are not answered; does the app have the scope usergroups:read?")
		})
		return earshot.RefusedGroupUnknown
	}
	return ""
}

// replied records the number and time of replies that a notice shows of a stored
// root. A root that is not stored has them when it is read from history.
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
		m.Mentions, m.Reactions, m.Files = nil, nil, nil // the notice has none; keep what is stored
		_, err = p.o.Store.Record(ctx, s, m)
	}
	if err != nil {
		return fmt.Errorf("replies of message %s: %w", root.ID, err)
	}
	return nil
}

// oldPost is the age after which an updated post of ours counts as final: no turn
// takes as long. Posts of versions that did not mark their final update are
// recognised by it.
const oldPost = earshot.Time(time.Hour / time.Microsecond)

// unedited clears Edited on our own posts: only we can update them, and replacing a
// placeholder by its answer is not an edit. Their author is who wrote them down.
func (p *Platform) unedited(d *slackmsg.DecodedMessage) {
	m := &d.Message
	if d.Key == "" || m.Deleted || !p.identity.Is(m.Author.ID) {
		d.Key, d.Whole = "", false
		return
	}
	if m.Author.ID == p.user {
		m.Author.ID = p.identity.ID
	}
	d.Whole = d.Whole || m.Edited != 0 && m.Edited < earshot.TimeOf(p.o.Now())-oldPost
	m.Edited = 0
}

// rooted sets on a message at the top level of a DM whether it begins a thread: with
// agent_view each does. Slack's thread_ts does not say, because a root has it only
// once it has replies.
func (p *Platform) rooted(c earshot.Channel, m earshot.Message) earshot.Message {
	if c.Kind == earshot.KindDM && m.Root() == "" && !m.Deleted {
		m.Thread = ""
		if p.agent.Load() {
			m.Thread = m.ID
		}
	}
	return m
}

// withoutToken removes Slack's deprecated verification token from what is stored: it
// is a secret, and nothing here uses it.
func withoutToken(raw []byte, token string) []byte {
	if len(token) < 8 {
		return raw
	}
	return []byte(strings.ReplaceAll(string(raw), `"`+token+`"`, `"***"`))
}

// reaction records that somebody gave an emoji to a message, or took it back. The
// event's own time decides which of what one person did was the last. An event that
// was missed is corrected by the next reading of history.
func (p *Platform) reaction(ctx context.Context, x delivery) error {
	e := x.Event
	if e.Item == "" || e.Channel.ID == "" || e.Reaction == "" || e.User == "" {
		return nil
	}
	at := cmp.Or(e.Time, earshot.TimeOf(p.o.Now()))
	_, err := p.o.Store.React(ctx, p.scope(e.Channel.ID), earshot.ReactionEvent{Message: e.Item, Emoji: e.Reaction, Author: e.User, Taken: e.Type == "reaction_removed", At: at})
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		return fmt.Errorf("reaction to message %s: %w", e.Item, err)
	}
	if by, err := p.o.Store.Reactors(ctx, p.scope(e.Channel.ID), e.Item); err == nil && len(by[e.Item]) <= namedReactors {
		soon, cancel := context.WithTimeout(ctx, nameTime)
		defer cancel()
		p.names.person(soon, e.User)
	}
	name, _, _ := strings.Cut(e.Reaction, "::") // the tone of the skin
	if e.Type != "reaction_added" || !slices.Contains(p.o.Reactions, name) {
		return nil
	}
	return p.askedByReaction(ctx, x, earshot.Reactor{Emoji: name, ID: e.User, At: at})
}

// askedByReaction hands an emoji that asks to the bot, unless a bot gave it.
func (p *Platform) askedByReaction(ctx context.Context, x delivery, by earshot.Reactor) error {
	soon, cancel := context.WithTimeout(ctx, nameTime)
	defer cancel()
	if who, known := p.names.author(soon, by.ID); known && who.Kind != earshot.Human {
		return nil
	}
	channel, err := p.names.channel(ctx, x.Event.Channel, x.Event.Time)
	if err == nil {
		_, err = x.handle(ctx, bot.Event{Channel: channel, Event: earshot.Event{
			Delivery: x.ID, Received: earshot.TimeOf(p.o.Now()), Message: earshot.Message{ID: x.Event.Item}, By: by,
			Refused: p.Refused(soon, by.ID),
		}})
	}
	if err != nil {
		return fmt.Errorf("reaction to message %s: %w", x.Event.Item, err)
	}
	return nil
}

// namedReactors is up to how many reactions of a message their persons' names are
// asked for: prompts name few, and a call for each of hundreds would use up the rate.
const namedReactors = 20

// rateLimited handles app_rate_limited: Slack dropped the events of a minute, because
// more than 30,000 came within an hour.
func (p *Platform) rateLimited(c slackmsg.Callback) error {
	p.o.Log.Warn("slack dropped events of a minute: more than 30,000 came within an hour", "minute", c.Minute)
	if c.Minute > 0 {
		from := time.Unix(c.Minute, 0)
		p.o.Missed(from, from.Add(time.Minute))
	}
	return nil
}
