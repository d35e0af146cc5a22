package sidecar

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// A DiscordCall is what Discord was asked for: Get Channel Messages.
type DiscordCall struct {
	Before, After string // ids; not both
	Limit         int    // 0: Discord's own, 50
}

// The most messages that Discord shows at once, and how many it shows unasked.
const (
	discordMost    = 100
	discordDefault = 50
)

// DiscordHistory stores a list of messages as Discord's Get Channel Messages answered
// it, as History does. raw is the channel or thread as Discord describes it, nil where
// at says all: of a thread its id, and of the channel that it is in.
func (s *Service) DiscordHistory(ctx context.Context, p access.Principal, at Past, raw, page []byte, call DiscordCall) (Recalled, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(page, &list); err != nil || list == nil {
		return Recalled{}, visible.InvalidField("page", "must be the list of messages that Discord answered")
	}
	if err := call.check(len(list)); err != nil {
		return Recalled{}, err
	}
	t := &discordTelling{Service: s, p: p, channels: map[string]discordmsg.ChannelInfo{}, tags: map[string]map[string]string{}}
	asked := string(at.Channel.ID) // the channel or thread that Discord was asked for
	if at.Thread != "" {
		asked = string(at.Thread)
		t.channels[asked] = discordmsg.ChannelInfo{Channel: discordmsg.Channel{ID: asked, Type: discordmsg.PublicThread, Parent: string(at.Channel.ID)}}
	}
	if len(raw) > 0 {
		c, ok := discordmsg.ReadChannel(raw)
		if !ok {
			return Recalled{}, visible.InvalidField("channel", "must be an id, or a channel or thread as Discord describes it, with id, type and parent_id")
		}
		asked, t.channels[c.ID] = c.ID, c
		workspace := at.Channel.Workspace
		if at.Channel, at.Thread = t.locate(c.Guild, c.ID); workspace != "" || c.Guild == "" && at.Channel.Kind != earshot.KindDM {
			at.Channel.Workspace = workspace
		}
	}
	at.Channel.Platform = earshot.Discord
	at, err := s.placed(ctx, p, at)
	if err != nil {
		return Recalled{}, err
	}
	t.guild = string(at.Channel.Workspace)
	h := stretch{Past: at, batch: batch{of: "page"}}
	for i, raw := range list {
		path := fmt.Sprintf("page[%d]", i)
		e, err := t.message(ctx, raw, path)
		if err != nil {
			return Recalled{}, err
		}
		if d, _ := discordmsg.Decode(raw, discordmsg.Names{}); d.Channel != asked {
			return Recalled{}, visible.InvalidField(path+".channel_id", "is another channel than the one that is told")
		}
		if e.Type == Said {
			asOf(&e.Message, s.now())
		}
		h.events = append(h.events, e)
	}
	h.known, h.next = call.known(list, s.now())
	return s.recall(ctx, p, h)
}

// check refuses a call that Discord does not take.
func (c DiscordCall) check(shown int) error {
	for _, f := range []struct{ name, id string }{{"before", c.Before}, {"after", c.After}} {
		if _, ok := discordmsg.TimeOf(f.id); f.id != "" && !ok {
			return visible.InvalidField(f.name, "must be the id of a message of Discord")
		}
	}
	switch {
	case c.Before != "" && c.After != "":
		return visible.InvalidField("after", "and before exclude each other, as Discord has it")
	case c.Limit < 0 || c.Limit > discordMost:
		return visible.InvalidField("limit", fmt.Sprintf("must be 1 to %d, as Discord was asked", discordMost))
	case shown > discordMost || c.Limit > 0 && shown > c.Limit:
		return visible.InvalidField("limit", "is smaller than the list: give the limit with which Discord was asked")
	}
	return nil
}

// known returns the stretch that a list shows all of, and how it goes on. A list with as
// many messages as were asked for may have been cut: at its old end, or with after at
// its new one.
func (c DiscordCall) known(list []json.RawMessage, now earshot.Time) (coverage.Span, Going) {
	out := coverage.Span{From: coverage.Dawn, To: now}
	if at, ok := discordmsg.TimeOf(c.Before); ok {
		out.To = at - 1
	}
	if at, ok := discordmsg.TimeOf(c.After); ok {
		out.From = at + 1
	}
	limit := c.Limit
	if limit == 0 {
		limit = discordDefault
	}
	if len(list) < limit {
		return out, Going{}
	}
	var oldest, newest earshot.MessageID
	var from, to earshot.Time
	for _, raw := range list {
		id, at, ok := discordmsg.Stamp(raw)
		if !ok {
			continue
		}
		if oldest == "" || at < from {
			oldest, from = id, at
		}
		if at > to {
			newest, to = id, at
		}
	}
	switch {
	case oldest == "":
		return nothing, Going{}
	case c.After != "":
		out.To = to
		return out, Going{After: string(newest)}
	}
	out.From = from
	return out, Going{Before: string(oldest)}
}
