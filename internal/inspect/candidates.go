package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/zones"
)

// A candidate is a message that was considered for a prompt: its row of the ledger,
// with the names that docs/context.md gives the fields, why in words, and what it is.
type candidate struct {
	ID      earshot.MessageID  `json:"id"`
	Section string             `json:"section"`
	Verdict earshot.Verdict    `json:"verdict"`
	Reason  string             `json:"reason"`
	Tokens  int                `json:"tokens"`
	Score   float64            `json:"score,omitempty"` // of what search found
	Cover   float64            `json:"cover,omitempty"`
	Parts   map[string]float64 `json:"parts,omitempty"`
	Why     string             `json:"why"`  // the reason in words
	Seen    bool               `json:"seen"` // the model reads it, here or in the session
	Was     *verdictWas        `json:"was,omitempty"`

	Time    string            `json:"time"`
	Author  string            `json:"author"` // as the prompt names people
	Bot     bool              `json:"bot,omitempty"`
	Self    bool              `json:"self,omitempty"` // the agent itself
	Thread  earshot.MessageID `json:"thread,omitempty"`
	Text    string            `json:"text"`
	Edited  string            `json:"edited,omitempty"`
	Deleted bool              `json:"deleted,omitempty"`
	Files   []string          `json:"files,omitempty"`

	index  int       // in the list
	line   int       // the first segment of the prompt that shows it; -1 for none
	at     time.Time // in the prompt's zone
	asked  bool      // it is the question
	thread string    // what its thread is called; "" at the top level
	shared string    // what it quotes, where it has no words of its own
}

// A verdictWas is what became of a message before something was changed; nothing of it
// where it was no candidate.
type verdictWas struct {
	Verdict earshot.Verdict `json:"verdict"`
	Section string          `json:"section"`
	Reason  string          `json:"reason"`
	Tokens  int             `json:"tokens"`
}

// moved reports whether something else became of the message before the change.
func (c *candidate) moved() bool {
	return c.Was != nil && (c.Was.Verdict != c.Verdict || c.Was.Section != c.Section && c.Verdict != earshot.Out || c.Was.Reason != c.Reason && (isReadByModel(c.row()) || isReadByModel(c.Was.row())))
}

func (c *candidate) row() earshot.LedgerRow {
	return earshot.LedgerRow{Verdict: c.Verdict, Section: c.Section, Reason: c.Reason}
}

func (w *verdictWas) row() earshot.LedgerRow {
	return earshot.LedgerRow{Verdict: w.Verdict, Section: w.Section, Reason: w.Reason}
}

// candidatesOf describes the candidates of a prompt, in order.
func candidatesOf(e *explain.Explanation) []candidate {
	var messages []earshot.Message
	for _, c := range e.Candidates {
		messages = append(messages, c.Message)
	}
	spoken := assemble.Speak(e.Agent, slices.Concat(e.Input.Conversation.Names, e.Result.Next.Names), e.Input.Messages, messages)
	zone := zoneOf(e.Input.Zone)
	reasons := reasonsOf(&e.Input)
	names := map[earshot.MessageID]string{}
	for i, m := range messages {
		names[m.ID] = fmt.Sprintf("%s, %s", plain.ID(spoken[i].Name), m.Time.UTC().In(zone).Format("15:04"))
	}
	out := make([]candidate, len(messages))
	for i, c := range e.Candidates {
		m, r := c.Message, c.Row
		x := candidate{
			ID: r.ID, Section: r.Section, Verdict: r.Verdict, Reason: r.Reason, Tokens: r.Tokens, Score: r.Score, Cover: r.Cover, Parts: r.Parts,
			Why: reasons.why(r), Seen: isReadByModel(r),
			Time: m.Time.String(), Author: plain.ID(spoken[i].Name), Bot: spoken[i].Bot, Self: e.Agent.Is(m.Author.ID), Thread: m.Root(),
			Text: plain.Readable(spoken[i].Text), Edited: m.Edited.String(), Deleted: m.Deleted, Files: spoken[i].Files,
			index: i, line: -1, at: m.Time.UTC().In(zone), asked: r.ID == e.Anchor.ID,
		}
		if root := m.Root(); root != "" {
			x.thread = cmp.Or(names[root], "an older message")
		}
		if x.Text == "" && len(m.Shared) > 0 {
			x.shared = plain.Line(m.Shared[0].Text, 200)
		}
		out[i] = x
	}
	return out
}

// zoneOf returns a zone by its name, UTC where it is unknown.
func zoneOf(name string) *time.Location {
	if l, err := zones.Load(name); err == nil {
		return l
	}
	return time.UTC
}

// scoreWords says how search ranked a message: "score 10.7 (words 8.9, recency 1.6),
// covers 29 % of the question's words"; "" where it did not find it.
func (c *candidate) scoreWords() string {
	if c.Score == 0 {
		return ""
	}
	s := fmt.Sprintf("search score %.1f", c.Score)
	var parts []string
	for _, name := range slices.SortedFunc(maps.Keys(c.Parts), func(x, y string) int {
		return cmp.Or(cmp.Compare(c.Parts[y], c.Parts[x]), strings.Compare(x, y))
	}) {
		if v := c.Parts[name]; v >= 0.1 {
			parts = append(parts, fmt.Sprintf("%s %.1f", plain.Line(name, 20), v))
		}
	}
	if len(parts) > 0 {
		s += " (" + strings.Join(parts, ", ") + ")"
	}
	if c.Cover != 0 {
		s += fmt.Sprintf(", covers %.0f %% of the question's words", 100*c.Cover)
	}
	return s
}

// A tally counts candidates by what became of them.
type tally struct {
	Candidates int `json:"candidates"`
	Full       int `json:"full"`
	Cut        int `json:"cut"`
	Snippet    int `json:"snippet"`
	Session    int `json:"in_session"` // not repeated, because the session shows them
	Out        int `json:"out"`        // not seen at all
	NotRead    int `json:"not_read"`   // stored, and too old to be candidates
}

func tallyOf(list []candidate, e *explain.Explanation) tally {
	t := tally{Candidates: len(list)}
	for _, c := range list {
		switch {
		case c.Verdict == earshot.Full:
			t.Full++
		case c.Verdict == earshot.Cut:
			t.Cut++
		case c.Verdict == earshot.Snippet:
			t.Snippet++
		case c.Seen:
			t.Session++
		default:
			t.Out++
		}
	}
	for _, s := range e.Input.Stored {
		if s.Thread != "" {
			continue
		}
		t.NotRead = s.Count
		for _, m := range e.Input.Messages {
			if !m.Deleted {
				t.NotRead--
			}
		}
		t.NotRead = max(0, t.NotRead)
	}
	return t
}

// Seen is how many of the candidates the model reads.
func (t tally) seen() int { return t.Candidates - t.Out }

// sentence says the tally in words.
func (t tally) sentence() string {
	var how []string
	for _, x := range []struct {
		n    int
		what string
	}{{t.Full, "in full"}, {t.Cut, "cut"}, {t.Snippet, "as a snippet"}, {t.Session, "in the session before this turn"}} {
		if x.n > 0 {
			how = append(how, plain.Number(x.n)+" "+x.what)
		}
	}
	s := fmt.Sprintf("The model reads %s of %s", plain.Number(t.seen()), plain.Count(t.Candidates, "message"))
	if len(how) > 0 {
		s += ": " + strings.Join(how, ", ")
	}
	s += "."
	if t.Out > 0 {
		s += " " + plain.Number(t.Out) + " left out."
	}
	return s
}
