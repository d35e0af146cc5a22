package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/costs"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

type turnCmd struct {
	ID     int64  `arg:"" name:"turn" help:"The turn's id."`
	Ledger string `enum:"in,all" default:"in" help:"Which messages the ledger lists: in (shown) or all."`
	Config string `short:"c" placeholder:"FILE" help:"A configuration file, for its prices (default: $$EARSHOT_CONFIG, else none)." type:"path"`

	Request bool `xor:"form" help:"Print the requests that the model's provider was sent, made again and compared with the hash of what was sent."`
	Case    bool `xor:"form" help:"Print the turn as a text case, for a bug report; earshot assemble --transcript reads it."`
	Redact  bool `help:"With --case: without what anybody wrote, and without names."`
}

func (c *turnCmd) Help() string {
	return `Shows one turn in full: the question, the prompt byte for byte, the ledger, what the model and its tools said, what was
posted, what it cost and how long it took.

Examples:

  earshot turn 42
  earshot turn 42 --ledger all
  earshot turn 42 --request
  earshot turn 42 --case --redact`
}

// A wholeTurn is everything that is stored of a turn.
type wholeTurn struct {
	row       queuedJSON
	queued    earshot.QueuedTurn
	committed *earshot.Turn
	entries   []bot.JournalEntry
	posts     []earshot.Post
	input     *assemble.Input  // nil when it cannot be made again
	result    *assemble.Result // likewise
	changed   string           // why it cannot be made again
	page      string           // its address on the inspector
	served    bool             // a daemon that runs serves the page
}

func (c *turnCmd) Run(ctx context.Context, a *app) error {
	switch {
	case c.Redact && !c.Case:
		return usagef("--redact is about --case; give both")
	case c.Case && a.json:
		return usagef("--case and --json are two forms of output; use one of them")
	}
	cfg, err := a.config(c.Config)
	if err != nil {
		return err
	}
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	w, err := l.whole(ctx, c.ID)
	if err != nil {
		return err
	}
	prices, _, err := l.prices(ctx, cfg)
	if err != nil {
		return err
	}
	switch {
	case c.Case:
		return w.writeCase(a, c.Redact)
	case c.Request:
		return w.writeRequests(ctx, a, l.store)
	case a.json:
		return w.writeJSON(ctx, a, l, prices)
	}
	w.show(ctx, a, l, prices, c.Ledger == "all")
	return nil
}

// whole reads everything that is stored of a turn.
func (l turnStore) whole(ctx context.Context, id int64) (wholeTurn, error) {
	var w wholeTurn
	var err error
	if w.queued, err = l.turn(ctx, id); err != nil {
		return w, err
	}
	if w.row, err = l.row(ctx, w.queued); err != nil {
		return w, err
	}
	if w.committed, err = l.committed(ctx, w.queued); err != nil {
		return w, err
	}
	if w.entries, err = daemon.Journal(ctx, l.store, w.queued.ID); err != nil {
		return w, err
	}
	if w.posts, err = l.store.Posts(ctx, w.queued.ID); err != nil {
		return w, err
	}
	w.page, w.served = pageOf(ctx, l.store, w.queued.ID)
	err = w.rebuild(ctx, l.store)
	return w, err
}

// rebuild makes the prompt again, or sets w.changed to why it cannot.
func (w *wholeTurn) rebuild(ctx context.Context, st bot.Store) error {
	if w.queued.Hash == "" {
		w.changed = "the turn did not come to a prompt"
		return nil
	}
	in, err := bot.Input(ctx, st, w.queued)
	if errors.Is(err, bot.ErrChanged) {
		w.changed = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	res, err := assemble.Turn(in)
	switch {
	case err != nil:
		w.changed = err.Error()
	case res.Hash != w.queued.Hash:
		w.changed = fmt.Sprintf("it is another prompt now: %.12s, and was %.12s", res.Hash, w.queued.Hash)
	default:
		w.input, w.result = &in, &res
	}
	return nil
}

// ledger returns the turn's ledger: what was committed, else that of the
// prompt; nil when there is none.
func (w *wholeTurn) ledger() earshot.Ledger {
	switch {
	case w.committed != nil && len(w.committed.Ledger) > 0:
		return w.committed.Ledger
	case w.result != nil:
		return w.result.Ledger
	}
	return nil
}

// self returns the agent's identity; zero where the prompt cannot be made again.
func (w *wholeTurn) self() earshot.Identity {
	if w.input != nil {
		return w.input.Identity
	}
	return earshot.Identity{}
}

// zone returns the zone of the times that the turn's prompt shows; "" is UTC.
func (w *wholeTurn) zone() string {
	switch {
	case w.committed != nil:
		return w.committed.Zone
	case w.input != nil:
		return w.input.Zone
	}
	return ""
}

// names returns the people whom the turn was the first of its epoch to name, and
// the form of its session; nothing where that is not recorded.
func (w *wholeTurn) names() (names []earshot.Named, form string) {
	switch {
	case w.committed != nil:
		return w.committed.Names, w.committed.Form
	case w.result != nil:
		return w.result.Next.Names, string(w.input.Policy.Frame)
	}
	return nil, ""
}

func (w *wholeTurn) spent(prices map[string]config.Price) costs.Spent {
	var s costs.Spent
	for _, c := range costs.Calls(w.entries, w.committed) {
		s.Add(c, priceOf(prices))
	}
	return s
}
