package bot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/internal/zones"
)

// whyLimit begins the reason of a turn that was not begun because of a limit of the day. A
// person is told once a day in each channel; an ambient turn is silent.
const whyLimit = earshot.WhyDayLimit

// refuseSpend ends a turn that would pass a limit of the day.
func (t *turn) refuseSpend(ctx context.Context, p prompt, purses []earshot.PurseLimit, r earshot.SpendResult) error {
	full := r.Full[0]
	why := whyLimit
	for i, s := range r.Sums {
		if s.Purse == full {
			why += fmt.Sprintf("it would pass %s of %s, of which %d %% are used or held", limitOf(full), visible(cut(purseName(full), 80)), s.Spend.Share(purses[i].Most))
		}
	}
	if t.ambient {
		return t.staySilent(ctx, silent+why, nil)
	}
	zone := p.input.AskerZone
	if zone == "" {
		zone = p.input.Zone
	}
	if err := t.outbox.tellLimit(ctx, t.opts.sayLimit(full, earshot.DayOf(t.now()), zone)); err != nil {
		return err
	}
	return t.finish(ctx, earshot.TurnDropped, why, nil)
}

// sayLimit is what a person is told whose question would pass a limit on a day.
func (o *Options) sayLimit(full earshot.Purse, day earshot.Time, zone string) string {
	opens := "00:00 UTC"
	if l, err := zones.Load(zone); err == nil && zone != "" && zone != "UTC" {
		opens = fmt.Sprintf("%s (%s)", nextDay(day).UTC().In(l).Format("15:04"), zone)
	}
	key := map[string]words.Key{limitPerson: words.LimitPerson, limitChannel: words.LimitChannel, limitWorkspace: words.LimitWorkspace}[limitOf(full)]
	return o.say(cmp.Or(key, words.LimitAll), "time", opens)
}

// tellLimit tells who asks that a limit of the day is reached, once for all their questions
// of the day in the channel: to them alone where the platform can, else for all to see. A
// program is not told. The error may be the outcome waitForPlatform.
func (o *outbox) tellLimit(ctx context.Context, say string) error {
	who := o.place.Asker()
	if o.opts.DryRun || who.ID == "" || who.Kind != earshot.Human {
		return nil
	}
	posts, err := o.store.Posts(ctx, o.queued.ID)
	if err != nil {
		return err
	}
	key := o.limitKey()
	p := earshot.Post{Turn: o.queued.ID, Chunk: nextChunk(posts), Key: key, Text: say, State: earshot.PostPlanned}
	since, mine := o.now(), false
	for _, was := range posts {
		if was.Key == key {
			p, since, mine = was, was.Updated, true
		}
	}
	if !mine {
		if err := o.store.PutPost(ctx, o.lease, p); err != nil {
			return ignoreConflict(err) // the key is taken: they were told
		}
	}
	o.startWaiting(since)
	o.slot.Give()
	if able, ok := o.platform.(Apologizer); ok {
		if p.State != earshot.PostPlanned {
			return nil
		}
		p.Tries = 1
		return o.tellAlone(ctx, p, say, func(ctx context.Context, at Place) error { return able.Apologize(ctx, at, say) })
	}
	_, err = o.send(ctx, p, true)
	if isKind(err, gaveUp) || isKind(err, unclear) {
		o.log.Warn("whether a person was told of a limit of the day is not known", "err", err)
		return nil
	}
	return err
}

// limitKey is the key of the notice to one person on one day.
func (o *outbox) limitKey() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d", o.agent, o.place.Asker().ID, earshot.DayOf(o.now())))
	return string(kindLimit) + base32.StdEncoding.EncodeToString(sum[:])[:24]
}
