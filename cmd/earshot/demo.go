package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/archive"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/testdata"
	"github.com/earshot-ai/earshot/tokens"
)

type demoCmd struct {
	importLimits

	Import  string `placeholder:"EXPORT" help:"Your own export: a Slack zip or folder, DiscordChatExporter's JSON, or JSON lines." type:"path"`
	Channel string `placeholder:"CHANNEL" help:"The channel of your export to show."`
	Message string `placeholder:"MESSAGE" help:"The message of that channel to show."`
	Chat    bool   `help:"Talk to the bot in that channel afterwards (default: on a terminal)."`
	NoChat  bool   `help:"Do not, even on a terminal."`

	Tools  bool   `help:"Show tools of one's own: an MCP server that comes with the program, a question that needs it, your yes or no, and the journal."`
	Answer string `enum:",yes,no" default:"" placeholder:"yes|no" help:"With --tools: what is said to the bot's question (default: you are asked; without a terminal yes)."`

	Export  string         `placeholder:"FOLDER" help:"Write the web page of the demo, read only, as files for any web server." type:"path"`
	Inspect inspectAddress `placeholder:"ADDR" help:"Serve the web page of the demo until interrupted: chat with the bot, and see what it saw (ADDR may be left out: 127.0.0.1:7300)."`
}

// A scene is a question that the demo shows; docs/workspace.md describes those of
// the bundled workspace.
type scene struct {
	channel  string
	message  string
	why      string
	needs    []earshot.MessageID // the messages without which the answer cannot be right
	misleads []earshot.MessageID // those from which it would be wrong
	followUp string              // a later question in the same conversation
	query    string
}

var firstScene = scene{
	channel: "deploys", message: "1773154325.646159",
	why: "“They” is explained only by the thread: the import workers. In the channel around it somebody says, within the same two minutes, that “they are running again” — the CI runners. " +
		"Two workers run, two are kept stopped on purpose: the answer takes three messages of the thread.",
	needs:    []earshot.MessageID{"1773153070.343179", "1773153843.434739", "1773154156.950029"},
	misleads: []earshot.MessageID{"1773154210.612799"},
	followUp: "1773155420.227649",
	query:    "import workers stopped row 17,204",
}

func (c *demoCmd) Run(ctx context.Context, a *app) error {
	if c.Import == "" && (c.Channel != "" || c.Message != "") {
		return usagef("--channel and --message choose from your own export; give it with --import PATH")
	}
	if c.Import == "" && (c.MaxBytes != 0 || c.MaxRatio != 0) {
		return usagef("--max-bytes and --max-ratio are for your own export; give it with --import PATH")
	}
	if c.Message != "" && c.Channel == "" {
		return usagef("--message needs --channel")
	}
	if c.Tools && (c.Import != "" || c.Export != "" || c.Chat) {
		return usagef("--tools is a demo of its own, on the bundled workspace; leave --import, --export and --chat out")
	}
	if c.Answer != "" && !c.Tools {
		return usagef("--answer is for --tools; give both")
	}
	st, done, err := c.store(ctx, a)
	if err != nil {
		return err
	}
	defer done()
	rep, err := c.load(ctx, a, st)
	if err != nil {
		return err
	}
	sc := firstScene
	if c.Import != "" {
		if sc, err = c.choose(ctx, a, st); err != nil {
			return err
		}
	}
	t, err := newTour(ctx, st, sc)
	if err != nil {
		return err
	}
	t.report, t.own, t.kept = rep, c.Import, a.db != ""
	if c.Tools {
		return c.tools(ctx, a, t)
	}
	if err := t.run(ctx); err != nil {
		return err
	}
	if c.Export != "" {
		return c.export(ctx, a, t)
	}
	if c.Inspect != "" {
		return c.page(ctx, a, t)
	}
	if a.json {
		return t.json(a)
	}
	t.show(a)
	if c.NoChat || !c.Chat && !a.asks {
		return nil
	}
	return c.chat(ctx, a, t)
}

// chat lets a person talk to the bot in the channel of the tour.
func (c *demoCmd) chat(ctx context.Context, a *app, t *demoTour) error {
	s, err := c.service(a, t)
	if err != nil {
		return err
	}
	a.printf("\n%s", terminal.Rule("your turn", a.width))
	a.printf("%s", wrapProse("Ask something in #"+plain.Line(t.q.place.label, 40)+". /thread and /as go where others talk, /why shows what the last answer was made of, /quit ends.", a.width))
	return s.run(ctx, a)
}

// export writes the demo's web page as files.
func (c *demoCmd) export(ctx context.Context, a *app, t *demoTour) error {
	c.Inspect, c.Chat = "127.0.0.1:0", false
	s, err := c.pageService(a, t)
	if err != nil {
		return err
	}
	d, err := daemon.Open(ctx, daemon.Options{
		Config: s.config, Store: s.store, LocalPlatform: s.channel.Platform, LocalWorkspace: s.channel.Workspace, Version: buildVersion(), Start: s.start, InspectOpen: true,
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	pages, err := exportPages(ctx, d.Inspect, c.Export)
	stop()
	if err := errors.Join(err, <-ran, d.Close()); err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(map[string]any{"folder": c.Export, "pages": pages})
	}
	a.printf("wrote %s into %s; begin at index.html\n", plain.Count(pages, "page"), plain.Line(c.Export, 200))
	return nil
}

// pageService is the bot of the tour with its web page.
func (c *demoCmd) pageService(a *app, t *demoTour) (service, error) {
	s, err := c.service(a, t)
	s.config.Inspect.Listen, s.inspectOpen, s.noTerminal = string(c.Inspect), true, !c.Chat
	s.start = &inspect.Start{Channel: t.q.place.channel.Channel, Message: t.q.place.message.ID, Why: plain.Clean(t.scene.why)}
	return s, err
}

// page serves the demo's web page until ctx ends.
func (c *demoCmd) page(ctx context.Context, a *app, t *demoTour) error {
	s, err := c.pageService(a, t)
	if err != nil {
		return err
	}
	if !a.json {
		a.printf("%s", wrapProse(fmt.Sprintf("%s of %s loaded. Ctrl-C ends the demo.", plain.Count(t.report.Messages.Total(), "message"), plain.Count(t.rooms, "channel")), a.width))
	}
	return s.run(ctx, a)
}

// service returns the bot that answers in the channel of the tour.
func (c *demoCmd) service(a *app, t *demoTour) (service, error) {
	cfg, err := config.Load(a.getenv("EARSHOT_CONFIG"), a.environ)
	if err != nil {
		return service{}, usagef("%v", err)
	}
	self, ch := t.q.identity, t.q.place.channel
	cfg.Agent.ID, cfg.Agent.Name, cfg.Agent.Aliases = string(self.ID), self.Name, nil
	for _, alias := range self.Aliases {
		cfg.Agent.Aliases = append(cfg.Agent.Aliases, string(alias))
	}
	cfg.Platform = config.PlatformLocal // also where the person's own bot is on another
	cfg.Local.Listen, cfg.Inspect.Listen = "", ""
	return service{config: cfg, store: t.q.place.store, channel: ch.Channel}, nil
}

// store opens the store of --db, or a temporary one; done closes it and removes
// the temporary one.
func (c *demoCmd) store(ctx context.Context, a *app) (st earshot.Store, done func(), err error) {
	if a.db != "" {
		st, err = a.create(ctx)
		return st, func() { st.Close() }, err
	}
	dir, err := os.MkdirTemp("", "earshot-demo-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { os.RemoveAll(dir) }
	st, err = store.Open(ctx, "sqlite:"+filepath.Join(dir, "demo.db"), nil)
	if err != nil {
		remove()
		return nil, nil, err
	}
	return st, func() { st.Close(); remove() }, nil
}

// load imports the export, or the bundled workspace.
func (c *demoCmd) load(ctx context.Context, a *app, st earshot.Store) (archive.Report, error) {
	if c.Import != "" {
		if _, err := os.Stat(c.Import); err != nil {
			return archive.Report{}, importUsageError(fmt.Errorf("import %s: %w", filepath.Base(c.Import), err))
		}
		read := importer(archive.ImportSlack)
		if name := strings.TrimSuffix(strings.ToLower(c.Import), ".gz"); strings.HasSuffix(name, ".jsonl") {
			read = archive.ImportJSONL
		} else if archive.ProbeDiscord([]string{c.Import}, nil) == nil {
			read = importDiscord
		}
		return importWithProgress(ctx, a, st, read, c.Import, &archive.Options{MaxBytes: c.MaxBytes, MaxRatio: c.MaxRatio})
	}
	dir, err := os.MkdirTemp("", "earshot-workspace-")
	if err != nil {
		return archive.Report{}, err
	}
	defer os.RemoveAll(dir)
	bundled, err := fs.Sub(testdata.Workspace, "workspace")
	if err != nil {
		return archive.Report{}, err
	}
	if err := os.CopyFS(dir, bundled); err != nil {
		return archive.Report{}, fmt.Errorf("unpack the bundled workspace: %w", err)
	}
	return archive.ImportSlack(ctx, st, dir, &archive.Options{})
}

// importDiscord is [archive.ImportDiscord] of one path.
func importDiscord(ctx context.Context, st archive.Sink, path string, opts *archive.Options) (archive.Report, error) {
	return archive.ImportDiscord(ctx, st, []string{path}, opts)
}

// newTour finds a scene's place in the store.
func newTour(ctx context.Context, st earshot.Store, sc scene) (*demoTour, error) {
	list, err := st.Channels(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, usagef("the export holds no messages")
	}
	p, err := placeOf(ctx, st, sc.channel, sc.message)
	if err != nil {
		return nil, err
	}
	counter, err := tokens.For("o200k")
	if err != nil {
		return nil, err
	}
	counter.Count("a first count loads the vocabulary, which is not to be timed")
	t := &demoTour{scene: sc, rooms: len(list), q: question{place: p, counter: counter, budget: assemble.DefaultBudget(), search: search.New(st, nil)}}
	t.q.identity, err = findIdentity(ctx, p, "")
	return t, err
}

// The width of the demo's prose.
const proseWidth = 96

// wrapProse wraps a paragraph and indents it by two.
func wrapProse(s string, width int) string {
	return terminal.Paragraph(s, min(width, proseWidth)-2, "  ")
}
