package bot

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/address"
	"github.com/earshot-ai/earshot/gather"
)

// address decides whether a message is for us. It returns the conversation in which
// it is answered, nil where it is not, and why: see [Outcome.Why].
func (b *Bot) address(ctx context.Context, e Event) (*earshot.ConversationID, string, error) {
	m := e.Message
	if b.identity.Is(m.Author.ID) {
		return nil, address.Self, nil
	}
	if e.Known && !m.Deleted {
		return nil, address.Known, nil
	}
	id, err := gather.ConversationOf(ctx, b.store, e.Channel, m, b.identity)
	if err != nil {
		return nil, "", fmt.Errorf("address message %s: %w", m.ID, err)
	}
	settings := b.opts.Answer
	rules := address.Rules{
		Store: b.store, Self: b.identity, Agent: b.agent, Now: b.now(),
		Roots: settings.Roots, OwnedThreads: settings.OwnedThreads, Bots: settings.Bots, BotTurns: settings.BotTurns,
	}
	why, answer, err := rules.Decide(ctx, e.Channel, &m, e.Past, id)
	if err != nil || !answer {
		return nil, why, err
	}
	if e.Refused != "" {
		return nil, e.Refused, nil
	}
	return &id, why, nil
}
