package gather

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// chain follows the anchor's reply references up, and keeps the other parts of the
// agent's answers that it meets. A few more than the limit are read, because blank
// messages do not count.
func (r *reader) chain(ctx context.Context, s assemble.Section) error {
	var met []earshot.Message
	at := r.anchor
	for range s.Messages + 5 {
		id, err := r.reference(ctx, at)
		if err != nil {
			return err
		}
		if id == "" || id == at.ID {
			break
		}
		above, err := r.store.ByID(ctx, r.scope, id)
		if err != nil {
			return err
		}
		if len(above) == 0 {
			break
		}
		r.keep(above[0])
		at = above[0]
		met = append(met, at)
	}
	return r.otherParts(ctx, met)
}

// reference returns m's reply reference, or for a part of a recorded answer that has
// none the first one of the other parts.
func (r *reader) reference(ctx context.Context, m earshot.Message) (earshot.MessageID, error) {
	parts := r.state.Parts(m.ID)
	if m.ReplyTo != "" || len(parts) == 0 {
		return m.ReplyTo, nil
	}
	list, err := r.store.ByID(ctx, r.scope, parts...)
	if err != nil {
		return "", err
	}
	leads := map[earshot.MessageID]earshot.MessageID{}
	for _, part := range list {
		if part.Position().Compare(r.end) <= 0 {
			leads[part.ID] = part.ReplyTo
		}
	}
	for _, id := range parts {
		if leads[id] != "" {
			return leads[id], nil
		}
	}
	return "", nil
}

// otherParts keeps what belongs to the agent's answers among a chain's messages: the
// other ids of a recorded answer, and the agent's messages that reply to the same
// message.
func (r *reader) otherParts(ctx context.Context, chain []earshot.Message) error {
	var parts, answered []earshot.MessageID
	for _, m := range chain {
		parts = append(parts, r.state.Parts(m.ID)...)
		if m.ReplyTo != "" && r.req.Identity.Is(m.Author.ID) {
			answered = append(answered, m.ReplyTo)
		}
	}
	if err := r.byID(ctx, parts...); err != nil || len(answered) == 0 {
		return err
	}
	list, err := r.store.Replying(ctx, r.scope, r.end, answered...)
	for _, m := range list {
		if r.req.Identity.Is(m.Author.ID) {
			r.keep(m)
		}
	}
	return err
}
