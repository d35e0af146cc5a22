package address

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// Turns that bots asked for are counted over botWindow, among the channel's
// newest maxCounted turns.
const (
	botWindow  = earshot.Time(10 * time.Minute / time.Microsecond)
	maxCounted = 500
)

// tooManyBots reports whether bots already had [Rules.BotTurns] turns: any bots
// in this conversation, or the author of m in the whole channel, since a bot that
// starts thread after thread loops as well.
func (r Rules) tooManyBots(ctx context.Context, id earshot.ConversationID, m *earshot.Message) (bool, error) {
	conversations, err := r.recentAnchors(ctx, id.Scope)
	if err != nil {
		return false, err
	}
	list, err := r.Store.ByID(ctx, id.Scope, slices.Sorted(maps.Keys(conversations))...)
	if err != nil {
		return false, err
	}
	turns := 0
	for _, a := range list {
		if a.ID != m.ID && a.Author.Kind == earshot.Bot && (conversations[a.ID] == id || a.Author.ID == m.Author.ID) {
			turns++
		}
	}
	return turns >= r.BotTurns, nil
}

// recentAnchors returns what the agent's turns in a channel answered within
// botWindow, with the conversation of each.
func (r Rules) recentAnchors(ctx context.Context, s earshot.Scope) (map[earshot.MessageID]earshot.ConversationID, error) {
	from := r.Now - botWindow
	anchors := map[earshot.MessageID]earshot.ConversationID{}
	q := earshot.TurnQuery{Agent: r.Agent, Scope: &s, Limit: 100}
	for len(anchors) < maxCounted {
		list, err := r.Store.QueuedTurns(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, t := range list {
			if t.Opened >= from {
				anchors[t.Anchor] = t.Conversation
			}
			q.Before = t.ID
		}
		if len(list) < q.Limit || list[len(list)-1].Opened < from {
			break
		}
	}
	return anchors, nil
}
