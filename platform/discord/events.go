package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
	"github.com/earshot-ai/earshot/platform/internal/rescue"
)

// A Handler handles an event and returns once it is durable, as [bot.Bot.Handle]
// does. After an error it is called with the same event again.
type Handler func(ctx context.Context, e bot.Event) (bot.Outcome, error)

// A delivery is one event of the gateway with its handler.
type delivery struct {
	gateway.Dispatch
	of     int // shards
	handle Handler
}

// uses has the function for each type of event. Types that are not listed are counted
// and have no effect. (Discord's documentation, Gateway Events.)
var uses = map[string]func(*Platform, context.Context, *delivery) error{
	"READY":                         (*Platform).ready,
	"RESUMED":                       (*Platform).seen,
	"MESSAGE_CREATE":                (*Platform).message,
	"MESSAGE_UPDATE":                (*Platform).message,
	"MESSAGE_DELETE":                (*Platform).deleted,
	"MESSAGE_DELETE_BULK":           (*Platform).deleted,
	"MESSAGE_REACTION_ADD":          (*Platform).reaction,
	"MESSAGE_REACTION_REMOVE":       (*Platform).reaction,
	"MESSAGE_REACTION_REMOVE_ALL":   (*Platform).reaction,
	"MESSAGE_REACTION_REMOVE_EMOJI": (*Platform).reaction,
	"GUILD_CREATE":                  (*Platform).guild,
	"GUILD_DELETE":                  (*Platform).guildGone,
	"CHANNEL_CREATE":                (*Platform).channelChanged,
	"CHANNEL_UPDATE":                (*Platform).channelChanged,
	"CHANNEL_DELETE":                (*Platform).channelGone,
	"THREAD_CREATE":                 (*Platform).channelChanged,
	"THREAD_UPDATE":                 (*Platform).channelChanged,
	"THREAD_DELETE":                 (*Platform).threadGone,
	"THREAD_LIST_SYNC":              (*Platform).threadList,
	"THREAD_MEMBERS_UPDATE":         (*Platform).threadMembers,
	"GUILD_ROLE_CREATE":             (*Platform).roleChanged,
	"GUILD_ROLE_UPDATE":             (*Platform).roleChanged,
	"GUILD_ROLE_DELETE":             (*Platform).roleChanged,
	"GUILD_MEMBER_UPDATE":           (*Platform).memberChanged,
	"INTERACTION_CREATE":            (*Platform).interaction,
	// What these tell comes again with what they are about, or is of no use here.
	"GUILD_UPDATE":         (*Platform).seen,
	"CHANNEL_PINS_UPDATE":  (*Platform).seen, // a message says so too
	"THREAD_MEMBER_UPDATE": (*Platform).seen,
	"WEBHOOKS_UPDATE":      (*Platform).seen,
}

func (p *Platform) seen(context.Context, *delivery) error { return nil }

// How often an event is handled at most that fails each time.
const (
	maxTries = 3  // for a reason which is in the event itself
	maxAsks  = 10 // because Discord, asked about it, does not answer: for some three minutes
)

// take handles one event. When it returns nil, what the event says is durable or has
// no effect; after an error the event must come again. One that panics, that the
// store finds invalid or about which Discord does not answer each time is given up, so
// that it does not stop those after it.
func (p *Platform) take(ctx context.Context, x *delivery) error {
	do, known := uses[x.Type]
	if !known {
		return nil
	}
	err := rescue.HandleEvent(p.o.Log, func() error { return do(p, ctx, x) }, "delivery", x.Delivery, "type", x.Type)
	if err == nil {
		p.o.Acknowledged(p.o.Now().Sub(x.Received))
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	tries := p.failed(x.Delivery)
	if tries >= maxTries && (errors.Is(err, rescue.ErrPanic) || errors.Is(err, earshot.ErrInvalid)) ||
		tries >= maxAsks && errors.Is(err, discordapi.ErrNotAnswered) {
		p.o.Log.Error("an event cannot be kept", "delivery", x.Delivery, "type", x.Type, "err", err)
		return nil
	}
	err = fmt.Errorf("delivery %s of %s: %w", x.Delivery, x.Type, err)
	p.o.Refused(err)
	return err
}

// maxFailing is of how many deliveries it is remembered how often they failed.
const maxFailing = 1000

// failed counts a failure of an event that is being handled, and returns how many there
// were.
func (p *Platform) failed(delivery string) int {
	n, _ := p.failures.Get(delivery)
	p.failures.Put(delivery, n+1)
	return n + 1
}

// A dispatchMessage is what a dispatch says of one message.
type dispatchMessage struct {
	channel earshot.Channel
	message earshot.Message
	key     string // of our own post
	suffix  string // of the delivery's id, where a dispatch is about several messages or passed on twice
	refused earshot.Refusal
	by      earshot.Reactor // see [earshot.Event].By
	groups  []string        // see [bot.Event.Groups]
	known   bool            // see [bot.Event.Known]
	raw     bool            // the dispatch is kept with the message
	more    bool            // further events of the dispatch follow, so its place is not reached yet
}

// pass hands an event to the bot, with the place from which the session continues.
func (p *Platform) pass(ctx context.Context, x *delivery, m dispatchMessage) error {
	if err := p.enterWorkspace(ctx, m.channel.Workspace); err != nil {
		return err
	}
	e := bot.Event{
		Event: earshot.Event{
			Delivery: x.Delivery, Received: earshot.TimeOf(x.Received), Message: m.message, Refused: m.refused, By: m.by,
		},
		Channel: m.channel, Key: m.key, Known: m.known, Groups: m.groups,
	}
	if m.suffix != "" {
		e.Delivery += "-" + m.suffix
	}
	if m.raw {
		e.Raw = x.Data
	}
	if !m.more {
		state, err := json.Marshal(x.State)
		if err != nil {
			return fmt.Errorf("where shard %d continues: %w", x.Shard, err)
		}
		e.Resume = &earshot.Resume{Key: p.resumeKey(x.Shard, x.of), State: state}
	}
	if _, err := x.handle(ctx, e); err != nil {
		return fmt.Errorf("message %s: %w", m.message.ID, err)
	}
	return nil
}
