package main

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/desk"
)

type statusCmd struct {
	Config string `short:"c" placeholder:"FILE" help:"A configuration file (default: $$EARSHOT_CONFIG, else none)." type:"path"`
}

func (c *statusCmd) Help() string {
	return `Says what is stored, how many turns there are in each state, which waits longest, and which model would answer.`
}

// statusJSON is the state of a store as --json writes it.
type statusJSON struct {
	DB       string                    `json:"db"`
	Channels int                       `json:"channels"`
	Messages int                       `json:"messages"`
	Newest   string                    `json:"newest,omitempty"`
	Turns    map[earshot.TurnState]int `json:"turns"`
	Oldest   *queuedJSON               `json:"oldest_unfinished,omitempty"`
	Provider string                    `json:"provider"`
	Model    string                    `json:"model"`
	Policy   string                    `json:"policy"`
}

func (c *statusCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.config(c.Config)
	if err != nil {
		return err
	}
	l, err := a.ledgers(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	models := daemon.Models(cfg)
	out := statusJSON{DB: redacted(cfg.Store), Channels: len(l.channels), Provider: models[0].Provider, Model: models[0].Name, Policy: cfg.Policy}
	var newest earshot.Time
	for _, ch := range l.channels {
		out.Messages += ch.Messages
		newest = max(newest, ch.Last)
	}
	out.Newest = newest.String()
	if out.Turns, err = l.store.Depth(ctx); err != nil {
		return err
	}
	if out.Oldest, err = l.oldest(ctx, out.Turns); err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(out)
	}
	a.printf("store   %s\n", desk.Clean(out.DB))
	a.printf("heard   %s messages in %s channels, the newest %s\n", desk.Number(out.Messages), desk.Number(out.Channels), desk.Minute(newest))
	a.printf("model   %s (%s, %s); policy %s\n", desk.Line(models[0].Name, 60), models[0].Provider, models[0].Why, desk.Line(cfg.Policy, 60))
	t := desk.NewTable("turns", "", "").Right(1)
	for _, s := range append(append([]earshot.TurnState{}, unfinished...), earshot.TurnDone, earshot.TurnFailed, earshot.TurnParked, earshot.TurnDropped) {
		if n := out.Turns[s]; n > 0 {
			t.Row(stateStyle(s), desk.Number(n), desk.Faint(stateMeaning[s]))
		}
	}
	if len(out.Turns) == 0 {
		a.printf("turns   none yet\n")
		return nil
	}
	a.printf("\n%s", t.Render(a.width))
	if o := out.Oldest; o != nil {
		a.printf("\nwaits longest: turn %d since %s in %s (%d tries)\n", o.ID, o.minute, desk.Line(o.ChannelName, 40), o.Tries)
	}
	return nil
}

// stateMeaning says in a line what a state means to an operator.
var stateMeaning = map[earshot.TurnState]string{
	earshot.TurnOpen:       "wait for the bot",
	earshot.TurnClaimed:    "a bot has taken them",
	earshot.TurnGenerating: "the model is asked",
	earshot.TurnPosting:    "the answer is on its way",
	earshot.TurnDone:       "answered",
	earshot.TurnFailed:     "the person was told; `earshot turns --failed`, `earshot retry TURN`",
	earshot.TurnParked:     "look whether the answer is there; `earshot turns --parked`",
	earshot.TurnDropped:    "not answered, each with its reason; `earshot turns --dropped`",
}

// oldest returns the unfinished turn that waits longest, nil when there is
// none.
func (l ledgers) oldest(ctx context.Context, depth map[earshot.TurnState]int) (*queuedJSON, error) {
	n := 0
	for _, s := range unfinished {
		n += depth[s]
	}
	if n == 0 {
		return nil, nil
	}
	list, err := l.store.QueuedTurns(ctx, earshot.TurnQuery{States: unfinished, Limit: n})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	row, err := l.row(ctx, list[len(list)-1])
	if errors.Is(err, earshot.ErrNotFound) {
		return nil, nil
	}
	return &row, err
}

// redacted returns a store's spec without a password.
func redacted(spec string) string {
	if !strings.HasPrefix(spec, "postgres") {
		return spec
	}
	u, err := url.Parse(spec)
	if err != nil {
		return "postgres"
	}
	u.RawQuery = "" // a password may stand there too
	return u.Redacted()
}
