package visible

import (
	"context"
	"iter"

	"github.com/earshot-ai/earshot"
)

// LookTurns is how many of the newest turns of a channel are looked at for one of them.
const LookTurns = 500

// turnsPage is how many are read at once.
const turnsPage = 100

// Turns yields the newest turns of a query that are not of conversations of another user,
// newest first; Limit is set here. It looks at most at [LookTurns]. Whether the caller
// sees the channels is to be asked first.
func (v *View) Turns(ctx context.Context, q earshot.TurnQuery) iter.Seq2[earshot.QueuedTurn, error] {
	return func(yield func(earshot.QueuedTurn, error) bool) {
		q.Limit = turnsPage
		for range LookTurns / turnsPage {
			list, err := v.store.QueuedTurns(ctx, q)
			if err != nil {
				yield(earshot.QueuedTurn{}, err)
				return
			}
			for _, t := range list {
				if ok, err := v.Owns(ctx, t.Conversation); !ok && err == nil {
					continue
				} else if !yield(t, err) || err != nil {
					return
				}
			}
			if len(list) < turnsPage {
				return
			}
			q.Before = list[len(list)-1].ID
		}
	}
}
