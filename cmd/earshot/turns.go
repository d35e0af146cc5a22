package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type turnsCmd struct {
	Open    bool  `help:"Turns that have not ended: open, claimed, generating, waiting (for a person's yes), posting."`
	Done    bool  `help:"Turns that were answered."`
	Failed  bool  `help:"Turns that failed; earshot retry opens them again, earshot discard ends them."`
	Parked  bool  `help:"Turns whose answer may or may not have been posted; for retry or discard once you have looked."`
	Dropped bool  `help:"Turns that were not answered, each with its reason."`
	Refused bool  `help:"Messages that name the bot and are not to be answered, each with its reason; see operations.md."`
	Before  int64 `placeholder:"ID" help:"Turns older than this one."`
	Limit   int   `short:"n" default:"50" help:"The most turns to list."`

	Channel string `placeholder:"CHANNEL" help:"Turns of one channel."`
}

// states returns the states to list; none means all.
func (c *turnsCmd) states() []earshot.TurnState {
	var states []earshot.TurnState
	for _, f := range []struct {
		on  bool
		add []earshot.TurnState
	}{
		{c.Open, unfinished}, {c.Done, []earshot.TurnState{earshot.TurnDone}}, {c.Failed, []earshot.TurnState{earshot.TurnFailed}},
		{c.Parked, []earshot.TurnState{earshot.TurnParked}}, {c.Dropped, []earshot.TurnState{earshot.TurnDropped}},
		{c.Refused, []earshot.TurnState{earshot.TurnRefused}},
	} {
		if f.on {
			states = append(states, f.add...)
		}
	}
	return states
}

var unfinished = earshot.UnfinishedStates()

func (c *turnsCmd) Run(ctx context.Context, a *app) error {
	if c.Limit < 1 || c.Before < 0 {
		return usagef("--limit and --before must be above 0")
	}
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	q := earshot.TurnQuery{States: c.states(), Before: earshot.TurnID(c.Before), Limit: c.Limit}
	if q.Scope, err = l.scope(ctx, c.Channel); err != nil {
		return err
	}
	list, err := l.store.QueuedTurns(ctx, q)
	if err != nil {
		return err
	}
	var rows []queuedJSON
	for _, t := range list {
		row, err := l.row(ctx, t)
		if err != nil {
			return err
		}
		rows = append(rows, row)
	}
	if a.json {
		return a.writeJSON(append([]queuedJSON{}, rows...))
	}
	if len(rows) == 0 {
		a.printf("no such turns\n")
		return nil
	}
	columns := []string{"turn", "state", "asked", "channel", "by", "question"}
	reasons := slices.ContainsFunc(rows, func(r queuedJSON) bool { return r.Why != "" })
	if reasons { // a column of its own: nobody takes it for the question
		columns = slices.Insert(columns, 5, "why")
	}
	t := terminal.NewTable(columns...).Right(0)
	for _, r := range rows {
		cells := []string{fmt.Sprint(r.ID), stateStyle(r.State), r.minute, plain.Line(r.ChannelName, 24), plain.Line(r.By, 16), plain.Line(r.Question, 200)}
		if reasons {
			cells = slices.Insert(cells, 5, terminal.Faint(plain.Line(explain.WhyOf(earshot.QueuedTurn{State: r.State, Why: r.Why}), 60)))
		}
		t.Row(cells...)
	}
	a.printf("%s", t.Render(a.width))
	return nil
}

// stateStyle colours a state by whether an operator must act.
func stateStyle(s earshot.TurnState) string {
	switch s {
	case earshot.TurnDone:
		return terminal.Good(string(s))
	case earshot.TurnFailed, earshot.TurnParked:
		return terminal.Bad(string(s))
	case earshot.TurnDropped, earshot.TurnRefused:
		return terminal.Faint(string(s))
	}
	return terminal.Mark(string(s))
}
