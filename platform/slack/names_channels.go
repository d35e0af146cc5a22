package slack

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// channel returns a channel by its id, and what an event told of it besides:
// as it is in memory, in the store, or with Slack, which is given [nameTime]. The
// error is the store's; where Slack does not answer it is what is known.
func (n *names) channel(ctx context.Context, told earshot.Channel) (earshot.Channel, error) {
	told.Platform, told.Workspace = earshot.Slack, n.p.workspace
	n.mu.Lock()
	k, ok := n.channels[told.ID]
	n.mu.Unlock()
	if !ok {
		switch c, err := n.p.o.Store.Channel(ctx, told.Scope()); {
		case err == nil && (c.Name != "" || c.Kind == earshot.KindDM):
			k = n.keep(c, channelTTL)
		case err == nil:
			k.value = c // Slack was not asked yet, or did not answer
		case !errors.Is(err, earshot.ErrNotFound):
			return told, fmt.Errorf("look up channel %s: %w", told.ID, err)
		}
	}
	if n.p.o.Now().After(k.until) && told.Kind != earshot.KindDM && k.value.Kind != earshot.KindDM {
		soon, cancel := context.WithTimeout(ctx, nameTime)
		defer cancel()
		had := func() bool { return !n.p.o.Now().After(n.channels[told.ID].until) }
		if err := n.once(soon, "channel "+string(told.ID), had, func() error { return n.askChannel(soon, told.ID) }); err != nil {
			n.p.o.Log.Debug("a channel is not known", "channel", told.ID, "err", err)
		}
		n.mu.Lock()
		if asked := n.channels[told.ID]; asked.value.ID != "" {
			k = asked
		}
		n.mu.Unlock()
	}
	return over(k.value, told), nil
}

// askChannel asks Slack what a channel is.
func (n *names) askChannel(ctx context.Context, id earshot.ChannelID) error {
	raw, err := n.object(ctx, "conversations.info", url.Values{"channel": {string(id)}}, "channel")
	if c, ok := slackmsg.Channel(raw); err == nil && ok && c.ID == id {
		c.Workspace = n.p.workspace
		n.keep(c, channelTTL)
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.channels[id] = known[earshot.Channel]{n.channels[id].value, n.p.o.Now().Add(refused(err, channelTTL))}
	return err
}

// refused returns for how long a thing is not asked for again: what Slack does
// not tell us, as for want of a scope, for as long as what it does.
func refused(err error, ttl time.Duration) time.Duration {
	if api := (*slackapi.Error)(nil); errors.As(err, &api) {
		return ttl
	}
	return failedTTL
}

// keep remembers a channel.
func (n *names) keep(c earshot.Channel, ttl time.Duration) known[earshot.Channel] {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := known[earshot.Channel]{c, n.p.o.Now().Add(ttl)}
	n.channels[c.ID] = k
	return k
}

// over returns a known channel with what is told of it now.
func over(c, told earshot.Channel) earshot.Channel {
	c.Platform, c.Workspace, c.ID = told.Platform, told.Workspace, told.ID
	for _, f := range []struct{ known, told *string }{{&c.Name, &told.Name}, {&c.Topic, &told.Topic}, {&c.Purpose, &told.Purpose}} {
		if *f.told != "" {
			*f.known = *f.told
		}
	}
	if told.Kind != "" {
		c.Kind = told.Kind
	}
	if c.Kind == "" {
		c.Kind = earshot.KindChannel
	}
	return c
}

// forget forgets a channel.
func (n *names) forget(id earshot.ChannelID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.channels, id)
}
