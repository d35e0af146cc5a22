package backfill

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// What the store is told of a channel. Its top level has one stretch that is
// known and open: since then it is heard. Closed stretches after its beginning
// are the gaps, known where the top level was fetched since; those before it
// were fetched, or are missing. A thread has what was fetched, and what a turn
// asked for and is not known.

// entries returns the lane as the store is to have it.
func (l *lane) entries(now earshot.Time, staleServe time.Duration) []earshot.Coverage {
	var out []earshot.Coverage
	got, upTo := l.got, l.upTo
	if l.thread == "" {
		// Gaps stand by themselves, so that they are found again.
		got, upTo = l.got.within(span{dawn, l.room.since - 1}), forever
		for _, g := range l.room.gaps {
			got = append(got, l.got.within(g)...)
		}
		if l.room.since != 0 {
			out = append(out, earshot.Coverage{From: l.room.since, State: earshot.Known})
		}
	}
	for _, k := range got {
		out = append(out, earshot.Coverage{Thread: l.thread, From: k.from, To: k.to, State: earshot.Known})
	}
	for _, u := range l.unknown(upTo) {
		gap := l.isGap(u)
		if !gap && !l.wanted {
			continue
		}
		c := earshot.Coverage{Thread: l.thread, From: u.from, To: u.to, State: earshot.Missing, Why: cmp.Or(l.why, "not loaded yet")}
		if u.from <= max(dawn, l.first) {
			c.From = 0
		}
		if age := time.Duration(now-u.from) * time.Microsecond; gap && l.untouched(u, upTo) && age <= staleServe {
			c.State = earshot.Stale
			c.Why = fmt.Sprintf("as it was %s ago: %s", age.Round(time.Second), cmp.Or(l.why, "events may have been missed"))
		}
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b earshot.Coverage) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return out
}

// isGap reports whether u was missed while the channel was listened to.
func (l *lane) isGap(u span) bool { return l.room.since != 0 && u.from >= l.room.since }

// untouched reports whether nothing of u's gap was fetched: that is done from
// the newest backwards.
func (l *lane) untouched(u span, upTo earshot.Time) bool {
	return slices.ContainsFunc(l.room.gaps, func(g span) bool { return min(g.to, upTo) == u.to })
}

// save writes the lane into the store where it is not what the store has.
func (f *Filler) save(ctx context.Context, l *lane) error {
	r := l.room
	r.order.Lock()
	defer r.order.Unlock()
	f.mu.Lock()
	want := l.entries(f.Now(), f.StaleServeTTL)
	put := changes(r.saved[l.thread], want)
	if len(put) > 0 && l.thread != "" && len(want) > 0 {
		put = append(put, r.forget(l.thread)...)
	}
	if len(put) == 0 || r.left {
		f.mu.Unlock()
		return nil
	}
	if r.saved[l.thread] = want; len(want) == 0 {
		delete(r.saved, l.thread)
	}
	f.mu.Unlock()
	err := f.Store.PutCoverage(ctx, r.channel.Scope(), put...)
	if err != nil {
		f.mu.Lock()
		if f.rooms[r.channel.Scope()] == r {
			delete(f.rooms, r.channel.Scope()) // what the store has is not known: read it again
		}
		f.mu.Unlock()
		return fmt.Errorf("record coverage of channel %s: %w", r.channel.ID, err)
	}
	return nil
}

// changes returns what makes have into want.
func changes(have, want []earshot.Coverage) []earshot.Coverage {
	var out []earshot.Coverage
	for _, c := range want {
		if !slices.Contains(have, c) {
			out = append(out, c)
		}
	}
	for _, c := range have {
		if !slices.ContainsFunc(want, func(w earshot.Coverage) bool { return w.From == c.From && w.To == c.To }) {
			c.State = ""
			out = append(out, c)
		}
	}
	return out
}

// forget returns what removes the entries of the thread that was known longest
// ago, when there are too many besides the one that is kept.
func (r *room) forget(keep earshot.MessageID) []earshot.Coverage {
	if len(r.saved) <= maxThreads {
		return nil
	}
	var oldest earshot.MessageID
	at := forever
	for id, list := range r.saved {
		if id == "" || id == keep || r.lanes[id] != nil && len(r.lanes[id].busy) > 0 {
			continue
		}
		newest := earshot.Time(0)
		for _, c := range list {
			newest = max(newest, c.To)
		}
		if newest < at || newest == at && id < oldest {
			oldest, at = id, newest
		}
	}
	if oldest == "" {
		return nil
	}
	out := slices.Clone(r.saved[oldest])
	for i := range out {
		out[i].State = ""
	}
	delete(r.saved, oldest)
	delete(r.lanes, oldest)
	return out
}
