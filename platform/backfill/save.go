package backfill

import (
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

// save writes a timeline's coverage into the store where the store has it
// otherwise.
func (f *Filler) save(ctx context.Context, t *timeline) error {
	c := t.channel
	c.saving.Lock()
	defer c.saving.Unlock()
	f.mu.Lock()
	want := t.Entries(f.Now(), f.StaleServeTTL)
	put := coverage.Changes(c.saved[t.Thread()], want)
	if len(put) > 0 && t.Thread() != "" && len(want) > 0 {
		put = append(put, c.dropOldest(t.Thread())...)
	}
	if len(put) == 0 || c.left {
		f.mu.Unlock()
		return nil
	}
	if c.saved[t.Thread()] = want; len(want) == 0 {
		delete(c.saved, t.Thread())
	}
	f.mu.Unlock()
	if err := f.Store.PutCoverage(ctx, c.Scope(), put...); err != nil {
		f.mu.Lock()
		f.drop(c) // what the store has now is not known: load it again
		f.mu.Unlock()
		return fmt.Errorf("record coverage of channel %s: %w", c.ID, err)
	}
	return nil
}

// dropOldest drops the thread whose coverage ends earliest, where more threads
// than maxSavedThreads have entries. It returns what removes them from the store.
// The thread keep is not dropped, nor is one that is being fetched.
func (c *channel) dropOldest(keep earshot.MessageID) []earshot.Coverage {
	if len(c.saved) <= maxSavedThreads {
		return nil
	}
	var oldest earshot.MessageID
	at := coverage.Forever
	for id, list := range c.saved {
		if id == "" || id == keep || c.timelines[id] != nil && len(c.timelines[id].fetching) > 0 {
			continue
		}
		newest := earshot.Time(0)
		for _, e := range list {
			newest = max(newest, e.To)
		}
		if newest < at || newest == at && id < oldest {
			oldest, at = id, newest
		}
	}
	if oldest == "" {
		return nil
	}
	out := slices.Clone(c.saved[oldest])
	for i := range out {
		out[i].State = ""
	}
	delete(c.saved, oldest)
	delete(c.timelines, oldest)
	return out
}
