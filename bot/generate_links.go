package bot

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot/internal/reply"
)

// A linkGuard makes the reply safe to post. Links in it stay clickable where the
// address was written by the operator, or by a person in a message that the turn
// showed to the model.
type linkGuard struct {
	*claimedTurn
	known *reply.Links
	// unread are messages whose addresses are allowed too. They are read from the
	// store only for a reply that may contain a link.
	unread []earshot.MessageID
}

// newLinkGuard allows the addresses in what the prompt shows, the agent's own
// messages left out.
func (t *turn) newLinkGuard(p prompt) *linkGuard {
	g := &linkGuard{claimedTurn: &t.claimedTurn, known: reply.NewLinks(t.opts.Links)}
	g.known.Allow(t.opts.Instructions)
	shown := map[earshot.MessageID]bool{}
	for _, row := range p.result.Ledger {
		shown[row.ID] = row.Verdict != earshot.Out
	}
	for _, m := range p.input.Messages {
		if shown[m.ID] && !t.identity.Is(m.Author.ID) {
			g.known.Allow(m.Text)
		}
	}
	for _, s := range p.input.Conversation.Shown {
		g.unread = append(g.unread, s.ID)
	}
	for _, e := range p.input.Conversation.Session {
		if e.Role == earshot.ToolRole {
			g.alsoIn(idsIn(e.Text))
		}
	}
	return g
}

// alsoIn allows the addresses in further messages.
func (g *linkGuard) alsoIn(ids []earshot.MessageID) { g.unread = append(g.unread, ids...) }

// guard returns a whole reply as it may be posted.
func (g *linkGuard) guard(ctx context.Context, text string) (string, error) {
	if len(g.unread) > 0 && reply.MayLink(text) {
		list, err := g.store.ByID(ctx, g.scope(), g.unread...)
		if err != nil {
			return "", err
		}
		for _, m := range list {
			if !m.Deleted && !g.identity.Is(m.Author.ID) {
				g.known.Allow(m.Text)
			}
		}
		g.unread = nil
	}
	return reply.Guard(text, g.known), nil
}
