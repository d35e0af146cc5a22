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
	if e.By.Emoji != "" {
		return b.addressReaction(ctx, e)
	}
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
	own := b.in(e.Channel)
	settings := own.Answer
	rules := address.Rules{
		Store: b.store, Self: b.identity, Agent: b.agent, Now: b.now(),
		Roots: settings.Roots, OwnedThreads: settings.OwnedThreads, Bots: settings.Bots, BotTurns: settings.BotTurns, BotWindow: settings.BotWindow,
		Ambient: own.Ambient.in(e.Channel.ID), NoForms: settings.NoForms, FormTurns: settings.FormTurns, EditWindow: settings.EditWindow,
	}
	v, err := rules.Decide(ctx, e.Channel, address.Question{Message: &m, Past: e.Past, Form: e.Form}, id)
	if err != nil {
		return nil, "", err
	}
	if v.Answer && e.Refused == "" && !b.lets(ctx, own, e) {
		e.Refused = earshot.RefusedAuthor
	}
	if v.Why == address.Ambient && e.Refused != "" { // it asks for nothing
		v = address.Verdict{Why: address.NotAddressed}
	}
	e.Anew, e.Ambient = v.Anew, v.Why == address.Ambient
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
	return &id, v.Why, rules.LetGo(ctx, id, &m)
}

// addressReaction decides about an emoji that somebody gave to a message and that asks.
// It sets the event's message to the stored one: by the emoji nothing of it changes.
func (b *Bot) addressReaction(ctx context.Context, e *Event) (*earshot.ConversationID, string, error) {
	if b.identity.Is(e.By.ID) {
		return nil, address.Self, nil
	}
	list, err := b.store.ByID(ctx, e.Channel.Scope(), e.Message.ID)
	switch {
	case err != nil:
		return nil, "", fmt.Errorf("address an emoji at message %s: %w", e.Message.ID, err)
	case len(list) == 0:
		return nil, address.Unheard, nil
	case list[0].Deleted:
		return nil, address.Deletion, nil
	case b.identity.Is(list[0].Author.ID):
		return nil, address.Self, nil
	}
	e.Message, e.Anew = list[0], true
	id, err := gather.ConversationOf(ctx, b.store, e.Channel, e.Message, b.identity)
	if err != nil {
		return nil, "", fmt.Errorf("address an emoji at message %s: %w", e.Message.ID, err)
	}
	if e.Refused == "" && !b.lets(ctx, b.in(e.Channel), e) {
		e.Refused = earshot.RefusedAuthor
	}
	if e.Refused != "" {
		return &id, string(e.Refused), nil
	}
	return &id, address.Reaction, nil
}
