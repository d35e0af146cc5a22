package main

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/desk"
)

type checkCmd struct {
	Slack   checkSlackCmd   `cmd:"" help:"Check tokens, scopes, history, posting and events on Slack."`
	Discord checkDiscordCmd `cmd:"" help:"Check token, intents, permissions, history, posting and events on Discord."`
}

type checkSlackCmd struct {
	Config  string `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
	Channel string `placeholder:"CHANNEL" help:"A channel, by name or id, in which a message is posted and removed again. Without it nothing is posted."`
	Listen  string `placeholder:"ADDR" help:"Receive events by HTTP on an address such as :8080, as serve does."`
}

func (c *checkSlackCmd) Help() string {
	return `For everything that is missing it says what that costs and what to do about it. Nothing is posted except in the channel that
is named, and the events that arrive are not kept. Stop a bot that runs with the same tokens first: Slack sends each event
to only one of the two.

The exit status is 1 when the bot cannot work.

Examples:

  earshot check slack
  earshot check slack --channel bot-test`
}

// errUnfit ends a check that has told why.
var errUnfit = errors.New("the bot cannot work like this; the lines that begin with ✗ say why")

func (c *checkSlackCmd) Run(ctx context.Context, a *app) error {
	cfg, err := (&serveCmd{Config: c.Config, Platform: "slack", Listen: c.Listen}).load(a)
	if err != nil {
		return err
	}
	return a.check(func(tell func(daemon.Finding)) error {
		return daemon.CheckSlack(ctx, daemon.Options{Config: cfg, Log: a.logger(cfg.Log, true)}, c.Channel, tell)
	})
}

type checkDiscordCmd struct {
	Config  string   `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
	Channel []string `placeholder:"ID" help:"A channel or thread, by id, in which a message is posted and removed again; may be repeated. Without it nothing is posted."`
}

func (c *checkDiscordCmd) Help() string {
	return `Prints the link that invites the bot to a server. For everything that is missing it says what that costs and what to do
about it. Nothing is posted except in a channel that is named. A bot that runs with the same token can go on running.

The exit status is 1 when the bot cannot work.

Examples:

  earshot check discord
  earshot check discord --channel 1102345678901234567`
}

func (c *checkDiscordCmd) Run(ctx context.Context, a *app) error {
	cfg, err := (&serveCmd{Config: c.Config, Platform: "discord"}).load(a)
	if err != nil {
		return err
	}
	return a.check(func(tell func(daemon.Finding)) error {
		return daemon.CheckDiscord(ctx, daemon.Options{Config: cfg, Log: a.logger(cfg.Log, true)}, c.Channel, tell)
	})
}

// check writes what a check finds, and returns whether the bot can work.
func (a *app) check(run func(tell func(daemon.Finding)) error) error {
	found := []daemon.Finding{}
	bad := false
	err := run(func(f daemon.Finding) {
		found = append(found, f)
		bad = bad || f.State == daemon.Bad
		if !a.json {
			a.finding(f)
		}
	})
	if err != nil {
		return usagef("%v", err)
	}
	if a.json {
		if err := a.writeJSON(found); err != nil {
			return err
		}
	}
	if bad {
		return errUnfit
	}
	return nil
}

// finding writes one finding: what was found, what it costs, what to do.
func (a *app) finding(f daemon.Finding) {
	sign := map[daemon.FindingState]string{
		daemon.Good: desk.Good("✓"), daemon.Poor: desk.Mark("!"), daemon.Bad: desk.Bad("✗"), daemon.Unknown: desk.Faint("?"),
	}[f.State]
	a.printf("%s %s: %s\n", sign, desk.Strong(f.What), desk.Line(f.Found, 400))
	if f.Costs != "" {
		a.printf("    so %s\n", desk.Line(f.Costs, 400))
	}
	if f.Remedy != "" {
		a.printf("    %s\n", desk.Faint(desk.Line(f.Remedy, 400)))
	}
}
