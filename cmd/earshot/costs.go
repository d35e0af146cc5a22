package main

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/desk"
)

type costsCmd struct {
	By     string `enum:"day,channel,person,model" default:"day" help:"Sum by day, channel, person or model."`
	Since  string `placeholder:"DAY" help:"From this day on, such as 2026-03-01 (UTC)."`
	Config string `short:"c" placeholder:"FILE" help:"A configuration file, for its prices (default: $$EARSHOT_CONFIG, else none)." type:"path"`
}

func (c *costsCmd) Help() string {
	return `Sums what models were asked, by the tokens that their providers report and the prices in the configuration
(model.prices). Failed turns count too: their calls were made. A model without a price counts its tokens and no money.

Examples:

  earshot costs
  earshot costs --by person --since 2026-03-01 --config earshot.yaml`
}

// A costsRow is one sum.
type costsRow struct {
	Key   string `json:"key"`
	Turns int    `json:"turns"`
	spent
}

func (c *costsCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.config(c.Config)
	if err != nil {
		return err
	}
	var since earshot.Time
	if c.Since != "" {
		if since, err = earshot.ParseTime(c.Since + "T00:00:00Z"); err != nil {
			return usagef("--since: %q is no day; write it as 2026-03-01", c.Since)
		}
	}
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	rows, err := c.sum(ctx, l, cfg.Model.Prices, since)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(append([]costsRow{}, rows...))
	}
	if len(rows) == 0 {
		a.printf("no model was asked\n")
		return nil
	}
	t := desk.NewTable(c.By, "turns", "calls", "read", "cache read", "cached", "cache written", "answered", "cost").Right(1, 2, 3, 4, 5, 6, 7, 8)
	var total spent
	for _, r := range append(rows, costsRow{Key: "total"}) {
		if r.Key == "total" {
			r.spent = total
			for _, x := range rows {
				r.Turns += x.Turns
			}
		}
		t.Row(desk.Line(r.Key, 40), desk.Number(r.Turns), desk.Number(r.Calls), desk.Number(r.Input), desk.Number(r.Read), r.percent(), desk.Number(r.Write), desk.Number(r.Output), money(r.spent))
		total.merge(r.spent)
	}
	a.printf("%s", t.Render(a.width))
	return nil
}

// costsPage is how many turns are read at once.
const costsPage = 500

// sum adds up all turns that asked a model, by key in its order.
func (c *costsCmd) sum(ctx context.Context, l turnStore, prices map[string]config.Price, since earshot.Time) ([]costsRow, error) {
	by := map[string]*costsRow{}
	q := earshot.TurnQuery{Limit: costsPage}
	for {
		list, err := l.store.QueuedTurns(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			q.Before = t.ID
			if t.Opened < since {
				continue
			}
			if err := c.add(ctx, l, t, prices, by); err != nil {
				return nil, err
			}
		}
		if len(list) < costsPage {
			break
		}
	}
	var rows []costsRow
	for _, r := range by {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(x, y costsRow) int { return cmp.Compare(x.Key, y.Key) })
	return rows, nil
}

// add adds the calls of one turn.
func (c *costsCmd) add(ctx context.Context, l turnStore, t earshot.QueuedTurn, prices map[string]config.Price, by map[string]*costsRow) error {
	calls, err := l.calls(ctx, t)
	if err != nil || len(calls) == 0 {
		return err
	}
	key := ""
	switch c.By {
	case "day":
		key = desk.Day(t.Opened)
	case "model":
	default:
		row, err := l.row(ctx, t)
		if err != nil {
			return err
		}
		if key = row.ChannelName; c.By == "person" {
			if key = row.By; key == "" {
				key = "(deleted)"
			}
		}
	}
	counted := map[string]bool{}
	for _, call := range calls {
		k := key
		if c.By == "model" {
			k = call.model
		}
		if by[k] == nil {
			by[k] = &costsRow{Key: k}
		}
		if !counted[k] {
			by[k].Turns++
		}
		counted[k] = true
		by[k].add(call.usage, prices, call.model)
	}
	return nil
}

// A modelCall is one answer of a model.
type modelCall struct {
	model string
	usage earshot.Usage
}

// unknownModel stands for the model of a turn whose journal was erased.
const unknownModel = "(erased)"

// calls returns a turn's calls of models, from its journal, or where that was
// erased as the one sum that the turn committed.
func (l turnStore) calls(ctx context.Context, t earshot.QueuedTurn) ([]modelCall, error) {
	entries, err := daemon.Journal(ctx, l.store, t.ID)
	if err != nil {
		return nil, err
	}
	var calls []modelCall
	for _, e := range entries {
		if e.Answer != nil {
			calls = append(calls, modelCall{e.Answer.Model, e.Answer.Usage})
		}
	}
	if len(calls) > 0 {
		return calls, nil
	}
	turn, err := l.committed(ctx, t)
	if err != nil || turn == nil || turn.Usage == (earshot.Usage{}) {
		return nil, err
	}
	return []modelCall{{unknownModel, turn.Usage}}, nil
}
