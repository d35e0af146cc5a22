package main

import (
	"context"
	"errors"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/store"
)

type statusCmd struct {
	Config string `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
}

// statusJSON is the state of a store as --json writes it.
type statusJSON struct {
	DB       string                    `json:"db"`
	Channels int                       `json:"channels"`
	Messages int                       `json:"messages"`
	Newest   string                    `json:"newest,omitempty"`
	Turns    map[earshot.TurnState]int `json:"turns"`
	Oldest   *queuedJSON               `json:"oldest_unfinished,omitempty"`
	Daemons  []daemonJSON              `json:"daemons"`  // over this store, the one with the latest heartbeat first
	Provider string                    `json:"provider"` // of the running daemon, else of the configuration
	Model    string                    `json:"model"`
	Policy   string                    `json:"policy"`
	Calls    []callsJSON               `json:"calls"`

	Retention retentionJSON `json:"retention"` // of the running daemon, else of the configuration
}

// callsJSON counts the calls of a platform's API in the last 24 hours.
type callsJSON struct {
	Platform  earshot.Platform    `json:"platform"`
	Workspace earshot.WorkspaceID `json:"workspace"`
	Method    string              `json:"method"`
	Calls     int                 `json:"calls"`
	Limited   int                 `json:"limited"` // refused because of a rate limit (429)
	Failed    int                 `json:"failed"`
	Waits     int                 `json:"waits"` // held back because of a limit
	Waited    float64             `json:"waited_seconds"`
}

func (c *statusCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.config(c.Config)
	if err != nil {
		return err
	}
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	models := daemon.Models(cfg)
	list, err := l.store.Channels(ctx)
	if err != nil {
		return err
	}
	out := statusJSON{DB: store.RedactSpec(cfg.Store), Channels: len(list), Provider: models[0].Provider, Model: models[0].Name, Policy: cfg.Policy}
	if out.Daemons, err = l.daemons(ctx); err != nil {
		return err
	}
	if d := out.Daemons; len(d) > 0 && d[0].Running {
		out.Provider, out.Model, out.Policy = d[0].Provider, d[0].Model, d[0].Policy
	}
	var newest earshot.Time
	for _, ch := range list {
		out.Messages += ch.Messages
		newest = max(newest, ch.Last)
	}
	out.Newest = newest.String()
	if out.Turns, err = l.store.Depth(ctx); err != nil {
		return err
	}
	if out.Oldest, err = l.oldest(ctx); err != nil {
		return err
	}
	if out.Calls, err = l.sumCalls(ctx); err != nil {
		return err
	}
	if out.Retention, err = l.retention(ctx, cfg, len(out.Daemons) > 0 && out.Daemons[0].Running); err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(out)
	}
	a.printf("store   %s\n", plain.Clean(out.DB))
	a.printf("heard   %s in %s, the newest %s\n", plain.Count(out.Messages, "message"), plain.Count(out.Channels, "channel"), plain.Minute(newest))
	a.printf("%s", daemonLines(out.Daemons))
	if len(out.Daemons) == 0 || !out.Daemons[0].Running {
		a.printf("model   %s (%s, %s) would answer, by this configuration; policy %s\n", plain.Line(models[0].Name, 60), models[0].Provider, models[0].Why, plain.Line(cfg.Policy, 60))
	}
	a.printf("%s", out.Retention.lines(a.width))
	t := terminal.NewTable("turns", "", "").Right(1)
	for _, s := range append(append([]earshot.TurnState{}, unfinished...), earshot.TurnDone, earshot.TurnFailed, earshot.TurnParked, earshot.TurnDropped, earshot.TurnRefused) {
		if n := out.Turns[s]; n > 0 {
			t.Row(stateStyle(s), plain.Number(n), terminal.Faint(stateMeaning[s]))
		}
	}
	if len(out.Turns) == 0 {
		a.printf("turns   none yet\n")
	} else {
		a.printf("\n%s", t.Render(a.width))
	}
	if len(out.Calls) > 0 {
		a.printf("\n%s", callsTable(out.Calls).Render(a.width))
	}
	if o := out.Oldest; o != nil {
		a.printf("\nwaits longest: turn %d since %s in %s (%d tries)\n", o.ID, o.minute, plain.Line(o.ChannelName, 40), o.Tries)
	}
	return nil
}

// sumCalls sums the calls of platforms' APIs in the last 24 hours.
func (l turnStore) sumCalls(ctx context.Context) ([]callsJSON, error) {
	counts, err := l.store.Calls(ctx, earshot.TimeOf(earshot.ClockOf(l.store, time.Now)().Add(-24*time.Hour)))
	if err != nil {
		return nil, err
	}
	out := []callsJSON{}
	for _, c := range daemon.SumCalls(counts) {
		out = append(out, callsJSON{
			Platform: c.Platform, Workspace: c.Workspace, Method: c.Method, Calls: c.Calls, Limited: c.Limited, Failed: c.Failed, Waits: c.Waits, Waited: c.Waited.Seconds(),
		})
	}
	return out, nil
}

func callsTable(list []callsJSON) *terminal.Table {
	t := terminal.NewTable("calls in 24 hours", "workspace", "calls", "429", "failed", "waits", "waited").Right(2, 3, 4, 5, 6)
	for _, c := range list {
		limited := plain.Number(c.Limited)
		if c.Limited > 0 {
			limited = terminal.Mark(limited)
		}
		t.Row(plain.Line(c.Method, 40), plain.Line(string(c.Workspace), 20), plain.Number(c.Calls), limited, plain.Number(c.Failed), plain.Number(c.Waits),
			(time.Duration(c.Waited * float64(time.Second))).Round(time.Millisecond).String())
	}
	return t
}

// stateMeaning explains each state to an operator in a line.
var stateMeaning = map[earshot.TurnState]string{
	earshot.TurnOpen:       "wait for the bot",
	earshot.TurnClaimed:    "a bot has taken them",
	earshot.TurnGenerating: "the model is asked",
	earshot.TurnWaiting:    "wait for what a person was asked",
	earshot.TurnPosting:    "the answer is on its way",
	earshot.TurnDone:       "answered",
	earshot.TurnFailed:     "the person was told; `earshot turns --failed`, `earshot retry TURN` or `discard`",
	earshot.TurnParked:     "look whether the answer is there; `earshot turns --parked`",
	earshot.TurnDropped:    "not answered, each with its reason; `earshot turns --dropped`",
	earshot.TurnRefused:    "name the bot and are not to be answered; `earshot turns --refused`",
}

// oldest returns the unfinished turn that has waited longest for a bot; nil when there is
// none.
func (l turnStore) oldest(ctx context.Context) (*queuedJSON, error) {
	list, err := l.store.QueuedTurns(ctx, earshot.TurnQuery{States: earshot.ActiveStates(), Oldest: true, Limit: 1})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	row, err := l.row(ctx, list[0])
	if errors.Is(err, earshot.ErrNotFound) {
		return nil, nil
	}
	return &row, err
}
