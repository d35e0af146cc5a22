package daemon

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// Every beatEvery a daemon writes into its store that it runs. One whose last
// heartbeat is older than lostAfter is taken for dead, and the next daemon that
// starts drops its note once it is older than keptFor. A note that lies more
// than aheadBy in the future is dropped too: the clock that wrote it was wrong
// and has been set back, and the note would show a dead daemon as running.
const (
	beatEvery = 10 * time.Second
	lostAfter = 3 * beatEvery
	aheadBy   = 30 * time.Minute // how much the clocks of replicas may differ, as for leases
	keptFor   = 24 * time.Hour

	presenceKey = "daemon/" // followed by the owner
)

// A Presence describes a daemon in its store.
type Presence struct {
	Owner    string `json:"owner"`    // random for each start
	Platform string `json:"platform"` // "" of a sidecar, which has no model either
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Fallback string `json:"fallback,omitempty"` // the model that answers if the first fails
	API      string `json:"api,omitempty"`      // the address of the HTTP API
	Inspect  string `json:"inspect,omitempty"`  // the URL of the inspector
	Policy   string `json:"policy"`
	Version  string `json:"version,omitempty"`
	// Prices are those of its configuration, for commands that have none of their own.
	Prices map[string]config.Price `json:"prices,omitempty"`
	// Limits are those of a day in its configuration at its start, without those of rules.
	Limits config.DayLimits `json:"limits,omitzero"`

	DryRun bool         `json:"dry_run,omitempty"`
	Since  earshot.Time `json:"since"`
	Seen   earshot.Time `json:"seen"`
	Ended  bool         `json:"ended,omitempty"` // it was stopped; a killed one only falls silent
}

// Sidecar reports whether the daemon has the API only, and neither a platform nor a
// model.
func (p Presence) Sidecar() bool { return p.Provider == "" && p.API != "" }

// Running reports whether the daemon counts as running at now.
func (p Presence) Running(now earshot.Time) bool {
	return !p.Ended && now-p.Seen <= earshot.Time(lostAfter/time.Microsecond) && !p.ahead(now)
}

// ahead reports whether the note was written by a clock that was wrong.
func (p Presence) ahead(now earshot.Time) bool {
	return p.Seen-now > earshot.Time(aheadBy/time.Microsecond)
}

// newPresence describes a daemon that starts now.
func newPresence(o Options, models []ModelInfo) Presence {
	p := Presence{
		Owner: rand.Text(), Platform: cmp.Or(o.Config.Platform, config.PlatformLocal), Policy: cmp.Or(o.Policy.Name, o.Config.Policy),
		Version: o.Version, DryRun: o.DryRun, Prices: o.Config.Model.Prices, Limits: o.Config.Limits.Day,
	}
	if len(models) > 0 {
		p.Provider, p.Model = models[0].Provider, models[0].Name
	} else {
		p.Platform = "" // a sidecar: it has neither
	}
	if len(models) > 1 {
		p.Fallback = models[1].Name
	}
	return p
}

// A heartbeat keeps a daemon's presence in its store up to date.
type heartbeat struct {
	store    earshot.Notes
	log      *slog.Logger
	presence Presence
	now      func() time.Time
}

// Run writes the presence until ctx ends, and then that the daemon has ended.
// A store that fails is no reason to stop answering.
func (h heartbeat) Run(ctx context.Context) error {
	p := h.presence
	p.Since = earshot.TimeOf(h.now())
	h.dropOld(ctx, p.Since)
	err := runEvery(ctx, beatEvery, func(ctx context.Context) { h.write(ctx, p) })
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	p.Ended = true
	h.write(end, p)
	return err
}

func (h heartbeat) write(ctx context.Context, p Presence) {
	p.Seen = earshot.TimeOf(h.now())
	data, err := json.Marshal(p)
	if err == nil {
		err = h.store.PutNote(ctx, earshot.Note{Key: presenceKey + p.Owner, Data: data})
	}
	if err != nil && ctx.Err() == nil {
		h.log.Debug("write the heartbeat", "err", err)
	}
}

// dropOld removes the notes of daemons that ended long ago.
func (h heartbeat) dropOld(ctx context.Context, now earshot.Time) {
	list, err := Presences(ctx, h.store)
	for _, p := range list {
		if err == nil && (now-p.Seen > earshot.Time(keptFor/time.Microsecond) || p.ahead(now)) {
			err = h.store.DropNote(ctx, presenceKey+p.Owner)
		}
	}
	if err != nil && ctx.Err() == nil {
		h.log.Debug("drop notes of old daemons", "err", err)
	}
}

// Presences returns the daemons that a store has notes of, the one with the
// latest heartbeat first.
func Presences(ctx context.Context, st earshot.Notes) ([]Presence, error) {
	notes, err := st.Notes(ctx, presenceKey, 0)
	if err != nil {
		return nil, fmt.Errorf("list daemons: %w", err)
	}
	var out []Presence
	for _, n := range notes {
		var p Presence
		if json.Unmarshal(n.Data, &p) == nil && presenceKey+p.Owner == n.Key { // another version may write another form
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(x, y Presence) int { return int(y.Seen - x.Seen) })
	return out, nil
}
