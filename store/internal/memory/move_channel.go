package memory

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// MoveChannel implements [earshot.Store].
func (s *Store) MoveChannel(ctx context.Context, from earshot.Scope, to earshot.ChannelID) error {
	from = rule.Scope(from)
	there := rule.Scope(earshot.Scope{Platform: from.Platform, Workspace: from.Workspace, Channel: to})
	if from == there || to == "" {
		return nil
	}
	return s.write(ctx, func() error {
		switch {
		case !s.holds(from) && s.channels[from] == nil:
			return nil
		case s.holds(there):
			if err := s.join(from, there); err != nil {
				return err
			}
			s.moveSpends(from, there)
			return nil
		}
		delete(s.channels, there)
		s.move(from, there)
		s.moveSpends(from, there)
		return nil
	})
}

// holds reports whether more than its name is stored of a channel.
func (s *Store) holds(scope earshot.Scope) bool {
	c := s.channels[scope]
	if c != nil && len(c.byID)+len(c.reactions)+len(c.coverage)+len(c.blobs.stored)+len(c.blobs.files)+len(c.embedded) > 0 {
		return true
	}
	for id := range s.conversations {
		if id.Scope == scope {
			return true
		}
	}
	for _, d := range s.drafts {
		if d.Conversation.Scope == scope {
			return true
		}
	}
	for _, t := range s.queue.turns {
		if t.Conversation.Scope == scope {
			return true
		}
	}
	for at := range s.bars {
		if at.workspace == (workspace{scope.Platform, scope.Workspace}) && at.channel == scope.Channel {
			return true
		}
	}
	box := s.queue.inboxes[scope]
	return box != nil && len(box.events)+len(box.deliveries) > 0
}

// move gives all that is stored of a scope to another one.
func (s *Store) move(from, to earshot.Scope) {
	if c := s.channels[from]; c != nil {
		c.info.ID = to.Channel
	}
	rekey(s.channels, func(at earshot.Scope) earshot.Scope { return moved(at, from, to) })
	ofConversation := func(id earshot.ConversationID) earshot.ConversationID {
		id.Scope = moved(id.Scope, from, to)
		return id
	}
	rekey(s.conversations, ofConversation)
	for id, c := range s.conversations {
		c.ID = id
	}
	for key, id := range s.keys {
		s.keys[key] = ofConversation(id)
	}
	ofAgent := func(at agentKey) agentKey {
		at.scope = moved(at.scope, from, to)
		return at
	}
	rekey(s.anchors, ofAgent)
	for id, d := range s.drafts {
		if d.Conversation.Scope == from {
			copied := *d
			copied.Conversation.Scope = to
			s.drafts[id] = &copied
		}
	}
	s.queue.move(from, to, ofConversation, ofAgent)
	in := workspace{from.Platform, from.Workspace}
	rekey(s.bars, func(at barKey) barKey {
		if at.workspace == in && at.channel == from.Channel {
			at.channel = to.Channel
		}
		return at
	})
	for at, x := range s.bars {
		x.Channel = at.channel
		s.bars[at] = x
	}
	for _, x := range s.erasures {
		switch {
		case x.Of.Platform != from.Platform || x.Of.Workspace != from.Workspace:
		case x.Of.Channel == from.Channel:
			x.Of.Channel = to.Channel
			if x.Channel != "" {
				x.Channel = to.Channel
			}
		case x.Of.Channel == "" && x.Ended == 0:
			// It walks through the channels by their ids, and would pass over this one.
			x.Channel, x.At = "", ""
		}
	}
	s.bound.move(from, to)
}

// move is [Store.move] of the queue. Leases are given back.
func (q *queue) move(from, to earshot.Scope, ofConversation func(earshot.ConversationID) earshot.ConversationID, ofAgent func(agentKey) agentKey) {
	rekey(q.inboxes, func(at earshot.Scope) earshot.Scope { return moved(at, from, to) })
	rekey(q.anchors, ofAgent)
	for _, t := range q.turns {
		if t.Conversation.Scope == from {
			t.Conversation.Scope = to
			if !t.State.Final() {
				t.StoredTurn = t.Released()
			}
		}
	}
	for id, c := range q.conversations {
		if id.Scope == from {
			c.Owner, c.Until = "", 0
			q.advance(id)
		}
	}
	rekey(q.conversations, ofConversation)
	ofID := func(at scopedID) scopedID {
		at.scope = moved(at.scope, from, to)
		return at
	}
	rekey(q.posts, ofID)
	for at, readers := range q.reading {
		if at.scope == from {
			rekey(readers, ofConversation)
		}
	}
	rekey(q.reading, ofID)
}

// move is [Store.move] of what is evicted first.
func (b *evictor) move(from, to earshot.Scope) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	rekey(b.at, func(p conversationPlace) conversationPlace {
		p.scope = moved(p.scope, from, to)
		return p
	})
	for p, e := range b.at {
		e.Value = p
	}
}

// moved returns to for from, and every other scope as it is.
func moved(at, from, to earshot.Scope) earshot.Scope {
	if at == from {
		return to
	}
	return at
}

// rekey gives the entries of a map other keys.
func rekey[K comparable, V any](m map[K]V, key func(K) K) {
	changed := map[K]V{}
	for k, v := range m {
		if now := key(k); now != k {
			changed[now] = v
			delete(m, k)
		}
	}
	for k, v := range changed {
		m[k] = v
	}
}
