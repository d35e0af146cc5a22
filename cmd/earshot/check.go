package main

import (
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type checkCmd struct {
	All     checkAllCmd     `cmd:"" default:"withargs" help:"Check all that the bot needs as it is configured (the default)."`
	Model   checkModelCmd   `cmd:"" help:"Check whether the models answer, with one token each."`
	Slack   checkSlackCmd   `cmd:"" help:"Check tokens, scopes, history, posting and events on Slack."`
	Discord checkDiscordCmd `cmd:"" help:"Check token, intents, permissions, history, posting and events on Discord."`
	Tools   checkToolsCmd   `cmd:"" help:"Connect to the MCP servers of tools.mcp and list their tools; none is called."`
}

type checkAllCmd struct {
	Config   string   `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
	Platform string   `placeholder:"NAME" enum:",${platforms}" default:"" help:"Which platform: ${any_platform} (default: local)."`
	Listen   string   `placeholder:"ADDR" help:"On Slack, receive events by HTTP on an address such as :8080, as serve does."`
	Channel  []string `placeholder:"CHANNEL" help:"A channel in which a message is posted and removed again; on Discord its id, and several may be named. Without it nothing is posted."`
}

func (c *checkAllCmd) Run(ctx context.Context, a *app) error {
	cfg, err := (&serveCmd{Config: c.Config, Platform: c.Platform, Listen: c.Listen}).load(a)
	if err := a.mayStart(cfg, err); err != nil {
		return err
	}
	return a.check(func(tell func(daemon.Finding)) error {
		daemon.Check(ctx, daemon.Options{Config: cfg, Version: buildVersion(), Log: a.logger(cfg.Log, true)}, c.Channel, tell)
		return nil
	})
}

type checkModelCmd struct {
	Config   string `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
	Platform string `placeholder:"NAME" enum:",${platforms}" default:"" help:"Which platform: ${any_platform} (default: local)."`
}

func (c *checkModelCmd) Run(ctx context.Context, a *app) error {
	cfg, err := (&serveCmd{Config: c.Config, Platform: c.Platform}).load(a)
	if err != nil {
		return err
	}
	return a.check(func(tell func(daemon.Finding)) error {
		daemon.CheckModels(ctx, daemon.Options{Config: cfg, Log: a.logger(cfg.Log, true)}, tell)
		return nil
	})
}

type checkSlackCmd struct {
	Config  string `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
	Channel string `placeholder:"CHANNEL" help:"A channel, by name or id, in which a message is posted and removed again. Without it nothing is posted."`
	Listen  string `placeholder:"ADDR" help:"Receive events by HTTP on an address such as :8080, as serve does."`
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

func (c *checkDiscordCmd) Run(ctx context.Context, a *app) error {
	cfg, err := (&serveCmd{Config: c.Config, Platform: "discord"}).load(a)
	if err != nil {
		return err
	}
	return a.check(func(tell func(daemon.Finding)) error {
		return daemon.CheckDiscord(ctx, daemon.Options{Config: cfg, Log: a.logger(cfg.Log, true)}, c.Channel, tell)
	})
}

type checkToolsCmd struct {
	Config   string `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
	Platform string `placeholder:"NAME" enum:",${platforms}" default:"" help:"Which platform: ${any_platform} (default: local)."`
}

// errUnreached ends a check of servers, not all of which answered.
var errUnreached = errors.New("a server of tools cannot be reached")

func (c *checkToolsCmd) Run(ctx context.Context, a *app) error {
	cfg, err := (&serveCmd{Config: c.Config, Platform: c.Platform}).load(a)
	if err != nil {
		return err
	}
	servers, err := daemon.CheckTools(ctx, daemon.Options{Config: cfg, Version: buildVersion()})
	if err != nil {
		return err
	}
	if a.json {
		if err := a.writeJSON(servers); err != nil {
			return err
		}
	} else {
		a.toolServers(servers, cfg.Tools.Budget)
	}
	if slices.ContainsFunc(servers, func(s daemon.ToolServer) bool { return !s.Reached }) {
		return errUnreached
	}
	return nil
}

// toolServers writes what the servers of tools offer.
func (a *app) toolServers(servers []daemon.ToolServer, budget int) {
	if len(servers) == 0 {
		a.printf("No MCP servers are configured: set tools.mcp (docs/tools-of-your-own.md).\n")
		return
	}
	sum := 0
	for _, s := range servers {
		sum += s.Tokens
		if !s.Reached {
			a.printf("%s %s: %s\n", terminal.Bad("✗"), terminal.Strong(s.Server), plain.Line(s.Problem, 400))
			continue
		}
		a.printf("%s %s: %s, %s, MCP %s\n", terminal.Good("✓"), terminal.Strong(s.Server), plain.Line(s.Software, 80), plain.Count(len(s.Tools), "tool"), plain.Line(s.Protocol, 20))
		for _, t := range s.Tools {
			effect := t.Effect
			if t.Idempotent && effect != "reads" {
				effect += ", may be repeated"
			}
			if t.Approve {
				effect += ", after a person's yes"
			}
			a.printf("    %s (%s): %s\n", terminal.Strong(t.Name), effect, plain.Count(t.Tokens, "token"))
		}
		for _, n := range s.Notes {
			a.printf("    %s %s\n", terminal.Mark("!"), plain.Line(n, 300))
		}
	}
	a.printf("%s in all descriptions; tools.budget is %s\n", plain.Count(sum, "token"), plain.Number(budget))
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
		daemon.Good: terminal.Good("✓"), daemon.Poor: terminal.Mark("!"), daemon.Bad: terminal.Bad("✗"), daemon.Unknown: terminal.Faint("?"),
	}[f.State]
	a.printf("%s %s: %s\n", sign, terminal.Strong(f.What), plain.Line(f.Found, 400))
	if f.Costs != "" {
		a.printf("    so %s\n", plain.Line(f.Costs, 400))
	}
	if f.Remedy != "" {
		a.printf("    %s\n", terminal.Faint(plain.Line(f.Remedy, 400)))
	}
}
