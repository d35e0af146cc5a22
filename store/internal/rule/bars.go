package rule

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
)

// Forever is the bound of what is not recorded while a person is forgotten.
const Forever = earshot.Time(1 << 62)

// A Bar is what an erasure leaves behind: nothing that the author said at or before
// Until is recorded again, but as a tombstone. Channel "" is every channel of the
// workspace, Author "" is everybody. What was said before Floor is not recorded at
// all.
type Bar struct {
	Channel earshot.ChannelID
	Author  earshot.AuthorID
	Until   earshot.Time
	Floor   earshot.Time
}

// Bars are the bars that hold for one channel.
type Bars struct {
	floor, everyone earshot.Time
	of              map[earshot.AuthorID]earshot.Time
}

// NewBars joins bars.
func NewBars(list []Bar) Bars {
	b := Bars{of: map[earshot.AuthorID]earshot.Time{}}
	for _, x := range list {
		if x.Author == "" {
			b.floor, b.everyone = max(b.floor, x.Floor), max(b.everyone, x.Until)
		} else {
			b.of[x.Author] = max(b.of[x.Author], x.Until)
		}
	}
	return b
}

// Floor is the time before which nothing is recorded; 0 when there is none.
func (b Bars) Floor() earshot.Time { return b.floor }

// until returns up to which moment nothing of an author is recorded.
func (b Bars) until(id earshot.AuthorID) earshot.Time { return max(b.everyone, b.of[id]) }

// Refuses reports whether m is not recorded at all. A deletion of a message that is
// stored (known) is never refused.
func (b Bars) Refuses(m Message, known bool) bool {
	return m.Time != 0 && m.Time < b.floor && !(known && m.Deleted)
}

// Ignores reports whether a reaction is not recorded.
func (b Bars) Ignores(x earshot.ReactionEvent) bool { return x.At <= b.until(x.Author) }

// IgnoresFeedback reports whether feedback is not stored.
func (b Bars) IgnoresFeedback(f earshot.Feedback) bool {
	until, barred := b.of[f.Author]
	return barred && f.Time <= until
}

// Admit returns m as it may be recorded: a tombstone, or without the words and the
// labels of people who are erased.
func (b Bars) Admit(m Message) Message {
	if m.Deleted || b.everyone == 0 && len(b.of) == 0 {
		return m
	}
	if m.Time <= b.until(m.Author.ID) {
		return Message{Message: Tombstone(m.ID, m.Time)}
	}
	m, _ = b.Scrub(m)
	return m
}

// Scrub returns m without what others than its author hold of people who are erased:
// their quoted words and the labels of their mentions. With a forward of theirs go
// all of m's files, because nothing says which of them were forwarded. If that changes
// m, its terms are made anew.
func (b Bars) Scrub(m Message) (_ Message, changed bool) {
	unlabel := func(s string) string {
		return label.ReplaceAllStringFunc(s, func(s string) string {
			head, _, _ := strings.Cut(s, "|")
			if m.Time > b.of[earshot.AuthorID(strings.TrimLeft(head, "<@!&"))] {
				return s
			}
			changed = true
			return head + ">"
		})
	}
	m.Text = unlabel(m.Text)
	if len(m.Shared) > 0 {
		shared, forwarded := []earshot.SharedContent{}, false
		for _, x := range m.Shared {
			said := x.Time
			if said == 0 {
				said = m.Time
			}
			if until := b.of[x.ID]; until != 0 && said <= until {
				changed, forwarded = true, forwarded || x.Kind == earshot.Forward
				continue
			}
			x.Text = unlabel(x.Text)
			shared = append(shared, x)
		}
		m.Shared = shared
		if forwarded && len(m.Files) > 0 {
			m.Files = []earshot.File{}
		}
	}
	if changed {
		m.measure(&index.Cutter{})
	}
	return m, changed
}

var label = regexp.MustCompile(`<@[!&]?[A-Za-z0-9_.-]+\|[^<>\n]*>`)

// People returns whose bars it takes to record messages: their authors, those whom
// they quote or label, and those who reacted.
func People(messages []Message) []earshot.AuthorID {
	var out []earshot.AuthorID
	add := func(text string) {
		if !strings.Contains(text, "|") {
			return
		}
		for _, s := range label.FindAllString(text, -1) {
			head, _, _ := strings.Cut(s, "|")
			out = append(out, earshot.AuthorID(strings.TrimLeft(head, "<@!&")))
		}
	}
	for i := range messages {
		m := &messages[i]
		if m.Deleted {
			continue
		}
		out = append(out, m.Author.ID)
		add(m.Text)
		if m.Reactors != nil {
			for _, x := range m.Reactors.List {
				out = append(out, x.ID)
			}
		}
		for _, x := range m.Shared {
			out = append(out, x.ID)
			add(x.Text)
		}
	}
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(id earshot.AuthorID) bool { return id == "" })
}

// CoverageAbove returns the coverage of a channel whose floor is known: what lies below it
// is missing, whatever was stored. What is missing of a thread is said of the thread.
func CoverageAbove(list []earshot.Coverage, floor earshot.Time) []earshot.Coverage {
	if floor == 0 {
		return list
	}
	out := []earshot.Coverage{{To: floor - 1, State: earshot.Missing, Why: earshot.ErasedBefore}}
	for _, c := range list {
		if c.To != 0 && c.To < floor && (c.Thread == "" || c.State != earshot.Missing) {
			continue
		}
		if c.From < floor && c.Thread == "" {
			c.From = floor
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b earshot.Coverage) int {
		return cmp.Or(cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return out
}
