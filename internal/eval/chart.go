package eval

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/earshot-ai/earshot/internal/inspect/picture"
)

// CostChart draws a report as an SVG picture without scripts, readable on light and on
// dark pages: the mean over the talks of what each turn costs, ours against the full
// history.
func CostChart(r CostReport) []byte {
	sum := func(of func(CostSide) int) func(so float64, s CostSide) float64 {
		return func(so float64, s CostSide) float64 { return so + float64(of(s)) }
	}
	var last CostRow
	if n := len(r.Rows); n > 0 {
		last = r.Rows[n-1]
	}
	return picture.Sheet(fmt.Sprintf("What %d turns cost: policy %s against the full history at each turn", r.Turns, r.Policy), describeChart(r, last),
		r.panel("Prompt of each turn", "tokens", "", func(_ float64, s CostSide) float64 { return float64(s.Prompt) }, r.epochs()...),
		r.panel("All prompts so far", "tokens", "", sum(func(s CostSide) int { return s.Prompt })),
		r.panel("Of these new, not in the prompt before", "tokens", ", %.1f %% cacheable", sum(func(s CostSide) int { return s.Prompt - s.Cached })),
		r.panel("Stored", "bytes", "", func(_ float64, s CostSide) float64 { return float64(s.Stored) }))
}

// describeChart says in a sentence what the chart shows, for screen readers.
func describeChart(r CostReport, last CostRow) string {
	return fmt.Sprintf("After %d turns, means of %d talks: %s tokens were sent against %s, of these %s new against %s, and %s bytes are stored against %s.",
		last.Turn, len(r.Talks), picture.FormatFigure(float64(last.Ours.Sum)), picture.FormatFigure(float64(last.Full.Sum)), picture.FormatFigure(float64(last.Ours.New)), picture.FormatFigure(float64(last.Full.New)),
		picture.FormatFigure(float64(last.Ours.Stored)), picture.FormatFigure(float64(last.Full.Stored)))
}

// panel draws a figure of each turn, which add makes of the figure of the turn before and
// of the turn. cacheable, where it is not "", names each side's share after its name.
func (r CostReport) panel(title, unit, cacheable string, add func(so float64, s CostSide) float64, marks ...picture.Mark) picture.Picture {
	labels := make([]string, r.Turns)
	for i := range labels {
		labels[i] = strconv.Itoa(i + 1)
	}
	side := func(name, class string, of func(CostTurn) CostSide) picture.Series {
		mean, all := make([]float64, r.Turns), CostSum{}
		for _, t := range r.Talks {
			so := 0.0
			for i := range mean {
				x := of(t.Turns[i])
				so = add(so, x)
				mean[i] += so / float64(len(r.Talks))
				all.Sum, all.New = all.Sum+x.Prompt, all.New+x.Prompt-x.Cached
			}
		}
		for i := range mean {
			mean[i] = math.Round(mean[i])
		}
		if cacheable != "" {
			name += fmt.Sprintf(cacheable, 100*float64(all.Sum-all.New)/float64(max(1, all.Sum)))
		}
		return picture.Series{Name: name, Class: class, Values: mean}
	}
	return picture.Lines(title+", "+unit, "turn", "", labels, marks,
		side("Earshot", "s1", func(t CostTurn) CostSide { return t.Ours }), side("full history", "s2", func(t CostTurn) CostSide { return t.Full }))
}

// epochs are the turns at which a talk began one.
func (r CostReport) epochs() []picture.Mark {
	var out []picture.Mark
	for _, t := range r.Talks {
		for _, n := range t.Epochs {
			out = append(out, picture.Mark{At: n - 1, Name: "epoch"})
		}
	}
	slices.SortFunc(out, func(a, b picture.Mark) int { return a.At - b.At })
	return slices.Compact(out)
}
