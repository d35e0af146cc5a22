package address

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
)

// maxCounted is among how many of the channel's newest turns those that bots asked for
// are counted.
const maxCounted = 500

// tooMany reports whether bots already had [Rules.BotTurns] turns: any bots
// in this conversation, or the author of m in the whole channel, since a bot that
// starts thread after thread loops as well. A form has [Rules.FormTurns] of its own in
// the channel, and goes by its name: Slack gives one workflow several ids.
func (r Rules) tooMany(ctx context.Context, id earshot.ConversationID, m Question) (bool, error) {
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
		same := a.Author.ID == m.Author.ID
		if m.Form {
			same = same || a.Author.Name == m.Author.Name
		} else {
			same = same || conversations[a.ID] == id
		}
		if a.ID != m.ID && a.Author.Kind == earshot.Bot && same {
			turns++
		}
	}
	if m.Form {
		return turns >= r.FormTurns, nil
	}
	return turns >= r.BotTurns, nil
}

// recentAnchors returns what the agent's turns in a channel answered within
// [Rules.BotWindow], with the conversation of each.
func (r Rules) recentAnchors(ctx context.Context, s earshot.Scope) (map[earshot.MessageID]earshot.ConversationID, error) {
	from := r.Now - earshot.Time(r.BotWindow/time.Microsecond)
	anchors := map[earshot.MessageID]earshot.ConversationID{}
	q := earshot.TurnQuery{Agent: r.Agent, Scope: &s, Limit: 100, States: earshot.AskedStates()}
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
