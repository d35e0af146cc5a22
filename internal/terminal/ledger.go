package terminal

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/plain"
)

// verdictStyles are the colours of verdicts.
var verdictStyles = map[earshot.Verdict]lipgloss.Style{
	earshot.Full:    good,
	earshot.Cut:     mark,
	earshot.Snippet: lipgloss.NewStyle().Foreground(lipgloss.Color("12")),
	earshot.Out:     faint,
}

// Ledger writes a ledger as a table: time, id, author, verdict, section with the
// reason where that says more, tokens, first words. Unless all is set, one line
// with a count for each reason replaces the messages that are out. Authors have
// the names that prompts for self give them, which are unique.
func Ledger(ledger earshot.Ledger, messages []earshot.Message, self earshot.Identity, all bool, width int) string {
	by := make(map[earshot.MessageID]*earshot.Message, len(messages))
	names := make(map[earshot.MessageID]string, len(messages))
	for i, s := range assemble.Speak(self, nil, nil, messages) {
		m := &messages[i]
		by[m.ID], names[m.ID] = m, s.Name
		if m.Author.Kind == earshot.Bot {
			names[m.ID] += " (bot)"
		}
	}
	t := NewTable("UTC", "id", "author", "verdict", "section", "tokens", "first words").Right(5)
	when := timeFormatter(messages)
	rows := 0
	for _, r := range ledger {
		if r.Verdict == earshot.Out && !all {
			continue
		}
		rows++
		var at, who, words string
		if m := by[r.ID]; m != nil {
			at, who, words = when(m.Time), plain.Line(names[m.ID], 24), plain.Line(m.Text, 200)
			switch {
			case words != "":
			case len(m.Shared) > 0:
				words = "[" + sharedHead(m.Shared[0]) + "] " + plain.Line(m.Shared[0].Text, 200)
			case len(m.Files) > 0:
				words = "[" + plain.Line(m.Files[0].Name, 60) + "]"
			}
		}
		why := Section(assemble.SectionName(r.Section), r.Section)
		if more := strings.TrimPrefix(r.Reason, r.Section); more != "" {
			why += strings.TrimPrefix(more, ", ")
			if r.Section != "" {
				why = Section(assemble.SectionName(r.Section), r.Section) + " " + strings.TrimPrefix(more, ", ")
			}
		}
		if r.Score != 0 {
			why += " " + Faint(formatScore(r))
		}
		t.Row(at, Faint(plain.ID(string(r.ID))), who, verdictStyles[r.Verdict].Render(string(r.Verdict)),
			why, plain.Number(r.Tokens), words)
	}
	var b strings.Builder
	if rows > 0 {
		b.WriteString(t.Render(width))
	}
	if outs := Outs(ledger); outs != "" && !all {
		b.WriteString(Faint("left out: "+outs) + "\n")
	}
	return b.String()
}

// formatScore writes the score that search gave a message. Where search brought the
// message into the prompt, its parts follow, the greatest first, and which share
// of the question's words it has: "10.7 (words 8.9, recency 1.6), covers 29 %".
func formatScore(r earshot.LedgerRow) string {
	s := fmt.Sprintf("%.1f", r.Score)
	if assemble.SectionName(r.Section).Source() != assemble.SourceSearch {
		return "found " + s
	}
	var parts []string
	for _, name := range slices.SortedFunc(maps.Keys(r.Parts), func(x, y string) int {
		return cmp.Or(cmp.Compare(r.Parts[y], r.Parts[x]), strings.Compare(x, y))
	}) {
		if v := r.Parts[name]; v >= 0.1 {
			parts = append(parts, fmt.Sprintf("%s %.1f", plain.Line(name, 20), v))
		}
	}
	if len(parts) > 0 {
		s += " (" + strings.Join(parts, ", ") + ")"
	}
	if r.Cover != 0 {
		s += fmt.Sprintf(", covers %.0f %%", 100*r.Cover)
	}
	return s
}

// timeFormatter returns how to write the times of these messages: the time of day where
// all are of one day, else with month and day, or with the year.
func timeFormatter(messages []earshot.Message) func(earshot.Time) string {
	days, years := map[string]bool{}, map[int]bool{}
	for _, m := range messages {
		days[plain.Day(m.Time)], years[m.Time.UTC().Year()] = true, true
	}
	layout := "15:04"
	switch {
	case len(years) > 1:
		layout = "2006-01-02 15:04"
	case len(days) > 1:
		layout = "01-02 15:04"
	}
	return func(t earshot.Time) string { return t.UTC().Format(layout) }
}

// Outs counts the messages that are out by reason, the most frequent first:
// "12 cap, 3 shown".
func Outs(ledger earshot.Ledger) string {
	count := map[string]int{}
	var reasons []string
	for _, r := range ledger {
		if r.Verdict != earshot.Out {
			continue
		}
		if count[r.Reason] == 0 {
			reasons = append(reasons, r.Reason)
		}
		count[r.Reason]++
	}
	slices.SortFunc(reasons, func(x, y string) int {
		if count[x] != count[y] {
			return count[y] - count[x]
		}
		return strings.Compare(x, y)
	})
	var parts []string
	for _, r := range reasons {
		parts = append(parts, formatNumber(count[r], 0)+" "+r)
	}
	return strings.Join(parts, ", ")
}

// authorName returns an author's name, or the id where there is none.
func authorName(a earshot.Author) string {
	name := a.Name
	if name == "" {
		name = string(a.ID)
	}
	if a.Kind == earshot.Bot {
		name += " (bot)"
	}
	return name
}
