package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// An eraser is a store as [rule.Eraser], under its lock.
type eraser Store

// NextChannel implements [rule.Eraser].
func (e *eraser) NextChannel(_ context.Context, p earshot.Platform, w earshot.WorkspaceID, after earshot.ChannelID) (id earshot.ChannelID, found bool, _ error) {
	for at := range e.channels {
		if at.Platform == p && at.Workspace == w && at.Channel > after && (!found || at.Channel < id) {
			id, found = at.Channel, true
		}
	}
	for of := range e.conversations { // one may have no message
		if at := of.Scope; at.Platform == p && at.Workspace == w && at.Channel > after && (!found || at.Channel < id) {
			id, found = at.Channel, true
		}
	}
	return id, found, nil
}

// Channel implements [rule.Eraser].
func (e *eraser) Channel(_ context.Context, s earshot.Scope) (earshot.Channel, error) {
	if c := e.channels[s]; c != nil {
		return c.info, nil
	}
	return earshot.Channel{}, nil
}

// Author implements [rule.Eraser].
func (e *eraser) Author(_ context.Context, p earshot.Platform, w earshot.WorkspaceID, id earshot.AuthorID) (earshot.Author, error) {
	return e.authors[workspace{p, w}][id], nil
}

// Spoken implements [rule.Eraser].
func (e *eraser) Spoken(_ context.Context, s earshot.Scope, author earshot.AuthorID, until earshot.Time, limit int) (ids []earshot.MessageID, _ error) {
	c := e.channels[s]
	if c == nil {
		return nil, nil
	}
	for _, m := range c.whole {
		if m.Time > until || len(ids) == limit {
			break
		}
		if author == "" || m.Author.ID == author {
			ids = append(ids, m.ID)
		}
	}
	return ids, nil
}

// DeleteMessages implements [rule.Eraser].
func (e *eraser) DeleteMessages(_ context.Context, scope earshot.Scope, ids []earshot.MessageID) (authors []earshot.AuthorID, _ error) {
	s := (*Store)(e)
	c := s.channel(scope)
	files := len(c.blobs.stored)
	for _, id := range ids {
		var at earshot.Time
		if m := c.byID[id]; m != nil {
			at = m.Time
			if !m.Deleted {
				authors = append(authors, m.Author.ID)
			}
		}
		s.record(scope, c, rule.Message{Message: rule.Tombstone(id, at)})
	}
	s.tally.Files += files - len(c.blobs.stored)
	return authors, nil
}

// Purge implements [rule.Eraser].
func (e *eraser) Purge(_ context.Context, s earshot.Scope, until earshot.Time, limit int) (bool, error) {
	c := e.channels[s]
	if c == nil {
		return false, nil
	}
	n := 0
	for id, m := range c.byID {
		if n == limit {
			return true, nil
		}
		if m.Deleted && m.Time <= until {
			delete(c.byID, id)
			delete(c.embedded, id)
			delete(e.queue.reading, scopedID{s, string(id)})
			n++
		}
	}
	c.known = slices.DeleteFunc(c.known, func(k *rule.Message) bool { return c.byID[k.ID] != k })
	c.stale = 0
	return false, nil
}

// DropConversation implements [rule.Eraser].
func (e *eraser) DropConversation(_ context.Context, s earshot.Scope) (bool, error) {
	for id, c := range e.conversations {
		if id.Scope == s {
			(*Store)(e).drop(c)
			return true, nil
		}
	}
	return false, nil
}

// drop removes a conversation with its turns.
func (s *Store) drop(c *conversation) {
	id := c.ID
	epochs := map[int]bool{}
	for _, t := range c.turns {
		epochs[t.Epoch] = true
	}
	s.tally.Sessions += len(epochs)
	if c.summed.Before.Turns > 0 {
		s.tally.Summaries++
	}
	s.dropDrafts(func(d *rule.StoredDraft) bool { return d.Conversation == id })
	q := &s.queue
	for _, t := range q.turns {
		if t.Conversation == id {
			s.tally.Turns++
			maps.DeleteFunc(q.posts, func(_ scopedID, p *earshot.Post) bool { return p.Turn == t.ID })
		}
	}
	q.dropApprovals(func(t *queuedTurn) bool { return t.Conversation == id })
	q.turns = slices.DeleteFunc(q.turns, func(t *queuedTurn) bool { return t.Conversation == id })
	maps.DeleteFunc(q.anchors, func(_ agentKey, t *queuedTurn) bool { return t.Conversation == id })
	delete(q.conversations, id)
	for _, readers := range q.reading {
		delete(readers, id)
	}
	for _, t := range c.turns {
		delete(s.anchors, agentKey{id.Agent, id.Scope, string(t.Answer.Anchor)})
	}
	maps.DeleteFunc(s.keys, func(_ idempotencyKey, of earshot.ConversationID) bool { return of == id })
	delete(s.conversations, id)
}

// ScrubMessages implements [rule.Eraser], for all messages at once.
func (e *eraser) ScrubMessages(_ context.Context, scope earshot.Scope, id earshot.AuthorID, b rule.Bars, _ string) (string, bool, error) {
	s, c := (*Store)(e), e.channels[scope]
	if c == nil {
		return "", false, nil
	}
	for _, m := range slices.Clone(c.whole) {
		some := false
		for i, past := range c.history[m.ID] {
			if next, changed := b.Scrub(past); changed {
				next.Terms, some = "", true
				c.history[m.ID][i] = next
			}
		}
		if next, changed := b.Scrub(*m); changed {
			some = true
			c.replace(m, next)
		}
		if some {
			s.eraseRaws(s.queue.inbox(scope).events[m.ID])
			s.eraseReaders(scope, c, m.Message, nil)
		}
	}
	return "", false, nil
}

// ScrubEvents implements [rule.Eraser], for all events at once.
func (e *eraser) ScrubEvents(_ context.Context, scope earshot.Scope, id earshot.AuthorID, _ string) (string, bool, error) {
	has := rule.MentionsAuthor(id)
	if box := e.queue.inboxes[scope]; box != nil {
		for _, list := range box.events {
			for i := range list {
				if has(list[i].Raw) {
					(*Store)(e).eraseRaws(list[i : i+1])
				}
			}
		}
	}
	return "", false, nil
}

// EndNamed implements [rule.Eraser].
func (e *eraser) EndNamed(_ context.Context, s earshot.Scope, id earshot.AuthorID) (bool, error) {
	for at, c := range e.conversations {
		if at.Scope != s {
			continue
		}
		for _, t := range c.turns {
			if slices.ContainsFunc(t.Names, func(n earshot.SessionName) bool { return n.ID == id }) {
				(*Store)(e).eraseEpochs(c, t.Epoch, t.Epoch)
				return true, nil
			}
		}
	}
	return false, nil
}

// ScrubMetadata implements [rule.Eraser], for all conversations at once.
func (e *eraser) ScrubMetadata(_ context.Context, s earshot.Scope, holds func(string) bool, _ string) (string, bool, error) {
	for at, c := range e.conversations {
		if at.Scope == s {
			c.without(holds, (*Store)(e).time())
		}
	}
	return "", false, (*Store)(e).scrubDrafts(s, holds)
}

// ScrubNotes implements [rule.Eraser], for all messages at once.
func (e *eraser) ScrubNotes(_ context.Context, s earshot.Scope, holds func(string) bool, _ string) (string, bool, error) {
	c := e.channels[s]
	if c == nil {
		return "", false, nil
	}
	for _, m := range slices.Clone(c.whole) {
		if kept, less := rule.NotesWithout(m.Metadata, holds); less {
			next := *m
			next.Metadata = kept
			c.relist(next)
		}
	}
	return "", false, nil
}

// ForgetAsker implements [rule.Eraser], for all turns at once.
func (e *eraser) ForgetAsker(_ context.Context, scope earshot.Scope, id earshot.AuthorID, until earshot.Time, _ string) (string, bool, error) {
	s, asked := (*Store)(e), rule.AskedByEmoji(id)
	for _, t := range s.queue.turns {
		if t.Conversation.Scope == scope && t.Opened <= until && asked(t.StoredTurn) {
			s.tally.Turns++
			s.applyChange(t, rule.ForgetAsker(t.StoredTurn, t.postStates(), s.time()))
		}
	}
	return "", false, nil
}

// ForgetAuthors implements [rule.Eraser].
func (e *eraser) ForgetAuthors(_ context.Context, p earshot.Platform, w earshot.WorkspaceID, ids []earshot.AuthorID) error {
	at := workspace{p, w}
	for _, id := range ids {
		if _, named := e.authors[at][id]; named && !(*Store)(e).spoke(at, id) {
			delete(e.authors[at], id)
			e.tally.Names++
		}
	}
	return nil
}

// ForgetChannel implements [rule.Eraser].
func (e *eraser) ForgetChannel(_ context.Context, s earshot.Scope) error {
	if c := e.channels[s]; c != nil {
		c.info.Name, c.info.Topic, c.info.Purpose = "", "", ""
		c.dropEarly(rule.Forever)
	}
	return nil
}

// clone returns a copy to plan an erasure on. It shares what is never changed in
// place.
func (s *Store) clone() *Store {
	c := Open(s.now)
	for at, x := range s.channels {
		y := *x
		y.byID, y.known, y.whole, y.coverage = maps.Clone(x.byID), slices.Clone(x.known), slices.Clone(x.whole), maps.Clone(x.coverage)
		y.threads, y.replying, y.history = cloneLists(x.threads), cloneLists(x.replying), cloneLists(x.history)
		y.reactions = map[earshot.MessageID]*rule.Reactions{}
		for id, r := range x.reactions {
			y.reactions[id] = r.Clone()
		}
		y.blobs = blobs{maps.Clone(x.blobs.stored), maps.Clone(x.blobs.files)}
		c.channels[at] = &y
	}
	for w, x := range s.authors {
		c.authors[w] = maps.Clone(x)
	}
	for id, x := range s.conversations {
		y := *x
		y.turns, y.summarised = slices.Clone(x.turns), maps.Clone(x.summarised)
		c.conversations[id] = &y
	}
	c.keys, c.anchors, c.bars = maps.Clone(s.keys), maps.Clone(s.anchors), maps.Clone(s.bars)
	c.queue, c.drafts = s.queue.clone(), maps.Clone(s.drafts)
	return c
}

func (q *queue) clone() queue {
	c := newQueue()
	for at, x := range q.inboxes {
		c.inboxes[at] = &inbox{x.deliveries, cloneLists(x.events)}
	}
	for id, x := range q.conversations {
		c.conversations[id] = &conversationQueue{StoredLease: x.StoredLease}
	}
	for _, x := range q.turns {
		t := *x
		t.steps, t.posts, t.approvals, t.feedback = slices.Clone(x.steps), nil, nil, slices.Clone(x.feedback)
		for _, a := range x.approvals {
			asked := &approval{a.Approval, a.n, &t}
			t.approvals = append(t.approvals, asked)
			c.approvals[asked.ID] = asked
		}
		for _, p := range x.posts {
			post := *p
			t.posts = append(t.posts, &post)
			if p.Key != "" {
				c.posts[scopedID{t.Conversation.Scope, p.Key}] = &post
			}
		}
		c.turns = append(c.turns, &t)
		c.anchors[agentKey{t.Conversation.Agent, t.Conversation.Scope, string(t.Anchor)}] = &t
		of := c.of(t.Conversation)
		of.all = append(of.all, &t)
	}
	for id, a := range q.approvals {
		if c.approvals[id] == nil { // of a draft
			asked := *a
			c.approvals[id] = &asked
		}
	}
	for id := range c.conversations {
		c.advance(id)
	}
	for at, readers := range q.reading {
		c.reading[at] = map[earshot.ConversationID]map[int]bool{}
		for id, epochs := range readers {
			c.reading[at][id] = maps.Clone(epochs)
		}
	}
	return c
}

func cloneLists[K comparable, T any](m map[K][]T) map[K][]T {
	out := make(map[K][]T, len(m))
	for k, list := range m {
		out[k] = slices.Clone(list)
	}
	return out
}
