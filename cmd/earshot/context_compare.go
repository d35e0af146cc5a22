package main

import (
	"context"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

// A comparison is the row of one policy, and its JSON.
type comparison struct {
	Policy   string                 `json:"policy"`
	Tokens   int                    `json:"tokens"`
	Shown    int                    `json:"shown"`
	Out      int                    `json:"out"`
	Reasons  map[string]int         `json:"out_by_reason"`
	Sections map[string]int         `json:"sections"`
	Micros   int64                  `json:"-"` // differs from run to run
	Error    string                 `json:"error,omitempty"`
	needed   []earshot.MessageID    // those of the needed messages that it shows
	ledger   earshot.Ledger         // for the reasons in words
	order    []assemble.SectionName // sections in the order of the prompt
}

// comparePolicies asks the question under every built-in policy.
func comparePolicies(ctx context.Context, q question, needed []earshot.MessageID) ([]comparison, error) {
	var out []comparison
	for _, p := range assemble.Policies() {
		c := comparison{Policy: p.Name, Reasons: map[string]int{}, Sections: map[string]int{}}
		if _, err := q.ask(ctx, p); err != nil { // fills the caches, so that the times can be compared
			c.Error = err.Error()
			out = append(out, c)
			continue
		}
		made, err := q.ask(ctx, p)
		if err != nil {
			return nil, err
		}
		res := made.result
		c.Tokens, c.ledger = res.Tokens.Total, res.Ledger
		c.Shown, c.Out = shownOf(res.Ledger)
		c.Micros = (made.gather + made.assemble).Microseconds()
		for name, n := range res.Tokens.Sections {
			if n > 0 {
				c.Sections[string(name)] = n
			}
		}
		for _, m := range res.Messages {
			c.order = append(c.order, m.Sections...)
		}
		for _, r := range res.Ledger {
			if r.Verdict == earshot.Out {
				c.Reasons[r.Reason]++
			}
			for _, id := range needed {
				if r.ID == id && (r.Verdict == earshot.Full || r.Verdict == earshot.Cut) {
					c.needed = append(c.needed, id)
				}
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// printComparison prints all policies in a table.
func printComparison(ctx context.Context, a *app, q question) error {
	rows, err := comparePolicies(ctx, q, nil)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(rows)
	}
	a.printf("%s", terminal.Rule("#"+plain.Line(q.place.label, 40)+" · "+string(q.place.message.ID)+" under every policy", a.width))
	a.printf("%s", comparisonTable(rows, nil).Render(a.width))
	a.printf("%s\n", terminal.Faint("shown: full, cut or as a snippet; time: reading and assembling"))
	return nil
}

// comparisonTable has a row for each policy. Where the messages that an answer
// needs are known, a column counts those that the policy shows.
func comparisonTable(rows []comparison, needed []earshot.MessageID) *terminal.Table {
	head := []string{"policy", "tokens", "shown", "time", "sections", "left out"}
	if len(needed) > 0 {
		head = append(head[:3:3], append([]string{"needed"}, head[3:]...)...)
	}
	t := terminal.NewTable(head...).Right(1, 2, len(head)-3)
	for _, c := range rows {
		if c.Error != "" {
			t.Row(terminal.Strong(c.Policy), "", "", terminal.Bad(c.Error))
			continue
		}
		var names []string
		for _, s := range c.order {
			if s != assemble.Guide {
				names = append(names, terminal.Section(s, string(s)))
			}
		}
		cells := []string{terminal.Strong(c.Policy), plain.Number(c.Tokens), plain.Number(c.Shown)}
		if len(needed) > 0 {
			word := plain.Number(len(c.needed)) + " of " + plain.Number(len(needed))
			if len(c.needed) == len(needed) {
				word = terminal.Good(word)
			} else {
				word = terminal.Bad(word)
			}
			cells = append(cells, word)
		}
		t.Row(append(cells, formatDuration(durationOf(c.Micros)), strings.Join(names, " "), terminal.Outs(c.ledger))...)
	}
	return t
}
