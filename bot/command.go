package bot

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
)

// A Command is what somebody has done by a command of the platform, or at a page that the
// platform shows of the bot. What it is answered they alone see. A question asked by a command is
// none: the platform posts it for all to see, as a message of who asks.
type Command struct {
	Name  string        // one of the constants
	Scope earshot.Scope // Channel is "" where it was not done in one
	By    earshot.Author
	// Prefix stands before the names of commands, as people write them: "/earshot " or "/".
	Prefix string
}

// Names of commands.
const (
	CommandAsk    = "ask"    // says why somebody may not ask here; "" where they may, and the platform posts a message
	CommandHelp   = "help"   // how to ask, and which commands there are
	CommandStop   = "stop"   // ends what the person is being answered in the channel
	CommandWhy    = "why"    // what was read for the last answer to them in the channel
	CommandForget = "forget" // erases what they said, once they have said that they mean it
	CommandHome   = "home"   // what the bot knows of them, keeps, and asks
)

// StopAsked ends what somebody is being answered in a channel, and returns how many turns that
// were.
func (b *Bot) StopAsked(ctx context.Context, s earshot.Scope, who earshot.AuthorID) (int, error) {
	list, err := b.store.QueuedTurns(ctx, earshot.TurnQuery{Agent: b.agent, Scope: &s, States: earshot.UnfinishedStates(), Limit: mostUnfinished})
	if err != nil {
		return 0, fmt.Errorf("look up what is answered: %w", err)
	}
	n := 0
	for _, q := range list {
		if asked, err := b.HasAsked(ctx, q, who); err != nil {
			return n, err
		} else if !asked || q.Stopped != 0 {
			continue
		}
		running, err := b.Stop(ctx, q.ID, who)
		if err != nil {
			return n, err
		}
		if running {
			n++
		}
	}
	return n, nil
}
