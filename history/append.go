package history

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// policyName is what the turns of a History are recorded under.
var policyName = func() string {
	p, _ := assemble.ByName("transcript")
	return p.Name
}()

// Append stores messages of a conversation, all or none, and says of each what
// changed. It is idempotent: a message with an id that is stored already, and
// nothing new, is [earshot.Same]. An edit is the same id with Edited set to the
// time of the edit: the newest edit wins, in whatever order they arrive. What was
// deleted never comes back. [earshot.Messages].Record has the rules.
//
// ID, Time, Author.ID and Text are expected of a message. Thread may be left
// empty in a thread's conversation. The agent's own messages, by id or alias, are
// stored under [History.Author], so that all others know them as one agent's. If
// one names in ReplyTo what it answers, that message counts as addressed to the
// agent from then on.
//
// The error is [earshot.ErrInvalid] for a message without id, time or author, and
// for one of another thread; else the store's.
func (h *History) Append(ctx context.Context, c Conversation, messages ...earshot.Message) ([]earshot.RecordResult, error) {
	c, err := c.check()
	if err != nil {
		return nil, err
	}
	list := slices.Clone(messages)
	for i := range list {
		if err := h.place(c, &list[i]); err != nil {
			return nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if err := h.checkStored(ctx, c, list); err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	out, err := h.store.Record(ctx, c.Channel.Scope(), list...)
	if err != nil {
		return nil, fmt.Errorf("append: %w", err)
	}
	return out, h.recordAnswers(ctx, c, list, out)
}

// place checks a message and sets what follows from its conversation and author.
func (h *History) place(c Conversation, m *earshot.Message) error {
	switch {
	case m.ID == "":
		return fmt.Errorf("%w: no id; give the platform's, or one of your own", earshot.ErrInvalid)
	case m.Author.ID == "" && !m.Deleted:
		return fmt.Errorf("%w: no author id", earshot.ErrInvalid)
	case m.Root() != "" && m.Thread != c.Thread:
		return fmt.Errorf("%w: it is of the thread %q; append it to that conversation (Conversation.InThread)", earshot.ErrInvalid, m.Thread)
	}
	if m.ID != c.Thread {
		m.Thread = c.Thread
	}
	if h.self.Is(m.Author.ID) { // one agent, under whichever alias, to those who do not know its aliases
		m.Author = h.Author()
	}
	return nil
}

// checkStored returns an error if an edit or a deletion is of a message that is
// stored in another conversation.
func (h *History) checkStored(ctx context.Context, c Conversation, list []earshot.Message) error {
	var ids []earshot.MessageID
	for i := range list {
		if list[i].Deleted || list[i].Edited != 0 {
			ids = append(ids, list[i].ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	stored, err := h.store.ByID(ctx, c.Channel.Scope(), ids...)
	if err != nil {
		return err
	}
	for i := range stored {
		if m := &stored[i]; !m.Deleted && !c.holds(m) {
			return fmt.Errorf("%w: message %s is of the thread %q; append it to that conversation (Conversation.InThread)", earshot.ErrInvalid, m.ID, m.Root())
		}
	}
	return nil
}

// recordAnswers records which messages the agent's own ones answer, each once.
func (h *History) recordAnswers(ctx context.Context, c Conversation, list []earshot.Message, recorded []earshot.RecordResult) error {
	answers := h.answers(list)
	if len(answers) == 0 || h.memory == nil {
		return nil
	}
	cursor, kind := int64(0), string(c.Channel.Kind)
	for _, r := range recorded {
		cursor = max(cursor, r.Seq)
	}
	id := h.id(c)
	stored, _, err := h.memory.OpenConversation(ctx, id, "")
	if err != nil {
		return fmt.Errorf("append: record what was answered: %w", err)
	}
	for _, a := range answers {
		number, err := h.memory.CommitTurn(ctx, id, earshot.Turn{
			Answer: a, Policy: policyName, Epoch: stored.Epoch, Cursor: cursor, Metadata: map[string]*string{kindKey: &kind},
		})
		switch {
		case errors.Is(err, earshot.ErrConflict): // it is recorded already
		case errors.Is(err, earshot.ErrNotFound): // a bounded store has evicted the conversation meanwhile
		case err != nil:
			return fmt.Errorf("append: record what was answered: %w", err)
		default:
			h.makeDueSummaries(ctx, c, number+1)
		}
	}
	return nil
}

// answers returns which messages the agent's own ones among list answer.
func (h *History) answers(list []earshot.Message) []earshot.Answer {
	var out []earshot.Answer
	for _, m := range list {
		if m.Deleted || m.ReplyTo == "" || m.ReplyTo == m.ID || !h.self.Is(m.Author.ID) {
			continue
		}
		i := slices.IndexFunc(out, func(a earshot.Answer) bool { return a.Anchor == m.ReplyTo })
		if i < 0 {
			i = len(out)
			out = append(out, earshot.Answer{Anchor: m.ReplyTo})
		}
		out[i].Replies = append(out[i].Replies, m.ID)
	}
	return out
}

// Delete deletes messages of a conversation by their ids. What remains is a
// tombstone, so that no redelivery brings them back. An id that is not stored is
// no error: it cannot be stored later. A summary that covers a deleted message is
// dropped.
//
// The error is [earshot.ErrNotFound], and nothing is deleted, if one of the
// messages belongs to another conversation; else the store's.
func (h *History) Delete(ctx context.Context, c Conversation, ids ...earshot.MessageID) error {
	c, err := c.check()
	if err != nil {
		return err
	}
	stored, err := h.store.ByID(ctx, c.Channel.Scope(), ids...)
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	for i := range stored {
		if m := &stored[i]; !m.Deleted && !c.holds(m) {
			return fmt.Errorf("delete: message %s: %w", m.ID, earshot.ErrNotFound)
		}
	}
	list := make([]earshot.Message, len(ids))
	for i, id := range ids {
		list[i] = earshot.Message{ID: id, Deleted: true}
	}
	if _, err := h.store.Record(ctx, c.Channel.Scope(), list...); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	return nil
}
