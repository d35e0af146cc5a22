package sidecar

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/coverage"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A Past says of which channel, and of which thread of it, a caller tells history.
type Past struct {
	Channel earshot.Channel   // as in [Event]
	Thread  earshot.MessageID // its root's id; "" for the channel
}

// A Range is the time that a caller asked its platform for. 0 is open.
type Range struct{ From, To earshot.Time }

// A Going is how a platform is asked for what a page did not show, in its own words;
// all are empty where it showed all that was asked for.
type Going struct {
	Oldest, Latest string // of Slack
	Before, After  string // of Discord
}

// A Recalled is what has come of told history.
type Recalled struct {
	Past  // with the channel as it is stored
	Told  []EventResult
	Known earshot.Coverage // what is known by it; without a State where nothing is
	// Open is what is still missing or stale of the thread, or of the channel's own
	// history.
	Open []earshot.Coverage
	Next Going
}

// A stretch is history that is about to be stored.
type stretch struct {
	Past
	batch
	events []Event
	known  coverage.Span // the time that they are all of; empty for none
	all    bool          // of the channel with its threads
	next   Going
}

// nothing is a Span without any time.
var nothing = coverage.Span{From: 1}

// History stores messages of a channel's past, or of a thread's, and that they are all
// that was said in a stretch of time: from the first of them on where the range has no
// begin, and until now where it has no end. With whole nothing was said before them.
func (s *Service) History(ctx context.Context, p access.Principal, at Past, list []earshot.Message, r Range, whole bool) (Recalled, error) {
	h := stretch{Past: at, batch: batch{of: "messages", once: true}, all: at.Thread == "", known: coverage.Span{From: r.From, To: r.To}}
	for i, m := range list {
		path := fmt.Sprintf("messages[%d]", i)
		if at.Thread != "" && m.ID != at.Thread {
			if m.Thread != "" && m.Thread != at.Thread {
				return Recalled{}, visible.InvalidField(path+".thread", "is another thread than the one that is told")
			}
			m.Thread = at.Thread
		}
		if m.Time != 0 && (r.From != 0 && m.Time < r.From || r.To != 0 && m.Time > r.To) && m.ID != at.Thread {
			return Recalled{}, visible.InvalidField(path+".time", "lies outside of from and to")
		}
		if r.From == 0 && m.Time != 0 && (h.known.From == 0 || m.Time < h.known.From) {
			h.known.From = m.Time
		}
		h.events = append(h.events, Event{Type: Said, Channel: at.Channel, Message: m})
	}
	switch {
	case whole:
		h.known.From = coverage.Dawn
	case h.known.From == 0:
		h.known = nothing
		return s.recall(ctx, p, h)
	}
	if h.known.To == 0 {
		h.known.To = s.now()
	}
	return s.recall(ctx, p, h)
}

// placed returns of which channel a caller tells, with its platform and workspace, or
// refuses: nothing of a page is read, and no name looked up, before that is known.
func (s *Service) placed(ctx context.Context, p access.Principal, at Past) (Past, error) {
	if p.ReadOnly || p.Fixed != nil {
		return at, visible.ReadOnly
	}
	if err := checkPast(at); err != nil {
		return at, err
	}
	c, _, err := s.target(ctx, p, at.Channel, "channel")
	at.Channel.Platform, at.Channel.Workspace = c.Platform, c.Workspace
	return at, err
}

// recall stores history and what is known by it.
func (s *Service) recall(ctx context.Context, p access.Principal, h stretch) (Recalled, error) {
	if p.ReadOnly || p.Fixed != nil {
		return Recalled{}, visible.ReadOnly
	}
	if err := checkPast(h.Past); err != nil {
		return Recalled{}, err
	}
	c, stored, err := s.target(ctx, p, h.Channel, "channel")
	if err == nil && len(h.events) == 0 { // with events their channel is counted
		err = s.maker.Hold(c.Scope())
	}
	if err != nil {
		return Recalled{}, err
	}
	for i := range h.events { // the channel that is meant, whatever else has its id
		if h.events[i].Type != Nameless {
			h.events[i].Channel = earshot.Channel{Platform: c.Platform, Workspace: c.Workspace, ID: c.ID}
		}
	}
	bare := false // nothing is known of the channel, and what is not told is missing
	if h.Thread == "" {
		have, err := s.store.Coverage(ctx, c.Scope())
		if err != nil {
			return Recalled{}, err
		}
		newest, err := s.store.Newest(ctx, c.Scope(), earshot.Whole(), earshot.Position{}, 1)
		if err != nil {
			return Recalled{}, err
		}
		bare = len(have)+len(newest) == 0
	}
	h.past = true
	out := Recalled{Past: h.Past, Next: h.next}
	if out.Told, err = s.events(ctx, p, h.events, h.batch); err != nil {
		return Recalled{}, err
	}
	if described := setChannelFacts(&c, h.Channel); !stored || described {
		if err := s.storeChannel(ctx, c); err != nil {
			return Recalled{}, err
		}
	}
	out.Channel = c
	h.known.To = min(h.known.To, s.now())
	err = s.cover(ctx, c.Scope(), func(list []earshot.Coverage) ([]earshot.Coverage, error) {
		if h.known.From <= h.known.To {
			if bare && h.known.From > coverage.Dawn {
				list = coverage.AddCoverage(list, earshot.Coverage{To: h.known.From - 1, State: earshot.Missing, Why: whyPast}, false)
			}
			out.Known = earshot.Coverage{Thread: h.Thread, From: h.known.From, To: h.known.To, State: earshot.Known}
			list = coverage.AddCoverage(list, out.Known, h.all)
		}
		out.Open = openOf(list, h.Thread)
		return list, nil
	})
	return out, err
}

// checkPast refuses what breaks a bound.
func checkPast(at Past) error {
	switch {
	case at.Channel.ID == "":
		return visible.InvalidField("channel.id", "is required")
	case len(at.Channel.ID) > 512:
		return visible.InvalidField("channel.id", "is longer than 512 bytes")
	case len(at.Channel.Platform) > maxPlatform:
		return visible.InvalidField("channel.platform", fmt.Sprintf("is longer than %d bytes", maxPlatform))
	case len(at.Channel.Workspace) > maxID:
		return visible.InvalidField("channel.workspace", fmt.Sprintf("is longer than %d bytes", maxID))
	case len(at.Channel.Name) > maxName || len(at.Channel.Topic) > maxTopic || len(at.Channel.Purpose) > maxTopic:
		return visible.InvalidField("channel", fmt.Sprintf("has a name longer than %d bytes, or a topic or purpose longer than %d", maxName, maxTopic))
	case len(at.Thread) > 512 || at.Thread != "" && !isWord(string(at.Thread)):
		return visible.InvalidField("thread", "must have at most 512 bytes, without spaces and control characters")
	}
	return nil
}

// openOf returns the entries of a thread, or of the channel itself, that are not known.
func openOf(list []earshot.Coverage, thread earshot.MessageID) []earshot.Coverage {
	out := []earshot.Coverage{}
	for _, e := range list {
		if e.Thread == thread && e.State != earshot.Known {
			out = append(out, e)
		}
	}
	return out
}

// maxStatements bounds what one call says of coverage.
const maxStatements = 100

// Cover stores what a caller says is known of a channel, and of threads: known, missing
// or stale stretches, in their order. A stretch without an end ends now; where that is a
// known one of the channel, its events count as told from now on. What is known of the
// channel is known of its threads too. It returns what is missing or stale then.
func (s *Service) Cover(ctx context.Context, p access.Principal, channel earshot.Channel, said []earshot.Coverage) (earshot.Channel, []earshot.Coverage, error) {
	if p.ReadOnly || p.Fixed != nil {
		return channel, nil, visible.ReadOnly
	}
	if len(said) == 0 || len(said) > maxStatements {
		return channel, nil, visible.InvalidField("coverage", fmt.Sprintf("must be 1 to %d", maxStatements))
	}
	now := s.now()
	for i, e := range said {
		at := fmt.Sprintf("coverage[%d]", i)
		if err := checkPast(Past{channel, e.Thread}); err != nil {
			return channel, nil, err
		}
		switch {
		case len(e.Why) > maxName:
			return channel, nil, visible.InvalidField(at+".why", fmt.Sprintf("must have at most %d bytes", maxName))
		case e.From < 0 || e.From > now:
			return channel, nil, visible.InvalidField(at+".from", "must be a time after 1970 that is over")
		case e.To < 0 || e.To > now+coverage.Clocks:
			return channel, nil, visible.InvalidField(at+".to", "must be a time after 1970 that is over")
		case e.To != 0 && e.To < e.From:
			return channel, nil, visible.InvalidField(at+".to", "lies before from")
		}
	}
	c, stored, err := s.target(ctx, p, channel, "channel")
	if err == nil {
		err = s.maker.Hold(c.Scope())
	}
	if err != nil {
		return channel, nil, err
	}
	if described := setChannelFacts(&c, channel); !stored || described {
		if err := s.storeChannel(ctx, c); err != nil {
			return channel, nil, err
		}
	}
	var open []earshot.Coverage
	err = s.cover(ctx, c.Scope(), func(list []earshot.Coverage) ([]earshot.Coverage, error) {
		for _, e := range said {
			if e.Thread == "" && e.State == earshot.Known && e.To == 0 {
				var err error
				if list, err = s.heardSince(ctx, c.Scope(), list, now); err != nil {
					return nil, err
				}
			}
			if e.To == 0 || e.To > now {
				e.To = now
			}
			list = coverage.AddCoverage(list, e, true)
		}
		open = []earshot.Coverage{}
		for _, e := range list {
			if e.State != earshot.Known {
				open = append(open, e)
			}
		}
		return list, nil
	})
	return c, open, err
}

// Open returns what is missing or stale of a channel that the caller may read: of its
// own history, or with a thread of that.
func (s *Service) Open(ctx context.Context, at earshot.Scope, thread earshot.MessageID) ([]earshot.Coverage, error) {
	list, err := s.store.Coverage(ctx, at)
	if err != nil {
		return nil, fmt.Errorf("read coverage of %s: %w", at.Channel, err)
	}
	out := openOf(list, thread)
	if thread == "" {
		return out, nil
	}
	more, err := gather.OpenThread(ctx, s.store, at, thread, list, s.now(), false)
	return append(out, more...), err
}
