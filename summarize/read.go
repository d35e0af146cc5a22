package summarize

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// Bounds of what one summary is made of. What is over them is for the next one,
// which continues this one.
const (
	inputTokens   = 24_000 // of messages
	messageTokens = 2_000  // of one message; the rest of it is counted, not shown
	inputMessages = 4_000
)

// A piece is a stretch of a conversation: what one summary is made of, besides the
// summary before.
type piece struct {
	messages []earshot.Message         // in the order of Position
	written  []assemble.WrittenMessage // the same, as a model reads them
	asked    []earshot.Answer          // its turns
	turns    int                       // how many of the conversation's turns the summary then covers
}

// read reads the turns that a claim asks for, or as many of them as fit, with the
// messages around them.
func (s *Summarizer) read(ctx context.Context, c earshot.SummaryClaim) (piece, error) {
	turns, err := s.turns(ctx, c)
	if err != nil {
		return piece{}, err
	}
	own, err := s.byID(ctx, c.Conversation.Scope, turns)
	if err != nil {
		return piece{}, err
	}
	ends := endsOf(turns, own)
	first := slices.IndexFunc(ends, func(p earshot.Position) bool { return !p.IsZero() })
	if first < 0 { // neither a question nor an answer is stored
		return piece{turns: c.Next}, nil
	}
	all, err := s.around(ctx, c, own, ends[first], ends[len(ends)-1])
	if err != nil {
		return piece{}, err
	}
	asked := assemble.ConversationState{}
	for _, t := range turns {
		asked.Turns = append(asked.Turns, t.Answer)
	}
	lanes := gather.Lanes{Store: s.o.Store, Scope: c.Conversation.Scope, Trust: s.o.Trust, AllowList: s.o.AllowList, Identity: s.o.Identity}
	if _, err := lanes.Of(ctx, all); err != nil {
		return piece{}, fmt.Errorf("look up whose words are told: %w", err)
	}
	written, err := assemble.Transcribe(assemble.Input{Messages: all, Identity: s.o.Identity, Zone: s.o.Zone, Counter: s.o.Counter(), Trust: s.o.Trust, Conversation: asked}, messageTokens)
	if err != nil {
		return piece{}, fmt.Errorf("write what was said: %w", err)
	}
	known := make(map[earshot.MessageID]earshot.Message, len(all))
	for _, m := range all {
		known[m.ID] = m
	}
	p := s.fit(known, written, ends, c.Before.Turns)
	p.asked = asked.Turns
	return p, nil
}

// fit returns the beginning of what was written that ends with a turn and fits. A
// first turn that does not fit alone loses its oldest messages.
func (s *Summarizer) fit(known map[earshot.MessageID]earshot.Message, written []assemble.WrittenMessage, ends []earshot.Position, covered int) piece {
	count := s.o.Counter()
	cost := func(w assemble.WrittenMessage) int { return count.Count(w.Lines()) + 2 }
	room, n := inputTokens, 0
	for n < len(written) && n < inputMessages {
		if room -= cost(written[n]); room < 0 {
			break
		}
		n++
	}
	p := piece{turns: covered + len(ends)}
	if n < len(written) {
		next := known[written[n].ID]
		done := 0 // turns that end before the first message that does not fit
		for done < len(ends) && ends[done].Compare(next.Position()) < 0 {
			done++
		}
		end := ends[max(done, 1)-1]
		p.turns = covered + max(done, 1)
		written = slices.DeleteFunc(written, func(w assemble.WrittenMessage) bool {
			m := known[w.ID]
			return m.Position().Compare(end) > 0
		})
		room = inputTokens
		from := len(written)
		for from > 0 && len(written)-from < inputMessages {
			if room -= cost(written[from-1]); room < 0 {
				break
			}
			from--
		}
		written = written[from:]
	}
	p.written = written
	for _, w := range written {
		p.messages = append(p.messages, known[w.ID])
	}
	return p
}

// turns returns the turns that a claim asks for, in order.
func (s *Summarizer) turns(ctx context.Context, c earshot.SummaryClaim) ([]earshot.Turn, error) {
	list, err := s.o.Store.Turns(ctx, c.Conversation, c.Turns-c.Before.Turns+turnsMeanwhile)
	if err != nil {
		return nil, fmt.Errorf("read the turns: %w", err)
	}
	list = slices.DeleteFunc(list, func(t earshot.Turn) bool { return t.Number < c.Before.Turns || t.Number >= c.Next })
	if len(list) != c.Next-c.Before.Turns {
		return nil, fmt.Errorf("read the turns %d to %d: found %d", c.Before.Turns, c.Next-1, len(list))
	}
	return list, nil
}

// turnsMeanwhile is how many turns may end between a claim and the read of its
// turns.
const turnsMeanwhile = 64

// byID returns the questions and the answers of turns, deleted ones too.
func (s *Summarizer) byID(ctx context.Context, scope earshot.Scope, turns []earshot.Turn) (map[earshot.MessageID]earshot.Message, error) {
	var ids []earshot.MessageID
	for _, t := range turns {
		ids = append(append(ids, t.Answer.Anchor), t.Answer.Replies...)
	}
	found, err := s.o.Store.ByID(ctx, scope, ids...)
	if err != nil {
		return nil, fmt.Errorf("read questions and answers: %w", err)
	}
	out := make(map[earshot.MessageID]earshot.Message, len(found))
	for _, m := range found {
		out[m.ID] = m
	}
	return out, nil
}

// endsOf returns for each turn the position of the last message of the turns up to
// it.
func endsOf(turns []earshot.Turn, own map[earshot.MessageID]earshot.Message) []earshot.Position {
	ends := make([]earshot.Position, len(turns))
	var last earshot.Position
	for i, t := range turns {
		for _, id := range append([]earshot.MessageID{t.Answer.Anchor}, t.Answer.Replies...) {
			if m, ok := own[id]; ok && m.Position().Compare(last) > 0 {
				last = m.Position()
			}
		}
		ends[i] = last
	}
	return ends
}

// around returns the questions and the answers with what was said around them in
// the thread, or at the top level of a DM. Left out are deleted and
// isolated messages, the platform's notes, and what the agent said in no turn of
// these, such as apologies and the answers to isolated questions. The first turn
// ends at first, the last one at last.
func (s *Summarizer) around(ctx context.Context, c earshot.SummaryClaim, own map[earshot.MessageID]earshot.Message, first, last earshot.Position) ([]earshot.Message, error) {
	all := map[earshot.MessageID]earshot.Message{}
	keep := func(m earshot.Message, answer bool) {
		if !m.Deleted && !m.Isolated() && m.Author.Kind != earshot.System && (answer || !s.o.Identity.Is(m.Author.ID)) {
			all[m.ID] = m
		}
	}
	for _, m := range own {
		keep(m, true)
	}
	part := earshot.ThreadOf(earshot.MessageID(c.Conversation.Name))
	if c.Conversation.Name == gather.TopLevel {
		part = earshot.TopLevel()
	}
	from, err := s.from(ctx, c, part, first)
	if err != nil {
		return nil, err
	}
	tokens := 0
	for m, err := range s.o.Store.Range(ctx, c.Conversation.Scope, part, from, last) {
		if err != nil {
			return nil, fmt.Errorf("read what was said: %w", err)
		}
		keep(m, false)
		if tokens += min(m.Tokens, messageTokens); tokens > 2*inputTokens || len(all) > 2*inputMessages {
			break // more than one summary takes
		}
	}
	list := make([]earshot.Message, 0, len(all))
	for _, m := range all {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) })
	return list, nil
}

// before is how many messages are read from before the end of the first turn, those
// that the summary before covers left out.
const before = 400

// from returns where reading begins.
func (s *Summarizer) from(ctx context.Context, c earshot.SummaryClaim, part earshot.ChannelPart, first earshot.Position) (earshot.Position, error) {
	var from earshot.Position
	if c.Before.To != 0 {
		from.Time = c.Before.To + 1
	}
	list, err := s.o.Store.Newest(ctx, c.Conversation.Scope, part, first, before)
	if err != nil {
		return from, fmt.Errorf("read what was said: %w", err)
	}
	if len(list) == before && list[0].Position().Compare(from) > 0 {
		from = list[0].Position()
	}
	return from, nil
}
