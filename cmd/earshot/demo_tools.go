package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

// The question of the demo of tools, and the thread of the bundled workspace in which it is
// asked: its last words are that the pooler must not outlive a killed worker.
const (
	toolsThread   = "1773150006.568509"
	toolsQuestion = "@earshot is the pooler that outlives a killed worker in the tracker? If it is not, open an issue for it."
	toolsWhy      = "The bot has an issue tracker. It may look into it, and opens an issue only after whoever asked has agreed."
)

// A toolsDemo is the bot of the demo with a server of tools, which is this program again,
// started as a child as that of any configuration is.
type toolsDemo struct {
	*app
	cmd    *demoCmd
	tour   *demoTour
	bot    *daemon.Daemon
	issues tracker
	before []issue
	steps  int

	asked   earshot.Message // the question
	turn    earshot.TurnID
	decided string // by whom, or what: demo, flag, terminal, page
}

func (c *demoCmd) tools(ctx context.Context, a *app, t *demoTour) error {
	dir, err := os.MkdirTemp("", "earshot-tracker-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	x := &toolsDemo{app: a, cmd: c, tour: t, issues: tracker{path: filepath.Join(dir, "issues.json")}}
	if x.before, err = x.issues.read(); err != nil {
		return err
	}
	s, err := x.service()
	if err != nil {
		return err
	}
	o := daemon.Options{
		Config: s.config, Store: s.store, LocalPlatform: s.channel.Platform, LocalWorkspace: s.channel.Workspace, Version: buildVersion(),
		Log: a.logger(config.Log{Level: "warn"}, false), Start: s.start, InspectOpen: true, Outside: daemon.Outside{Model: demoModel{}},
	}
	servers, err := daemon.CheckTools(ctx, o)
	if err != nil {
		return err
	}
	if x.bot, err = daemon.Open(ctx, o); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ran := make(chan error, 1)
	go func() {
		defer stop() // without the bot nothing is answered any more
		ran <- x.bot.Run(running)
	}()
	err = x.run(running, servers)
	stop()
	return errors.Join(err, <-ran, x.bot.Close())
}

// service is the bot of the tour with the tracker as its one server of tools. Of the
// settings of whoever runs the demo it has none: it needs no network, and asks the asker.
func (x *toolsDemo) service() (service, error) {
	program, err := os.Executable()
	if err != nil {
		return service{}, fmt.Errorf("find this program: %w", err)
	}
	s, err := x.cmd.service(x.app, x.tour)
	if err != nil {
		return s, err
	}
	own := s.config.Agent
	s.config = config.Default()
	s.config.Agent = own
	s.config.Model.Provider, s.config.Inspect.Listen = providers.Offline, string(x.cmd.Inspect)
	s.config.Tools.MCP = []config.MCPServer{{Name: "tracker", Command: program, Args: []string{"tracker", x.issues.path}}}
	s.start = &inspect.Start{Channel: x.tour.q.place.channel.Channel, Message: toolsThread, Why: toolsWhy}
	return s, nil
}

func (x *toolsDemo) run(ctx context.Context, servers []daemon.ToolServer) error {
	if !x.json {
		x.head("the tools: an MCP server, which this program has started as a child")
		x.toolServers(servers, config.Default().Tools.Budget)
		x.printf("%s", wrapProse("Each that is not marked as reading is asked for. Whatever keys are set, a scripted model answers here, without a network.", x.width))
	}
	said, err := x.bot.Chat.Say(ctx, daemon.NewMessage{Channel: string(x.channel().ID), As: daemon.Guest, Thread: toolsThread, Text: toolsQuestion})
	if err != nil {
		return err
	}
	x.asked, x.turn = said.Message, said.Turn
	if !x.json {
		x.head("in the thread of #%s", plain.Line(x.tour.q.place.label, 40))
		x.say(x.asked)
	}
	if err := x.wait(ctx); err != nil {
		return err
	}
	if err := x.tell(ctx); err != nil || x.cmd.Inspect == "" {
		return err
	}
	<-ctx.Done() // the page is served until then
	return nil
}

func (x *toolsDemo) channel() earshot.Channel { return x.tour.q.place.channel.Channel }

// lookEvery is how often the demo looks how far its turn is.
const lookEvery = 50 * time.Millisecond

// wait returns once the turn has ended, and decides meanwhile what is asked in it.
func (x *toolsDemo) wait(ctx context.Context) error {
	for {
		q, err := x.bot.Store.QueuedTurn(ctx, x.turn)
		if err != nil || q.State.Final() {
			return err
		}
		if q.State == earshot.TurnWaiting && x.decided == "" {
			if err := x.decide(ctx); err != nil {
				return err
			}
		}
		if err := pause.For(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// decide has the question of the bot answered, where it is there: by who sits here, on the
// page, by --answer, or by the demo itself.
func (x *toolsDemo) decide(ctx context.Context) error {
	list, err := x.replies(ctx)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(m earshot.Message) bool { return len(x.bot.Chat.Choices(x.channel().Scope(), m.ID)) > 0 })
	if i < 0 {
		return nil
	}
	if !x.json {
		x.say(list[i])
	}
	yes, why := x.cmd.Answer != "no", ""
	switch {
	case x.cmd.Answer != "":
		x.decided = "flag"
		x.note("--answer says: " + x.cmd.Answer)
	case x.cmd.Inspect != "":
		x.decided = "page"
		return x.showPage(list[i])
	case x.asks && !x.json:
		x.decided = "terminal"
		if yes, why, err = x.askPerson(ctx); err != nil {
			return err
		}
	default:
		x.decided = "demo"
		x.note("Nobody sits at a terminal here: the demo agrees by itself. --answer no refuses.")
	}
	choice := "do"
	if !yes {
		choice = "dont"
	}
	_, err = x.bot.Chat.Choose(ctx, daemon.Choice{Channel: string(x.channel().ID), Message: list[i].ID, Choice: choice, As: daemon.Guest, Words: why})
	return err
}

// note writes what the demo does by itself.
func (x *toolsDemo) note(text string) {
	if !x.json {
		x.printf("  %s\n", terminal.Mark(text))
	}
}

// askPerson reads a yes, or a no and its reason.
func (x *toolsDemo) askPerson(ctx context.Context) (yes bool, why string, err error) {
	for {
		x.printf("  %s ", terminal.Mark("yes, or no and why:"))
		line, err := x.answer(ctx, "nothing was done")
		if err != nil {
			return false, "", err
		}
		word, rest, _ := strings.Cut(line, " ")
		switch strings.ToLower(strings.TrimRight(word, ",.!:")) {
		case "yes", "y":
			return true, "", nil
		case "no", "n":
			return false, strings.TrimSpace(rest), nil
		}
	}
}

// showPage says where on the page the question stands.
func (x *toolsDemo) showPage(m earshot.Message) error {
	at := x.channel()
	query := url.Values{"platform": {string(at.Platform)}, "workspace": {string(at.Workspace)}, "channel": {string(at.ID)}, "thread": {string(m.Root())}}
	link := strings.TrimSuffix(x.bot.Inspect, "/") + "/chat?" + query.Encode()
	if x.json {
		return x.writeJSON(map[string]any{"inspect": x.bot.Visit, "chat": link})
	}
	x.printf("\n%s  %s\n", wrapProse("Decide on the page, below the question of the bot:", x.width), link)
	return nil
}

// replies returns what the bot has said since the question, the oldest first.
func (x *toolsDemo) replies(ctx context.Context) (list []earshot.Message, err error) {
	all, err := x.bot.Store.Newest(ctx, x.channel().Scope(), earshot.ThreadOf(toolsThread), earshot.Position{}, 50)
	for _, m := range all {
		if m.Position().Compare(x.asked.Position()) > 0 && x.bot.Identity.Is(m.Author.ID) && m.Text != "" {
			list = append(list, m)
		}
	}
	return list, err
}

// head begins a part of what is shown.
func (x *toolsDemo) head(format string, args ...any) {
	x.steps++
	x.printf("\n%s", terminal.Rule(fmt.Sprintf("%d · %s", x.steps, fmt.Sprintf(format, args...)), x.width))
}

// say writes a message.
func (x *toolsDemo) say(m earshot.Message) {
	text := terminal.Paragraph(plain.Clean(plain.Readable(m.Text)), min(x.width, proseWidth)-4, "    ")
	x.printf("  %s\n%s", terminal.Strong(plain.Line(m.Author.Name, 40)+":"), text)
}

// tell shows what came of the question: the answer, the approval, the journal, the tracker.
func (x *toolsDemo) tell(ctx context.Context) error {
	l := turnsOf(x.bot.Store)
	w, err := l.whole(ctx, int64(x.turn))
	if err != nil {
		return err
	}
	said, err := x.replies(ctx)
	if err != nil {
		return err
	}
	after, err := x.issues.read()
	if err != nil {
		return err
	}
	if x.json {
		return x.writeJSON(map[string]any{
			"turn": w.row, "decided_by": x.decided, "approvals": w.people.Approvals, "journal": w.journalJSON(), "answer": w.Answer(), "issues_before": len(x.before), "issues": after,
		})
	}
	for _, m := range said {
		x.say(m)
	}
	x.head("who agreed to what, as `earshot approvals` has it")
	x.printf("%s", approvalsTable(w.people.Approvals).Render(x.width))
	x.head("what was called, in which order, as `earshot turn %d` has it", x.turn)
	w.showJournal(x.app)
	x.head("the tracker: %s before, %s now", plain.Count(len(x.before), "issue"), plain.Number(len(after)))
	for _, i := range after {
		line := fmt.Sprintf("%3d  %s", i.Number, plain.Line(i.Title, x.width-6))
		if i.Number > len(x.before) {
			line = terminal.Mark(line)
		}
		x.printf("%s\n", line)
	}
	x.showNext()
	return nil
}

func (x *toolsDemo) showNext() {
	db := " --db demo.db"
	x.printf("\n%s\n", terminal.Strong("next"))
	if x.tour.kept {
		db = " --db " + shellWord(x.shownDB())
		x.printf("  the whole turn:        earshot turn%s %d\n", db, x.turn)
		x.printf("  what was agreed to:    earshot approvals%s --args\n", db)
	} else {
		x.printf("  keep what was done:    earshot demo --tools%s\n", db)
	}
	x.printf("  say no:                earshot demo --tools --answer no\n")
	x.printf("  click on a page:       earshot demo --tools --inspect\n")
	x.printf("  tools of your own:     earshot docs tools-of-your-own\n")
}
