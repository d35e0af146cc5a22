package history

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
)

// The defaults of [SearchOptions].
const (
	DefaultHits       = 10
	DefaultHitsTokens = 2000
)

// SearchOptions narrow a search. Zero fields mean the defaults.
type SearchOptions struct {
	Limit        int                // the best so many; default: [DefaultHits]
	Tokens       int                // what their texts cost together at most; default: [DefaultHitsTokens]
	Since        earshot.Time       // only what was said at or after this time
	Participants []earshot.AuthorID // only what these authors said; none means all
	// Before is the message that is answered: neither it nor what was said after
	// it is found. "" means no bound.
	Before earshot.MessageID
}

// SearchResult is what a search found.
type SearchResult struct {
	Hits   []Hit // the best first
	Tokens int   // of their texts
	// Omitted is how many further hits within the limit the token cap left out.
	Omitted int
	// Gaps are stretches of the history that are missing or stale: what was said
	// there was not searched.
	Gaps []earshot.Coverage
}

// A Hit is a message that was found. Scores compare within one search only. If
// Cut is set, the text did not fit and ends in "…".
type Hit struct {
	Message earshot.Message
	Score   float64
	Cut     bool
}

// Search finds messages of a conversation by words, a part in double quotes as it
// stands. A conversation that is not stored has no hits. o may be nil. The errors
// are the store's, and [earshot.ErrNotFound] if o.Before is not stored.
func (h *History) Search(ctx context.Context, c Conversation, query string, o *SearchOptions) (SearchResult, error) {
	c, err := c.check()
	if err != nil {
		return SearchResult{}, err
	}
	var opts SearchOptions
	if o != nil {
		opts = *o
	}
	if opts.Limit <= 0 {
		opts.Limit = DefaultHits
	}
	if opts.Tokens <= 0 {
		opts.Tokens = DefaultHitsTokens
	}
	q := search.Query{Text: query, At: earshot.TimeOf(h.o.Now()), Since: opts.Since, Authors: h.withAliases(opts.Participants)}
	if opts.Before != "" {
		m, err := h.message(ctx, c, opts.Before)
		if err != nil {
			return SearchResult{}, fmt.Errorf("search: %w", err)
		}
		q.At, q.Before, q.Exclude = m.Time, m.Position(), []earshot.MessageID{m.ID}
	}
	var out SearchResult
	if out.Gaps, err = h.gaps(ctx, c); err != nil {
		return SearchResult{}, fmt.Errorf("search: %w", err)
	}
	hits, err := h.hits(ctx, c, q, opts.Limit)
	if err != nil {
		return SearchResult{}, fmt.Errorf("search: %w", err)
	}
	h.fit(&out, hits, opts.Tokens)
	return out, nil
}

// hits returns the best hits of a conversation. The index ranks a whole channel,
// so that more are asked for until there are enough of the conversation.
func (h *History) hits(ctx context.Context, c Conversation, q search.Query, limit int) ([]Hit, error) {
	for q.Limit = 4 * limit; ; q.Limit *= 4 {
		found, err := h.searcher.Search(ctx, c.Channel.Scope(), q)
		if err != nil {
			return nil, err
		}
		var out []Hit
		for _, f := range found {
			if c.holds(&f.Message) && len(out) < limit {
				out = append(out, Hit{Message: f.Message, Score: f.Score})
			}
		}
		if len(out) == limit || len(found) < q.Limit {
			return out, nil
		}
	}
}

// fit puts into out the hits whose texts fit, the best first. The first one that
// does not is cut, or left out where too little of it would remain.
func (h *History) fit(out *SearchResult, hits []Hit, room int) {
	const fewest = 16 // tokens that a cut text is worth showing with
	for i, hit := range hits {
		n := h.o.Counter.Count(hit.Message.Text)
		if n > room && room >= fewest {
			text := hit.Message.Text[:h.o.Counter.Prefix(hit.Message.Text, room-1)]
			for text != "" && !utf8.ValidString(text) {
				text = text[:len(text)-1]
			}
			hit.Message.Text, hit.Cut = text+"…", true
			n = min(room, h.o.Counter.Count(hit.Message.Text))
		}
		if n > room {
			out.Omitted = len(hits) - i
			return
		}
		room -= n
		out.Tokens += n
		out.Hits = append(out.Hits, hit)
	}
}

// withAliases returns ids with the agent's aliases, if the agent is among them.
func (h *History) withAliases(ids []earshot.AuthorID) []earshot.AuthorID {
	if !slices.ContainsFunc(ids, h.self.Is) {
		return ids
	}
	return append(append(slices.Clone(ids), h.self.ID), h.self.Aliases...)
}

// message returns a stored message of a conversation, or [earshot.ErrNotFound].
func (h *History) message(ctx context.Context, c Conversation, id earshot.MessageID) (earshot.Message, error) {
	list, err := h.store.ByID(ctx, c.Channel.Scope(), id)
	if err != nil {
		return earshot.Message{}, err
	}
	if len(list) == 0 || list[0].Deleted || !c.holds(&list[0]) {
		return earshot.Message{}, fmt.Errorf("message %s: %w in this conversation; Append it first", id, earshot.ErrNotFound)
	}
	return list[0], nil
}

// gaps returns the stretches of a conversation that are missing or stale.
func (h *History) gaps(ctx context.Context, c Conversation) ([]earshot.Coverage, error) {
	list, err := h.reads.Coverage(ctx, c.Channel.Scope())
	return slices.DeleteFunc(list, func(x earshot.Coverage) bool {
		return x.Thread != c.Thread || x.State != earshot.Missing && x.State != earshot.Stale
	}), err
}
