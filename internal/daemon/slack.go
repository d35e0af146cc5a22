package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/backfill"
	"github.com/earshot-ai/earshot/internal/config"
	"github.com/earshot-ai/earshot/internal/platform/slack"
	"github.com/earshot-ai/earshot/internal/secret"
	"github.com/earshot-ai/earshot/store"
)

const slackPath = "/slack/events"

// openSlack opens the platform Slack: what comes in by socket or HTTP, what
// goes out, and what is read of history.
func (d *Daemon) openSlack(ctx context.Context, o Options) error {
	c := o.Config
	if err := errors.Join(c.CheckSlackKeys()...); err != nil {
		return err
	}
	s := &slackBot{}
	if err := d.enterSlack(ctx, o, s); err != nil {
		return err
	}
	if err := d.openHistory(ctx, o, s); err != nil {
		return err
	}
	if err := d.openBot(ctx, o, s); err != nil {
		return err
	}
	calls := &meter{store: d.Store, log: d.log, counted: s.counted}
	d.parts = append(d.parts, s.Filler.Run, calls.run)
	if !c.Keys.SlackAppToken.Empty() {
		d.parts = append(d.parts, func(ctx context.Context) error { return s.Listen(ctx, d.bot.Handle) })
	}
	if c.Slack.Listen == "" {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+slackPath, s.Handler(d.bot.Handle))
	mux.HandleFunc("GET /healthz", d.health)
	return d.listen(ctx, c.Slack.Listen, slackPath, mux)
}

// enterSlack asks Slack who the bot is.
func (d *Daemon) enterSlack(ctx context.Context, o Options, s *slackBot) (err error) {
	c := o.Config
	settings := slackOptions(c)
	settings.Store, settings.Log = d.Store, d.log
	settings.HTTPClient, settings.Dial = o.Outside.Client, o.Outside.Dial
	settings.Jitter = o.Outside.Jitter // what it measures time by does not jump with the wall clock
	settings.Missed = func(from, to time.Time) { s.Missed(from, to) }
	settings.Left = func(ctx context.Context, scope earshot.Scope) error {
		d.bot.Left(scope)
		return s.Left(ctx, scope)
	}
	if s.Platform, err = slack.Open(ctx, settings); err != nil {
		return err
	}
	d.Platform, d.Identity = earshot.Slack, s.Identity()
	for _, a := range c.Agent.Aliases {
		d.Identity.Aliases = append(d.Identity.Aliases, earshot.AuthorID(a))
	}
	d.Place = fmt.Sprintf("it is @%s in the Slack workspace %s", d.Identity.Name, s.Workspace())
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
	*backfill.Filler
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

// health answers 200 while the store answers.
func (d *Daemon) health(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 2*time.Second)
	defer cancel()
	if _, err := d.Store.Depth(ctx); err != nil {
		d.log.Error("health", "err", err)
		http.Error(w, "the store does not answer", http.StatusServiceUnavailable)
		return
	}
	_, _ = io.WriteString(w, "ok\n") // the caller is gone
}

// counted returns what was asked of Slack since the start.
func (s *slackBot) counted() []earshot.CallCount {
	var out []earshot.CallCount
	for _, c := range s.Platform.Calls() {
		out = append(out, earshot.CallCount{
			Platform: earshot.Slack, Workspace: s.Workspace(), Method: c.Method,
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
