package main

import (
	"context"

	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/simulate/discord"
)

type simulateDiscordCmd struct {
	Listen           string   `placeholder:"ADDR" default:"127.0.0.1:0" help:"A loopback address (default: a free port)."`
	Limits           string   `enum:"on,off" default:"on" help:"Rate limits by bucket and 50 requests a second, or none (on, off)."`
	NoMessageContent bool     `help:"Do not grant the intent of message content: who asks for it is turned away with 4014."`
	Fault            []string `sep:"none" placeholder:"FAULT" help:"A fault to inject: KIND[@WHAT][,times=N][,skip=N][,chance=P][,wait=D]. May be repeated."`
	Seed             uint64   `placeholder:"N" help:"The seed of everything random."`
}

func (c *simulateDiscordCmd) Run(ctx context.Context, a *app) error {
	faults, err := parseFaults(c.Fault, discord.ParseFault)
	if err != nil {
		return err
	}
	s, err := discord.New(&discord.Options{
		Listen: c.Listen, Seed: c.Seed, Unlimited: c.Limits == "off", NoMessageContent: c.NoMessageContent,
		Log: a.logger(config.Log{}, false),
	})
	if err != nil {
		return usagef("%v", err)
	}
	defer s.Close() //nolint:errcheck // nothing of it is kept
	populateDiscord(s)
	s.Inject(faults...)
	if err := c.announce(a, s); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// populateDiscord makes a server of two channels, a forum, and three people, two of
// whom have one display name.
func populateDiscord(s *discord.Discord) {
	for _, u := range []discord.User{{Name: "mara", GlobalName: "Mara Vos", Nick: "Mara"}, {Name: "sam", GlobalName: "Sam"}, {Name: "sam.l", GlobalName: "Sam"}} {
		s.AddUser(u)
	}
	category := s.AddChannel(discord.Channel{Name: "rooms", Type: discord.Category})
	for _, c := range []discord.Channel{{Name: "general"}, {Name: "random"}, {Name: "help", Type: discord.Forum}} {
		c.Parent = category
		s.AddChannel(c)
	}
}

// announce says where it serves, and what a bot needs to talk to it.
func (c *simulateDiscordCmd) announce(a *app, s *discord.Discord) error {
	app := s.App()
	env := [][2]string{
		{"EARSHOT_DISCORD_API_URL", s.APIURL()}, {"EARSHOT_DISCORD_GATEWAY_URL", s.GatewayURL()}, {"DISCORD_BOT_TOKEN", app.Token},
	}
	return a.announceFake("Discord", s.URL(), app.UserID, s.Guild(), "", env, map[string]any{"api_url": s.APIURL(), "gateway_url": s.GatewayURL(), "guild": s.Guild(), "app": app.ID})
}
