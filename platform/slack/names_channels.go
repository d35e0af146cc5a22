package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/platform/slack/slackmsg"
)

// channel returns a channel from memory, from the store, or from Slack, which gets
// [nameTime] to answer, with what an event of a time says of it (fromEvent), unless it
// is known that something else was told later. Where Slack does not answer, the channel
// is incomplete. The error is the store's.
func (n *nameResolver) channel(ctx context.Context, fromEvent earshot.Channel, at earshot.Time) (earshot.Channel, error) {
	fromEvent.Platform, fromEvent.Workspace = earshot.Slack, n.p.workspace
	n.mu.Lock()
	k, ok := n.channels[fromEvent.ID]
	n.mu.Unlock()
	if !ok {
		switch c, err := n.p.o.Store.Channel(ctx, fromEvent.Scope()); {
		case err == nil && (c.Name != "" || c.Kind == earshot.KindDM):
			k = n.keep(c, channelTTL)
		case err == nil:
			k.value = c // incomplete: Slack was not asked yet, or did not answer
		case !errors.Is(err, earshot.ErrNotFound):
			return fromEvent, fmt.Errorf("look up channel %s: %w", fromEvent.ID, err)
		}
	}
	if n.p.o.Now().After(k.until) && fromEvent.Kind != earshot.KindDM && k.value.Kind != earshot.KindDM {
		soon, cancel := context.WithTimeout(ctx, nameTime)
		defer cancel()
		had := func() bool { return !n.p.o.Now().After(n.channels[fromEvent.ID].until) }
		if err := n.once(soon, "channel "+string(fromEvent.ID), had, func() error { return n.askChannel(soon, fromEvent.ID) }); err != nil {
			n.p.o.Log.Debug("a channel is not known", "channel", fromEvent.ID, "err", err)
		}
		n.mu.Lock()
		if asked := n.channels[fromEvent.ID]; asked.value.ID != "" {
			k = asked
		}
		n.mu.Unlock()
	}
	c := mergeChannel(k.value, fromEvent)
	if k.value.ID == "" || c == mergeChannel(k.value, earshot.Channel{Platform: c.Platform, Workspace: c.Workspace, ID: c.ID}) {
		return c, nil
	}
	if fromEvent.AsOf = at; at == 0 {
		fromEvent.AsOf = earshot.TimeOf(n.p.o.Now())
	}
	err := n.p.o.Store.PutChannel(ctx, fromEvent)
	if err == nil {
		c, err = n.p.o.Store.Channel(ctx, fromEvent.Scope())
	}
	if err != nil {
		return c, fmt.Errorf("news of channel %s: %w", fromEvent.ID, err)
	}
	c = mergeChannel(k.value, c)
	n.keep(c, channelTTL)
	return c, nil
}

// askChannel asks Slack what a channel is.
func (n *nameResolver) askChannel(ctx context.Context, id earshot.ChannelID) error {
	raw, err := n.object(ctx, "conversations.info", url.Values{"channel": {string(id)}}, "channel")
	if c, ok := slackmsg.Channel(raw); err == nil && ok && c.ID == id {
		c.Workspace = n.p.workspace
		n.keep(c, channelTTL)
		return nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.channels[id] = cachedValue[earshot.Channel]{n.channels[id].value, n.p.o.Now().Add(negativeTTL(err, channelTTL))}
	return err
}

// negativeTTL returns for how long a thing is not asked for again: after a refusal, as
// for a missing scope, for as long as after an answer; after a failure, a minute.
func negativeTTL(err error, ttl time.Duration) time.Duration {
	if api := (*slackapi.Error)(nil); errors.As(err, &api) {
		return ttl
	}
	return failedTTL
}

// keep remembers a channel for ttl.
func (n *nameResolver) keep(c earshot.Channel, ttl time.Duration) cachedValue[earshot.Channel] {
	n.mu.Lock()
	defer n.mu.Unlock()
	k := cachedValue[earshot.Channel]{c, n.p.o.Now().Add(ttl)}
	n.channels[c.ID] = k
	return k
}

// mergeChannel returns a known channel with what an event says of it.
func mergeChannel(c, fromEvent earshot.Channel) earshot.Channel {
	c.Platform, c.Workspace, c.ID = fromEvent.Platform, fromEvent.Workspace, fromEvent.ID
	c.Name = cmp.Or(fromEvent.Name, c.Name)
	c.Topic, c.Purpose = cmp.Or(fromEvent.Topic, c.Topic), cmp.Or(fromEvent.Purpose, c.Purpose)
	c.Kind = cmp.Or(fromEvent.Kind, c.Kind, earshot.KindChannel)
	c.Shared = c.Shared || fromEvent.Shared
	return c
}

// forget forgets a channel.
func (n *nameResolver) forget(id earshot.ChannelID) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.channels, id)
}
