package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/platform/local"
	"github.com/earshot-ai/earshot/secret"
)

// Guest is as whom people write first in the terminal and on the page, and General is
// the channel that the terminal opens first. A person changes both as they write, by /as
// and /channel.
const (
	Guest   = "guest"
	General = "general"
)

// openLocal opens the platform without a network: the identity is configured,
// and the adapter, the bot on it and the chat are made in this order.
func openLocal(ctx context.Context, s sharedParts) (platform, error) {
	c, workspace := s.options.Config, cmp.Or(s.options.LocalWorkspace, "local")
	if c.Local.Listen != "" && !config.IsLoopback(c.Local.Listen) {
		return platform{}, errors.New("local.listen: must be a loopback address with a port, such as 127.0.0.1:8484")
	}
	who := earshot.Identity{ID: earshot.AuthorID(c.Agent.ID), Name: c.Agent.Name, Aliases: ownAliases(c)}
	var b *bot.Bot
	choose := func(ctx context.Context, c bot.Chosen) (string, error) { return b.Choose(ctx, c) }
	adapter, err := local.Open(ctx, s.heard(choose), &local.Options{
		Agent: who, Platform: s.options.LocalPlatform, Workspace: workspace, Now: s.options.Outside.Now,
	})
	if err != nil {
		return platform{}, fmt.Errorf("open the local platform: %w", err)
	}
	if err := s.enlist(ctx, cmp.Or(s.options.LocalPlatform, earshot.Local), workspace, who); err != nil {
		return platform{}, err
	}
	b = s.newBot(adapter, who)
	chat := adapter.Chat(s.measureLatency(b.Handle), b.Choose)
	p := platform{
		name: earshot.Local, identity: who, chat: chat, run: []func(context.Context) error{b.Run, s.summaries(who), s.summariesOfAgents(who.ID)},
		connection: func() connection { return connection{known: true} },
	}
	if c.Local.Listen == "" {
		return p, nil
	}
	if p.token = c.Keys.LocalToken; p.token.Empty() {
		p.token, p.tokenGenerated = secret.New(rand.Text()), true
	}
	p.listen, p.path, p.handler = c.Local.Listen, "/v1/channels", chat.Handler(p.token.Reveal())
	return p, nil
}

// measureLatency returns handle with the time that an event takes to become durable
// in the metrics.
func (s sharedParts) measureLatency(handle func(context.Context, bot.Event) (bot.Outcome, error)) func(context.Context, bot.Event) (bot.Outcome, error) {
	return func(ctx context.Context, e bot.Event) (bot.Outcome, error) {
		began := time.Now()
		out, err := handle(ctx, e)
		switch {
		case err == nil:
			s.meters.Acknowledged(time.Since(began))
		case ofStore(err):
			s.noteRefused(err)
		}
		return out, err
	}
}
