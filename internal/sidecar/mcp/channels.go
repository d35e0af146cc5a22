package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/tools"
)

// The answer of list_channels.
type (
	channelsAnswer struct {
		Channels []channelRow `json:"channels"`
		Next     string       `json:"next,omitzero"` // the cursor of the next page
		Agents   []agentRow   `json:"agents,omitzero"`
	}
	channelRow struct {
		channelJSON
		Topic    string `json:"topic,omitzero"`
		Messages int    `json:"messages"`
		Threads  int    `json:"threads"`
		First    string `json:"first,omitzero"`
		Last     string `json:"last,omitzero"`
	}
	agentRow struct {
		ID        earshot.AuthorID    `json:"id"`
		Name      string              `json:"name"`
		Workspace earshot.WorkspaceID `json:"workspace"`
		Channel   earshot.ChannelID   `json:"channel,omitzero"`
	}
)

// A channelCursor is where the next page begins: after a channel in the order of
// activity, or where there are too many channels to have them all in that, in the
// store's order, whose first page comes after no channel.
type channelCursor struct {
	Active    bool                `json:"active,omitzero"`
	Last      earshot.Time        `json:"last,omitzero"`
	Platform  earshot.Platform    `json:"platform,omitzero"`
	Workspace earshot.WorkspaceID `json:"workspace,omitzero"`
	Name      string              `json:"name,omitzero"`
	ID        earshot.ChannelID   `json:"id,omitzero"`
}

func cursorAfter(c earshot.ChannelInfo, active bool) *channelCursor {
	return &channelCursor{active, c.Last, c.Platform, c.Workspace, c.Name, c.ID}
}

// channel is what the store's order goes on after; nil for its beginning.
func (x channelCursor) channel() *earshot.Channel {
	if x.ID == "" {
		return nil
	}
	return &earshot.Channel{Platform: x.Platform, Workspace: x.Workspace, Name: x.Name, ID: x.ID}
}

// compareActive orders channels by activity, the one that was active last first.
func compareActive(a, b *channelCursor) int {
	return cmp.Or(cmp.Compare(b.Last, a.Last), cmp.Compare(a.Platform, b.Platform), cmp.Compare(a.Workspace, b.Workspace), cmp.Compare(a.ID, b.ID))
}

// String writes a cursor, so that callers have no use for it but to send it back.
func (x channelCursor) String() (string, error) {
	raw, err := encode(x)
	return base64.RawURLEncoding.EncodeToString(raw), err
}

func readCursor(text string) (*channelCursor, error) {
	var x channelCursor
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(text) > 4096 || jsonv2.Unmarshal(raw, &x, jsonv2.RejectUnknownMembers(true)) != nil {
		return nil, visible.InvalidField("cursor", "is not one that a page of this list gave")
	}
	return &x, nil
}

// listChannels is the tool of that name.
func (s *server) listChannels(ctx context.Context, raw string) (tools.Answer, error) {
	var args struct {
		Name   string  `json:"name"`
		Limit  *int    `json:"limit"`
		Cursor *string `json:"cursor"`
	}
	if err := decodeArgs(raw, &args); err != nil {
		return tools.Answer{}, err
	}
	limit := maxChannels
	if args.Limit != nil {
		if limit = *args.Limit; limit < 1 || limit > maxChannels {
			return tools.Answer{}, visible.InvalidField("limit", "must be 1 to 200")
		}
	}
	var after *channelCursor
	var err error
	if args.Cursor != nil {
		if after, err = readCursor(*args.Cursor); err != nil {
			return tools.Answer{}, err
		}
	}
	list, next, err := s.channelsPage(ctx, strings.TrimPrefix(args.Name, "#"), after, limit)
	if err != nil {
		return tools.Answer{}, err
	}
	out := channelsAnswer{Channels: []channelRow{}}
	for _, c := range list {
		out.Channels = append(out.Channels, channelRow{channelOf(c.Channel), oneLine(c.Topic, maxTexts), c.Messages, c.Threads, c.First.String(), c.Last.String()})
	}
	if next != nil {
		if out.Next, err = next.String(); err != nil {
			return tools.Answer{}, err
		}
	}
	if after == nil {
		if out.Agents, err = s.agentRows(ctx); err != nil {
			return tools.Answer{}, err
		}
	}
	return newAnswer(out)
}

// channelsPage returns a page of the channels whose name or id contains a text, and
// where the next one begins. Those of a caller that reaches at most lookChannels stand
// in the order of activity. For one that reaches more the first page has what is active
// among the first that are looked at, and what has the text as its whole name or id; the
// pages after it go through all channels in the store's order.
func (s *server) channelsPage(ctx context.Context, text string, after *channelCursor, limit int) (page []earshot.ChannelInfo, next *channelCursor, err error) {
	contains := func(c earshot.ChannelInfo) bool {
		return strings.Contains(strings.ToLower(c.Name), strings.ToLower(text)) || strings.Contains(strings.ToLower(string(c.ID)), strings.ToLower(text))
	}
	if after != nil && !after.Active {
		return s.storedChannels(ctx, contains, after.channel(), limit)
	}
	list, more, err := s.reader.RecentChannels(ctx, s.caller, lookChannels)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(list, func(a, b earshot.ChannelInfo) int { return compareActive(cursorAfter(a, true), cursorAfter(b, true)) })
	if more && text != "" {
		if list, err = s.calledFirst(ctx, text, list); err != nil {
			return nil, nil, err
		}
	}
	for _, c := range list {
		if !contains(c) || after != nil && compareActive(cursorAfter(c, true), after) <= 0 {
			continue
		}
		if len(page) == limit {
			if !more {
				next = cursorAfter(page[limit-1], true)
			}
			break
		}
		page = append(page, c)
	}
	if more {
		next = &channelCursor{}
	}
	return page, next, nil
}

// storedChannels returns those of the next lookChannels in the store's order that hold,
// at most limit.
func (s *server) storedChannels(ctx context.Context, holds func(earshot.ChannelInfo) bool, after *earshot.Channel, limit int) (page []earshot.ChannelInfo, next *channelCursor, err error) {
	list, more, err := s.reader.ChannelsAfter(ctx, s.caller, after, lookChannels)
	if err != nil {
		return nil, nil, err
	}
	for i, c := range list {
		if holds(c) {
			page = append(page, c)
		}
		if last := i == len(list)-1; len(page) == limit && !last || last && more {
			return page, cursorAfter(c, false), nil
		}
	}
	return page, nil, nil
}

// calledFirst puts the channels that have a text as their whole name or id in front.
func (s *server) calledFirst(ctx context.Context, text string, list []earshot.ChannelInfo) ([]earshot.ChannelInfo, error) {
	called, err := s.reader.Namesakes(ctx, s.caller, []earshot.ChannelInfo{{Channel: earshot.Channel{Name: text}}})
	if err != nil {
		return nil, err
	}
	byID, err := s.reader.To(s.caller).Channels(ctx, earshot.ChannelQuery{IDs: []earshot.ChannelID{earshot.ChannelID(text)}}, maxChannels)
	if err != nil {
		return nil, err
	}
	for _, c := range append(byID, list...) {
		if !slices.ContainsFunc(called, func(x earshot.ChannelInfo) bool { return x.Scope() == c.Scope() }) {
			called = append(called, c)
		}
	}
	return called, nil
}

// agentRows are the agents that the caller sees.
func (s *server) agentRows(ctx context.Context) ([]agentRow, error) {
	agents, err := s.reader.To(s.caller).Agents(ctx)
	if err != nil {
		return nil, err
	}
	rows := []agentRow{}
	for _, a := range agents[:min(len(agents), maxChannels)] {
		rows = append(rows, agentRow{a.ID, oneLine(a.Name, maxNames), a.Workspace, a.Channel})
	}
	return rows, nil
}
