package main

import (
	"context"
	"strconv"

	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/simulate/discord"
)

type simulateDiscordCmd struct {
	Listen           string   `placeholder:"ADDR" default:"127.0.0.1:0" help:"A loopback address (default: a free port)."`
	Limits           string   `enum:"on,off" default:"on" help:"Rate limits by bucket and 50 requests a second, or none (on, off)."`
	NoMessageContent bool     `help:"Do not grant the intent of message content: who asks for it is turned away with 4014."`
	Permissions      string   `placeholder:"N" default:"all" help:"What the bot's role may do, as the number in an invitation says it (default: all, which is everything but ADMINISTRATOR)."`
	Fault            []string `sep:"none" placeholder:"FAULT" help:"A fault to inject: KIND[@WHAT][,times=N][,skip=N][,chance=P][,wait=D]. May be repeated."`
	Seed             uint64   `placeholder:"N" help:"The seed of everything random."`
}

func (c *simulateDiscordCmd) Run(ctx context.Context, a *app) error {
	faults, err := parseFaults(c.Fault, discord.ParseFault)
	if err != nil {
		return err
	}
	permissions, err := parsePermissions(c.Permissions)
	if err != nil {
		return err
	}
	s, err := discord.New(&discord.Options{
		Listen: c.Listen, Seed: c.Seed, Unlimited: c.Limits == "off", NoMessageContent: c.NoMessageContent,
		App: discord.App{Permissions: permissions}, Log: a.logger(config.Log{}, false),
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

// parsePermissions reads what a role may do: a number as in an invitation, or all.
func parsePermissions(text string) (int64, error) {
	if text == "all" {
		return discord.AllPermissions, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0, usagef("--permissions %s: give all, or the number of an invitation, such as 274877990912", plain.Line(text, 40))
	}
	return n, nil
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
	channels := s.Channels()
	about := map[string]any{"api_url": s.APIURL(), "gateway_url": s.GatewayURL(), "guild": s.Guild(), "app": app.ID, "channels": channelsByName(channels)}
	if err := a.announceFake("Discord", s.URL(), app.UserID, s.Guild(), "", env, about); err != nil || a.json {
		return err
	}
	a.printf("\nIts channels, of the server %s:\n\n", s.Guild())
	for _, ch := range channels {
		a.printf("%s  %s%s\n", ch.ID, ch.Name, channelKind(ch.Type))
	}
	return nil
}

func channelsByName(list []discord.Channel) map[string]string {
	ids := map[string]string{}
	for _, c := range list {
		ids[c.Name] = c.ID
	}
	return ids
}

// channelKind says what a channel is that nobody writes in like in others.
func channelKind(kind int) string {
	switch kind {
	case discord.Category:
		return " (a category)"
	case discord.Forum:
		return " (a forum)"
	}
	return ""
}
