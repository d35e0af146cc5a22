package memory

import (
	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// record stores one copy of a message, with the erasures that a deletion causes.
func (s *Store) record(scope earshot.Scope, c *channel, m rule.Message) earshot.Recorded {
	out := c.record(m)
	if out.Change == earshot.Gone {
		s.erase(scope, c, c.byID[m.ID].Message)
	}
	return out
}

// erase erases all other copies of the text of a deleted message.
func (s *Store) erase(scope earshot.Scope, c *channel, m earshot.Message) {
	box := s.queue.inbox(scope)
	quoting := []earshot.MessageID{m.ID}
	for _, list := range [][]*rule.Message{c.threads[m.ID], c.replying[m.ID]} {
		for _, r := range list {
			quoting = append(quoting, r.ID)
		}
	}
	for _, id := range quoting {
		for i := range box.events[id] {
			box.events[id][i].Raw = nil
		}
	}
	for _, t := range s.queue.turns {
		if t.Conversation.Scope == scope && t.Anchor == m.ID {
			s.apply(t, rule.DropAnchored(t.Queued, t.postStates(), s.time()))
		}
	}
	for id, epochs := range s.queue.reading[scopedID{scope, string(m.ID)}] {
		c := s.conversations[id]
		covered := c.summary != nil && rule.Covers(*c.summary, m.Time)
		for epoch := range epochs {
			s.eraseEpochs(c, epoch, rule.ErasedTo(epoch, c.Epoch, covered))
		}
		if covered {
			c.summary = nil
		}
	}
}

func (t *queuedTurn) postStates() []earshot.PostState {
	var out []earshot.PostState
	for _, p := range t.posts {
		out = append(out, p.State)
	}
	return out
}

// eraseEpochs removes the text that the epochs of a conversation hold, both
// ends counted, and ends them.
func (s *Store) eraseEpochs(c *conversation, from, to int) {
	for i := range c.turns {
		if t := &c.turns[i]; from <= t.Epoch && t.Epoch <= to {
			*t = rule.WithoutText(*t)
		}
	}
	for _, t := range s.queue.turns {
		if t.Conversation == c.ID && from <= t.Queued.Epoch && t.Queued.Epoch <= to {
			t.erase()
		}
	}
	s.endEpoch(c, to)
}

// endEpoch ends a conversation's epoch and those before it.
func (s *Store) endEpoch(c *conversation, epoch int) {
	if c.Epoch <= epoch {
		c.Epoch, c.Updated = epoch+1, s.time()
	}
}

// erase erases the text of a turn. The texts of its posts stay while the turn is about
// to post them, until it ends or begins again.
func (t *queuedTurn) erase() {
	t.Input = nil
	for i := range t.steps {
		t.steps[i].Data, t.steps[i].Erased = nil, true
	}
	if !t.KeepsPosts() {
		t.erasePosts()
	}
}

func (t *queuedTurn) erasePosts() {
	for _, p := range t.posts {
		p.Text = ""
	}
}

// anyDeleted reports whether one of the messages is a tombstone.
func (s *Store) anyDeleted(scope earshot.Scope, ids []earshot.MessageID) bool {
	c := s.channels[scope]
	if c == nil {
		return false
	}
	for _, id := range ids {
		if m := c.byID[id]; m != nil && m.Deleted {
			return true
		}
	}
	return false
}

// hasRead records that a conversation's epoch holds the text of messages.
func (q *queue) hasRead(id earshot.ConversationID, epoch int, messages []earshot.MessageID) {
	for _, m := range messages {
		at := scopedID{id.Scope, string(m)}
		if q.reading[at] == nil {
			q.reading[at] = map[earshot.ConversationID]map[int]bool{}
		}
		if q.reading[at][id] == nil {
			q.reading[at][id] = map[int]bool{}
		}
		q.reading[at][id][epoch] = true
	}
}
