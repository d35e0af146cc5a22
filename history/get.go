package history

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A Query narrows [History.Get]. Zero fields mean the defaults.
type Query struct {
	Limit        int                // the newest so many; default: [DefaultTurns]
	Since        earshot.Time       // only what was said at or after this time
	Participants []earshot.AuthorID // only what these authors said; none means all. The agent's id means its aliases too
	Threads      bool               // the replies in the channel's threads too; the conversation is a top level
}

// page is how many messages Get reads at once where it filters.
const page = 256

// Get returns the newest messages of a conversation, in the order in which they
// were said, without deleted ones. A conversation that is not stored has none. q
// may be nil. The errors are the store's.
//
// With Participants it reads back to Since, or to the first message, until it has
// enough.
func (h *History) Get(ctx context.Context, c Conversation, q *Query) ([]earshot.Message, error) {
	c, err := c.check()
	if err != nil {
		return nil, err
	}
	if q == nil {
		q = &Query{}
	}
	limit, part := q.Limit, c.part()
	if limit <= 0 {
		limit = DefaultTurns
	}
	if q.Threads && c.Thread == "" {
		part = earshot.Whole()
	}
	size := limit
	if len(q.Participants) > 0 {
		size = max(limit, page)
	}
	var out []earshot.Message // newest first
	var before earshot.Position
	for {
		list, err := h.store.Newest(ctx, c.Channel.Scope(), part, before, size)
		if err != nil {
			return nil, fmt.Errorf("get: %w", err)
		}
		for _, m := range slices.Backward(list) {
			if m.Position() == before {
				continue // of the page before
			}
			if m.Time < q.Since || len(out) == limit {
				slices.Reverse(out)
				return out, nil
			}
			if h.isOneOf(q.Participants, m.Author.ID) {
				out = append(out, m)
			}
		}
		if len(list) < size || len(out) == limit {
			slices.Reverse(out)
			return out, nil
		}
		before, size = list[0].Position(), max(size, 2)
	}
}

// isOneOf reports whether an author is among ids, of which none means everybody.
func (h *History) isOneOf(ids []earshot.AuthorID, id earshot.AuthorID) bool {
	return len(ids) == 0 || slices.Contains(ids, id) || h.self.Is(id) && slices.ContainsFunc(ids, h.self.Is)
}
