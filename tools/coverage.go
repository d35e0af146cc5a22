package tools

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A searched says what was searched, and what could not be.
type searched struct {
	MessagesScanned int              `json:"messages_scanned"`
	TimeRange       *[]string        `json:"time_range"` // the first and the last ts
	Missing         []missingStretch `json:"missing"`
	MoreMissing     int              `json:"more_missing,omitzero"` // stretches and threads that Missing has no room for
	// Unchecked is a ts. Of threads that began before it is not known whether the
	// store has all of them.
	Unchecked string `json:"threads_unchecked_before,omitzero"`
}

// A missingStretch is a stretch of the channel or of a thread that is not known, or may
// be out of date. A bound that is null is open.
type missingStretch struct {
	From     *string               `json:"from"`
	To       *string               `json:"to"`
	ThreadID string                `json:"thread_id,omitzero"`
	State    earshot.CoverageState `json:"state"`
	Messages int                   `json:"messages,omitzero"` // how many, where that is known

	until earshot.Time // To, to sort by
}

// maxMissing is how many stretches an answer names at most.
const maxMissing = 8

// optionalTS returns ts(t), or nil for no time.
func (s *Set) optionalTS(t earshot.Time) *string {
	if t == 0 {
		return nil
	}
	ts := s.ts(t)
	return &ts
}

// missing returns what is not known of the channel and of threads between since
// and upTo (0: any time): the channel's own stretches first, then those that end last.
func (s *Set) missing(list []earshot.Coverage, threads map[earshot.MessageID]*thread, since, upTo earshot.Time) []missingStretch {
	out := []missingStretch{}
	named := map[earshot.MessageID]bool{}
	for _, c := range joinStretches(list) {
		if upTo != 0 && c.From > upTo || c.To != 0 && c.To < since {
			continue
		}
		if upTo != 0 && c.To > upTo {
			c.To = upTo
		}
		x := missingStretch{From: s.optionalTS(c.From), To: s.optionalTS(c.To), State: c.State, ThreadID: cleanLine(string(c.Thread), maxIDLength), until: c.To}
		if c.Thread != "" {
			t := threads[c.Thread]
			if t == nil || t.hidden {
				continue
			}
			if !named[c.Thread] {
				x.Messages = t.unread()
			}
			named[c.Thread] = true
		}
		out = append(out, x)
	}
	for _, t := range threads {
		for _, c := range t.open {
			if c.To == 0 || c.To >= since {
				out = append(out, missingStretch{From: s.optionalTS(c.From), To: s.optionalTS(c.To), ThreadID: cleanLine(string(c.Thread), maxIDLength), State: c.State, until: c.To})
			}
		}
		if named[t.id] || t.hidden || t.unread() <= 0 && !t.untried || t.last != 0 && t.last < since {
			continue
		}
		x := missingStretch{To: s.optionalTS(t.last), ThreadID: cleanLine(string(t.id), maxIDLength), State: earshot.Missing, Messages: t.unread(), until: t.last}
		if t.root != nil {
			x.From = s.optionalTS(t.root.Time)
		}
		out = append(out, x)
	}
	slices.SortStableFunc(out, func(a, b missingStretch) int {
		return cmp.Or(cmp.Compare(min(1, len(a.ThreadID)), min(1, len(b.ThreadID))), cmp.Compare(b.until, a.until), cmp.Compare(a.ThreadID, b.ThreadID))
	})
	return out
}

// joinStretches returns what is missing or stale, in the order of list, with adjacent
// stretches joined.
func joinStretches(list []earshot.Coverage) []earshot.Coverage {
	var out []earshot.Coverage
	for _, c := range list {
		if c.State != earshot.Missing && c.State != earshot.Stale {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Thread == c.Thread && out[n-1].State == c.State && out[n-1].To != 0 && c.From <= out[n-1].To+1 {
			out[n-1].To = max(out[n-1].To, c.To)
			if c.To == 0 {
				out[n-1].To = 0
			}
			continue
		}
		out = append(out, c)
	}
	return out
}

// scanned returns how many messages a search looks through, and of which time.
func (s *Set) scanned(ctx context.Context, since earshot.Time, upTo earshot.Position) (searched, error) {
	var c searched
	all, err := s.store.Count(ctx, s.scope, earshot.Whole(), upTo)
	if err != nil || all.Count == 0 {
		return c, err
	}
	c.MessagesScanned = all.Count
	if since != 0 {
		before, err := s.store.Count(ctx, s.scope, earshot.Whole(), earshot.Position{Time: since})
		if err != nil {
			return c, err
		}
		c.MessagesScanned = max(0, all.Count-before.Count)
	}
	// The count includes the anchor, which is not searched.
	last, err := s.store.Newest(ctx, s.scope, earshot.Whole(), upTo, 2)
	if err != nil {
		return c, err
	}
	if n := len(last); n > 0 && s.at.ID != "" && last[n-1].ID == s.at.ID && last[n-1].Time >= since {
		c.MessagesScanned--
		last = last[:n-1]
	}
	if c.MessagesScanned <= 0 || len(last) == 0 {
		c.MessagesScanned = 0
		return c, nil
	}
	first := all.From
	if since != 0 {
		for m, err := range s.store.Range(ctx, s.scope, earshot.Whole(), earshot.Position{Time: since}, upTo) {
			if err != nil {
				return c, err
			}
			first = m.Time
			break
		}
	}
	c.TimeRange = &[]string{s.ts(first), s.ts(last[len(last)-1].Time)}
	return c, nil
}
