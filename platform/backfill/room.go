package backfill

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
)

// A room is what is known of one channel.
type room struct {
	channel earshot.Channel
	ready   chan struct{} // closed once it is read from the store
	err     error         // of that

	// since is when the agent began to hear what is said in the channel, 0
	// when it has not; gaps are in which time since it may have missed some.
	since earshot.Time
	gaps  spans

	lanes map[earshot.MessageID]*lane
	saved map[earshot.MessageID][]earshot.Coverage // by thread, as the store has it
	used  time.Time
	left  bool // nothing of it is written any more

	order sync.Mutex // of writes to the store
}

// A lane is what is fetched together: a thread, or the channel's top level.
type lane struct {
	room   *room
	thread earshot.MessageID // "" for the top level
	busy   chan struct{}     // holds a token while someone fetches or saves

	got         spans        // fetched
	first       earshot.Time // the thread's root was said then; 0 when that is not known
	upTo        earshot.Time // turns have asked up to here
	wanted      bool         // a turn has asked at all
	hidden      earshot.Time // the platform keeps to itself what is older
	walk        walk
	newestFirst bool    // how the platform's pages come
	asked       bool    // at least one page came
	rootAsked   bool    // the root was asked for by itself
	next        *Window // what goes on where a page brought nothing

	used    time.Time
	fetched time.Time    // the last page
	seen    earshot.Time // the same, by the clock of messages
	refused time.Time    // the platform would not, or could not
	why     string       // what is missing is missing, for the operator
}

// Bounds of what is kept. What is forgotten is read from the store again; of
// threads that the store forgets, a turn asks the platform again.
const (
	maxRooms   = 4096
	maxLanes   = 512 // of a channel
	maxThreads = 256 // of a channel, with entries in the store
	maxGaps    = 16  // of a channel
)

// room returns a channel's state, which is read from the store at first.
func (f *Filler) room(ctx context.Context, c earshot.Channel) (*room, error) {
	f.mu.Lock()
	r := f.rooms[c.Scope()]
	load := r == nil
	if load {
		f.shrink()
		r = &room{channel: c, ready: make(chan struct{}), lanes: map[earshot.MessageID]*lane{}, saved: map[earshot.MessageID][]earshot.Coverage{}}
		f.rooms[c.Scope()] = r
	}
	r.used = time.Now()
	f.mu.Unlock()
	if !load {
		select {
		case <-r.ready:
			return r, r.err
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	list, err := f.Store.Coverage(ctx, c.Scope())
	f.mu.Lock()
	defer f.mu.Unlock()
	defer close(r.ready)
	if err != nil {
		r.err = fmt.Errorf("read coverage of channel %s: %w", c.ID, err)
		if f.rooms[c.Scope()] == r {
			delete(f.rooms, c.Scope())
		}
		return nil, r.err
	}
	r.read(list)
	for _, gap := range f.missed {
		r.miss(gap)
	}
	return r, nil
}

// shrink forgets the rooms that were not used for longest. f.mu is held.
func (f *Filler) shrink() {
	if len(f.rooms) < maxRooms {
		return
	}
	var idle []*room
	for _, r := range f.rooms {
		if !r.isBusy() {
			idle = append(idle, r)
		}
	}
	slices.SortFunc(idle, func(x, y *room) int { return x.used.Compare(y.used) })
	for _, r := range idle[:len(idle)/2] {
		delete(f.rooms, r.channel.Scope())
	}
}

func (r *room) isBusy() bool {
	select {
	case <-r.ready:
	default:
		return true
	}
	for _, l := range r.lanes {
		if len(l.busy) > 0 {
			return true
		}
	}
	return false
}

// read takes up what the store has. An open stretch of the channel that is
// known says since when it is heard, and the closed ones after it what was
// missed of that, whether or not the top level was fetched since.
func (r *room) read(list []earshot.Coverage) {
	for _, c := range list {
		r.saved[c.Thread] = append(r.saved[c.Thread], c)
		if c.Thread == "" && c.State == earshot.Known && c.To == 0 {
			r.since = max(r.since, c.From)
		}
	}
	if r.since == 0 {
		return
	}
	for _, c := range r.saved[""] {
		if c.From >= r.since && c.To != 0 {
			r.gaps = r.gaps.add(span{c.From, c.To})
		}
	}
}

// unfinished returns the threads of which the store says that something is
// missing, by id.
func (r *room) unfinished() []earshot.MessageID {
	var ids []earshot.MessageID
	for id, list := range r.saved {
		if id != "" && slices.ContainsFunc(list, func(c earshot.Coverage) bool { return c.State != earshot.Known }) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// miss notes that events may have been missed. Of many gaps the oldest are
// given up: it is as if the channel had been heard only since.
func (r *room) miss(gap span) {
	gap.from = max(gap.from, r.since)
	if r.since == 0 || gap.from > gap.to {
		return
	}
	r.gaps = r.gaps.add(gap)
	for _, l := range r.lanes {
		l.got, l.next = l.got.without(gap), nil
	}
	for len(r.gaps) > maxGaps {
		r.since = r.gaps[0].to + 1
		r.gaps = r.gaps[1:]
	}
}

// listens notes that a message was heard. f.mu is held.
func (f *Filler) listens(r *room, m earshot.Message) {
	if r.since == 0 {
		r.since = max(m.Time, f.heard)
	}
}

// lane returns a thread's state, or with "" the top level's.
func (r *room) lane(thread earshot.MessageID) *lane {
	now := time.Now()
	if l := r.lanes[thread]; l != nil {
		l.used = now
		return l
	}
	if len(r.lanes) >= maxLanes {
		for id, l := range r.lanes {
			if id != "" && len(l.busy) == 0 && now.Sub(l.used) > time.Minute {
				delete(r.lanes, id)
			}
		}
	}
	l := &lane{room: r, thread: thread, busy: make(chan struct{}, 1), used: now}
	for _, c := range r.saved[thread] {
		switch {
		case c.State == earshot.Known && c.To != 0:
			l.got = l.got.add(span{max(dawn, c.From), c.To})
		case c.State != earshot.Known && (thread != "" || c.From < r.since):
			l.wanted = true // a turn has asked, before the room was forgotten
		}
		if thread != "" {
			l.upTo = max(l.upTo, c.To)
		}
	}
	r.lanes[thread] = l
	return l
}

// hold waits until nobody else fetches in the lane.
func (l *lane) hold(ctx context.Context) error {
	select {
	case l.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *lane) release() { <-l.busy }

// part returns the stretch of the store that the lane is.
func (l *lane) part() earshot.Part { return earshot.ThreadOf(l.thread) }

// method returns by which method the lane is fetched.
func (l *lane) method() string {
	if l.thread == "" {
		return History
	}
	return Replies
}

// known returns what of the lane is known: heard or fetched.
func (l *lane) known() spans {
	if l.room.since == 0 {
		return l.got
	}
	heard := spans{{l.room.since, forever}}
	for _, g := range l.room.gaps {
		heard = heard.without(g)
	}
	return heard.with(l.got)
}

// unknown returns what of the lane is not known, up to a time. What was missed
// is told apart from what was said before anyone listened.
func (l *lane) unknown(upTo earshot.Time) []span {
	known, since := l.known(), l.room.since
	from := max(dawn, l.first)
	return append(known.missing(span{from, min(upTo, since-1)}), known.missing(span{max(from, since), upTo})...)
}
