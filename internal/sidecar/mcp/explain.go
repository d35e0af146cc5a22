package mcp

import (
	"cmp"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/explain"
)

// Bounds of what an answer shows.
const (
	maxNames = 80  // graphemes
	maxTexts = 200 // graphemes of a message that is only named
	maxReply = 4000
	maxRows  = 200 // of messages that the model saw
	maxOuts  = 20  // of messages that it did not see
)

// oneLine returns a text as one line of at most most graphemes, with … where it was cut.
func oneLine(s string, most int) string { return shorten(strings.Join(strings.Fields(s), " "), most) }

// shorten cuts a text to most graphemes, and ends it with … where it did.
func shorten(s string, most int) string {
	short, cut := assemble.CutGraphemes(s, most)
	if cut {
		short += "…"
	}
	return short
}

type (
	messageJSON struct {
		ID     earshot.MessageID `json:"id"`
		Author string            `json:"author,omitzero"`
		TS     string            `json:"ts,omitzero"`
		Text   string            `json:"text,omitzero"`
		Gone   bool              `json:"deleted,omitzero"`
	}
	rowJSON struct {
		messageJSON
		Section string          `json:"section,omitzero"`
		Verdict earshot.Verdict `json:"verdict"`
		Reason  string          `json:"reason"`
		Tokens  int             `json:"tokens,omitzero"`
	}
	leftOut struct {
		Count    int            `json:"count"`
		Reasons  map[string]int `json:"reasons"`  // how many for each
		Examples []rowJSON      `json:"examples"` // the newest
	}
	promptJSON struct {
		System   string       `json:"system"`
		Messages []promptPart `json:"messages"`
	}
	promptPart struct {
		Role     earshot.Role           `json:"role"`
		Text     string                 `json:"text"`
		Sections []assemble.SectionName `json:"sections,omitempty"`
	}
	tokensJSON struct {
		Total    int                          `json:"total"`
		Budget   int                          `json:"budget"`
		Counter  string                       `json:"counter"`
		Sections map[assemble.SectionName]int `json:"sections"`
	}
	agentJSON struct {
		ID   earshot.AuthorID `json:"id"`
		Name string           `json:"name,omitzero"`
	}
)

// messageOf returns a message that is named, not shown in full.
func messageOf(m earshot.Message, most int) messageJSON {
	return messageJSON{m.ID, oneLine(cmp.Or(m.Author.Name, string(m.Author.ID)), maxNames), m.Time.String(), oneLine(m.Text, most), m.Deleted}
}

// rowsOf splits a ledger into what the model saw and what it did not.
func rowsOf(ledger earshot.Ledger, of func(earshot.MessageID) earshot.Message) (shown []rowJSON, omitted int, out leftOut) {
	shown, out = []rowJSON{}, leftOut{Reasons: map[string]int{}, Examples: []rowJSON{}}
	row := func(r earshot.LedgerRow) rowJSON {
		m := of(r.ID)
		m.ID = r.ID
		return rowJSON{messageOf(m, maxTexts), r.Section, r.Verdict, r.Reason, r.Tokens}
	}
	for _, r := range slices.Backward(ledger) {
		switch {
		case r.Verdict != earshot.Out && len(shown) < maxRows:
			shown = append(shown, row(r))
		case r.Verdict != earshot.Out:
			omitted++
		default:
			out.Count++
			out.Reasons[r.Reason]++
			if len(out.Examples) < maxOuts {
				out.Examples = append(out.Examples, row(r))
			}
		}
	}
	slices.Reverse(shown)
	slices.Reverse(out.Examples)
	return shown, omitted, out
}

func promptOf(r assemble.Result) promptJSON {
	p := promptJSON{System: r.System, Messages: []promptPart{}}
	for _, m := range r.Messages {
		p.Messages = append(p.Messages, promptPart{m.Role, m.Text, m.Sections})
	}
	return p
}

func tokensOf(t assemble.Tokens) tokensJSON {
	return tokensJSON{t.Total, t.Budget, t.Counter, t.Sections}
}

// notesOf returns an operator's notes as lines.
func notesOf(list []assemble.Note) []string {
	out := []string{}
	for _, n := range list {
		out = append(out, n.Kind+": "+n.Text)
	}
	return out
}

// A turnJSON is the answer of explain_turn, and a turn as a resource.
type turnJSON struct {
	Turn     earshot.TurnID    `json:"turn"`
	State    earshot.TurnState `json:"state"`
	Why      string            `json:"why,omitzero"` // of the state
	Channel  channelJSON       `json:"channel"`
	Agent    earshot.AgentID   `json:"agent"`
	Asked    string            `json:"asked"`
	Tries    int               `json:"tries,omitzero"`
	Question messageJSON       `json:"question"`
	Reply    []messageJSON     `json:"reply"`
	Said     string            `json:"reply_text,omitzero"` // where it is not known what messages the reply became
	Policy   string            `json:"policy,omitzero"`
	Epoch    int               `json:"epoch"`
	Began    earshot.Beginning `json:"epoch_began,omitzero"`
	Usage    *usageJSON        `json:"usage,omitempty"` // as the provider reports it
	Tokens   *tokensJSON       `json:"tokens,omitempty"`
	Shown    []rowJSON         `json:"shown"`
	More     int               `json:"shown_omitted,omitzero"`
	LeftOut  leftOut           `json:"left_out"`
	Notes    []string          `json:"notes"`
	Prompt   *promptJSON       `json:"prompt,omitempty"`
	NoPrompt string            `json:"prompt_unavailable,omitzero"`
	Hash     string            `json:"hash,omitzero"`
}

type usageJSON struct {
	Input      int `json:"input"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read"`
	CacheWrite int `json:"cache_write"`
}

func newTurnJSON(t explain.Turn, prompt bool) turnJSON {
	q := t.Queued
	of := func(id earshot.MessageID) earshot.Message {
		m, ok := t.Messages[id]
		if !ok {
			m = earshot.Message{ID: id, Deleted: true} // or never stored, which is told apart by nobody
		}
		return m
	}
	out := turnJSON{
		Turn: q.ID, State: q.State, Why: q.Why, Channel: channelOf(t.Channel), Agent: q.Conversation.Agent, Asked: q.Opened.String(), Tries: q.Tries,
		Question: messageOf(of(q.Anchor), maxReply), Reply: []messageJSON{}, Epoch: q.Epoch, Began: q.Began, Notes: []string{}, Hash: q.Hash,
	}
	if c := t.Committed; c != nil {
		for _, id := range c.Answer.Replies {
			out.Reply = append(out.Reply, messageOf(of(id), maxReply))
		}
		if len(out.Reply) == 0 {
			out.Said = oneLine(c.Reply(), maxReply)
		}
		out.Policy = c.Policy
		if c.Usage != (earshot.Usage{}) {
			out.Usage = &usageJSON{c.Usage.Input, c.Usage.Output, c.Usage.CacheRead, c.Usage.CacheWrite}
		}
	}
	out.Shown, out.More, out.LeftOut = rowsOf(t.Ledger(), of)
	if t.Prompt == nil {
		out.NoPrompt = t.Changed
		return out
	}
	tokens := tokensOf(t.Prompt.Tokens)
	out.Tokens, out.Notes = &tokens, notesOf(t.Prompt.Notes)
	if prompt {
		p := promptOf(*t.Prompt)
		out.Prompt = &p
	}
	return out
}
