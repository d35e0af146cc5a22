package inspect

import (
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
)

// An outcomeChoice is what became of turns, as lists are filtered by it.
type outcomeChoice struct {
	value, label string
	states       []earshot.TurnState
}

// outcomes are the choices. The name of a single state is one too.
var outcomes = []outcomeChoice{
	{"", "any", nil},
	{"done", "answered", []earshot.TurnState{earshot.TurnDone}},
	{"unfinished", "under way", earshot.UnfinishedStates()},
	{"waiting", "failed or parked", []earshot.TurnState{earshot.TurnParked, earshot.TurnFailed}},
	{"failed", "failed", []earshot.TurnState{earshot.TurnFailed}},
	{"parked", "parked", []earshot.TurnState{earshot.TurnParked}},
	{"dropped", "dropped", []earshot.TurnState{earshot.TurnDropped}},
	{"refused", "refused", []earshot.TurnState{earshot.TurnRefused}},
}

// statesOf returns the states of a choice.
func statesOf(outcome string) ([]earshot.TurnState, error) {
	for _, c := range outcomes {
		if c.value == outcome {
			return c.states, nil
		}
	}
	if s := earshot.TurnState(outcome); slices.Contains(earshot.TurnStates(), s) {
		return []earshot.TurnState{s}, nil
	}
	return nil, invalidParam("outcome", "is none that turns have; done, failed, parked, dropped, refused, unfinished and waiting are")
}

// turnFilter reads the filters of a list of turns.
func (s *server) turnFilter(v *visit) (explain.TurnFilter, error) {
	f := explain.TurnFilter{Person: v.query("person"), Model: v.query("model"), Journals: true, Price: s.Cost}
	f.Channel = v.place()
	switch f.Feedback = explain.Opinion(v.query("feedback")); f.Feedback {
	case "", explain.AnyOpinion, explain.GoodOpinion, explain.BadOpinion:
	default:
		return f, invalidParam("feedback", "must be any, good or bad")
	}
	var err error
	if f.States, err = statesOf(v.query("outcome")); err != nil {
		return f, err
	}
	if f.From, err = timeOf(v, "from", 0); err != nil {
		return f, err
	}
	if f.To, err = timeOf(v, "to", 24*time.Hour); err != nil {
		return f, err
	}
	if x := v.query("min_cost"); x != "" {
		if f.Cost, err = strconv.ParseFloat(x, 64); err != nil || math.IsNaN(f.Cost) || math.IsInf(f.Cost, 0) || f.Cost < 0 {
			return f, invalidParam("min_cost", "must be a number, such as 0.05")
		}
	}
	if x := v.query("before"); x != "" {
		n, err := strconv.ParseInt(x, 10, 64)
		if err != nil || n < 1 {
			return f, invalidParam("before", "must be the number of a turn")
		}
		f.Before = earshot.TurnID(n)
	}
	return f, nil
}

// timeOf reads a day or a time of the query. Of a day it returns the beginning, moved
// by so much.
func timeOf(v *visit, name string, move time.Duration) (earshot.Time, error) {
	x := v.query(name)
	if x == "" {
		return 0, nil
	}
	if day, err := time.Parse(time.DateOnly, x); err == nil {
		return earshot.TimeOf(day.Add(move)), nil
	}
	t, err := earshot.ParseTime(x)
	if err != nil {
		return 0, invalidParam(name, "must be a day such as 2026-03-01, or a time such as 2026-03-01T12:00:00Z (UTC)")
	}
	return t, nil
}
