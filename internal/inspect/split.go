package inspect

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect/picture"
	"github.com/earshot-ai/earshot/internal/plain"
)

// An explainedData is a prompt beside the messages that were considered for it: what
// the split view of a turn, of a context and of a what-if shows.
type explainedData struct {
	Policy string       `json:"policy"`
	Form   string       `json:"form"`
	Zone   string       `json:"zone"`
	Hash   string       `json:"hash"`
	Bytes  int          `json:"bytes"`
	Tokens tokensData   `json:"tokens"`
	Counts tally        `json:"messages"`
	Ledger []candidate  `json:"ledger"`
	Prompt []promptPart `json:"prompt"`
	Notes  []noteData   `json:"notes"`

	entries []entry
	groups  []promptGroup
	diff    []foldedDiff // in place of groups, where two prompts are compared
	link    func(from int) string
	askedIn map[earshot.TurnID]string // who asked what in the turns of the session
}

type tokensData struct {
	Total    int                          `json:"total"`
	Budget   int                          `json:"budget"`
	Counter  string                       `json:"counter"`
	Sections map[assemble.SectionName]int `json:"sections"`
	Cached   *cachedData                  `json:"cached"` // what the request before had already; nil where that is not known
}

// A cachedData is the beginning of a prompt that the request before had already, so that
// a provider can read it from its cache.
type cachedData struct {
	Turn   earshot.TurnID `json:"turn,omitempty"` // the turn before
	Tokens int            `json:"tokens"`
	Bytes  int            `json:"bytes"`
}

type noteData struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

// explainedOf makes what a page shows of a prompt.
func explainedOf(e *explain.Explanation, from int, link func(from int) string) *explainedData {
	r := e.Result
	d := &explainedData{
		Policy: policyName(e), Form: string(e.Input.Policy.Frame), Zone: zoneOf(e.Input.Zone).String(), Hash: r.Hash, Bytes: promptBytes(r),
		Tokens: tokensData{Total: r.Tokens.Total, Budget: r.Tokens.Budget, Counter: r.Tokens.Counter, Sections: map[assemble.SectionName]int{}},
		Notes:  []noteData{}, link: link,
	}
	for name, n := range r.Tokens.Sections {
		if n > 0 {
			d.Tokens.Sections[name] = n
		}
	}
	if c := e.Cached; c.Known {
		d.Tokens.Cached = &cachedData{c.Of, c.Tokens, c.Bytes}
	}
	for _, n := range r.Notes {
		d.Notes = append(d.Notes, noteData(n))
	}
	d.Ledger = candidatesOf(e)
	d.Counts = tallyOf(d.Ledger, e)
	d.askedIn = map[earshot.TurnID]string{}
	for _, b := range e.Before {
		for i := range d.Ledger {
			if c := &d.Ledger[i]; b.ID != 0 && c.ID == b.Anchor {
				d.askedIn[b.ID] = c.Author + ": " + c.Text
			}
		}
	}
	d.Prompt = promptOf(e, d.Ledger)
	d.entries = timelineOf(d.Ledger, from, notHere, titleOut)
	d.groups = groupParts(d.Prompt)
	return d
}

func policyName(e *explain.Explanation) string {
	if e.Input.Policy.Name == "" {
		return assemble.Standard().Name
	}
	return e.Input.Policy.Name
}

// promptBytes returns the bytes of a prompt.
func promptBytes(r assemble.Result) int {
	n := len(r.System)
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return n
}

// sectionsUsed returns the sections that cost something, in their order.
func (t tokensData) sectionsUsed() []assemble.SectionName {
	var out []assemble.SectionName
	for _, name := range assemble.SectionNames() {
		if t.Sections[name] > 0 {
			out = append(out, name)
		}
	}
	return out
}

// free is how much more the turn could have added. What the budget does not bound
// (guide, instructions, session, place, question) is not counted.
func (t tokensData) free() int {
	used := 0
	for name, n := range t.Sections {
		switch name {
		case assemble.Guide, assemble.Instructions, assemble.SessionPart, assemble.Place, assemble.Anchor:
		default:
			used += n
		}
	}
	return max(0, t.Budget-used)
}

// budgetBar draws what each section costs, and what the budget has left, at a scale.
func (t tokensData) budgetBar(title string, scale int) picture.Picture {
	var parts []picture.Part
	for _, name := range t.sectionsUsed() {
		parts = append(parts, picture.Part{Label: string(name), Value: t.Sections[name], Class: sectionClass(name)})
	}
	return picture.StackAt(title, parts, t.Total+t.free(), scale)
}

// prefixBar draws how much of the prompt stood in the one before it.
func (t tokensData) prefixBar(title string) picture.Picture {
	same := 0
	if t.Cached != nil {
		same = min(t.Cached.Tokens, t.Total)
	}
	return picture.Stack(title, []picture.Part{{Label: "sent before", Value: same, Class: "s7"}, {Label: "new", Value: t.Total - same, Class: "s2"}}, t.Total)
}

// prefixWords says how much of the prompt stood in the one before it.
func (t tokensData) prefixWords() string {
	switch {
	case t.Cached == nil:
		return "What of it a provider could read from its cache is not known: the turn before cannot be made again."
	case t.Cached.Tokens == 0:
		return "All of it is new: no earlier turn was sent the beginning of it."
	}
	return fmt.Sprintf("%s of it (%s) were sent before, byte for byte, so a provider's cache has them.", formatPercent(t.Cached.Tokens, t.Total), plain.Count(t.Cached.Tokens, "token"))
}

// row ids: of a message and of a stretch of the prompt on the page.
func messageRow(i int) string   { return "m-" + strconv.Itoa(i) }
func segmentRow(i int) string   { return "p-" + strconv.Itoa(i) }
func reasonRow(i int) string    { return "why-" + strconv.Itoa(i) }
func dataOf(i int) string       { return strconv.Itoa(i) }
func anchorOf(id string) string { return "#" + id }

// where is the address of the prompt's line that shows a message, or of the message
// itself.
func (c *candidate) where() string {
	if c.line >= 0 {
		return anchorOf(segmentRow(c.line))
	}
	if c.Section == bot.ToolSection {
		return "#steps" // a tool returned it
	}
	return anchorOf(messageRow(c.index))
}

// short is a message's text as a list shows it.
func (c *candidate) short() string {
	const most = 600
	text, cut := assemble.CutGraphemes(c.Text, most)
	switch {
	case c.Deleted:
		return "deleted"
	case cut:
		return text + "…"
	case text != "":
		return text
	case c.shared != "":
		return "quotes: " + c.shared
	}
	return ""
}

// said is what stands behind the verdict of a message: its section and tokens.
func (c *candidate) said() string {
	var parts []string
	if c.Section != "" && c.Section != string(c.Verdict) {
		parts = append(parts, c.Section)
	}
	if c.Tokens > 0 {
		parts = append(parts, plain.Count(c.Tokens, "token"))
	}
	return strings.Join(parts, " · ")
}

// raw is the row as the ledger has it.
func (c *candidate) raw() string {
	s := "ledger: " + string(c.Verdict)
	if c.Section != "" {
		s += ", section " + c.Section
	}
	if c.Reason != "" {
		s += ", reason " + c.Reason
	}
	return s + ", " + plain.Count(c.Tokens, "token")
}

// sectionLabel is what stands at a section of the prompt.
func (d *explainedData) sectionLabel(x sectionPart) string {
	if !x.first {
		return "goes on"
	}
	if n := d.Tokens.Sections[x.section]; n > 0 {
		return plain.Count(n, "token")
	}
	return ""
}

// groupLabel is the heading of a folded group of the prompt.
func (d *explainedData) groupLabel(g promptGroup) string {
	if g.kind == "system" {
		n := d.Tokens.Sections[assemble.Guide] + d.Tokens.Sections[assemble.Instructions]
		return fmt.Sprintf("how to read the chat, and the operator's instructions · %s · %s", plain.Count(n, "token"), plain.Count(g.lineCount(), "line"))
	}
	if asked := d.askedIn[g.turn]; asked != "" {
		return fmt.Sprintf("%s · %s", plain.Line(asked, 90), plain.Count(g.lineCount(), "line"))
	}
	return plain.Line(g.words(), 90)
}
