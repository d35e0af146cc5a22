package bot

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot/internal/reply"
)

// A linkGuard makes the reply safe to post. Links in it stay clickable where the
// address was written by the operator, or by a person in a message that the turn
// showed to the model; mentions stay of those whom [Options].MayMention says.
type linkGuard struct {
	*claimedTurn
	known  *reply.Links
	people *reply.People
	within MayMention
	names  map[earshot.AuthorID]string // what the prompt calls people
	chain  map[earshot.MessageID]bool  // the question, and what it replies to
	cited  citations
	// unread are messages whose addresses and authors count too. They are read from the
	// store only for a reply that may contain a link or a mention.
	unread []earshot.MessageID
}

// newLinkGuard allows the addresses in what the prompt shows, the agent's own
// messages left out.
func (t *turn) newLinkGuard(p prompt) *linkGuard {
	g := &linkGuard{claimedTurn: &t.claimedTurn, known: reply.NewLinks(t.opts.Links), people: &reply.People{}, within: t.opts.MayMention,
		names: map[earshot.AuthorID]string{}, chain: chainOf(p.input, t.place.Anchor.ID)}
	for _, id := range append([]earshot.AuthorID{t.identity.ID}, t.identity.Aliases...) {
		g.people.Add(id, false, t.identity.Name)
	}
	if by := t.place.By; by != "" { // who may have said nothing yet
		g.people.Add(by, true)
	}
	for _, n := range slices.Concat(p.result.Next.Names, p.input.Conversation.Names) {
		g.names[n.ID] = n.Name
		g.people.Add(n.ID, false, n.Name)
	}
	g.cited = t.newCitations(p.input, g.names)
	g.cited.add(t.place.Anchor)
	g.addAuthor(t.place.Anchor, false)
	g.known.Allow(t.opts.Instructions)
	shown := map[earshot.MessageID]bool{}
	for _, row := range p.result.Ledger {
		shown[row.ID] = row.Verdict != earshot.Out
	}
	for _, m := range p.input.Messages {
		if shown[m.ID] && !t.identity.Is(m.Author.ID) {
			g.known.Allow(m.Text)
		}
		if shown[m.ID] {
			g.cited.add(m)
		}
		g.addAuthor(m, shown[m.ID])
		if shown[m.ID] {
			g.people.Learn(m.Text)
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
	if reply.MayLink(text) || g.cited.in(text) || g.within != MentionAsker && strings.Contains(text, "@") {
		if err := g.readUnread(ctx); err != nil {
			return "", err
		}
	}
	return g.draft(text), nil
}

// readUnread reads the messages that are not read yet.
func (g *linkGuard) readUnread(ctx context.Context) error {
	if len(g.unread) == 0 {
		return nil
	}
	list, err := g.store.ByID(ctx, g.scope(), g.unread...)
	if err != nil {
		return err
	}
	for _, m := range list {
		if !m.Deleted && !g.identity.Is(m.Author.ID) {
			g.known.Allow(m.Text)
		}
		g.cited.add(m)
		g.addAuthor(m, true)
		if !m.Deleted {
			g.people.Learn(m.Text)
		}
	}
	g.unread = nil
	return nil
}

// find returns the message that a model means by a citation, where it was shown that.
func (g *linkGuard) find(ctx context.Context, what string) (earshot.Message, bool, error) {
	if err := g.readUnread(ctx); err != nil {
		return earshot.Message{}, false, err
	}
	m, ok := g.cited.find(strings.Trim(what, "[] "))
	return m, ok, nil
}

// draft returns as much of a reply as there is, as it may be shown. What it says of
// messages that the store was not asked for yet stays words.
func (g *linkGuard) draft(text string) string {
	return reply.Guard(g.cited.apply(text, g.known), g.known, g.people)
}

// growing returns what may be shown of a reply that is still being written.
func (g *linkGuard) growing(text string) string {
	return g.draft(g.people.Finished(text))
}

// chainOf returns a question and the messages that it replies to, one by the other.
func chainOf(in assemble.Input, anchor earshot.MessageID) map[earshot.MessageID]bool {
	answers := map[earshot.MessageID]earshot.MessageID{}
	for _, m := range in.Messages {
		answers[m.ID] = m.ReplyTo
	}
	out := map[earshot.MessageID]bool{}
	for id := anchor; id != "" && !out[id]; id = answers[id] {
		out[id] = true
	}
	return out
}

// addAuthor adds who wrote a message to those whom the reply may name. Only people are
// mentioned: a bot that is mentioned may answer, and be answered.
func (g *linkGuard) addAuthor(m earshot.Message, shown bool) {
	a := m.Author
	if m.Deleted || a.ID == "" || a.Kind != earshot.Human || g.identity.Is(a.ID) {
		return
	}
	may := a.ID == g.place.Asker().ID
	switch g.within {
	case MentionChannel:
		may = may || shown
	case MentionThread:
		root := g.place.Thread
		may = may || g.chain[m.ID] || root != "" && (m.ID == root || m.Thread == root)
	}
	g.people.Add(a.ID, may, g.names[a.ID], a.Name, a.FullName)
}
