package main

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/internal/terminal/progress"
)

type retrievalCmd struct {
	queryFlags

	Policy string `short:"p" placeholder:"NAME|FILE" help:"Measure also what of the hits the section recall of this policy has room for."`
	Out    string `placeholder:"RUN" help:"Write the hits to this file, or to - for standard output, and no measures." type:"path"`
	Limit  int    `short:"n" default:"200" help:"How many hits a question has at most."`
}

func (c *retrievalCmd) Help() string {
	return `Asks each question of a file among the older messages of its own conversation, and compares what search finds with the
messages that hold the answer. R@10 is the share of those among the first ten hits, hit@10 how often any is among them, MRR
1 / the place of the first; "in 4k" and "in 8k" are the share among the best hits that fit so many tokens as lines
"Name: text". No model is asked, and the same data gives the same figures.

With --out RUN it writes a line for each question, in the order of the file, and measures nothing:
  {"q": 0, "ids": ["…"]}     q is the line's number from 0, ids the hits, best first

--policy does not change what is found; it adds a measure. docs/quality.md describes the files, the measures and
--json.

Examples:

  earshot-eval retrieval --messages chats/ --queries queries.jsonl
  earshot-eval retrieval --messages chats/ --queries queries.jsonl --out run.jsonl`
}

func (c *retrievalCmd) Run(ctx context.Context, x *evalRun) error {
	if c.Limit <= 0 {
		return usagef("--limit must be at least 1")
	}
	if c.Out != "" && x.json {
		return usagef("--out and --json are two forms of output; use one of them")
	}
	o := &eval.RetrievalOptions{Limit: c.Limit}
	if err := c.section(x, o); err != nil {
		return err
	}
	queries, tasks, left, err := c.read(x)
	if err != nil {
		return err
	}
	show, end := progress.Counting(x.err, x.errTerminal, lineEvery, "question")
	o.Progress = show
	answers, err := eval.Retrieve(ctx, tasks, o)
	end()
	if err != nil {
		return err
	}
	if c.Out != "" {
		return x.writeLines(c.Out, len(queries), func(line func(any) error) error { return eval.WriteAnswers(queries, answers, line) })
	}
	s := eval.Summarise(answers)
	if s.Overall.Queries == 0 {
		return usagef("no question of %s has gold_ids, so there is nothing to measure; write the hits with --out", c.Queries)
	}
	if x.json {
		return x.writeJSON(struct {
			Queries  int    `json:"queries"`
			Measured int    `json:"measured"`
			LeftOut  int    `json:"left_out"`
			Limit    int    `json:"limit"`
			Policy   string `json:"policy"`
			eval.Summary
		}{len(queries), s.Overall.Queries, left, c.Limit, c.Policy, s})
	}
	c.show(x, s)
	return nil
}

// section sets the section recall of the policy, where --policy names one.
func (c *retrievalCmd) section(x *evalRun, o *eval.RetrievalOptions) error {
	if c.Policy == "" {
		return nil
	}
	p, err := loadPolicy(c.Policy)
	if err != nil {
		return err
	}
	for _, s := range p.WithDefaults().First {
		if s.Section == assemble.Recall {
			o.Section = &s
			return nil
		}
	}
	fmt.Fprintf(x.err, "earshot-eval: policy %s has no section recall, so nothing is measured for it\n", p.Name)
	return nil
}

func (c *retrievalCmd) show(x *evalRun, s eval.Summary) {
	head := []string{"", "questions", "R@10", "hit@10", "R@50", "MRR", "in 4k", "in 8k"}
	recall := s.Overall.RecallInSection != nil
	if recall {
		head = append(head, "in recall")
	}
	t := terminal.NewTable(append(head, "")...).Right(1, 2, 3, 4, 5, 6, 7, 8)
	row := func(name string, g eval.Group) {
		cells := []string{name, plain.Number(g.Queries), formatPercent(g.RecallAt10), formatPercent(g.HitAt10), formatPercent(g.RecallAt50), fmt.Sprintf("%.3f", g.MRR),
			formatPercent(g.RecallIn4000), formatPercent(g.RecallIn8000)}
		if recall {
			cells = append(cells, formatPercent(*g.RecallInSection))
		}
		t.Row(append(cells, "")...)
	}
	row(terminal.Strong("all"), s.Overall)
	for _, part := range []struct {
		head   string
		groups []eval.Group
	}{{"by category", s.ByCategory}, {"by source", s.BySource}} {
		t.Row(terminal.Faint(part.head))
		for _, g := range part.groups {
			row("  "+plain.Line(orNone(g.Name), 40), g)
		}
	}
	x.printf("%s", t.Render(x.width))
	x.printf("%s\n", terminal.Faint("percent of the messages that hold an answer, averaged over the questions; MRR 0 to 1"))
}

// formatPercent formats a share from 0 to 1.
func formatPercent(share float64) string { return fmt.Sprintf("%.1f", 100*share) }

// orNone returns a name, or "(none)" for "".
func orNone(name string) string {
	if name == "" {
		return "(none)"
	}
	return name
}
