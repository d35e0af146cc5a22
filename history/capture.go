package history

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/earshot-ai/earshot"
)

// An Answer is an agent's function: it answers one message of a conversation. Of
// the message that it returns only Text is needed. ID and Time are those of the
// platform, if it has posted the answer; else they are filled in. An empty Text
// means that the agent says nothing.
type Answer func(ctx context.Context, c Conversation, question earshot.Message) (earshot.Message, error)

// Text makes an Answer of a function from text to text.
func Text(f func(ctx context.Context, text string) (string, error)) Answer {
	return func(ctx context.Context, _ Conversation, question earshot.Message) (earshot.Message, error) {
		text, err := f(ctx, question.Text)
		return earshot.Message{Text: text}, err
	}
}

// Capture wraps an agent's function so that the question is stored before it runs
// and the answer after, with the question that it answers:
//
//	answer := h.Capture(history.Text(agent))
//	reply, err := answer(ctx, conversation, question)
//
// A question without ID or Time gets a random id and the clock's time. The
// function's result comes back as it is, its error too; then no answer is stored.
//
// Writing never breaks the answer. A write that fails, or takes longer than
// [Options].WriteTime, is logged and counted in [History.Failures]. A question
// that could not be stored is tried again together with the answer. Writing goes
// on where ctx has ended, since the answer may have been seen.
func (h *History) Capture(f Answer) Answer {
	return func(ctx context.Context, c Conversation, question earshot.Message) (earshot.Message, error) {
		if question.ID == "" {
			question.ID = newID()
		}
		if question.Time == 0 {
			question.Time = earshot.TimeOf(h.o.Now())
		}
		stored := h.capture(ctx, c, question.ID, failedQuestion, question)
		reply, err := f(ctx, c, question)
		if err != nil || reply.Text == "" {
			return reply, err
		}
		h.complete(&reply, question)
		if stored {
			h.capture(ctx, c, reply.ID, failedReply, reply)
		} else {
			h.capture(ctx, c, reply.ID, failedReply, question, reply)
		}
		return reply, nil
	}
}

// complete fills in what the answer's function has left empty.
func (h *History) complete(reply *earshot.Message, question earshot.Message) {
	if !h.self.Is(reply.Author.ID) {
		reply.Author = h.Author()
	}
	if reply.ID == "" {
		reply.ID = newID()
	}
	if reply.Time == 0 { // the question's clock may be ahead of ours
		reply.Time = max(earshot.TimeOf(h.o.Now()), question.Time+1)
	}
	if reply.ReplyTo == "" {
		reply.ReplyTo = question.ID
	}
}

func newID() earshot.MessageID { return earshot.MessageID("h-" + rand.Text()) }

// capture appends messages, and reports whether they are stored.
func (h *History) capture(ctx context.Context, c Conversation, id earshot.MessageID, what countedFailure, messages ...earshot.Message) bool {
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), h.o.WriteTime)
	defer done()
	_, err := h.Append(ctx, c, messages...)
	if err != nil {
		h.countFailure(ctx, h.id(c), id, what, err)
	}
	return err == nil
}

// Failures counts what a History could not do where its caller gets no error.
type Failures struct {
	Questions int   // questions that Capture could not store before the answer
	Replies   int   // answers that Capture could not store, or not completely
	Summaries int   // summaries that were not written, or not stored
	Last      error // of the last one; nil when there was none
	At        time.Time
}

// Failures returns what has failed since New.
func (h *History) Failures() Failures {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.failures
}

type countedFailure string

const (
	failedQuestion countedFailure = "question"
	failedReply    countedFailure = "reply"
	failedSummary  countedFailure = "summary"
)

// countFailure counts and logs a failure.
func (h *History) countFailure(ctx context.Context, c earshot.ConversationID, id earshot.MessageID, what countedFailure, err error) {
	now := h.o.Now()
	h.mu.Lock()
	switch what {
	case failedQuestion:
		h.failures.Questions++
	case failedReply:
		h.failures.Replies++
	case failedSummary:
		h.failures.Summaries++
	}
	h.failures.Last, h.failures.At = err, now
	h.mu.Unlock()
	h.o.Log.WarnContext(ctx, "history not written", "what", string(what), "platform", c.Scope.Platform, "workspace", c.Scope.Workspace,
		"channel", c.Scope.Channel, "conversation", c.Name, "message", id, "err", err)
}
