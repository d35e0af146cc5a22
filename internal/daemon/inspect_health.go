package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/store"
)

// maxLooked is how many channels are asked for gaps: those that were active last.
const maxLooked = 100

// health returns how this daemon is, for the inspector. A store that does not answer
// is a part of what it says, and no error.
func (s sharedParts) health(ctx context.Context, p platform) (inspect.Health, error) {
	now := s.options.Outside.clock()
	h := inspect.Health{
		At: earshot.TimeOf(now), Version: s.options.Version, Since: earshot.TimeOf(s.began), Keeps: formatRetention(s.options.Config.Retention),
		Turns: inspect.Waiting{States: map[earshot.TurnState]int{}}, Models: []inspect.ModelCalls{}, Replicas: []inspect.Replica{}, APICalls: []inspect.APICalls{}, Gaps: []inspect.Gap{},
	}
	if spec := s.options.Config.Store; spec != "" {
		h.Store.Name = store.RedactSpec(spec)
	}
	if c := p.connection(); c.platform != "" {
		h.Platform = inspect.LinkHealth{Name: c.platform, State: c.state(), Why: c.signedOut, Lacks: c.lacks}
		if c.down || c.signedOut != "" {
			h.Platform.Since = earshot.TimeOf(c.since)
		}
	}
	if p.name == "" {
		h.Platform.State = "none"
	}
	for _, m := range s.responder.calls {
		h.Models = append(h.Models, m.since(time.Now().Add(-time.Hour)))
	}
	if since, down := s.disk.down(); down {
		h.Store.Why = "it cannot be written to since " + since.UTC().Format(time.RFC3339) + ", so events are refused"
	}
	ctx, cancel := context.WithTimeout(ctx, healthWait)
	defer cancel()
	if err := s.healthOfStore(ctx, &h); err != nil {
		s.options.Log.Error("health", "err", err)
		h.Store.Why = "an error, which is in the log"
		if errors.Is(err, context.DeadlineExceeded) {
			h.Store.Why = fmt.Sprintf("no answer within %s", healthWait)
		}
	}
	return h, nil
}

// healthWait bounds the questions to the store for one page.
const healthWait = 3 * time.Second

// healthOfStore reads what the store has.
func (s sharedParts) healthOfStore(ctx context.Context, h *inspect.Health) error {
	began := time.Now()
	list, err := Presences(ctx, s.store)
	if err != nil {
		return err
	}
	h.Store.Took = time.Since(began).Microseconds()
	for _, x := range list {
		r := inspect.Replica{
			Kind: "bot", Here: x.Owner == s.owner, Running: x.Running(h.At), Platform: x.Platform, Model: x.Model, Policy: x.Policy, Version: x.Version,
			DryRun: x.DryRun, Since: x.Since, Seen: x.Seen,
		}
		if x.Sidecar() {
			r.Kind = "sidecar"
		}
		h.Replicas = append(h.Replicas, r)
	}
	if h.Turns.States, err = s.store.Depth(ctx); err != nil {
		return err
	}
	if h.Turns.Oldest, err = s.oldest(ctx); err != nil {
		return err
	}
	if h.APICalls, err = s.apiCalls(ctx); err != nil {
		return err
	}
	shares, err := s.limitShares(ctx)
	if err != nil {
		return err
	}
	for _, limit := range slices.Sorted(maps.Keys(shares)) {
		h.Limits = append(h.Limits, inspect.LimitUse{Limit: limit, Share: shares[limit]})
	}
	return s.gaps(ctx, h)
}

// oldest returns the unfinished turn that has waited longest for a bot; nil when there is none.
func (s sharedParts) oldest(ctx context.Context) (*earshot.QueuedTurn, error) {
	unfinished := earshot.ActiveStates()
	list, err := s.store.QueuedTurns(ctx, earshot.TurnQuery{States: unfinished, Oldest: true, Limit: 1})
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return &list[0], nil
}

// apiCalls sums the calls of this hour and of the one before, the most refused first.
func (s sharedParts) apiCalls(ctx context.Context) ([]inspect.APICalls, error) {
	counts, err := s.store.Calls(ctx, earshot.TimeOf(s.options.Outside.clock().Add(-time.Hour).Truncate(time.Hour)))
	if err != nil {
		return nil, err
	}
	out := []inspect.APICalls{}
	for _, c := range counts {
		i := slices.IndexFunc(out, func(x inspect.APICalls) bool { return x.Platform == c.Platform && x.Method == c.Method })
		if i < 0 {
			i = len(out)
			out = append(out, inspect.APICalls{Platform: c.Platform, Method: c.Method})
		}
		x := &out[i]
		x.Calls, x.Limited, x.Failed, x.Waits, x.Waited = x.Calls+c.Calls, x.Limited+c.Limited, x.Failed+c.Failed, x.Waits+c.Waits, x.Waited+c.Waited.Microseconds()
	}
	slices.SortStableFunc(out, func(a, b inspect.APICalls) int { return cmp.Or(b.Limited-a.Limited, b.Calls-a.Calls) })
	return out, nil
}

// gaps finds channels of which something is missing.
func (s sharedParts) gaps(ctx context.Context, h *inspect.Health) error {
	channels, more, err := s.reader.RecentChannels(ctx, access.Principal{ID: "local:health", Kind: access.Local, ReadOnly: true}, maxLooked)
	if err != nil {
		return err
	}
	h.MoreGaps = more
	for _, c := range channels {
		list, err := s.store.Coverage(ctx, c.Scope())
		if err != nil {
			return err
		}
		g := inspect.Gap{Channel: c.Channel}
		for i, x := range slices.DeleteFunc(list, func(x earshot.Coverage) bool { return x.State != earshot.Missing }) {
			if g.Pieces++; i == 0 {
				g.From, g.To = x.From, x.To
				continue
			}
			g.From = min(g.From, x.From) // 0 is open
			if g.To == 0 || x.To == 0 {
				g.To = 0
			} else {
				g.To = max(g.To, x.To)
			}
		}
		if g.Pieces > 0 {
			h.Gaps = append(h.Gaps, g)
		}
	}
	return nil
}

// formatRetention says how long messages are kept.
func formatRetention(r config.Retention) string {
	s := formatRetentionDays(r.Days)
	if n := len(r.Keep); n == 1 {
		s += "; one workspace or channel has a rule of its own"
	} else if n > 1 {
		s += fmt.Sprintf("; %d workspaces or channels have rules of their own", n)
	}
	return s
}

func formatRetentionDays(days string) string {
	switch strings.TrimSpace(days) {
	case config.KeepForever, "":
		return "forever"
	case config.KeepNone:
		return "in memory only"
	case "1":
		return "for 1 day"
	}
	return "for " + days + " days"
}
