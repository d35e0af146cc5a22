package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/platform/check"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
)

// A Finding is one result of [CheckSlack] or [CheckDiscord]; see [slack.Check].
type (
	Finding      = check.Finding
	FindingState = check.State
)

// The states of a finding.
const (
	Good    = check.Good
	Poor    = check.Poor
	Bad     = check.Bad
	Unknown = check.Unknown
)

// CheckSlack checks whether the bot can work on Slack as it is configured, and
// calls tell with each finding. It posts in the channel that is named ("":
// nowhere) and removes the post again. The error is one of the configuration.
func CheckSlack(ctx context.Context, o Options, channel string, tell func(Finding)) error {
	c := o.Config
	if err := errors.Join(c.CheckSlackKeys()...); err != nil {
		return err
	}
	// The check's own store: the events that it hears are not kept.
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		return err
	}
	defer st.Close()
	settings := slackSettings(c)
	settings.Store, settings.Log = st, o.Log
	if c.Installs() {
		return checkInstalled(ctx, c, settings, tell)
	}
	if !settings.Rotation.RefreshToken.Empty() {
		// An exchanged token must be the bot's, or the check would end that one's.
		own, err := store.Open(ctx, c.Store, nil)
		if err != nil {
			return err
		}
		defer own.Close()
		settings.Rotation.Store = own
	}
	r := slack.CheckRequest{Channel: strings.TrimSpace(channel)}
	if c.Slack.Listen != "" {
		r.Serve = func(events http.Handler) (func(), error) { return serveEvents(ctx, c.Slack.Listen, events) }
	}
	slack.Check(ctx, settings, r, tell)
	return nil
}

// checkInstalled checks the token and scopes of each workspace that has installed the app.
// Posts and events are tried in none of them: they are other people's.
func checkInstalled(ctx context.Context, c config.Config, settings slack.Options, tell func(Finding)) error {
	keys, err := c.Keys.TokenKeys()
	if err != nil {
		return err
	}
	own, err := store.Open(ctx, c.Store, nil)
	if err != nil {
		return err
	}
	defer own.Close()
	list, err := slack.NewInstallations(keys, own).List(ctx)
	if err != nil {
		tell(Finding{What: "installations", State: Bad, Found: err.Error(), Costs: "that workspace is not served"})
	}
	if len(list) == 0 && err == nil {
		tell(Finding{What: "installations", State: Unknown, Found: "no workspace has installed the app yet", Remedy: "open " + installLink(c)})
	}
	settings.AppToken, settings.SigningSecrets = secret.Secret{}, nil
	for _, i := range list {
		settings.BotToken, settings.Workspace, settings.Rotation.RefreshToken = i.Token, i.Workspace, i.Refresh
		settings.Rotation.Keys, settings.Rotation.Store = keys, own
		slack.Check(ctx, settings, slack.CheckRequest{TokenAlone: true}, func(f Finding) {
			f.What = string(i.Workspace) + ": " + f.What
			tell(f)
		})
	}
	return nil
}

// serveEvents serves events at an address until stop is called.
func serveEvents(ctx context.Context, address string, events http.Handler) (stop func(), err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST "+slackPath, events)
	mux.Handle("POST "+slackInteractions, events)
	srv := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = srv.Serve(l) // returns when it is closed
	}()
	return func() {
		_ = srv.Close()
		<-served
	}, nil
}
