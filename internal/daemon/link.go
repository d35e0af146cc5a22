package daemon

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pause"
)

// How long to wait before asking again a platform that does not answer at the
// start.
const (
	firstRetry   = time.Second
	longestRetry = 30 * time.Second
)

// A remote is the adapter of a platform behind a network, such as
// [slack.Platform].
type remote interface {
	// Enter asks the platform who the bot is, and remembers it in the store.
	Enter(ctx context.Context) error
	// Recall reads that from the store, and reports whether it is there.
	Recall(ctx context.Context) (bool, error)
	Identity() earshot.Identity
	// Probe looks for a sign of life whenever the platform does not answer.
	Probe(ctx context.Context) error
	Down() (since time.Time, down bool)
	// SignedOut returns why the platform refuses the bot's token, what to do, and since
	// when; out is false where it does not.
	SignedOut() (why string, since time.Time, out bool)
}

// A platformLink holds one bot on a platform behind a network. At the start the platform
// says who the bot is; where it does not answer, the store does; and where neither
// knows, the platform is asked until it answers, and what needs to know it is made
// only then.
type platformLink struct {
	sharedParts
	platform earshot.Platform
	title    string // of the platform, for people
	remote
	unreachable func(error) bool // of an error of Enter: whether to ask again
	// where says where the bot is, for people, such as "in the Slack workspace T1".
	where func(ctx context.Context) string
	// answer makes backfill and the bot, whose identity is known, and returns what is
	// to run.
	answer func(ctx context.Context) ([]func(context.Context) error, error)

	known atomic.Bool // the bot's identity is, from the platform or from the store
	// silent is since when the platform has not said who the bot is; nil once it has.
	silent atomic.Pointer[time.Time]
}

// open finds out who the bot is, and returns the platform without what is served
// over HTTP. The error is one of the token or the configuration.
func (l *platformLink) open(ctx context.Context) (platform, error) {
	at, err := l.identify(ctx)
	if err != nil {
		return platform{}, err
	}
	p := platform{name: l.platform, identity: at.identity, location: at.location, connection: l.connection}
	if !at.known {
		p.run = append(p.run, l.answerOnceKnown)
		return p, nil
	}
	if p.run, err = l.begin(ctx); err != nil {
		return platform{}, err
	}
	p.run = append(p.run, func(ctx context.Context) error { return l.probe(ctx, at.confirmed) })
	return p, nil
}

// begin makes what answers.
func (l *platformLink) begin(ctx context.Context) ([]func(context.Context) error, error) {
	run, err := l.answer(ctx)
	l.known.Store(err == nil)
	if err == nil {
		l.reportIgnored()
	}
	return run, err
}

// connection describes the link.
func (l *platformLink) connection() connection {
	c := connection{platform: string(l.platform), known: l.known.Load()}
	if c.since, c.down = l.Down(); !c.down {
		if since := l.silent.Load(); since != nil {
			c.since, c.down = *since, true
		}
	}
	if why, since, out := l.SignedOut(); out {
		c.signedOut, c.since = why, since
	}
	return c
}

// A knownIdentity says who the bot is, as far as it is known at the start.
type knownIdentity struct {
	identity  earshot.Identity
	location  string // for people
	known     bool   // from the platform or from the store
	confirmed bool   // by the platform
}

// identify asks the platform who the bot is, and the store where the platform does
// not answer. The error is one of the token or the configuration.
func (l *platformLink) identify(ctx context.Context) (knownIdentity, error) {
	soon, cancel := context.WithTimeout(ctx, l.options.Patience)
	defer cancel()
	err := l.Enter(soon)
	switch {
	case err == nil:
		who := l.identity()
		return knownIdentity{who, l.location(soon, who), true, true}, nil
	case ctx.Err() != nil:
		return knownIdentity{}, ctx.Err()
	case soon.Err() != nil: // the platform, or the store after it, was slow
	case !l.unreachable(err):
		return knownIdentity{}, err
	}
	now := l.options.Outside.clock()
	l.silent.Store(&now)
	l.options.Log.Warn("the platform is unreachable; it is asked again until it answers", "platform", l.platform, "err", err)
	known, err := l.Recall(ctx)
	if err != nil {
		return knownIdentity{}, err
	}
	if !known {
		who := earshot.Identity{Name: l.options.Config.Agent.Name}
		return knownIdentity{who, l.title + " does not answer: it is asked again until it does", false, false}, nil
	}
	who := l.identity()
	return knownIdentity{who, l.location(soon, who) + ", as it was at the last start: " + l.title + " does not answer", true, false}, nil
}

// identity returns who the bot is by the platform, with the aliases that an operator
// set.
func (l *platformLink) identity() earshot.Identity {
	who := l.Identity()
	who.Aliases = slices.Concat(who.Aliases, ownAliases(l.options.Config))
	return who
}

// reportIgnored says what of the configuration the platform ignores.
func (l *platformLink) reportIgnored() {
	if ignored := IgnoredSettings(l.options.Config, l.Identity().Name); ignored != "" {
		l.options.Log.Warn("a setting is ignored", "platform", l.platform, "why", ignored)
	}
}

func (l *platformLink) location(ctx context.Context, who earshot.Identity) string {
	return fmt.Sprintf("it is @%s %s", who.Name, l.where(ctx))
}

// answerOnceKnown waits until the platform says who the bot is, and then runs all
// that needs to know it.
func (l *platformLink) answerOnceKnown(ctx context.Context) error {
	if err := l.retryIdentify(ctx); err != nil {
		return err
	}
	run, err := l.begin(ctx)
	for ofStore(err) {
		l.options.Log.Error("the bot cannot begin yet", "platform", l.platform, "err", err)
		if err := pause.For(ctx, probeEvery); err != nil {
			return err
		}
		run, err = l.begin(ctx)
	}
	if err != nil {
		return err
	}
	return runTogether(ctx, append(run, l.Probe)...)
}

// probe asks the platform who the bot is where it has not confirmed that yet, and
// then for a sign of life whenever it does not answer.
func (l *platformLink) probe(ctx context.Context, confirmed bool) error {
	if !confirmed {
		if err := l.retryIdentify(ctx); err != nil {
			return err
		}
	}
	return l.Probe(ctx)
}

// retryIdentify asks the platform who the bot is until it answers. The error is one
// of the token or the configuration, or ctx's. While the store fails, which the
// storeWatch tells of, the platform is asked again too: what it says is to be kept.
func (l *platformLink) retryIdentify(ctx context.Context) error {
	for wait := firstRetry; ; wait = min(2*wait, longestRetry) {
		if err := pause.For(ctx, wait+l.options.Outside.jitter(wait/2)); err != nil {
			return err
		}
		err := l.Enter(ctx)
		switch {
		case err == nil:
			l.silent.Store(nil)
			l.options.Log.Info("the platform answers", "platform", l.platform)
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case ofStore(err):
			l.options.Log.Error("who the bot is cannot be stored yet", "platform", l.platform, "err", err)
			continue
		case !l.unreachable(err):
			return err
		}
		l.options.Log.Warn("the platform is unreachable", "platform", l.platform, "again", min(2*wait, longestRetry), "err", err)
	}
}

// floor returns the time before which nothing of a channel is kept.
func (l *platformLink) floor(at earshot.Scope) earshot.Time {
	return retentionFloor(l.options.Config.Retention.Of(at), earshot.TimeOf(l.options.Outside.clock()))
}
