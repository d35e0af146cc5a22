package inputref

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// Prompt returns what a store keeps of a prompt, with its input by reference. turns
// are the conversation's newest turns, or all; none where it had none. ended says
// why the caller gave the session up; "" where it did not.
func Prompt(in assemble.Input, res assemble.Result, turns []earshot.Turn, ended earshot.Beginning) (earshot.Prompt, error) {
	input, err := Encode(in, Count(turns))
	if err != nil {
		return earshot.Prompt{}, fmt.Errorf("record the input: %w", err)
	}
	p := earshot.Prompt{
		From: in.Conversation.Epoch, Epoch: res.Next.Epoch, Input: input, Hash: res.Hash, Began: epochReason(in, res, turns, ended),
	}
	for _, row := range res.Ledger {
		if row.Verdict != earshot.Out {
			p.Shows = append(p.Shows, row.ID)
		}
	}
	return p, nil
}

// Count returns how many turns a conversation has, by its newest ones.
func Count(turns []earshot.Turn) int {
	if len(turns) == 0 {
		return 0
	}
	return turns[len(turns)-1].Number + 1
}

// epochReason returns why the prompt is the first of its epoch.
func epochReason(in assemble.Input, res assemble.Result, turns []earshot.Turn, ended earshot.Beginning) earshot.Beginning {
	c, policy := in.Conversation, in.Policy.WithDefaults()
	switch {
	case !policy.Session || isIsolated(in) || llm.SessionLength(res) > 0:
		return ""
	case len(turns) == 0:
		return earshot.BeganAnew
	case len(c.Session) == 0 && turns[len(turns)-1].Epoch == c.Epoch && turns[len(turns)-1].Policy != policy.Name:
		return earshot.BeganByPolicy
	case len(c.Session) == 0 || shownWasDeleted(in):
		return earshot.BeganDeleted // the store, or the assembler, has ended the epoch
	case c.Form != "" && c.Form != policy.Frame:
		return earshot.BeganForm
	}
	return cmp.Or(ended, earshot.BeganFull)
}

// isIsolated reports whether the question is answered without context.
func isIsolated(in assemble.Input) bool {
	return slices.ContainsFunc(in.Messages, func(m earshot.Message) bool { return m.ID == in.Anchor && m.Isolated() })
}

// shownWasDeleted reports whether the session shows a message that is deleted now.
func shownWasDeleted(in assemble.Input) bool {
	return slices.ContainsFunc(in.Messages, func(m earshot.Message) bool {
		return m.Deleted && slices.ContainsFunc(in.Conversation.Shown, func(s earshot.ShownRevision) bool { return s.ID == m.ID })
	})
}

// ToolSection is the section of a ledger row whose message the model read in a
// tool's result.
const ToolSection = "tools"

// Ledger is a prompt's ledger with rows for what the model read in tools' results:
// those stay in the session, so the deletion of such a message must end the epoch.
func Ledger(of earshot.Ledger, read ...earshot.MessageID) earshot.Ledger {
	out := slices.Clone(of)
	at := map[earshot.MessageID]int{}
	for i, row := range out {
		at[row.ID] = i
	}
	for _, id := range read {
		row := earshot.LedgerRow{ID: id, Section: ToolSection, Verdict: earshot.Snippet, Reason: ToolSection}
		i, known := at[id]
		switch {
		case id == "":
		case !known:
			at[id] = len(out)
			out = append(out, row)
		case out[i].Verdict == earshot.Out:
			out[i] = row
		}
	}
	return out
}
