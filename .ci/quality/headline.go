package main

import "fmt"

// headline is the README's table: a few figures, each beside what bots do
// without Earshot. docs/quality.md has the rest.
func (f figures) headline() string {
	t := newTable("", "without", "with Earshot")
	for i, tokens := range []int{2000, 4000, 8000} {
		x, last, fts := f.Now.Context.row("standard", tokens), f.Now.Context.row("last-n", tokens), f.Now.Context.row("fts", tokens)
		if x == nil || last == nil || fts == nil {
			continue
		}
		what := "a question asked weeks later: how much of its answer is in a prompt of "
		if i > 0 {
			what = "… of "
		}
		t.row(what+thousands(int64(tokens))+" tokens", fmt.Sprintf("newest messages: %s %%; full-text search: %s %%", percent(last.Gold), percent(fts.Gold)), bold(percent(x.Gold))+" %")
	}
	if len(f.Now.Cost) > 0 {
		c := f.Now.Cost[0]
		x := c.Rows[len(c.Rows)-1]
		t.row(fmt.Sprintf("the prompt of the %dth question of one conversation", x.Turn),
			fmt.Sprintf("full history: %s tokens", thousands(int64(x.Full.Prompt))), bold(thousands(int64(x.Ours.Prompt)))+" tokens")
		t.row(fmt.Sprintf("stored for these %d questions", x.Turn),
			fmt.Sprintf("%.1f MB", float64(x.Full.Stored)/1e6), fmt.Sprintf("**%.1f** MB", float64(x.Ours.Stored)/1e6))
	}
	if len(t.rows) == 1 {
		return notYet
	}
	return t.String()
}
