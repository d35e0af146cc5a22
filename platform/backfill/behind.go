package backfill

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
)

// A Gap is a time in which events may have been missed.
type Gap struct {
	From, To time.Time
	// First says that no earlier time is known at which events came: in a stored channel
	// they are missed since its newest message, in others since From.
	First bool
}

// A Newest is what a platform tells of the newest message of a channel's top level, or of
// a thread.
type Newest struct {
	Channel earshot.Channel
	Thread  earshot.MessageID // "" for the top level
	// ID and Time are those of the newest message, which may be deleted; "" and 0 where the
	// platform tells that there never was one.
	ID   earshot.MessageID
	Time earshot.Time
	// None says that nothing can stand there.
	None bool

	unknown bool // the platform does not tell of it
	// First is read before the others: somebody may be talking with the agent.
	First bool
}

// Behind notes that events may have been missed in the workspace, and takes from the
// platform, for the channels and active threads that it tells of, when something was
// said there last. What is older than the gap, or stored, is not read. The rest is
// recorded as missing in the store before Behind returns, and fetched in the background,
// the newest first, where it was said within [Options.Active].
//
// Of a stored channel that told does not have nothing is known, and of a thread of it
// neither: all of it is recorded. Of a channel that is not stored only what a question
// may be among, younger than [Options.Fresh], is read. What does not make a new message,
// such as an edit, is found in what is read, and nowhere else.
//
// The error is the store's; calling again with the same is right.
func (f *Filler) Behind(ctx context.Context, gap Gap, told []Newest) error {
	list, err := f.Store.FindChannels(ctx, earshot.ChannelQuery{Platform: f.Platform, Workspaces: []earshot.WorkspaceID{f.Workspace}})
	if err != nil {
		return fmt.Errorf("record what may have been missed: %w", err)
	}
	span := coverage.Span{From: max(coverage.Dawn, earshot.TimeOf(gap.From)-coverage.Clocks), To: earshot.TimeOf(gap.To)}
	f.mu.Lock()
	f.heardSince = max(f.heardSince, span.To)
	f.mu.Unlock()
	by := map[earshot.ChannelID][]Newest{}
	for _, n := range told {
		by[n.Channel.ID] = append(by[n.Channel.ID], n)
	}
	var all []missedChannel
	for _, info := range list {
		x := missedChannel{ChannelInfo: info, stored: true, span: span, told: by[info.ID]}
		if delete(by, info.ID); gap.First {
			x.span, x.guess = coverage.Span{From: max(coverage.Dawn, info.Last), To: max(span.To, info.Last)}, info.Threads > 0
		}
		all = append(all, x)
	}
	oldest := max(earshot.TimeOf(gap.From), f.Now()-earshot.Time(f.Fresh/time.Microsecond))
	for _, list := range by {
		all = append(all, missedChannel{ChannelInfo: earshot.ChannelInfo{Channel: list[0].Channel}, span: coverage.Span{From: oldest, To: span.To}, told: list})
	}
	jobs := make([][]missedJob, len(all))
	g, within := errgroup.WithContext(ctx)
	g.SetLimit(maxGapWrites)
	for i := range all {
		if !all[i].suspect() {
			continue
		}
		g.Go(func() (err error) {
			jobs[i], err = f.examine(within, &all[i])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("record what may have been missed: %w", err)
	}
	f.queueMissed(slices.Concat(jobs...))
	return nil
}

// A missedChannel is a channel in which events may have been missed within a span.
type missedChannel struct {
	earshot.ChannelInfo
	stored bool
	guess  bool // the span begins with a stored message that may be of any of its threads
	span   coverage.Span
	told   []Newest
}

// A missedJob is a timeline in which something was missed.
type missedJob struct {
	job
	first bool
	at    earshot.Time // of its newest message
}

// What is known of a timeline within a span.
type missedState int

const (
	unsure missedState = iota // the store has to be asked for the newest message
	silent                    // nothing was said
	spoken                    // something was said
	untold                    // the platform does not tell
)

// state returns what is known of a timeline without a look at its messages.
func (x *missedChannel) state(n Newest) missedState {
	switch {
	case n.None, n.ID == "" && x.Messages == 0 && !n.unknown:
		return silent
	case n.ID == "": // it does not, or what it tells is wrong: there is a message
		return untold
	case n.Time == x.Last && x.Threads == 0, n.Time < x.span.From && !x.guess:
		return silent
	case !x.stored:
		return spoken
	}
	return unsure
}

// suspect reports whether anything may have been missed in the channel, or in threads of it
// that are archived: of those the platform does not tell.
func (x *missedChannel) suspect() bool {
	loud := slices.ContainsFunc(x.told, func(n Newest) bool { return x.state(n) != silent })
	return loud || x.stored && (x.Threads > 0 || !x.tellsTop())
}

// tellsTop reports whether the platform tells of the channel's top level.
func (x *missedChannel) tellsTop() bool {
	return slices.ContainsFunc(x.told, func(n Newest) bool { return n.Thread == "" })
}

// examine records what was missed of a channel, and returns what is to be fetched soon.
func (f *Filler) examine(ctx context.Context, x *missedChannel) (jobs []missedJob, err error) {
	have, err := f.haveNewest(ctx, x)
	if err != nil {
		return nil, err
	}
	var quiet []earshot.MessageID // timelines in which nothing was said
	told := x.told
	if x.stored && !x.tellsTop() {
		told = append(slices.Clone(told), Newest{Channel: x.Channel, unknown: true})
	}
	for _, n := range told {
		state := x.state(n)
		if state == unsure && have[n.ID] {
			state = silent
		}
		if state == untold {
			n.Time = x.Last
		}
		switch {
		case state == silent:
			quiet = append(quiet, n.Thread)
		case n.Time >= f.activeSince():
			jobs = append(jobs, missedJob{job{channel: x.Channel, thread: n.Thread}, n.First, n.Time})
		}
	}
	if len(quiet) == len(told) && x.Threads == 0 {
		return nil, nil
	}
	if !x.stored {
		if err := f.Store.PutChannel(ctx, x.Channel); err != nil {
			return nil, err
		}
	}
	return jobs, f.recordMissed(ctx, x, quiet)
}

// haveNewest returns which of the newest messages are stored, where that has to be known.
func (f *Filler) haveNewest(ctx context.Context, x *missedChannel) (map[earshot.MessageID]bool, error) {
	var ids []earshot.MessageID
	for _, n := range x.told {
		if x.state(n) == unsure {
			ids = append(ids, n.ID)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	list, err := f.Store.ByID(ctx, x.Scope(), ids...)
	have := map[earshot.MessageID]bool{}
	for _, m := range list {
		have[m.ID] = true
	}
	return have, err
}

// recordMissed records the span in the channel's coverage: as missing, but for the
// timelines in which nothing was said.
func (f *Filler) recordMissed(ctx context.Context, x *missedChannel, quiet []earshot.MessageID) error {
	c, err := f.channel(ctx, x.Channel)
	if err != nil {
		return err
	}
	f.mu.Lock()
	c.heard.Begin(x.span.From)
	c.miss(x.span)
	for _, thread := range quiet {
		c.timeline(thread).AddKnown(x.span)
	}
	t := c.timeline("")
	f.mu.Unlock()
	return f.save(ctx, t)
}

// queueMissed queues what Behind has found: where somebody may be talking with the agent
// first, then the newest.
func (f *Filler) queueMissed(list []missedJob) {
	slices.SortFunc(list, func(a, b missedJob) int {
		if a.first != b.first {
			return map[bool]int{true: -1, false: 1}[a.first]
		}
		return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(a.channel.ID, b.channel.ID), cmp.Compare(a.thread, b.thread))
	})
	for _, j := range list {
		f.mu.Lock()
		f.behind[j.key()] = true
		f.mu.Unlock()
		if !f.enqueue(j.job) {
			f.caughtUp(j.job)
		}
	}
}

// caughtUp notes that a job is over, whether it succeeded or was given up.
func (f *Filler) caughtUp(j job) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.behind, j.key())
}

// CatchingUp reports whether something is still to be fetched of what [Filler.Behind] has
// queued. A process that ends before has not answered what was asked meanwhile.
func (f *Filler) CatchingUp() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.behind) > 0
}
