package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/search/index"
)

// A recalledHit is what search found for a question, and what became of it.
type recalledHit struct {
	Rank    int                `json:"rank"` // from 1, the best first
	ID      earshot.MessageID  `json:"id"`
	Score   float64            `json:"score"`
	Cover   float64            `json:"cover"`
	Parts   map[string]float64 `json:"parts"`
	Words   []string           `json:"words"`  // of the question that the message has itself
	Thread  earshot.MessageID  `json:"thread"` // in which it stands, its root; "" for none
	Verdict string             `json:"verdict"`
	Why     string             `json:"why"`

	message earshot.Message
}

// explainRecall returns all that search found, the best first.
func explainRecall(p prompt) []recalledHit {
	byID := map[earshot.MessageID]earshot.Message{}
	root := map[earshot.MessageID]bool{}
	for _, m := range p.input.Messages {
		byID[m.ID] = m
		root[m.Root()] = true
	}
	good := map[earshot.MessageID]bool{}
	for _, r := range assemble.FilterRecalled(p.input.Recalled) {
		good[r.ID] = true
	}
	question := p.input.Identity.WithoutMentions(byID[p.input.Anchor].Text)
	out := []recalledHit{}
	for i, r := range p.input.Recalled {
		h := recalledHit{Rank: i + 1, ID: r.ID, Score: r.Score, Cover: r.Cover, Parts: r.Parts, message: byID[r.ID]}
		h.Words = commonWords(question, h.message.Text)
		if h.Thread = h.message.Root(); h.Thread == "" && root[r.ID] {
			h.Thread = r.ID
		}
		h.Verdict, h.Why = string(earshot.Out), "it is not stored any more"
		if h.message.ID != "" {
			h.Why = "no section of the policy shows what is found"
		}
		for _, row := range p.result.Ledger {
			switch {
			case row.ID != r.ID:
			case row.Verdict != earshot.Out:
				h.Verdict, h.Why = string(row.Verdict), "in "+row.Section
			case !good[r.ID]:
				h.Why = "its score is too far below the best"
			default:
				h.Why = row.Reason
			}
		}
		out = append(out, h)
	}
	return out
}

// commonWords returns the words of a question that a text has too, in the order of the
// question and without its stop words; of a script without spaces the terms.
func commonWords(question, text string) []string {
	has, ignored := map[string]bool{}, map[string]bool{}
	for _, t := range index.Terms(text) {
		has[t] = true
	}
	for _, t := range index.IgnoredTerms(question) {
		ignored[t] = true
	}
	out := []string{}
	for field := range strings.FieldsSeq(question) {
		words := slices.DeleteFunc(index.Terms(field), func(t string) bool { return !has[t] || ignored[t] })
		if len(words) == 1 { // as it was written, not its stem
			words[0] = strings.Trim(plain.Line(field, 60), `.,;:!?"()…`)
		}
		for _, w := range words {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// showRecall prints why each hit is in the prompt, or is not.
func showRecall(a *app, p prompt) {
	hits := explainRecall(p)
	a.printf("\n%s", terminal.Rule(fmt.Sprintf("recall: %d found", len(hits)), a.width))
	searches := func(s assemble.Section) bool { return s.Section.Source() == assemble.SourceSearch }
	switch {
	case !slices.ContainsFunc(p.policy.First, searches) && !slices.ContainsFunc(p.policy.Later, searches):
		a.printf("policy %s does not search; standard does\n", p.policy.Name)
		return
	case len(hits) == 0:
		a.printf("search found nothing: the question has no word that is worth searching for, or no message has one\n")
		return
	}
	for _, h := range hits {
		verdict := terminal.Faint("out: " + h.Why)
		if h.Verdict != string(earshot.Out) {
			verdict = terminal.Strong(h.Verdict + " " + h.Why)
		}
		thread := ""
		if h.Thread != "" {
			thread = "thread " + plain.ID(string(h.Thread)) + "  "
		}
		a.printf("%3d  %5.1f  %s  %s\n", h.Rank, h.Score, terminal.Strong(plain.Line(h.message.Author.Name, 24)),
			terminal.Faint(plain.Minute(h.message.Time)+"  "+plain.ID(string(h.ID))+"  "+thread)+verdict)
		words := "none of its own"
		if len(h.Words) > 0 {
			words = strings.Join(h.Words, ", ")
		}
		a.printf("            %s\n", terminal.Faint(fmt.Sprintf("%.0f %% of the question; words: %s; %s", 100*h.Cover, words, partsOf(h.Parts))))
		a.printf("            %s\n", terminal.CutWidth(plain.Line(plain.Readable(h.message.Text), 300), a.width-12))
	}
}

// partsOf lists what a score is made of, the largest first.
func partsOf(parts map[string]float64) string {
	names := slices.SortedFunc(maps.Keys(parts), func(x, y string) int {
		return cmp.Or(-cmp.Compare(parts[x], parts[y]), strings.Compare(x, y))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %.1f", name, parts[name])
	}
	return strings.Join(names, " + ")
}
