package bot

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/address"
	"github.com/earshot-ai/earshot/gather"
)

// address decides whether a message is for us. It returns the conversation in which
// it is answered or refused, nil where it does not ask, and why: see [Outcome.Why]. It
// sets the event's Anew and Refused.
func (b *Bot) address(ctx context.Context, e *Event) (*earshot.ConversationID, string, error) {
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
		Roots: settings.Roots, OwnedThreads: settings.OwnedThreads, Bots: settings.Bots, BotTurns: settings.BotTurns, BotWindow: settings.BotWindow,
		NoForms: settings.NoForms, FormTurns: settings.FormTurns, EditWindow: settings.EditWindow,
	}
	v, err := rules.Decide(ctx, e.Channel, address.Question{Message: &m, Past: e.Past, Form: e.Form}, id)
	if err != nil {
		return nil, "", err
	}
	e.Anew = v.Anew
	switch {
	case e.Refused.ByGroup() && v.Why == address.NotAddressed, !e.Refused.ByGroup() && e.Refused != "" && v.Answer:
	case v.Answer:
		e.Refused = ""
	case v.Refused != "":
		e.Refused = v.Refused
	default:
		e.Refused = ""
		return nil, v.Why, nil
	}
	if e.Refused != "" {
		return &id, string(e.Refused), nil
	}
	return &id, v.Why, nil
}
