package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/tokens"
)

// A Sample compares what was counted with what one model has reported, over
// the first calls of its newest turns.
type Sample struct {
	Provider string
	Model    string
	Turns    int
	Estimate int // tokens of the prompts by the base counter
	Actual   int // tokens that the provider says it has read, tools' descriptions included
}

// Factor is by how much the base counter is off.
func (s Sample) Factor() float64 {
	if s.Estimate == 0 {
		return 1
	}
	return float64(s.Actual) / float64(s.Estimate)
}

// Counter returns the spec of the counter that fits the model, such as
// o200k*1.15; the base counter where too little is known.
func (s Sample) Counter() string {
	f := min(max(s.Factor(), 0.5), 3)
	if s.Turns < enough || f > 0.99 && f < 1.01 {
		return "o200k"
	}
	return fmt.Sprintf("o200k*%.2f", f)
}

// enough is how many turns a factor is learned from at least, and looked the
// number of turns that are looked at.
const (
	enough = 5
	looked = 200
)

// Samples compares estimates with what models have reported, for the newest
// turns, by provider and model. Nothing besides the turns is kept: what was
// learned is there after a restart, and gone where they are erased.
func Samples(ctx context.Context, st bot.Store) ([]Sample, error) {
	list, err := st.QueuedTurns(ctx, earshot.TurnQuery{States: []earshot.TurnState{earshot.TurnDone}, Limit: looked})
	if err != nil {
		return nil, fmt.Errorf("list turns: %w", err)
	}
	base, err := tokens.For("o200k")
	if err != nil {
		return nil, err
	}
	by := map[[2]string]*Sample{}
	for _, brief := range list {
		q, err := st.QueuedTurn(ctx, brief.ID) // a list has no inputs
		if err != nil {
			return nil, fmt.Errorf("turn %d: %w", brief.ID, err)
		}
		if err := take(ctx, st, q, base, by); err != nil {
			return nil, err
		}
	}
	var out []Sample
	for _, s := range by {
		out = append(out, *s)
	}
	slices.SortFunc(out, func(x, y Sample) int {
		return cmp.Or(cmp.Compare(x.Provider, y.Provider), cmp.Compare(x.Model, y.Model))
	})
	return out, nil
}

// take adds a turn's first call, unless its prompt cannot be made again.
func take(ctx context.Context, st bot.Store, q earshot.QueuedTurn, base assemble.Counter, by map[[2]string]*Sample) error {
	entries, err := Journal(ctx, st, q.ID)
	if err != nil {
		return err
	}
	if len(entries) == 0 || entries[0].Answer == nil {
		return nil
	}
	a := entries[0].Answer
	actual := a.Usage.Input + a.Usage.CacheRead + a.Usage.CacheWrite
	in, err := bot.Input(ctx, st, q)
	if errors.Is(err, bot.ErrChanged) || actual == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	res, err := assemble.Turn(in)
	if err != nil || res.Hash != q.Hash {
		return nil
	}
	key := [2]string{a.Provider, a.Model}
	if by[key] == nil {
		by[key] = &Sample{Provider: a.Provider, Model: a.Model}
	}
	s := by[key]
	s.Turns++
	s.Actual += actual
	s.Estimate += base.Count(res.System)
	for _, m := range res.Messages {
		s.Estimate += base.Count(m.Text)
	}
	return nil
}
