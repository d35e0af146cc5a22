package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/tools"
)

// What a model reads is text in the log form, whose rules docs/context.md has: what
// begins in the first column is Earshot's or a message's head, and nothing that people
// wrote begins there.

// factsKey is where an answer that is text has its facts for programs. They are no
// structured content: Claude Code and VS Code give a model that in place of the text
// (https://github.com/anthropics/claude-code/issues/55677,
// https://github.com/microsoft/vscode/issues/290063).
const factsKey = "earshot/facts"

// howToRead explains the log form to a model that has not read the bot's guide.
const howToRead = "How to read it: a line in brackets is a day or a heading. A message is its time, its author and its text; its further lines are indented. " +
	"↳ is a reply in the thread of the message above, · the same author going on. A line that begins with + is no author's: + id is the message's id, for the tools; others tell of replies, files, quotes and reactions."

// wrote writes a tool's answer that is text, with its facts.
func (s *server) wrote(text string, facts any, err error) (*sdk.CallToolResult, error) {
	if err == nil && len(text) > maxAnswer {
		err = tooLong
	}
	if err != nil {
		return s.toolResult(tools.Answer{}, err)
	}
	return &sdk.CallToolResult{
		Meta: sdk.Meta{factsKey: facts}, Content: []sdk.Content{&sdk.TextContent{Text: text}, &sdk.TextContent{Text: notice}},
	}, nil
}

// contextText is what get_context shows to a model: the prompt with the ids of its
// messages, then what it costs and what was left out; with the ledger what became of
// each message.
func contextText(c explain.Preview, ledger bool) string {
	var b strings.Builder
	agent := bracketed(c.Agent.Name)
	fmt.Fprintf(&b, "[what %s would be given to answer message %s: \"you\" is %s; the lines + id are added here]\n", agent, bracketed(string(c.Anchor.ID)), agent)
	if c.Result.System != "" {
		b.WriteString("\n[system]\n" + indented(c.Result.System) + "\n")
	}
	for _, m := range c.Result.Messages {
		b.WriteString("\n" + messageText(m))
	}
	b.WriteString("\n[about this prompt]\n" + aboutText(c))
	if ledger {
		b.WriteString("\n[ledger: id, verdict, section, reason, tokens]\n" + ledgerText(c.Result.Ledger))
	}
	return b.String()
}

// messageText is one message of a prompt under its role.
func messageText(m assemble.Message) string {
	head := string(m.Role)
	if slices.Contains(m.Sections, assemble.SessionPart) {
		head += ", of an earlier turn"
	}
	s := "[" + head + "]\n"
	if m.Text != "" {
		s += m.WithIDs() + "\n"
	}
	for _, call := range m.Calls {
		s += "+ calls " + oneLine(call.Name, maxNames) + "\n" + indented(call.Args) + "\n"
	}
	if len(m.Media) > 0 {
		s += "+ files with it: " + oneLine(joined(m.Media), maxReply) + "\n"
	}
	return s
}

// aboutText says what a prompt costs and what it leaves out.
func aboutText(c explain.Preview) string {
	t := c.Result.Tokens
	goes := "the conversation begins with this message"
	if c.Goes {
		goes = "the conversation goes on with what is stored of it"
	}
	var parts []string
	for _, name := range assemble.SectionNames() {
		if n := t.Sections[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", name, n))
		}
	}
	s := fmt.Sprintf("+ policy %s; %s\n+ %d tokens (%s): %s; this turn may add %d\n", c.Policy, goes, t.Total, t.Counter, strings.Join(parts, ", "), t.Budget)
	if out := leftOutOf(c.Result.Ledger); out.Count > 0 {
		var why []string
		for _, reason := range slices.Sorted(maps.Keys(out.Reasons)) {
			why = append(why, fmt.Sprintf("%s %d", reason, out.Reasons[reason]))
		}
		s += fmt.Sprintf("+ left out: %d of %d messages that were looked at (%s)\n", out.Count, len(c.Result.Ledger), strings.Join(why, ", "))
	}
	for _, n := range notesOf(c.Result.Notes) {
		s += "+ " + oneLine(n, maxReply) + "\n"
	}
	return s
}

// ledgerText has a line for each message that was looked at.
func ledgerText(ledger earshot.Ledger) string {
	var b strings.Builder
	for _, r := range ledger {
		fmt.Fprintf(&b, "+ %s %s", oneLine(string(r.ID), maxNames), r.Verdict)
		if r.Section != "" {
			b.WriteString(" " + r.Section)
		}
		fmt.Fprintf(&b, ", %s", r.Reason)
		if r.Tokens > 0 {
			fmt.Fprintf(&b, ", %d", r.Tokens)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// indented is a text that is not in the log form, where nobody takes it for that.
func indented(s string) string { return "    " + strings.ReplaceAll(s, "\n", "\n    ") }

// bracketed is a name within brackets.
func bracketed(name string) string {
	return strings.NewReplacer("[", "(", "]", ")").Replace(oneLine(assemble.Clean(name), maxNames))
}

func joined[T ~string](list []T) string {
	texts := make([]string, len(list))
	for i, x := range list {
		texts[i] = string(x)
	}
	return strings.Join(texts, ", ")
}

// A contextFacts is what a program reads of get_context.
type contextFacts struct {
	Channel channelJSON         `json:"channel"`
	Message earshot.MessageID   `json:"message"`
	Agent   agentJSON           `json:"agent"`
	Policy  string              `json:"policy"`
	Goes    bool                `json:"goes_on"` // with what the conversation has stored
	Shown   []earshot.MessageID `json:"shown"`
	LeftOut leftOutJSON         `json:"left_out"`
	Ledger  []ledgerJSON        `json:"ledger,omitempty"` // where it is asked for
	Tokens  tokensJSON          `json:"tokens"`
	Notes   []string            `json:"notes"`
	Cursor  int64               `json:"cursor"` // of the conversation, once the turn is done
	Hash    string              `json:"hash"`
}

type ledgerJSON struct {
	ID      earshot.MessageID `json:"id"`
	Section string            `json:"section,omitzero"`
	Verdict earshot.Verdict   `json:"verdict"`
	Reason  string            `json:"reason"`
	Tokens  int               `json:"tokens,omitzero"`
}

type leftOutJSON struct {
	Count   int            `json:"count"`
	Reasons map[string]int `json:"reasons"` // how many for each
}

func leftOutOf(ledger earshot.Ledger) leftOutJSON {
	out := leftOutJSON{Reasons: map[string]int{}}
	for _, r := range ledger {
		if r.Verdict == earshot.Out {
			out.Count++
			out.Reasons[r.Reason]++
		}
	}
	return out
}

func contextFactsOf(c explain.Preview, ledger bool) contextFacts {
	r := c.Result
	f := contextFacts{
		Channel: channelOf(c.Channel), Message: c.Anchor.ID, Agent: agentJSON{c.Agent.ID, oneLine(c.Agent.Name, maxNames)}, Policy: c.Policy, Goes: c.Goes,
		Shown: []earshot.MessageID{}, LeftOut: leftOutOf(r.Ledger), Tokens: tokensOf(r.Tokens), Notes: notesOf(r.Notes), Cursor: r.Next.Cursor, Hash: r.Hash,
	}
	for _, row := range r.Ledger {
		if row.Verdict != earshot.Out {
			f.Shown = append(f.Shown, row.ID)
		}
		if ledger {
			f.Ledger = append(f.Ledger, ledgerJSON{row.ID, row.Section, row.Verdict, row.Reason, row.Tokens})
		}
	}
	return f
}
