package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
)

const slackPath = "/slack/events"

// openSlack opens the platform Slack: what comes in by socket or HTTP, what
// goes out, and what is read of history. Where Slack does not answer the rest
// follows in Run, and until then what comes in by HTTP is kept as it came.
func (d *Daemon) openSlack(ctx context.Context, o Options) error {
	c := o.Config
	if err := errors.Join(c.CheckSlackKeys()...); err != nil {
		return err
	}
	s := &slackBot{}
	if err := d.newSlack(o, s); err != nil {
		return err
	}
	if err := d.enterSlack(ctx, o, s); err != nil {
		return err
	}
	if s.known.Load() {
		parts, err := d.liveSlack(ctx, o, s)
		if err != nil {
			return err
		}
		d.parts = append(d.parts, parts...)
		d.parts = append(d.parts, func(ctx context.Context) error { return d.keepSlack(ctx, s) })
	} else {
		d.parts = append(d.parts, func(ctx context.Context) error { return d.awaitSlack(ctx, o, s) })
	}
	if c.Slack.Listen == "" {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+slackPath, s.Handler(d.handle))
	d.probes(mux)
	return d.listen(ctx, c.Slack.Listen, slackPath, mux)
}

// handle hands an event to the bot, which is there once events are admitted.
func (d *Daemon) handle(ctx context.Context, e bot.Event) (bot.Outcome, error) {
	return d.bot.Handle(ctx, e)
}

// newSlack makes the platform, which has asked nothing yet.
func (d *Daemon) newSlack(o Options, s *slackBot) (err error) {
	settings := slackOptions(o.Config)
	settings.Store, settings.Log, settings.Confirm = d.Store, d.log, o.Confirm
	if sharesRates(o.Config) {
		settings.Rates = d.Store
	}
	settings.HTTPClient, settings.Dial = o.Outside.Client, o.Outside.Dial
	settings.Jitter = o.Outside.Jitter // what it measures time by does not jump with the wall clock
	settings.Acknowledged = d.meters.Acknowledged
	settings.Missed = func(from, to time.Time) {
		d.meters.Gap(to.Sub(from))
		s.Missed(from, to)
	}
	settings.Left = func(ctx context.Context, scope earshot.Scope) error {
		if d.bot == nil {
			return nil // the start ends; nobody answers there
		}
		d.bot.Left(scope)
		return s.Left(ctx, scope)
	}
	if s.Platform, err = slack.New(settings); err != nil {
		return err
	}
	if s.confirm = o.Confirm; s.confirm <= 0 {
		s.confirm = time.Minute
	}
	d.Platform = earshot.Slack
	d.reach, d.calls = s.reach, s.apiCalls
	return nil
}

// sharesRates reports whether the app's rates are shared through the store.
func sharesRates(c config.Config) bool {
	if c.Slack.ShareRates != config.ShareAuto {
		return c.Slack.ShareRates == config.ShareAlways
	}
	_, file := store.File(c.Store)
	return !file && c.Store != "" && c.Store != "memory:"
}

// enterSlack asks Slack who the bot is, and the store where Slack does not
// answer. The error is one of the token or the configuration.
func (d *Daemon) enterSlack(ctx context.Context, o Options, s *slackBot) error {
	patience := o.Patience
	if patience <= 0 {
		patience = 10 * time.Second
	}
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := s.Enter(soon)
	switch {
	case err == nil:
		s.entered = true
	case ctx.Err() != nil:
		return ctx.Err()
	case !slack.Unreachable(err):
		return err
	default:
		d.log.Warn("slack is unreachable; it is asked again until it answers", "err", err)
		known, err := s.Recall(ctx)
		if err != nil {
			return err
		}
		if !known {
			d.Identity.Name = o.Config.Agent.Name
			d.Place = "Slack does not answer: what it sends is kept, and looked at once it does"
			return nil
		}
	}
	s.known.Store(true)
	d.Identity = s.named(o.Config)
	d.Place = fmt.Sprintf("it is @%s in the Slack workspace %s", d.Identity.Name, s.Workspace())
	if !s.entered {
		d.Place += ", as it was at the last start: Slack does not answer"
	}
	return nil
}

// openHistory opens what reads history where nobody listened.
func (d *Daemon) openHistory(ctx context.Context, o Options, s *slackBot) (err error) {
	c := o.Config
	tier := backfill.Internal
	if c.Slack.Tier == config.TierDistributed {
		tier = backfill.Distributed
	}
	s.Filler, err = backfill.Open(ctx, backfill.Options{
		Store: d.Store, Source: s.Platform, Platform: earshot.Slack, Workspace: s.Workspace(),
		Handle: func(ctx context.Context, c earshot.Channel, f backfill.Found) error {
			_, err := d.bot.Handle(ctx, bot.Event{Event: f.Event, Channel: c, Key: f.Key})
			return err
		},
		Fresh: time.Duration(c.Answer.FreshMinutes) * time.Minute,
		Tier:  tier, Degrade: c.Slack.Overflow == config.OverflowDegrade,
		StaleServeTTL: orNever(time.Duration(c.Slack.StaleServeTTL) * time.Second),
		Active:        orNever(time.Duration(c.Slack.ReconcileHours) * time.Hour),
		ThreadsAlone:  !around(policy(c, o.Policy)),
		Now:           o.Outside.now(), Log: d.log,
	})
	return err
}

// A slackBot is the platform as the bot has it: what Slack does, and history
// from the store first.
type slackBot struct {
	*slack.Platform
	*backfill.Filler // once it is known who the bot is

	entered bool        // Slack has said in this process who the bot is; only the one that starts it looks
	known   atomic.Bool // it is known who the bot is, by Slack or from the store
	confirm time.Duration
}

// named returns who the bot is, with the aliases that an operator set.
func (s *slackBot) named(c config.Config) earshot.Identity {
	who := s.Identity()
	for _, a := range c.Agent.Aliases {
		who.Aliases = append(who.Aliases, earshot.AuthorID(a))
	}
	return who
}

// Fill implements [bot.Historian].
func (s *slackBot) Fill(ctx context.Context, p bot.Place) error {
	return s.Filler.Fill(ctx, p.Channel, p.Anchor, p.Thread)
}

// orNever returns d, or where it is zero what means never to backfill.
func orNever(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

// slackOptions returns what the configuration says.
func slackOptions(c config.Config) slack.Options {
	o := slack.Options{
		APIURL: c.Slack.APIURL, BotToken: c.Keys.SlackBotToken, AppToken: c.Keys.SlackAppToken,
		Tier: c.Slack.Tier, Overflow: c.Slack.Overflow, Reply: c.Slack.Reply, Purge: c.Slack.OnLeave == config.LeavePurge,
		Sockets: c.Slack.Sockets, AgentView: c.Slack.AgentView,
	}
	for _, s := range []secret.Secret{c.Keys.SlackSigningSecret, c.Keys.SlackSigningSecretOld} {
		if !s.Empty() {
			o.SigningSecrets = append(o.SigningSecrets, s)
		}
	}
	return o
}

// counted returns what was asked of Slack since the start, for the store. It is
// known who the bot is.
func (s *slackBot) counted() []earshot.CallCount {
	list := s.apiCalls()
	for i := range list {
		list[i].Workspace = s.Workspace()
	}
	return list
}

// apiCalls returns what was asked of Slack since the start.
func (s *slackBot) apiCalls() []earshot.CallCount {
	var out []earshot.CallCount
	for _, c := range s.Platform.Calls() {
		out = append(out, earshot.CallCount{
			Platform: earshot.Slack, Method: c.Method,
			Calls: c.Calls, Limited: c.Limited, Failed: c.Failed, Waits: c.Waits, Waited: c.Waited,
		})
	}
	return out
}

// What is found out about a bot on Slack, see [slack.Check].
type (
	Finding      = slack.Finding
	FindingState = slack.FindingState
)

// The states of a finding.
const (
	Good    = slack.Good
	Poor    = slack.Poor
	Bad     = slack.Bad
	Unknown = slack.Unknown
)

// CheckSlack looks whether the bot can live on Slack as it is configured, and
// tells what it finds. It posts in the channel that is named ("": nowhere) and
// removes that again. The error is one of the configuration.
func CheckSlack(ctx context.Context, o Options, channel string, tell func(Finding)) error {
	c := o.Config
	if err := errors.Join(c.CheckSlackKeys()...); err != nil {
		return err
	}
	// What is heard on the way is not kept.
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		return err
	}
	defer st.Close()
	settings := slackOptions(c)
	settings.Store, settings.Log = st, o.Log
	r := slack.CheckRequest{Channel: strings.TrimSpace(channel)}
	if c.Slack.Listen != "" {
		r.Serve = func(events http.Handler) (func(), error) { return frontOf(ctx, c.Slack.Listen, events) }
	}
	slack.Check(ctx, settings, r, tell)
	return nil
}

// frontOf serves events at an address until stop is called.
func frontOf(ctx context.Context, addr string, events http.Handler) (stop func(), err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", addr, err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+slackPath, events)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(l) // it ends with Close
	}()
	return func() {
		_ = srv.Close()
		<-served
	}, nil
}
