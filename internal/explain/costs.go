package explain

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/step"
)

// A Price returns what a call of a model costs; priced is false where the model has no
// price.
type Price func(model string, u earshot.Usage) (cost float64, priced bool)

// A Call is one answer of a model.
type Call struct {
	Model string
	Usage earshot.Usage
}

// Erased stands for the model of a turn whose journal was erased.
const Erased = "(erased)"

// Calls returns a turn's calls of models, from its journal, or where that was erased
// as the one sum that the turn committed; committed may be nil.
func Calls(journal []step.Entry, committed *earshot.Turn) []Call {
	var calls []Call
	for _, e := range journal {
		if e.Answer != nil {
			calls = append(calls, Call{e.Answer.Model, e.Answer.Usage})
		}
	}
	if len(calls) == 0 && committed != nil && committed.Usage != (earshot.Usage{}) {
		return []Call{{Erased, committed.Usage}}
	}
	return calls
}

// Spending sums the tokens and the cost of calls of models. Priced is false where one
// of the models has no price.
type Spending struct {
	Calls  int     `json:"calls"`
	Input  int     `json:"input"`
	Output int     `json:"output"`
	Read   int     `json:"cache_read"`
	Write  int     `json:"cache_write"`
	Cost   float64 `json:"cost"`
	Priced bool    `json:"priced"`
	Cached float64 `json:"cached"` // Read as a share of all that was read, from 0 to 1
}

// All is all that models read, from the cache or not.
func (s Spending) All() int { return s.Input + s.Read + s.Write }

// Add adds one call; a nil price has no prices.
func (s *Spending) Add(c Call, price Price) {
	x := Spending{Calls: 1, Input: c.Usage.Input, Output: c.Usage.Output, Read: c.Usage.CacheRead, Write: c.Usage.CacheWrite}
	if price != nil {
		x.Cost, x.Priced = price(c.Model, c.Usage)
	}
	s.Merge(x)
}

// Merge adds another sum.
func (s *Spending) Merge(x Spending) {
	if s.Calls == 0 {
		s.Priced = true
	}
	s.Calls += x.Calls
	s.Input += x.Input
	s.Output += x.Output
	s.Read += x.Read
	s.Write += x.Write
	s.Cost += x.Cost
	s.Priced = s.Priced && x.Priced
	if all := s.All(); all > 0 {
		s.Cached = float64(s.Read) / float64(all)
	}
}

// Percent writes Cached.
func (s Spending) Percent() string {
	if s.All() == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*s.Cached)
}

// Money writes the cost; with a plus where part of it has no price.
func (s Spending) Money() string {
	switch {
	case s.Priced:
		return fmt.Sprintf("%.4f", s.Cost)
	case s.Cost > 0:
		return fmt.Sprintf("%.4f+", s.Cost)
	}
	return "–"
}

// String writes tokens, and the cost where it is known.
func (s Spending) String() string {
	t := fmt.Sprintf("%s, %s tokens read, %s from the cache (%s of all), %s written to it, %s answered",
		plain.Count(s.Calls, "call"), plain.Number(s.Input), plain.Number(s.Read), s.Percent(), plain.Number(s.Write), plain.Number(s.Output))
	if s.Priced {
		t += fmt.Sprintf("; cost %.4f", s.Cost)
	}
	return t
}

// A Row is one sum.
type Row struct {
	Key   string `json:"key"`
	Turns int    `json:"turns"`
	Spending
}

// A Sum adds up turns by keys. The zero Sum is empty and ready to use.
type Sum struct{ rows map[string]*Row }

// Add adds the calls of one turn under the key of each. A turn counts once for each of
// its keys.
func (x *Sum) Add(calls []Call, price Price, key func(Call) string) {
	if x.rows == nil {
		x.rows = map[string]*Row{}
	}
	counted := map[string]bool{}
	for _, c := range calls {
		k := key(c)
		if x.rows[k] == nil {
			x.rows[k] = &Row{Key: k}
		}
		if !counted[k] {
			x.rows[k].Turns++
		}
		counted[k] = true
		x.rows[k].Add(c, price)
	}
}

// Rows returns the sums in the order of their keys.
func (x *Sum) Rows() []Row {
	var rows []Row
	for _, r := range x.rows {
		rows = append(rows, *r)
	}
	slices.SortFunc(rows, func(x, y Row) int { return cmp.Compare(x.Key, y.Key) })
	return rows
}

// Total returns the sum of rows; its Turns counts a turn once for each of its keys.
func Total(rows []Row) Row {
	total := Row{Key: "total"}
	for _, r := range rows {
		total.Turns += r.Turns
		total.Merge(r.Spending)
	}
	return total
}
