package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// A Summariser writes the summary of older turns, such as with a cheap model. It
// runs in the background, so that neither Append nor Prompt waits for it, and one
// at a time over all processes that share the store; ctx gives it two minutes. An
// error, a blank text and one of more tokens than [Options].Budget change nothing
// but [Failures]: it is tried again later. A prompt shows a quarter of the Budget of
// it, and says how much it cut. The messages themselves stay stored.
type Summariser func(ctx context.Context, m Material) (string, error)

// Material is what a summary is made of.
type Material struct {
	Conversation earshot.ConversationID
	Before       earshot.Summary   // the summary that the new one replaces, and must contain; zero when there is none
	Messages     []earshot.Message // what was said since, in order
	Text         string            // Messages as a prompt shows them: "Name: text", further lines indented
}

const (
	holdSummary  = 2 * time.Minute // how long the right to write one is held
	retrySummary = time.Minute     // after a failure
	maxMaterial  = 1000            // messages of one summary

	turnsMeanwhile = 64 // turns that may end between a claim and the read of its turns
)

// errNothing says that nothing is left to summarise: all of it was deleted, or the
// turns were not answered in the order of time and a later one stands before them.
var errNothing = errors.New("nothing to summarise")

// kindKey is the metadata that keeps the kind of a conversation's channel.
const kindKey = "history_kind"

// summarise leaves out of an input what its summary covers. What became known
// after the summary was due is shown, although it was said before. A question from
// the time that the summary covers gets the messages before it, and no summary.
func (h *History) summarise(ctx context.Context, c Conversation, in assemble.Input) (assemble.Input, error) {
	s := in.Conversation.Summary
	if s == nil || s.To == 0 {
		return in, nil
	}
	anchor := slices.IndexFunc(in.Messages, func(m earshot.Message) bool { return m.ID == in.Anchor })
	if anchor >= 0 && in.Messages[anchor].Time <= s.To { // it would hold the question, or what was said after it
		in.Conversation.Summary = nil
		return in, nil
	}
	next, err := h.memory.Turn(ctx, h.id(c), s.Turns) // the first turn that it does not cover
	if errors.Is(err, earshot.ErrNotFound) {
		next.Cursor = 1 << 40
	} else if err != nil {
		return in, err
	}
	covered := 0
	in.Conversation.Folded = true
	in.Messages = slices.DeleteFunc(in.Messages, func(m earshot.Message) bool {
		if m.ID == in.Anchor || m.Time > s.To || m.Seq > next.Cursor {
			return false
		}
		covered++
		return true
	})
	if covered == 0 || len(in.Stored) == 0 {
		return in, nil
	}
	// What the summary covers is not left out: the count is of what was said since.
	before, err := h.reads.Count(ctx, c.Channel.Scope(), c.part(), earshot.Position{Time: s.To + 1})
	for i := range in.Stored {
		in.Stored[i].Count = max(0, in.Stored[i].Count-before.Count)
	}
	return in, err
}

// makeDueSummaries makes the summaries that are due after a conversation got its nth answer: a
// digest at once, with a Summariser in the background.
func (h *History) makeDueSummaries(ctx context.Context, c Conversation, answers int) {
	if h.o.SummariseAfter < 0 || answers <= h.o.SummariseAfter/2 {
		return
	}
	if h.o.Summarise == nil {
		h.roll(ctx, c)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	if h.stop != nil {
		h.again = true
		return
	}
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	h.stop = stop
	h.jobs.Go(func() {
		defer stop()
		for {
			h.roll(ctx, c)
			h.mu.Lock()
			if !h.again || h.closed {
				h.stop = nil
				h.mu.Unlock()
				return
			}
			h.again = false
			h.mu.Unlock()
		}
	})
}

// roll makes one summary after another, of whichever of the agent's conversations
// is due, until none is or one fails. c is the conversation that made it look.
func (h *History) roll(ctx context.Context, c Conversation) {
	for range 16 {
		now := earshot.TimeOf(earshot.ClockOf(h.store, h.o.Now)())
		claim, err := h.memory.ClaimSummary(ctx, earshot.AgentID(h.self.ID), h.owner, h.o.SummariseAfter/2, now, holdSummary)
		if errors.Is(err, earshot.ErrNotFound) {
			return
		}
		if err == nil {
			err = h.put(ctx, claim)
			if err != nil {
				// The failure is what counts; a claim that is not given back ends by itself.
				again := now + earshot.Time(retrySummary.Microseconds())
				if errors.Is(err, earshot.ErrConflict) {
					again = 0
				}
				_ = h.memory.ReleaseSummary(context.WithoutCancel(ctx), claim, again)
			}
		}
		if errors.Is(err, errNothing) {
			return
		}
		if err == nil || errors.Is(err, earshot.ErrConflict) || errors.Is(err, earshot.ErrFenced) {
			continue // a deletion, a bounded store or another process came first; what is due is looked up anew
		}
		if ctx.Err() == nil { // else it was ended
			of := claim.Conversation // may be another one of the agent's
			if of.Agent == "" {
				of = h.id(c)
			}
			h.countFailure(ctx, of, "", failedSummary, err)
		}
		return
	}
}

// put makes and stores the summary that was claimed.
func (h *History) put(ctx context.Context, claim earshot.SummaryClaim) error {
	m, to, err := h.material(ctx, claim)
	if errors.Is(err, earshot.ErrNotFound) { // a bounded store has forgotten the conversation, and the claim with it
		return errors.Join(earshot.ErrFenced, err)
	}
	if err != nil {
		return err
	}
	s := claim.Before
	switch {
	case len(m.Messages) == 0 && s.Turns == 0:
		return errNothing
	case len(m.Messages) > 0: // else the summary before stands for what was deleted since
		if s, err = h.write(ctx, m); err != nil {
			return fmt.Errorf("summarise: %w", err)
		}
		if s.From = claim.Before.From; s.From == 0 {
			s.From = m.Messages[0].Time
		}
	}
	if n := h.o.Counter.Count(s.Text); strings.TrimSpace(s.Text) == "" || n > h.o.Budget {
		return fmt.Errorf("summarise: the summary has %d tokens, not 1 to %d", n, h.o.Budget)
	}
	s.Turns, s.To = claim.Next, max(to, claim.Before.To, s.From)
	ids := make([]earshot.MessageID, len(m.Messages))
	for i := range m.Messages {
		ids[i] = m.Messages[i].ID
	}
	return h.memory.PutSummary(ctx, claim, s, ids...)
}

// write has the summary written.
func (h *History) write(ctx context.Context, m Material) (earshot.Summary, error) {
	if h.o.Summarise == nil {
		return h.digest(m)
	}
	ctx, done := context.WithTimeout(ctx, holdSummary)
	defer done()
	text, err := h.o.Summarise(ctx, m)
	return earshot.Summary{Text: text, By: "summariser"}, err
}

// material reads what a claimed summary is made of: what was said after the
// summary before, up to the last turn that the new one covers. to is where that
// ends: before the questions of the turns that stay.
func (h *History) material(ctx context.Context, claim earshot.SummaryClaim) (m Material, to earshot.Time, err error) {
	id := claim.Conversation
	m = Material{Conversation: id, Before: claim.Before}
	turns, err := h.memory.Turns(ctx, id, claim.Turns-claim.Before.Turns+turnsMeanwhile)
	if err != nil {
		return m, 0, err
	}
	turns = slices.DeleteFunc(turns, func(t earshot.Turn) bool { return t.Number < claim.Before.Turns })
	var ids []earshot.MessageID
	answered, stays := map[earshot.MessageID]bool{}, map[earshot.MessageID]bool{}
	for _, t := range turns {
		ids = append(ids, t.Answer.Anchor)
		if t.Number >= claim.Next {
			stays[t.Answer.Anchor] = true
			continue
		}
		answered[t.Answer.Anchor] = true
		ids = append(ids, t.Answer.Replies...)
	}
	said, err := h.store.ByID(ctx, id.Scope, ids...)
	if err != nil {
		return m, 0, err
	}
	alone := answersAlone(turns, said)
	for i := range said {
		if !stays[said[i].ID] {
			to = max(to, said[i].Time)
		}
	}
	for i := range said {
		if stays[said[i].ID] {
			to = min(to, said[i].Time-1)
		}
	}
	part := earshot.TopLevel()
	if id.Name != gather.TopLevel {
		part = earshot.ThreadOf(earshot.MessageID(id.Name))
	}
	around, err := h.store.Newest(ctx, id.Scope, part, earshot.Position{Time: to + 1}, maxMaterial)
	if err != nil {
		return m, 0, err
	}
	stored, err := h.memory.Conversation(ctx, id)
	if err != nil {
		return m, 0, err
	}
	everything := h.o.Everything || stored.Metadata[kindKey] == string(earshot.KindDM)
	for i := range around {
		x := &around[i]
		if x.Time > claim.Before.To && x.Author.Kind != earshot.System && !x.Isolated() && !alone[x.ID] &&
			(everything || answered[x.ID] || h.self.Is(x.Author.ID) || h.self.MentionedIn(x)) {
			m.Messages = append(m.Messages, *x)
		}
	}
	m.Text = h.lines(m.Messages)
	return m, to, nil
}

// answersAlone returns the answers to isolated questions: a summary has neither.
func answersAlone(turns []earshot.Turn, said []earshot.Message) map[earshot.MessageID]bool {
	out := map[earshot.MessageID]bool{}
	for _, t := range turns {
		if slices.ContainsFunc(said, func(m earshot.Message) bool { return m.ID == t.Answer.Anchor && m.Isolated() }) {
			for _, id := range t.Answer.Replies {
				out[id] = true
			}
		}
	}
	return out
}

// lines writes messages as a prompt shows them.
func (h *History) lines(list []earshot.Message) string {
	var b strings.Builder
	for _, s := range assemble.Speak(h.self, nil, nil, list) {
		b.WriteString(s.Name)
		if s.Bot {
			b.WriteString(" (agent)")
		}
		b.WriteString(": " + strings.ReplaceAll(s.Text, "\n", "\n  ") + "\n")
	}
	return b.String()
}
