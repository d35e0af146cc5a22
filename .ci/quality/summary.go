package main

import (
	"fmt"
	"strings"
)

// The aims of the figures that have one.
const (
	aimAt10        = 0.70
	aimSceneTokens = 2600
)

// summary is the table at the top of docs/quality.md.
func (f figures) summary() string {
	t := newTable("", "before", "now", "aim")
	f.sumRetrieval(t)
	f.sumScenes(t)
	f.sumLinks(t)
	f.sumCost(t)
	if len(t.rows) == 1 {
		return notYet
	}
	return t.String()
}

func (f figures) sumRetrieval(t *table) {
	for i, r := range f.Now.Retrieval {
		b := f.groupBefore(r.Set, overall, r.Overall.Name)
		aim := ""
		if i == 0 {
			aim = "≥ " + percent(aimAt10)
		}
		t.row(fmt.Sprintf("%s (%d): evidence among the first ten hits", r.Set, r.Overall.Queries), was(known(b, b.At10)), bold(percent(r.Overall.At10)), aim)
		if i == 0 {
			t.row("… any of it among them", was(known(b, b.Hit10)), bold(percent(r.Overall.Hit10)), "")
			f.sumContext(t)
		}
	}
}

func (f figures) sumContext(t *table) {
	for _, tokens := range []int{4000, 8000} {
		x := f.Now.Context.row("standard", tokens)
		if x == nil {
			continue
		}
		var b *float64
		if y := f.Before.Context.row("standard", tokens); y != nil {
			b = &y.Gold
		}
		best := prompt{}
		for _, y := range f.Now.Context.Rows {
			if y.Kind == "peer" && y.Tokens == tokens && y.Gold > best.Gold {
				best = y
			}
		}
		t.row(fmt.Sprintf("… evidence in the prompt of %s tokens (the best of four peers, `%s`: %s)", thousands(int64(tokens)), best.Policy, percent(best.Gold)),
			was(b), bold(percent(x.Gold)), "")
	}
}

func (f figures) sumScenes(t *table) {
	now, b := f.Now.Scenes, f.Before.Scenes
	if now == nil {
		return
	}
	before := []string{none, none}
	if b != nil {
		before = []string{fmt.Sprintf("%d of %d", b.Total.Whole, b.Total.Scenes), rounded(b.Total.Mean)}
	}
	t.row("bundled scenes whose prompt has all they need", before[0], bold(fmt.Sprintf("%d of %d", now.Total.Whole, now.Total.Scenes)), fmt.Sprintf("%d of %d", now.Total.Scenes, now.Total.Scenes))
	t.row("… tokens of it, mean", before[1], bold(rounded(now.Total.Mean)), "≤ "+thousands(aimSceneTokens))
}

func (f figures) sumCost(t *table) {
	if len(f.Now.Cost) == 0 {
		return
	}
	c := f.Now.Cost[0]
	x := c.Rows[len(c.Rows)-1]
	t.row(fmt.Sprintf("%d turns of one talk, million tokens sent (*before*: the full history at each turn)", x.Turn),
		fmt.Sprintf("%.1f", float64(x.Full.Sum)/1e6), bold(fmt.Sprintf("%.1f", float64(x.Ours.Sum)/1e6)), "")
	t.row("… MB stored", fmt.Sprintf("%.1f", float64(x.Full.Stored)/1e6), bold(fmt.Sprintf("%.1f", float64(x.Ours.Stored)/1e6)), "")
}

// was writes a share before.
func was(v *float64) string {
	if v == nil {
		return none
	}
	return percent(*v)
}

func bold(s string) string { return "**" + strings.TrimSpace(s) + "**" }
