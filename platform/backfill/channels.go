package backfill

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

// A channel is what the process knows of one channel. Filler.mu guards it.
type channel struct {
	earshot.Channel
	heard     coverage.Heard
	timelines map[earshot.MessageID]*timeline
	saved     map[earshot.MessageID][]earshot.Coverage // by thread, as the store has it
	used      time.Time
	left      bool         // no coverage of it is written any more
	floor     earshot.Time // what is older is not kept

	roots RootSource // nil where pages of replies begin with the newest

	saving sync.Mutex // held during a write of coverage, so that writes keep their order
}

// A timeline is what is fetched together: a thread, or the channel's top level.
// Filler.mu guards it; fetching is held in addition while pages are fetched.
type timeline struct {
	*coverage.Timeline
	channel  *channel
	fetching chan struct{} // a semaphore of one

	used        time.Time
	fetchedAt   time.Time    // the last page
	fetchedUpTo earshot.Time // the same, by the clock of messages
	refusedAt   time.Time    // the platform refused or failed
}

// Bounds of what is kept in memory and in the store. What is dropped from memory
// is read from the store again; a thread whose entries are dropped from the store
// is asked of the platform again.
const (
	maxChannels     = 4096
	maxTimelines    = 512 // of a channel
	maxSavedThreads = 256 // of a channel
)

// channel returns a channel's state. The first caller loads it from the store;
// others wait for that, as long as ctx allows.
func (f *Filler) channel(ctx context.Context, c earshot.Channel) (*channel, error) {
	f.mu.Lock()
	known := f.channels[c.Scope()]
	if known != nil {
		known.used = time.Now()
	}
	f.mu.Unlock()
	if known != nil {
		return known, nil
	}
	s := c.Scope()
	loaded := f.loads.DoChan(fmt.Sprintf("%q %q %q", s.Platform, s.Workspace, s.Channel), func() (any, error) { return f.load(ctx, c) })
	select {
	case r := <-loaded:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*channel), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// load reads a channel's coverage from the store, and adds the gaps that are not
// recorded there yet.
func (f *Filler) load(ctx context.Context, c earshot.Channel) (*channel, error) {
	f.mu.Lock()
	known := f.channels[c.Scope()]
	f.mu.Unlock()
	if known != nil { // another load has ended meanwhile
		return known, nil
	}
	list, err := f.Store.Coverage(ctx, c.Scope())
	if err != nil {
		return nil, fmt.Errorf("read coverage of channel %s: %w", c.ID, err)
	}
	x := &channel{Channel: c, timelines: map[earshot.MessageID]*timeline{}, saved: map[earshot.MessageID][]earshot.Coverage{}, used: time.Now(), roots: f.roots}
	for _, entry := range list {
		x.saved[entry.Thread] = append(x.saved[entry.Thread], entry)
	}
	x.heard = coverage.RestoreHeard(x.saved[""])
	f.mu.Lock()
	defer f.mu.Unlock()
	f.dropIdle()
	for _, gap := range f.unsavedGaps {
		x.miss(gap)
	}
	f.channels[c.Scope()] = x
	return x, nil
}

// drop forgets a channel's state: the next user loads it from the store. f.mu is
// held.
func (f *Filler) drop(c *channel) {
	if f.channels[c.Scope()] == c {
		delete(f.channels, c.Scope())
	}
}

// reload makes the next user load a channel from the store, after an error of
// the store: whoever asked may have recorded the failure there as coverage.
func (f *Filler) reload(s earshot.Scope) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.channels, s)
}

// dropIdle makes room in memory: of more than maxChannels channels it drops half
// of the idle ones, those that were not used for longest. f.mu is held.
func (f *Filler) dropIdle() {
	if len(f.channels) < maxChannels {
		return
	}
	var idle []*channel
	for _, c := range f.channels {
		if !c.busy() {
			idle = append(idle, c)
		}
	}
	slices.SortFunc(idle, func(x, y *channel) int { return x.used.Compare(y.used) })
	for _, c := range idle[:len(idle)/2] {
		delete(f.channels, c.Scope())
	}
}

// busy reports whether pages of the channel are being fetched.
func (c *channel) busy() bool {
	for _, t := range c.timelines {
		if len(t.fetching) > 0 {
			return true
		}
	}
	return false
}

// unfinished returns the threads of which the store says that something is
// missing, by id.
func (c *channel) unfinished() []earshot.MessageID {
	var ids []earshot.MessageID
	for id, list := range c.saved {
		if id != "" && slices.ContainsFunc(list, func(e earshot.Coverage) bool { return e.State != earshot.Known }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// forget notes that nothing is kept of the channel from before a time.
func (c *channel) forget(before earshot.Time) {
	if before <= c.floor {
		return
	}
	c.floor = before
	c.heard.Forget(before)
	for _, t := range c.timelines {
		t.Forget(before)
	}
}

// miss notes that events may have been missed.
func (c *channel) miss(gap coverage.Span) {
	gap, ok := c.heard.Miss(gap)
	if !ok {
		return
	}
	for _, t := range c.timelines {
		t.Lose(gap)
	}
}

// timeline returns a thread's timeline, or with "" the top level's.
func (c *channel) timeline(thread earshot.MessageID) *timeline {
	now := time.Now()
	if t := c.timelines[thread]; t != nil {
		t.used = now
		return t
	}
	if len(c.timelines) >= maxTimelines {
		for id, t := range c.timelines {
			if id != "" && len(t.fetching) == 0 && now.Sub(t.used) > time.Minute {
				delete(c.timelines, id)
			}
		}
	}
	t := &timeline{Timeline: coverage.Restore(&c.heard, thread, c.saved[thread], c.roots == nil), channel: c, fetching: make(chan struct{}, 1), used: now}
	if thread != "" && c.roots != nil {
		t.SetRootTime(c.roots.RootTime(thread))
	}
	t.Forget(c.floor)
	c.timelines[thread] = t
	return t
}

// lock waits until nobody else fetches pages of the timeline.
func (t *timeline) lock(ctx context.Context) error {
	select {
	case t.fetching <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tryLock is lock without waiting. It reports whether it succeeded.
func (t *timeline) tryLock() bool {
	select {
	case t.fetching <- struct{}{}:
		return true
	default:
		return false
	}
}

func (t *timeline) unlock() { <-t.fetching }

// part returns what the timeline is in the store.
func (t *timeline) part() earshot.ChannelPart { return earshot.ThreadOf(t.Thread()) }

// method returns the method of [Source] that reads the timeline.
func (t *timeline) method() string {
	if t.Thread() == "" {
		return History
	}
	return Replies
}

// rateKey returns under which key the timeline's requests are limited.
func (t *timeline) rateKey() rateKey { return rateKey{t.channel.Workspace, t.method()} }

// String names the timeline in errors.
func (t *timeline) String() string {
	if t.Thread() == "" {
		return fmt.Sprintf("channel %s", t.channel.ID)
	}
	return fmt.Sprintf("thread %s of channel %s", t.Thread(), t.channel.ID)
}

// logAttrs returns a timeline's attributes for the log.
func (t *timeline) logAttrs() []any {
	c := t.channel
	return []any{"platform", c.Platform, "workspace", c.Workspace, "channel", c.ID, "thread", t.Thread()}
}
