package inspect

import (
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/explain"
)

// How much of what is the same a diff shows around what is not, and how many lines
// are worth folding.
const (
	diffAround   = 3
	leastFolding = 5
)

// A shownDiff is a line of the diff of two prompts.
type shownDiff struct {
	sign    rune
	text    string
	section assemble.SectionName
	of      int // the candidate whose message the line shows; -1 for none
	index   int // on the page
}

// A foldedDiff is consecutive lines of a diff, which a page folds where they are the
// same and far from what is not.
type foldedDiff struct {
	folded bool
	lines  []shownDiff
}

// A promptLine is one line of a prompt.
type promptLine struct {
	text    string
	section assemble.SectionName
	shows   earshot.MessageID
}

// linesOf returns the lines of a prompt, with one for each role that speaks.
func linesOf(e *explain.Explanation) []promptLine {
	var out []promptLine
	part, open := -2, false
	for _, s := range e.Segments {
		if s.Part != part {
			part, open = s.Part, false
			role := "system"
			if s.Part >= 0 {
				role = string(e.Result.Messages[s.Part].Role)
			}
			out = append(out, promptLine{text: "── " + role + " ──"})
		}
		for line := range strings.Lines(s.Text) {
			if !open {
				out = append(out, promptLine{section: s.Section})
			}
			l := &out[len(out)-1]
			l.text += strings.TrimSuffix(line, "\n")
			if l.shows == "" {
				l.shows = s.Shows
			}
			open = !strings.HasSuffix(line, "\n")
		}
	}
	return out
}

// promptDiffOf compares two prompts. Index gives messages their places in the list of
// candidates.
func promptDiffOf(was, now *explain.Explanation, index map[earshot.MessageID]int) []foldedDiff {
	old, fresh := linesOf(was), linesOf(now)
	texts := func(list []promptLine) []string {
		out := make([]string, len(list))
		for i, l := range list {
			out[i] = l.text
		}
		return out
	}
	var all []shownDiff
	for _, l := range diffOf(texts(old), texts(fresh)) {
		var from promptLine
		if l.Now >= 0 {
			from = fresh[l.Now]
		} else {
			from = old[l.Was]
		}
		x := shownDiff{sign: l.Sign, text: from.text, section: from.section, of: -1, index: len(all)}
		if i, ok := index[from.shows]; ok && from.shows != "" {
			x.of = i
		}
		all = append(all, x)
	}
	return foldDiff(all)
}

// foldDiff folds the lines that are the same, but for those around what is not.
func foldDiff(all []shownDiff) []foldedDiff {
	near := make([]bool, len(all))
	for i, l := range all {
		if l.sign != diffSame {
			for j := max(0, i-diffAround); j < min(len(all), i+diffAround+1); j++ {
				near[j] = true
			}
		}
	}
	var out []foldedDiff
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && near[j] == near[i] {
			j++
		}
		out = append(out, foldedDiff{folded: !near[i] && j-i >= leastFolding, lines: all[i:j]})
		i = j
	}
	return out
}
