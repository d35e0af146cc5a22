package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A table is written as Markdown; its columns but the first are numbers.
type table struct{ rows [][]string }

func newTable(head ...string) *table { return &table{rows: [][]string{head}} }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) String() string {
	var s strings.Builder
	for i, r := range t.rows {
		s.WriteString("| " + strings.Join(r, " | ") + " |\n")
		if i == 0 {
			s.WriteString("|---|" + strings.Repeat("---:|", len(r)-1) + "\n")
		}
	}
	return s.String()
}

// none stands where there is no figure.
const none = "–"

// notYet stands where a part was not measured.
const notYet = "Not measured yet."

// percent writes a share, 0 to 1.
func percent(share float64) string { return fmt.Sprintf("%.1f", 100*share) }

// change writes a share before and now.
func change(before *float64, now float64) string {
	if before == nil {
		return none + " → **" + percent(now) + "**"
	}
	return percent(*before) + " → **" + percent(now) + "**"
}

// thousands writes a whole number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func rounded(v float64) string { return thousands(int64(math.Round(v))) }

// ratio writes how many times as much a is as b.
func ratio(a, b float64) string {
	if b == 0 {
		return none
	}
	return fmt.Sprintf("%.2f", a/b)
}

// code writes lines as a block of code.
func code(lines []string) string {
	if len(lines) == 0 {
		return notYet
	}
	return "    " + strings.Join(lines, "\n    ")
}

// find returns the element that is meant, nil where there is none.
func find[T any](list []T, is func(T) bool) *T {
	if i := slices.IndexFunc(list, is); i >= 0 {
		return &list[i]
	}
	return nil
}

// groupOf returns the measures of one group of a set before.
func (f figures) groupBefore(set string, of func(retrieval) []group, name string) group {
	r := find(f.Before.Retrieval, func(r retrieval) bool { return r.Set == set })
	if r == nil {
		return group{At10: math.NaN()}
	}
	g := find(of(*r), func(g group) bool { return g.Name == name })
	if g == nil {
		return group{At10: math.NaN()}
	}
	return *g
}

// known returns a measure of a group, nil where there is no such group.
func known(g group, v float64) *float64 {
	if math.IsNaN(g.At10) {
		return nil
	}
	return &v
}

// parts of a retrieval.
func overall(r retrieval) []group  { return []group{r.Overall} }
func category(r retrieval) []group { return r.ByCategory }
func sources(r retrieval) []group  { return r.BySource }

func (f figures) retrieval() string {
	if len(f.Now.Retrieval) == 0 {
		return notYet
	}
	var out strings.Builder
	for _, r := range f.Now.Retrieval {
		t := newTable(r.Set, "queries", "R@10", "hit@10", "R@50", "MRR × 100", "in 4k", "in 8k", "in recall")
		add := func(label string, of func(retrieval) []group, g group) {
			b := f.groupBefore(r.Set, of, g.Name)
			section := none
			if g.InSection != nil {
				section = percent(*g.InSection)
			}
			t.row(label, strconv.Itoa(g.Queries), change(known(b, b.At10), g.At10), change(known(b, b.Hit10), g.Hit10), change(known(b, b.At50), g.At50),
				change(known(b, b.MRR), g.MRR), change(known(b, b.In4000), g.In4000), change(known(b, b.In8000), g.In8000), section)
		}
		add("**all**", overall, r.Overall)
		if len(r.ByCategory) > 1 {
			for _, g := range r.ByCategory {
				add(g.Name, category, g)
			}
		}
		if len(r.BySource) > 1 {
			for _, g := range r.BySource {
				add("in "+g.Name, sources, g)
			}
		}
		out.WriteString(t.String() + "\n")
	}
	return out.String()
}

func (f figures) context() string { return promptsTable(f.Before.Context, f.Now.Context) }

func (f figures) chatter() string { return promptsTable(f.Before.Chatter, f.Now.Chatter) }

// promptsTable says what each way of making prompts shows.
func promptsTable(before, now *prompts) string {
	if now == nil {
		return notYet
	}
	var budgets []int
	for _, r := range now.Rows {
		if !slices.Contains(budgets, r.Tokens) {
			budgets = append(budgets, r.Tokens)
		}
	}
	head := []string{"the prompt of"}
	for _, b := range budgets {
		head = append(head, fmt.Sprintf("evidence at %s", thousands(int64(b))), "all of it", "tokens")
	}
	t := newTable(head...)
	var names []string
	for _, r := range now.Rows {
		if slices.Contains(names, r.Policy) {
			continue
		}
		names = append(names, r.Policy)
		label := "policy `" + r.Policy + "`"
		if r.Kind == "peer" {
			label = "peer `" + r.Policy + "`"
		}
		cells := []string{label}
		for _, b := range budgets {
			x := now.row(r.Policy, b)
			if x == nil {
				cells = append(cells, none, none, none)
				continue
			}
			gold := percent(x.Gold)
			if was := before.row(r.Policy, b); was != nil && r.Kind == "policy" {
				gold = change(&was.Gold, x.Gold)
			}
			cells = append(cells, gold, percent(x.All), rounded(x.Mean))
		}
		t.row(cells...)
	}
	return t.String()
}

// row returns the figures of one policy or peer at one number of tokens, nil
// where there are none.
func (p *prompts) row(policy string, tokens int) *prompt {
	if p == nil {
		return nil
	}
	return find(p.Rows, func(r prompt) bool { return r.Policy == policy && r.Tokens == tokens })
}

func (f figures) scenes() string {
	now := f.Now.Scenes
	if now == nil {
		return notYet
	}
	var out strings.Builder
	t := newTable("policy `"+now.Policy+"`", "before", "now")
	b := f.Before.Scenes
	if b == nil {
		b = &scenes{}
	}
	t.row("scenes whose needed messages are all shown", fmt.Sprintf("%d of %d", b.Total.Whole, b.Total.Scenes), fmt.Sprintf("**%d of %d**", now.Total.Whole, now.Total.Scenes))
	t.row("needed messages shown", fmt.Sprintf("%d of %d", b.Total.Shown, b.Total.Needed), fmt.Sprintf("**%d of %d**", now.Total.Shown, now.Total.Needed))
	t.row("tokens of a prompt, mean", rounded(b.Total.Mean), "**"+rounded(now.Total.Mean)+"**")
	out.WriteString(t.String() + "\n")
	t = newTable("scene, needed messages shown, tokens", "before", "tokens", "now", "tokens", "missing or cut now")
	for _, s := range now.Scenes {
		was, wasTokens := none, none
		if x := find(b.Scenes, func(x scene) bool { return x.Number == s.Number }); x != nil {
			was, wasTokens = fmt.Sprintf("%d of %d", x.Shown, x.Needed), thousands(int64(x.Tokens))
		}
		var left []string
		for _, m := range s.Missing {
			left = append(left, "`"+m.ID+"` "+m.Reason)
		}
		for _, id := range s.Cut {
			left = append(left, "`"+id+"` cut")
		}
		t.row(fmt.Sprintf("%d #%s", s.Number, s.Channel), was, wasTokens, fmt.Sprintf("%d of %d", s.Shown, s.Needed), thousands(int64(s.Tokens)), strings.Join(left, ", "))
	}
	out.WriteString(t.String())
	return out.String()
}

func (f figures) cost() string {
	if len(f.Now.Cost) == 0 {
		return notYet
	}
	var out strings.Builder
	first := f.Now.Cost[0]
	fmt.Fprintf(&out, "![%s](quality-cost.svg)\n\n", f.costWords())
	t := newTable("turn", "prompt: ours", "full", "all prompts: ours", "full", "new: ours", "full", "charged: ours", "full", "cacheable: ours", "full",
		"stored, kB: ours", "full", "epochs begun")
	for _, r := range first.Rows {
		t.row(strconv.Itoa(r.Turn), thousands(int64(r.Ours.Prompt)), thousands(int64(r.Full.Prompt)), thousands(int64(r.Ours.Sum)), thousands(int64(r.Full.Sum)),
			thousands(int64(r.Ours.New)), thousands(int64(r.Full.New)), thousands(int64(r.Ours.Charged)), thousands(int64(r.Full.Charged)),
			percent(r.Ours.Cacheable)+" %", percent(r.Full.Cacheable)+" %", thousands(r.Ours.Stored/1000), thousands(r.Full.Stored/1000), strconv.Itoa(r.Epochs))
	}
	fmt.Fprintf(&out, "%s, means of %d talks; tokens, but for the last columns; *full* is the full history:\n\n%s\n", first.Set, len(first.Talks), t)
	t = newTable("after the last turn, full history ÷ ours", "talks", "turns", "messages a talk", "prompt", "all prompts", "new", "charged", "stored", "epochs begun")
	for _, c := range f.Now.Cost {
		x := c.Rows[len(c.Rows)-1]
		messages, epochs := 0, 0
		for _, k := range c.Talks {
			messages += k.Messages
			epochs += len(k.Epochs)
		}
		t.row(c.Set, strconv.Itoa(len(c.Talks)), strconv.Itoa(c.Turns), thousands(int64(messages/len(c.Talks))),
			ratio(float64(x.Full.Prompt), float64(x.Ours.Prompt)), ratio(float64(x.Full.Sum), float64(x.Ours.Sum)), ratio(float64(x.Full.New), float64(x.Ours.New)),
			ratio(float64(x.Full.Charged), float64(x.Ours.Charged)), ratio(float64(x.Full.Stored), float64(x.Ours.Stored)), strconv.Itoa(epochs))
	}
	out.WriteString(t.String())
	return out.String()
}

// costWords says in a sentence what the chart shows.
func (f figures) costWords() string {
	c := f.Now.Cost[0]
	x := c.Rows[len(c.Rows)-1]
	return fmt.Sprintf("After %d turns of %s, full history against ours: %s against %s tokens sent, %s against %s of them new, %s against %s kB stored",
		x.Turn, c.Set, thousands(int64(x.Full.Sum)), thousands(int64(x.Ours.Sum)), thousands(int64(x.Full.New)), thousands(int64(x.Ours.New)),
		thousands(x.Full.Stored/1000), thousands(x.Ours.Stored/1000))
}
