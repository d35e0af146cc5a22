package daemon

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// A daemon says every beatEvery in its store that it runs. One that has not
// done so for lostAfter is taken for dead, and its note is dropped by the next
// daemon that starts after keptFor. So is one whose note lies more than aheadBy
// in the future: the clock that wrote it has gone back since, and the note would
// tell of a dead daemon that it runs until the clock comes there again.
const (
	beatEvery = 10 * time.Second
	lostAfter = 3 * beatEvery
	aheadBy   = 30 * time.Minute // by how much clocks of replicas may differ, as for leases
	keptFor   = 24 * time.Hour

	presenceKey = "daemon/" // and the owner
)

// A Presence is what a daemon says of itself in its store. Times are in
// microseconds.
type Presence struct {
	Owner    string       `json:"owner"` // random, one a start
	Platform string       `json:"platform"`
	Provider string       `json:"provider"`
	Model    string       `json:"model"`
	Fallback string       `json:"fallback,omitempty"` // the model that answers if the first fails
	Policy   string       `json:"policy"`
	Version  string       `json:"version,omitempty"`
	DryRun   bool         `json:"dry_run,omitempty"`
	Since    earshot.Time `json:"since"`
	Seen     earshot.Time `json:"seen"`
	Ended    bool         `json:"ended,omitempty"` // it has stopped in order
}

// Running reports whether the daemon is taken to run at now.
func (p Presence) Running(now earshot.Time) bool {
	return !p.Ended && now-p.Seen <= earshot.Time(lostAfter/time.Microsecond) && !p.ahead(now)
}

// ahead reports whether the note was written by a clock that cannot be right.
func (p Presence) ahead(now earshot.Time) bool {
	return p.Seen-now > earshot.Time(aheadBy/time.Microsecond)
}

// presence returns what a daemon of these options says of itself.
func presence(o Options, models []ModelInfo) Presence {
	p := Presence{
		Owner: rand.Text(), Platform: o.Config.Platform, Provider: models[0].Provider, Model: models[0].Name,
		Policy: o.Policy.Name, Version: o.Version, DryRun: o.DryRun,
	}
	if p.Platform == "" {
		p.Platform = config.PlatformLocal
	}
	if p.Policy == "" {
		p.Policy = o.Config.Policy
	}
	if len(models) > 1 {
		p.Fallback = models[1].Name
	}
	return p
}

// attend says in the store that the daemon runs, until ctx ends, and then that
// it has ended. That it cannot is no reason to stop answering.
func (d *Daemon) attend(ctx context.Context) error {
	p := d.presence
	p.Since = earshot.TimeOf(time.Now())
	d.dropPresences(ctx, p.Since)
	again := time.NewTicker(beatEvery)
	defer again.Stop()
	for {
		d.say(ctx, p)
		select {
		case <-again.C:
		case <-ctx.Done():
			end, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
			defer cancel()
			p.Ended = true
			d.say(end, p)
			return nil
		}
	}
}

func (d *Daemon) say(ctx context.Context, p Presence) {
	p.Seen = earshot.TimeOf(time.Now())
	data, err := json.Marshal(p)
	if err == nil {
		err = d.Store.PutNote(ctx, earshot.Note{Key: presenceKey + p.Owner, Data: data})
	}
	if err != nil && ctx.Err() == nil {
		d.log.Debug("say that it runs", "err", err)
	}
}

// dropPresences forgets daemons that were seen too long ago.
func (d *Daemon) dropPresences(ctx context.Context, now earshot.Time) {
	list, err := Presences(ctx, d.Store)
	for _, p := range list {
		if err == nil && (now-p.Seen > earshot.Time(keptFor/time.Microsecond) || p.ahead(now)) {
			err = d.Store.DropNote(ctx, presenceKey+p.Owner)
		}
	}
	if err != nil && ctx.Err() == nil {
		d.log.Debug("forget old daemons", "err", err)
	}
}

// Presences returns what daemons have said of themselves in a store, the one
// that was seen last first.
func Presences(ctx context.Context, st earshot.Notes) ([]Presence, error) {
	notes, err := st.Notes(ctx, presenceKey, 0)
	if err != nil {
		return nil, fmt.Errorf("list daemons: %w", err)
	}
	var out []Presence
	for _, n := range notes {
		var p Presence
		if json.Unmarshal(n.Data, &p) == nil && presenceKey+p.Owner == n.Key { // another version may write otherwise
			out = append(out, p)
		}
	}
	slices.SortStableFunc(out, func(x, y Presence) int { return int(y.Seen - x.Seen) })
	return out, nil
}
