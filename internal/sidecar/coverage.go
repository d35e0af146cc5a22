package sidecar

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// Why entries of coverage are what they are. By whyTold a channel is known as one whose
// events callers tell, and nobody else listens to: who listens writes entries of its own.
const (
	whyTold = "its events are told to the sidecar"
	whyPast = "nobody has told what was said before"
	whyAway = "the sidecar was not running"
)

// writesAtOnce is how many channels are written at a time: the store gathers them into
// few transactions.
const writesAtOnce = 64

// hear notes when an event of the channel happened, for when its events began to be
// told. A message may be older than the event that tells of it, as one that is edited.
// Slack tells everybody of channels that are made or renamed, and of what is said in
// them only who is in them.
func (c *channelBatch) hear(e Event, now earshot.Time) {
	at := now
	switch m := e.Message; {
	case e.Happened != 0:
		at = e.Happened
	case e.Type == Said && m.Edited == 0 && m.Time > 0:
		at = m.Time
	case (e.Type == Said || e.Type == Edited) && m.Edited > 0:
		at = m.Edited
	case e.Type == Reacted && e.At > 0:
		at = e.At
	}
	at = min(at, now)
	if e.Type == Named {
		if e.Created {
			c.created = at
		}
		if !e.Created || c.channel.Platform == earshot.Slack {
			return
		}
	}
	if c.heard == 0 || at < c.heard {
		c.heard = at
	}
}

// begin notes in the store that a channel's events are told now, unless it is noted
// already, or somebody else listens to the channel: what was said before is missing
// then, as far as nothing else is known of it. What is stored already, as from an
// export, counts as known.
func (s *Service) begin(ctx context.Context, c *channelBatch) error {
	scope := c.channel.Scope()
	if access.IsOwnChannel(scope) {
		return nil // nobody but the API's callers has ever said anything there
	}
	return s.cover(ctx, scope, func(list []earshot.Coverage) ([]earshot.Coverage, error) {
		if c.created > coverage.Dawn {
			list = coverage.AddCoverage(list, earshot.Coverage{To: c.created - 1, State: earshot.Known}, true)
		}
		if c.heard == 0 {
			return list, nil
		}
		return s.heardSince(ctx, scope, list, c.heard)
	})
}

// heardSince returns a channel's entries once its events are told from a time on. What
// lies between that and what is known right before it is known too: clocks differ.
func (s *Service) heardSince(ctx context.Context, scope earshot.Scope, list []earshot.Coverage, since earshot.Time) ([]earshot.Coverage, error) {
	if coverage.RestoreHeard(list).Since != 0 {
		return list, nil
	}
	for _, e := range list {
		if e.Thread == "" && e.State == earshot.Known && e.To < since && since-e.To <= coverage.Clocks {
			since = e.To + 1
		}
	}
	stored, err := s.store.Newest(ctx, scope, earshot.Whole(), earshot.Position{Time: since}, 1)
	if err != nil {
		return nil, err
	}
	var last earshot.Time
	if len(stored) > 0 {
		last = stored[0].Time
	}
	return coverage.Begin(list, since, last, whyTold, whyPast), nil
}

// cover changes a channel's entries of coverage, one caller of this process after the
// other.
func (s *Service) cover(ctx context.Context, scope earshot.Scope, change func([]earshot.Coverage) ([]earshot.Coverage, error)) error {
	have, err := s.store.Coverage(ctx, scope)
	if err != nil {
		return fmt.Errorf("read coverage of %s: %w", scope.Channel, err)
	}
	if want, err := change(have); err != nil || len(coverage.Changes(have, want)) == 0 {
		return err
	}
	s.covering.Lock()
	defer s.covering.Unlock()
	if have, err = s.store.Coverage(ctx, scope); err != nil {
		return fmt.Errorf("read coverage of %s: %w", scope.Channel, err)
	}
	want, err := change(have)
	if err != nil {
		return err
	}
	if err := s.store.PutCoverage(ctx, scope, coverage.Changes(have, want)...); err != nil {
		return fmt.Errorf("record coverage of %s: %w", scope.Channel, err)
	}
	return nil
}

// Missed notes that no events were told for a while, because no sidecar ran: in each
// channel whose events are told, and that nobody else listens to, a gap. From 0 stands
// for the channel's newest message.
func (s *Service) Missed(ctx context.Context, from, to earshot.Time) error {
	list, err := s.store.Covered(ctx, whyTold)
	if err != nil {
		return fmt.Errorf("look for channels whose events are told: %w", err)
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(writesAtOnce)
	for _, scope := range list {
		g.Go(func() error { return s.missedIn(ctx, scope, from, to) })
	}
	return g.Wait()
}

// missedIn is Missed for one channel. It is called before anybody is served.
func (s *Service) missedIn(ctx context.Context, scope earshot.Scope, from, to earshot.Time) error {
	if from == 0 {
		newest, err := s.store.Newest(ctx, scope, earshot.Whole(), earshot.Position{}, 1)
		if err != nil {
			return err
		}
		for _, m := range newest {
			from = m.Time + 1
		}
	}
	have, err := s.store.Coverage(ctx, scope)
	since := coverage.ToldSince(have, whyTold)
	if from = max(from, since); err != nil || since == 0 || from >= to {
		return err
	}
	gap := earshot.Coverage{From: from, To: to, State: earshot.Missing, Why: whyAway}
	return s.store.PutCoverage(ctx, scope, coverage.Changes(have, coverage.AddCoverage(have, gap, false))...)
}
