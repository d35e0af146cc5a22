package sidecar

import (
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// maxSourceText is how many graphemes of a message a source has.
const maxSourceText = 200

// A Source is a message that a prompt shows, for an answer that cites it. Its author has
// the name of the prompt, and its text is cut.
type Source struct {
	Message earshot.Message
	Section string // the part of the prompt; "" where an earlier turn has shown it
}

// Sources returns the messages that a context's prompt shows, those that earlier turns of
// its session have shown included, in the order in which they were said.
func (s *Service) Sources(ctx context.Context, c Context) ([]Source, error) {
	in, res := c.Input, c.Result
	sections, read := map[earshot.MessageID]string{}, map[earshot.MessageID]bool{}
	var earlier []earshot.MessageID
	if in.Conversation.Later(in.Policy) && res.Next.Epoch == in.Conversation.Epoch {
		for _, x := range in.Conversation.Shown {
			earlier = append(earlier, x.ID)
			sections[x.ID] = ""
		}
	}
	for _, row := range res.Ledger {
		if row.Verdict != earshot.Out {
			sections[row.ID] = row.Section
		}
	}
	var list []earshot.Message
	for _, m := range in.Messages {
		if _, shown := sections[m.ID]; shown {
			list, read[m.ID] = append(list, m), true
		}
	}
	earlier = slices.DeleteFunc(earlier, func(id earshot.MessageID) bool { return read[id] })
	if len(earlier) > 0 {
		at := in.Channel.Scope()
		more, err := s.store.ByID(ctx, at, earlier...)
		if err == nil {
			err = gather.Named(ctx, s.store, at, more)
		}
		if err != nil {
			return nil, err
		}
		list = append(list, slices.DeleteFunc(more, func(m earshot.Message) bool { return m.Deleted })...)
		slices.SortFunc(list, func(x, y earshot.Message) int { return x.Position().Compare(y.Position()) })
	}
	out := make([]Source, len(list))
	names := slices.Concat(in.Conversation.Names, res.Next.Names)
	for i, said := range assemble.Speak(in.Identity, names, in.Messages, list) {
		text, cut := assemble.CutGraphemes(said.Text, maxSourceText)
		if cut {
			text += "…"
		}
		out[i] = Source{list[i], sections[list[i].ID]}
		out[i].Message.Author.Name, out[i].Message.Text = said.Name, text
	}
	return out, nil
}
