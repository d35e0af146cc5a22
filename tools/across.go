package tools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
)

// A Searched is one of several channels that are searched together.
type Searched struct {
	Set  *Set   // its tools
	Name string // of the channel
}

// The answer of Across: that of channel_context, whose results and gaps say where they
// are.
type (
	acrossAnswer struct {
		Results        []placedResult `json:"results"` // the best first
		Omitted        int            `json:"omitted,omitzero"`
		UnknownAuthors []string       `json:"unknown_authors,omitzero"` // nobody in any of the channels goes by these names
		Coverage       acrossCoverage `json:"coverage"`
	}
	placedResult struct {
		Channel place   `json:"channel"`
		Score   float64 `json:"score"` // of this search
		*result
	}
	acrossCoverage struct {
		Searched        int             `json:"channels_searched"`
		NotSearched     int             `json:"channels_not_searched,omitzero"`
		More            bool            `json:"more_channels,omitzero"` // than were looked at
		MessagesScanned int             `json:"messages_scanned"`
		Missing         []placedMissing `json:"missing"`
		MoreMissing     int             `json:"more_missing,omitzero"`
	}
	placedMissing struct {
		Channel place `json:"channel"`
		missingStretch
	}
	place struct {
		Platform  earshot.Platform    `json:"platform"`
		Workspace earshot.WorkspaceID `json:"workspace"`
		ID        earshot.ChannelID   `json:"id"`
		Name      string              `json:"name,omitzero"`
	}
)

func (c Searched) place() place {
	at := c.Set.scope
	return place{at.Platform, at.Workspace, at.Channel, cleanLine(c.Name, maxLine)}
}

// A placedHit is a hit of one of several channels.
type placedHit struct {
	search.Hit
	channel int
	rank    float64
}

// Across searches several channels with the arguments of channel_context, and merges
// what it finds. A score counts the words that are rare in its channel for more, so
// that a channel which hardly speaks of a thing scores the most for it; it is therefore
// multiplied by the share of the question's words that the message has, a tenth at
// least. Equal ones stand in the order of time, the newest first, then of platform,
// workspace, channel and id. No platform is asked. notSearched is how many channels the
// caller leaves out, more whether there are yet others, for the answer, which is as long
// as one of the first Set may be.
func Across(ctx context.Context, channels []Searched, notSearched int, more bool, args string) (Answer, error) {
	if len(channels) == 0 {
		return refused(newRefusal("there is no channel to search", ""))
	}
	calls := make([]*searchCall, len(channels))
	var hits []placedHit
	for i, c := range channels {
		q, err := c.Set.searchCall(args)
		if err != nil {
			return refused(err)
		}
		if err := c.Set.search(ctx, q); err != nil {
			return Answer{}, fmt.Errorf("search %s: %w", c.Set.scope.Channel, err)
		}
		calls[i] = q
		for _, h := range q.hits {
			hits = append(hits, placedHit{h, i, h.Score * max(h.Cover, 0.1)})
		}
		q.hits = nil
	}
	slices.SortStableFunc(hits, func(x, y placedHit) int {
		a, b := channels[x.channel].Set.scope, channels[y.channel].Set.scope
		return cmp.Or(cmp.Compare(y.rank, x.rank), cmp.Compare(y.Message.Time, x.Message.Time),
			cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.Channel, b.Channel), cmp.Compare(x.ID, y.ID))
	})
	hits = hits[:min(len(hits), calls[0].Limit)]
	out := acrossAnswer{Results: []placedResult{}, UnknownAuthors: unknownTo(calls)}
	var err error
	if out.Coverage, err = acrossCovered(ctx, channels, calls); err != nil {
		return Answer{}, err
	}
	out.Coverage.NotSearched, out.Coverage.More = notSearched, more
	entries, err := placedEntries(ctx, channels, calls, hits)
	if err != nil {
		return Answer{}, err
	}
	return writeAcross(channels[0].Set, out, entries)
}

// refused returns a refusal as an answer.
func refused(err error) (Answer, error) {
	var r *refusal
	if errors.As(err, &r) {
		return r.answer(DefaultMaxBytes), nil
	}
	return Answer{}, err
}

// unknownTo returns the names that nobody goes by in any of the channels.
func unknownTo(calls []*searchCall) []string {
	unknown := slices.Clone(calls[0].unknown)
	return slices.DeleteFunc(unknown, func(name string) bool {
		return slices.ContainsFunc(calls, func(q *searchCall) bool { return !slices.Contains(q.unknown, name) })
	})
}

// acrossCovered says what was searched, and of what something is missing.
func acrossCovered(ctx context.Context, channels []Searched, calls []*searchCall) (acrossCoverage, error) {
	all := acrossCoverage{Searched: len(channels), Missing: []placedMissing{}}
	for i, c := range channels {
		q := calls[i]
		one, err := c.Set.scanned(ctx, q.since, q.Before)
		if err == nil {
			q.known, err = c.Set.store.Coverage(ctx, c.Set.scope)
		}
		if err != nil {
			return all, err
		}
		all.MessagesScanned += one.MessagesScanned
		for _, gap := range c.Set.missing(q.known, nil, q.since, q.Before.Time) {
			if len(all.Missing) == maxMissing {
				all.MoreMissing++
				continue
			}
			all.Missing = append(all.Missing, placedMissing{c.place(), gap})
		}
	}
	return all, nil
}

// placedEntries returns hits as the answer shows them, in their order.
func placedEntries(ctx context.Context, channels []Searched, calls []*searchCall, hits []placedHit) ([]shownMessage, error) {
	out := make([]shownMessage, len(hits))
	var cut index.Cutter
	for i, c := range channels {
		var list []earshot.Message
		var at []int // in hits
		var roots []earshot.MessageID
		for n, h := range hits {
			if h.channel == i {
				list, at, roots = append(list, h.Message), append(at, n), append(roots, cmp.Or(h.Message.Root(), h.ID))
			}
		}
		if len(list) == 0 {
			continue
		}
		threads, err := c.Set.threads(ctx, calls[i].known, roots...)
		if err != nil {
			return nil, err
		}
		entries, err := c.Set.entries(ctx, list, threads)
		if err != nil {
			return nil, err
		}
		for k, e := range entries {
			h, r := hits[at[k]], e.json.(*result)
			r.RelevanceSignal = explainRank(&cut, calls[i].Text, h.Hit)
			e.json = &placedResult{c.place(), math.Round(h.rank*100) / 100, r}
			out[at[k]] = e
		}
	}
	return out, nil
}

// writeAcross writes what fits into an answer of s.
func writeAcross(s *Set, out acrossAnswer, entries []shownMessage) (Answer, error) {
	out.Omitted = len(entries) // leaves room for the count
	shows, omitted, err := s.keepFitting(encodedLen(out), entries, func(e shownMessage) { out.Results = append(out.Results, *e.json.(*placedResult)) })
	if err != nil {
		return refused(err)
	}
	out.Omitted = omitted
	a, err := s.write(out, shows)
	if err != nil {
		return refused(err)
	}
	return a, nil
}
