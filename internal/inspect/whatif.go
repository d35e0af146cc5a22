package inspect

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect/picture"
	"github.com/earshot-ai/earshot/internal/plain"
)

// A whatIfData is a prompt with something changed, against the one that was made.
type whatIfData struct {
	Turn     earshot.TurnID      `json:"turn,omitempty"` // 0: of a message that was not answered
	Channel  earshot.ChannelID   `json:"channel"`
	Question questionData        `json:"question"`
	Changes  []changeData        `json:"changes"`         // what was changed
	Summary  string              `json:"summary"`         // what comes of it, in words
	Same     bool                `json:"same"`            // the prompts have the same bytes
	Since    bool                `json:"since,omitempty"` // some differences come from what was edited or became known since
	Was      tokensData          `json:"was"`
	Moved    []earshot.MessageID `json:"moved"` // of which something else becomes
	Now      *explainedData      `json:"now"`

	name     string // of the channel
	path     string // of this page, without its query
	back     string // the page of the original
	hidden   [][2]string
	controls controls
	was      picture.Picture
	now      picture.Picture
}

// A changeData is one setting that differs from the original.
type changeData struct {
	Setting string `json:"setting"` // as the query has it: policy, budget, window.messages
	Was     string `json:"was"`
	Now     string `json:"now"`
}

// whatIf shows a stored turn with something changed.
func (s *server) whatIf(v *visit) (page, error) {
	id, err := turnID(v)
	if err != nil {
		return page{}, err
	}
	w, err := readChanges(v)
	if err != nil {
		return page{}, err
	}
	w.Turn = id
	return s.comparisonPage(v, w, turnBelow(id, "what-if"), turnLink(id), nil)
}

// contextWhatIf shows what the bot would see for a message, with something changed.
func (s *server) contextWhatIf(v *visit) (page, error) {
	w, err := readChanges(v)
	if err != nil {
		return page{}, err
	}
	w.At = explain.PreviewRequest{Channel: v.place(), Message: earshot.MessageID(v.query("message")), Agent: earshot.AuthorID(v.query("agent"))}
	if w.At.Channel.Channel == "" {
		return page{}, invalidParam("channel", "is required: the id or the name of a channel")
	}
	var hidden [][2]string
	keep := url.Values{}
	for _, name := range []string{"platform", "workspace", "channel", "message", "agent"} {
		if value := v.query(name); value != "" {
			hidden = append(hidden, [2]string{name, value})
			keep.Set(name, value)
		}
	}
	return s.comparisonPage(v, w, "/context/what-if", "/context?"+keep.Encode(), hidden)
}

// readChanges reads what is changed: policy, budget, session and section.limit.
func readChanges(v *visit) (explain.WhatIf, error) {
	w := explain.WhatIf{Policy: v.query("policy"), Limits: map[assemble.SectionName]map[string]int{}}
	number := func(name string, at *int) error {
		text := v.query(name)
		if text == "" {
			return nil
		}
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 {
			return invalidParam(name, "must be a whole number, 0 or more")
		}
		*at = n
		return nil
	}
	if err := cmp.Or(number("budget", &w.Budget), number("session", &w.Session)); err != nil {
		return w, err
	}
	for name, values := range v.URL.Query() {
		section, limit, ok := strings.Cut(name, ".")
		if !ok || strings.TrimSpace(values[0]) == "" {
			continue
		}
		n := 0
		if err := number(name, &n); err != nil {
			return w, err
		}
		at := assemble.SectionName(section)
		if w.Limits[at] == nil {
			w.Limits[at] = map[string]int{}
		}
		w.Limits[at][limit] = n
	}
	return w, nil
}

// comparisonPage makes the page of a what-if.
func (s *server) comparisonPage(v *visit, w explain.WhatIf, path, back string, hidden [][2]string) (page, error) {
	forgetOthers(&w)
	c, err := s.Reader.WhatIf(v.Context(), v.caller, w)
	if err != nil {
		return page{}, err
	}
	was, now := explainedOf(&c.Was, -1, v.listFrom), explainedOf(&c.Now, fromOf(v), v.listFrom)
	d := &whatIfData{
		Turn: w.Turn, Channel: c.Was.Channel.ID, Question: questionOf(c.Was.Anchor.ID, c.Was.Anchor), Same: c.Same, Since: c.Since && !c.Same,
		Was: was.Tokens, Now: now, name: cmp.Or(c.Was.Channel.Name, string(c.Was.Channel.ID)), path: path, back: back, hidden: hidden,
		controls: controlsOf(&c, w),
	}
	d.Changes = d.controls.changes()
	if len(d.Changes) > 0 {
		now.against(was, &c, fromOf(v))
	}
	d.Moved = []earshot.MessageID{}
	for i := range now.Ledger {
		if now.Ledger[i].moved() {
			d.Moved = append(d.Moved, now.Ledger[i].ID)
		}
	}
	d.Summary = d.summary()
	scale := max(was.Tokens.Total+was.Tokens.free(), now.Tokens.Total+now.Tokens.free())
	d.was, d.now = was.Tokens.budgetBar("As it was: tokens by section", scale), now.Tokens.budgetBar("With the changes: tokens by section", scale)
	title := "What if, for a message in #" + plain.Line(d.name, 60)
	nav := "chat"
	if w.Turn != 0 {
		title, nav = fmt.Sprintf("What if, for turn %d", w.Turn), "turns"
	}
	return page{title: title, nav: nav, data: d, body: whatIfBody(v, d), pictures: map[string]drawing{"was": d.was, "now": d.now}}, nil
}

// notConsidered stands for the row of a message that was no candidate.
const notConsidered = "not considered"

// against compares a prompt with the one that was made: what becomes of each message,
// and which lines differ.
func (d *explainedData) against(was *explainedData, c *explain.Comparison, from int) {
	before := map[earshot.MessageID]*candidate{}
	for i := range was.Ledger {
		if x := &was.Ledger[i]; x.Section != bot.ToolSection || x.Verdict == earshot.Out {
			before[x.ID] = x
		}
	}
	for i := range d.Ledger {
		x := &d.Ledger[i]
		if b := before[x.ID]; b != nil {
			x.Was = &verdictWas{b.Verdict, b.Section, b.Reason, b.Tokens}
			delete(before, x.ID)
		} else {
			x.Was = &verdictWas{Verdict: earshot.Out, Reason: notConsidered}
		}
	}
	for _, b := range before {
		x := *b
		x.Was = &verdictWas{b.Verdict, b.Section, b.Reason, b.Tokens}
		x.Verdict, x.Section, x.Reason, x.Tokens, x.Seen, x.Why = earshot.Out, "", notConsidered, 0, false, "left out: not considered with these settings"
		d.Ledger = append(d.Ledger, x)
	}
	slices.SortFunc(d.Ledger, func(a, b candidate) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(string(a.ID), string(b.ID)))
	})
	index := map[earshot.MessageID]int{}
	for i := range d.Ledger {
		d.Ledger[i].index, d.Ledger[i].line = i, -1
		index[d.Ledger[i].ID] = i
	}
	d.Prompt = promptOf(&c.Now, d.Ledger)
	d.entries = timelineOf(d.Ledger, from, isUnmoved, titleSame)
	d.diff = promptDiffOf(&c.Was, &c.Now, index)
	for i := range d.Ledger {
		d.Ledger[i].line = -1 // the page has the diff in place of the prompt
	}
	for _, f := range d.diff {
		for _, l := range f.lines {
			if l.of >= 0 && d.Ledger[l.of].line < 0 {
				d.Ledger[l.of].line = l.index
			}
		}
	}
}

// summary says in words what the changes do.
func (d *whatIfData) summary() string {
	switch {
	case len(d.Changes) == 0:
		return "Nothing is changed yet. Choose another policy, budget or limit; the page then shows what the model would have got instead."
	case d.Same:
		return "The prompt would be the same, byte for byte."
	}
	count := map[[2]string]int{}
	var order [][2]string
	elsewhere := 0
	for i := range d.Now.Ledger {
		x := &d.Now.Ledger[i]
		if !x.moved() {
			continue
		}
		if x.Was.Verdict == x.Verdict && x.Verdict != earshot.Out {
			elsewhere++
			continue
		}
		key := [2]string{verdictWord(x.Was.row()), verdictWord(x.row())}
		if count[key] == 0 {
			order = append(order, key)
		}
		count[key]++
	}
	slices.SortStableFunc(order, func(a, b [2]string) int { return cmp.Compare(count[b], count[a]) })
	var parts []string
	for _, key := range order {
		parts = append(parts, fmt.Sprintf("%s would move from %s to %s", plain.Count(count[key], "message"), key[0], key[1]))
	}
	if elsewhere > 0 {
		parts = append(parts, plain.Count(elsewhere, "message")+" would stand in another section")
	}
	if len(parts) == 0 {
		parts = append(parts, "every message would be shown as it was")
	}
	s := strings.Join(parts, "; ") + ". "
	switch n := d.Now.Tokens.Total - d.Was.Total; {
	case n < 0:
		s += fmt.Sprintf("%s fewer: %s instead of %s.", plain.Count(-n, "token"), plain.Number(d.Now.Tokens.Total), plain.Number(d.Was.Total))
	case n > 0:
		s += fmt.Sprintf("%s more: %s instead of %s.", plain.Count(n, "token"), plain.Number(d.Now.Tokens.Total), plain.Number(d.Was.Total))
	default:
		s += "As many tokens as before: " + plain.Number(d.Was.Total) + "."
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// verdictWord is a verdict in a sentence.
func verdictWord(r earshot.LedgerRow) string {
	if inSession(r) {
		return "the session"
	}
	return string(r.Verdict)
}
