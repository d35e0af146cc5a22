package daemon

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
)

// slackOptions configure the adapter of a daemon, which passes what it hears to
// events.
func slackOptions(s sharedParts, events *relay) slack.Options {
	x := s.options.Outside
	o := slackSettings(s.options.Config)
	o.Store, o.Log, o.Confirm = s.heard(events.Choose), s.options.Log, s.options.Confirm
	if sharesRates(s.options.Config) {
		o.Rates = s.store
	}
	// The adapter's own clock is not replaced: it measures time, and must not
	// jump with the wall clock.
	o.HTTPClient, o.Dial, o.Jitter = x.Client, x.Dial, x.Jitter
	o.Acknowledged, o.Refused, o.Missed, o.Left = s.meters.Acknowledged, s.noteRefused, events.noteMissed, events.leaveChannel
	o.Choose, o.Command, o.Say = events.Choose, events.Command, events.Say
	o.Moved = func(context.Context, earshot.Scope, earshot.ChannelID) error {
		s.caches.clear()
		return nil
	}
	return o
}

// slackSettings returns the part of an adapter's options that is configured.
func slackSettings(c config.Config) slack.Options {
	o := slack.Options{
		APIURL: c.Slack.APIURL, BotToken: c.Keys.SlackBotToken, AppToken: c.Keys.SlackAppToken,
		Tier: c.Slack.Tier, Overflow: c.Slack.Overflow, Reply: c.Slack.Reply, Purge: c.Slack.OnLeave == config.LeavePurge,
		AgentView: c.Slack.AgentView, NoGroups: !c.Answer.Groups, Allow: slack.Allow{Users: c.Slack.Allow.Users, Groups: c.Slack.Allow.Groups}, Reactions: c.Answer.Reactions, Welcome: c.Slack.Welcome, Prompts: c.Slack.Prompts,
		Rotation: slack.Rotation{ClientID: c.Keys.SlackClientID, ClientSecret: c.Keys.SlackClientSecret, RefreshToken: c.Keys.SlackRefreshToken},
	}
	for _, s := range []secret.Secret{c.Keys.SlackSigningSecret, c.Keys.SlackSigningSecretOld} {
		if !s.Empty() {
			o.SigningSecrets = append(o.SigningSecrets, s)
		}
	}
	return o
}

// sharesRates reports whether processes of one app share its rate limits through the
// store: over PostgreSQL, where replicas are. Over a file one process has nobody to share
// with, and would only pay for it.
func sharesRates(c config.Config) bool {
	_, file := store.File(c.Store)
	return !file && c.Store != "" && c.Store != "memory:"
}
