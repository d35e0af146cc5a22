package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type initCmd struct {
	File     string `arg:"" optional:"" default:"earshot.yaml" placeholder:"FILE" help:"The configuration file to write (default: earshot.yaml)."`
	Platform string `placeholder:"NAME" enum:",${platforms},sidecar" default:"" help:"Which platform: ${any_platform}, or sidecar for a bot that you have."`
	Provider string `placeholder:"NAME" help:"Whose model answers: anthropic, gemini, openai (or any server with its API) or offline."`
	Model    string `placeholder:"NAME" help:"The model's name at its provider (default: the provider's general model)."`
	BaseURL  string `name:"base-url" placeholder:"URL" help:"The base URL of a server with OpenAI's API, such as http://127.0.0.1:11434/v1 for Ollama."`
	Force    bool   `help:"Replace a file that is there."`
	NoCheck  bool   `help:"Do not check whether the bot can work like this."`
}

// forSidecar is chosen in place of a platform where somebody's own bot is to have
// contexts.
const forSidecar = "sidecar"

// nothingWritten ends a question that is not answered.
const nothingWritten = "nothing was written"

// initJSON is what was set up, as --json writes it.
type initJSON struct {
	File     string           `json:"file"`
	Platform string           `json:"platform"`
	Provider string           `json:"provider,omitempty"`
	Model    string           `json:"model,omitempty"`
	Link     string           `json:"link,omitempty"` // where the platform's app is made
	Missing  []string         `json:"missing"`        // what must be set before a start
	Checked  []daemon.Finding `json:"checked"`        // empty where something is missing
	Next     []string         `json:"next"`           // commands
}

func (c *initCmd) Run(ctx context.Context, a *app) error {
	if err := c.free(); err != nil {
		return err
	}
	if err := c.choose(ctx, a); err != nil {
		return err
	}
	cfg := c.settings(a)
	if err := errors.Join(cfg.Check()...); err != nil {
		return usagef("%v", err)
	}
	text, err := cfg.File()
	if err != nil {
		return err
	}
	if err := c.write(text); err != nil {
		return err
	}
	return c.guide(ctx, a)
}

// free reports that there is a file that must not be replaced.
func (c *initCmd) free() error {
	if _, err := os.Lstat(c.File); err == nil && !c.Force {
		return usagef("%s is there already; give another name, or --force to replace it", c.File)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// choose asks for what no flag says, where somebody can be asked; else the defaults are
// taken.
func (c *initCmd) choose(ctx context.Context, a *app) error {
	if a.asks && !a.json {
		if err := c.ask(ctx, a); err != nil {
			return err
		}
	}
	c.Platform = cmp.Or(c.Platform, config.PlatformLocal)
	if c.BaseURL != "" {
		c.Provider = cmp.Or(c.Provider, providers.OpenAI)
	}
	return nil
}

// A choice is one answer to a question, with what it means.
type choice struct{ value, about string }

func (c *initCmd) ask(ctx context.Context, a *app) error {
	if c.Platform == "" {
		if err := a.chooseFrom(ctx, &c.Platform, "Where will people talk to the bot?", 0,
			choice{config.PlatformLocal, "in this terminal, to try it: no account, no network"},
			choice{config.PlatformSlack, "in a Slack workspace"},
			choice{config.PlatformDiscord, "on a Discord server"},
			choice{forSidecar, "wherever the bot is that you have: it asks Earshot for contexts, in any language"}); err != nil {
			return err
		}
	}
	if c.Platform != forSidecar && c.Provider == "" && c.BaseURL == "" {
		if err := c.askModel(ctx, a); err != nil {
			return err
		}
	}
	if a.db != "" || a.getenv("EARSHOT_DB") != "" {
		return nil
	}
	where := ""
	if err := a.chooseFrom(ctx, &where, "Where is what it hears kept?", 0,
		choice{"sqlite", "in a file on this machine"},
		choice{"postgres", "in PostgreSQL, which several replicas can share"}); err != nil || where == "sqlite" {
		return err
	}
	for a.db == "" {
		a.printf("Its address, without a password (PGPASSWORD or ~/.pgpass has it), such as postgres://earshot@db/earshot: ")
		answer, err := a.answer(ctx, nothingWritten)
		if err != nil {
			return err
		}
		if strings.HasPrefix(answer, "postgres") || strings.Contains(answer, "=") {
			a.db = answer
		}
	}
	return nil
}

// askModel asks which model answers. One whose key is set comes first.
func (c *initCmd) askModel(ctx context.Context, a *app) error {
	var list []choice
	preset := len(providers.All) + 1 // offline
	for i, p := range providers.All {
		about := "with " + p.Key
		if a.getenv(p.Key) != "" {
			about += ", which is set"
			preset = min(preset, i)
		}
		list = append(list, choice{p.Name, about})
	}
	const own = "server"
	list = append(list, choice{own, "of your own with OpenAI's API, such as Ollama"}, choice{providers.Offline, "no model: it repeats what was said, to try Earshot"})
	if err := a.chooseFrom(ctx, &c.Provider, "Which model answers?", preset, list...); err != nil || c.Provider != own {
		return err
	}
	c.Provider = providers.OpenAI
	for _, q := range []struct {
		into           *string
		question, then string
	}{
		{&c.BaseURL, "Its base URL", "http://127.0.0.1:11434/v1"}, {&c.Model, "The model's name there", "llama3.3"},
	} {
		a.printf("%s [%s]: ", q.question, q.then)
		answer, err := a.answer(ctx, nothingWritten)
		if err != nil {
			return err
		}
		*q.into = cmp.Or(answer, *q.into, q.then)
	}
	return nil
}

// chooseFrom sets value to what is picked.
func (a *app) chooseFrom(ctx context.Context, value *string, question string, preset int, list ...choice) error {
	var lines []string
	for _, o := range list {
		lines = append(lines, fmt.Sprintf("%-10s %s", o.value, terminal.Faint(o.about)))
	}
	i, err := a.pick(ctx, question, lines, preset, nothingWritten)
	if err != nil {
		return err
	}
	*value = list[i].value
	return nil
}

// settings are the settings that were chosen.
func (c *initCmd) settings(a *app) config.Config {
	cfg := config.Default()
	cfg.Store = cmp.Or(a.db, a.getenv("EARSHOT_DB"))
	if c.Platform == forSidecar {
		cfg.API.Listen = config.SidecarListen
		return cfg
	}
	cfg.Platform = c.Platform
	cfg.Slack.AgentView = c.Platform == config.PlatformSlack // as the manifest has it
	cfg.Model.Provider, cfg.Model.Name, cfg.Model.BaseURL = c.Provider, c.Model, c.BaseURL
	return cfg
}

// write writes the file, which may hold the password of a database.
func (c *initCmd) write(text string) error {
	flag := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if c.Force {
		flag = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(c.File, flag, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// guide says what is left to do, and checks the rest.
func (c *initCmd) guide(ctx context.Context, a *app) error {
	cfg, err := a.config(c.File)
	if err != nil {
		return err
	}
	file := shellWord(c.File)
	out := initJSON{File: c.File, Platform: c.Platform, Missing: []string{}, Checked: []daemon.Finding{}}
	switch c.Platform {
	case forSidecar:
		out.Next = []string{a.keyCommand(), "earshot sidecar --config " + file}
	default:
		m := daemon.Models(cfg)[0]
		out.Provider, out.Model = m.Provider, m.Name
		out.Next = []string{"earshot serve --config " + file}
		for _, err := range daemon.CheckStart(cfg) {
			out.Missing = append(out.Missing, err.Error())
		}
	}
	app := daemon.AppOf(cfg)
	out.Link = app.Link
	if len(out.Missing) > 0 {
		out.Next = slices.Insert(out.Next, 0, "earshot check --config "+file)
	}
	if !a.json {
		reportSetup(a, out, app)
	}
	unfit := c.checked(ctx, a, cfg, &out)
	if a.json {
		return errors.Join(a.writeJSON(out), unfit)
	}
	a.printf("\n%s\n", terminal.Strong("Then"))
	for _, command := range out.Next {
		a.printf("  %s\n", command)
	}
	return unfit
}

// reportSetup writes what was made and what is missing.
func reportSetup(a *app, out initJSON, guide daemon.AppGuide) {
	a.printf("%s %s: every setting is there, with what it means\n", terminal.Good("wrote"), plain.Line(out.File, 200))
	if len(out.Missing) == 0 {
		return
	}
	if guide.Link != "" {
		a.printf("\n%s\n%s\n  %s\n", terminal.Strong(guide.Title), terminal.Paragraph(guide.Steps, a.width-4, "  "), guide.Link)
	}
	a.printf("\n%s\n", terminal.Strong("Missing"))
	for _, m := range out.Missing {
		a.printf("%s", terminal.Paragraph(plain.Line(m, 400), a.width-4, "  "))
	}
}

// checked checks whether the bot can work, where nothing is missing for it.
func (c *initCmd) checked(ctx context.Context, a *app, cfg config.Config, out *initJSON) error {
	if c.NoCheck || len(out.Missing) > 0 || c.Platform == forSidecar {
		return nil
	}
	if !a.json {
		a.printf("\n%s\n", terminal.Strong("Checked"))
	}
	bad := false
	daemon.Check(ctx, daemon.Options{Config: cfg, Version: buildVersion(), Log: a.logger(cfg.Log, true)}, nil, func(f daemon.Finding) {
		out.Checked = append(out.Checked, f)
		bad = bad || f.State == daemon.Bad
		if !a.json {
			a.finding(f)
		}
	})
	if bad {
		return errUnfit
	}
	return nil
}
