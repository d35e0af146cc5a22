package discord

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/disgoorg/disgo/discord"
	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
)

// What is asked of the gateway (Discord's documentation, Gateway Intents). Guild
// members, another privileged intent, are not among it: messages name who wrote them
// and whom they mention.
const (
	guilds                 = 1 << 0
	guildMessages          = 1 << 9
	guildMessageReactions  = 1 << 10
	directMessages         = 1 << 12
	directMessageReactions = 1 << 13
	messageContent         = 1 << 15 // privileged

	intents = guilds | guildMessages | guildMessageReactions | directMessages | directMessageReactions | messageContent
)

// Listen takes events from Discord's gateway until ctx ends, and then returns nil. It
// holds a connection for each shard of [Options.Shards] that is this process's. The
// error is of a token or of settings that do not work, for which waiting is no remedy;
// it says what to do.
//
// The events of a shard are handled one after another. Where a shard continues after
// a restart is stored with the events; with another number of shards all begin anew,
// because each then has other guilds. What was said meanwhile is for history to tell:
// see [Options.Missed].
func (p *Platform) Listen(ctx context.Context, handle Handler) error {
	if !p.known {
		return errors.New("discord: it is not known yet who the bot is: Enter or Recall comes first")
	}
	found, err := p.findGateway(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	of := cmp.Or(p.o.Shards, max(1, found.Shards))
	ids := p.o.ShardIDs
	if len(ids) == 0 {
		for id := range of {
			ids = append(ids, id)
		}
	}
	// Discord takes this question twice in five seconds: what it has said just now is
	// used first.
	var used atomic.Bool
	identifies := gateway.NewIdentifies(func(ctx context.Context) (discord.SessionStartLimit, error) {
		if !used.Swap(true) {
			return found.SessionStartLimit, nil
		}
		found, err := p.askGateway(ctx)
		return found.SessionStartLimit, err
	}, p.o.Now)
	var shards []*gateway.Shard
	var waiting atomic.Int64 // shards that were never up
	waiting.Store(int64(len(ids)))
	for _, id := range ids {
		up := sync.OnceFunc(func() {
			if waiting.Add(-1) == 0 {
				p.o.Up()
			}
		})
		s, err := p.shard(ctx, id, of, found.URL, identifies, handle, up)
		if err != nil {
			return err
		}
		shards = append(shards, s)
	}
	p.held.Store(&shards)
	all, each := errgroup.WithContext(ctx)
	for i, s := range shards {
		all.Go(func() error {
			if err := s.Run(each); err != nil && each.Err() == nil {
				return fmt.Errorf("discord: shard %d of %d: %w", ids[i], of, err)
			}
			return nil
		})
	}
	return all.Wait()
}

// shard returns a shard that continues where it ended.
func (p *Platform) shard(ctx context.Context, id, of int, found string, identifies *gateway.Identifies, handle Handler, up func()) (*gateway.Shard, error) {
	resume, err := p.place(ctx, id, of)
	if err != nil {
		return nil, err
	}
	asked := int64(intents)
	if !p.Content() {
		asked &^= messageContent
	}
	return gateway.New(gateway.Options{
		URL: p.gatewayURL(found), Token: p.o.Token,
		Intents: asked, Content: messageContent, Refused: p.refuseContent,
		ID: id, Of: of, Resume: resume,
		Beside: beside,
		Handle: func(ctx context.Context, d gateway.Dispatch) error {
			return p.take(ctx, &delivery{Dispatch: d, of: of, handle: handle})
		},
		Missed: p.o.Missed, SignedOut: p.client.Refuse,
		Up:       up,
		Identify: func(ctx context.Context) error { return identifies.Wait(ctx, id) },
		Dialer:   p.o.Dialer, Now: p.o.Now, Jitter: p.o.Jitter, Log: p.o.Log,
	}), nil
}

// askEvery is how long the gateway's address is waited for between two questions.
const askEvery = 5 * time.Second

// findGateway asks where the gateway is and how many shards Discord recommends, again
// and again while Discord does not answer.
func (p *Platform) findGateway(ctx context.Context) (discord.GatewayBot, error) {
	for {
		found, err := p.askGateway(ctx)
		if err == nil {
			return found, nil
		}
		if !mayAnswer(err) {
			return found, fmt.Errorf("discord: %w", err)
		}
		p.o.Log.Warn("discord's gateway cannot be found yet", "err", err)
		if err := pause.For(ctx, askEvery+p.o.Jitter(askEvery)); err != nil {
			return found, err
		}
	}
}

// askGateway asks where the gateway is, and how often sessions may begin. Where
// [Options.GatewayURL] says the first, a server need not have the route: the limits
// are then Discord's least.
func (p *Platform) askGateway(ctx context.Context) (discord.GatewayBot, error) {
	found, err := p.client.Gateway(ctx)
	if p.o.GatewayURL != "" && unknownRoute(err) {
		limit := discord.SessionStartLimit{Total: 1000, Remaining: 1000, MaxConcurrency: 1}
		return discord.GatewayBot{URL: p.o.GatewayURL, Shards: 1, SessionStartLimit: limit}, nil
	}
	return found, err
}

// gatewayURL returns what tells a shard the address of the gateway: the one that was
// found at the start, and then what Discord says anew.
func (p *Platform) gatewayURL(found string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if p.o.GatewayURL != "" {
			return p.o.GatewayURL, nil
		}
		if first := found; first != "" {
			found = ""
			return first, nil
		}
		now, err := p.client.Gateway(ctx)
		return now.URL, err
	}
}

// refuseContent is called when Discord has refused the intent MESSAGE_CONTENT, or the
// application's settings say that it will.
func (p *Platform) refuseContent() {
	if p.blind.Swap(true) {
		return
	}
	p.o.Log.Error("discord does not let the bot read messages: switch on Message Content Intent on the Bot page of the application (discord.com/developers), then restart; until then it reads direct messages and what mentions it, and nothing else", "application", p.app)
}

// Content reports whether Discord lets the bot read the text of all messages. It is
// true until Discord has refused the intent MESSAGE_CONTENT, or Enter has found it
// switched off in the application's settings. Without it the bot works
// with direct messages and with messages that mention it; the rest of a channel is
// recorded as missing, not as silence.
func (p *Platform) Content() bool { return !p.blind.Load() }
