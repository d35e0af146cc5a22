package mcp

import (
	"context"
	"errors"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/tools"
)

// search is the tool of that name: channel_context in a channel that is named, else in
// those of the caller's that were active last.
func (s *server) search(ctx context.Context, raw string) (tools.Answer, error) {
	var args struct {
		whereArgs
		searchArgs
	}
	if err := decodeArgs(raw, &args); err != nil {
		return tools.Answer{}, err
	}
	inner, err := encode(args.searchArgs)
	if err != nil {
		return tools.Answer{}, err
	}
	if args.Channel == "" {
		return s.searchAll(ctx, args.whereArgs, string(inner))
	}
	c, err := s.find(ctx, args.whereArgs)
	if err != nil {
		return tools.Answer{}, err
	}
	set, err := s.service.ToolsAt(ctx, s.caller, c.Scope())
	if err != nil {
		return tools.Answer{}, err
	}
	return set.Call(ctx, tools.ChannelContext, string(inner))
}

// searchArgs are the arguments of channel_context, which reads them.
type searchArgs struct {
	Intent     *string   `json:"intent,omitzero"`
	Since      *string   `json:"since,omitzero"`
	Until      *string   `json:"until,omitzero"`
	Authors    *[]string `json:"authors,omitzero"`
	MaxResults *int      `json:"max_results,omitzero"`
}

// searchAll searches the maxSearched channels that were active last, of those that
// RecentChannels looks at, have messages, and are of the workspace and the platform that
// are named. One that is read too often is left out and counted.
func (s *server) searchAll(ctx context.Context, w whereArgs, args string) (tools.Answer, error) {
	list, more, err := s.reader.RecentChannels(ctx, s.caller, lookChannels)
	if err != nil {
		return tools.Answer{}, err
	}
	list = slices.DeleteFunc(list, func(c earshot.ChannelInfo) bool {
		return c.Messages == 0 || w.Workspace != "" && c.Workspace != earshot.WorkspaceID(w.Workspace) || w.Platform != "" && c.Platform != earshot.Platform(w.Platform)
	})
	var searched []tools.Searched
	for _, c := range list {
		if len(searched) == maxSearched {
			break
		}
		var busy *contexts.Busy
		if errors.As(s.reader.Hold(c.Scope()), &busy) {
			continue
		}
		set, err := s.service.ToolsAt(ctx, s.caller, c.Scope())
		if err != nil {
			return tools.Answer{}, err
		}
		searched = append(searched, tools.Searched{Set: set, Name: c.Name})
	}
	return tools.Across(ctx, searched, len(list)-len(searched), more, args)
}
