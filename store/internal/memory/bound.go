package memory

import (
	"cmp"
	"container/list"
	"slices"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Limits bound a store. A conversation is a channel's top level, or the replies in
// one thread.
type Limits struct {
	Conversations int // that hold messages
	Messages      int // of each, without deleted ones
}

// An evictor evicts messages once a store is over its limits: of a conversation the
// oldest, of all conversations the one that was least recently used, which is
// recorded into or read. Every write ends with it. What is evicted leaves no
// tombstone: it can be recorded again.
//
// Some messages are kept whatever the limits say: see [Store.kept]. A conversation of
// which only such are left does not count until it is used again.
type evictor struct {
	Limits
	dirty []conversationPlace // written to by the write that is running

	mu    sync.Mutex // guards what follows; a read has the store's lock only for reading
	order *list.List // of places, the most recently used first
	at    map[conversationPlace]*list.Element
}

// A conversationPlace is a conversation: a thread's root, or "" for the top level.
type conversationPlace struct {
	scope earshot.Scope
	root  earshot.MessageID
}

func newEvictor(l Limits) *evictor {
	return &evictor{Limits: l, order: list.New(), at: map[conversationPlace]*list.Element{}}
}

// wrote notes that a conversation has a new message.
func (b *evictor) wrote(p conversationPlace) {
	if b == nil {
		return
	}
	b.dirty = append(b.dirty, p)
}

// used makes a conversation the most recently used one. add is false for reads,
// which make no conversation.
func (b *evictor) used(p conversationPlace, add bool) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.at[p]; e != nil {
		b.order.MoveToFront(e)
	} else if add {
		b.at[p] = b.order.PushFront(p)
	}
}

// over returns the conversation to evict, and forgets it; ok is false while there
// are few enough.
func (b *evictor) over() (p conversationPlace, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.order.Len() <= b.Conversations {
		return conversationPlace{}, false
	}
	p = b.order.Remove(b.order.Back()).(conversationPlace)
	delete(b.at, p)
	return p, true
}

// forget forgets the conversations of an erased channel.
func (b *evictor) forget(scope earshot.Scope) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for p, e := range b.at {
		if p.scope == scope {
			b.order.Remove(e)
			delete(b.at, p)
		}
	}
}

// trim brings the store back within its limits after a write.
func (s *Store) trim() {
	if s.bound == nil || len(s.bound.dirty) == 0 {
		return
	}
	for _, p := range s.bound.dirty {
		if c := s.channels[p.scope]; c != nil && len(c.threads[p.root]) > 0 {
			s.bound.used(p, true)
		}
	}
	for _, p := range s.bound.dirty {
		if c := s.channels[p.scope]; c != nil {
			s.evict(c, p, len(c.threads[p.root])-s.bound.Messages)
		}
	}
	s.bound.dirty = s.bound.dirty[:0]
	for {
		p, ok := s.bound.over()
		if !ok {
			return
		}
		if c := s.channels[p.scope]; c != nil {
			s.evict(c, p, len(c.threads[p.root]))
			if p.root != "" && len(c.threads[p.root]) == 0 {
				c.lostThread = max(c.lostThread, c.lost[p.root])
				delete(c.lost, p.root)
				delete(c.threads, p.root)
			}
		}
		s.evictConversations(p)
	}
}

// evict removes the n oldest messages of a conversation, without those that are kept.
func (s *Store) evict(c *channel, p conversationPlace, n int) {
	if n <= 0 {
		return
	}
	var gone []*rule.Message
	for _, m := range c.threads[p.root] {
		if len(gone) == n {
			break
		}
		if !s.kept(c, p, m) {
			gone = append(gone, m)
		}
	}
	for _, m := range gone {
		c.evict(m)
		delete(s.queue.reading, scopedID{p.scope, string(m.ID)})
		if box := s.queue.inboxes[p.scope]; box != nil {
			for i := range box.events[m.ID] {
				box.events[m.ID][i].Raw = nil
			}
		}
	}
}

// kept reports whether a message is never evicted: the root of a thread that is
// held, the question of an unfinished turn, and what an unfinished turn or the
// current epoch of a session shows. Tombstones are in no conversation.
func (s *Store) kept(c *channel, p conversationPlace, m *rule.Message) bool {
	if len(c.threads[m.ID]) > 0 {
		return true
	}
	for agent := range s.agents {
		if t := s.queue.anchors[agentKey{agent, p.scope, string(m.ID)}]; t != nil && !t.State.Final() {
			return true
		}
	}
	for id, epochs := range s.queue.reading[scopedID{p.scope, string(m.ID)}] {
		in := s.conversations[id]
		if in == nil || !in.session && !s.queue.busy(id) {
			continue
		}
		for epoch := range epochs {
			if epoch >= in.Epoch {
				return true
			}
		}
	}
	return false
}

// busy reports whether a conversation has unfinished turns.
func (q *queue) busy(id earshot.ConversationID) bool {
	l := q.conversations[id]
	return l != nil && slices.ContainsFunc(l.all, func(t *queuedTurn) bool { return !t.State.Final() })
}

// evictConversations removes what agents keep of an evicted conversation, unless
// its session goes on or a bot has answered in it.
func (s *Store) evictConversations(p conversationPlace) {
	name := string(p.root)
	if name == "" {
		name = topLevel
	}
	for agent := range s.agents {
		id := earshot.ConversationID{Agent: agent, Scope: p.scope, Name: name}
		c := s.conversations[id]
		if c == nil || c.session || s.queue.conversations[id] != nil || s.drafted(id) {
			continue
		}
		for _, t := range c.turns {
			delete(s.anchors, agentKey{agent, p.scope, string(t.Answer.Anchor)})
			for _, m := range rule.MessagesRead(t) {
				delete(s.queue.reading[scopedID{p.scope, string(m)}], id)
			}
		}
		delete(s.keys, idempotencyKey{agent, p.scope.Workspace, c.key})
		delete(s.conversations, id)
	}
}

// topLevel is the name of a top level's conversation: gather.TopLevel.
const topLevel = "top"

// evict removes a message without a tombstone, and remembers that the history has a
// gap there.
func (c *channel) evict(m *rule.Message) {
	c.stale++
	if i, found := slices.BinarySearchFunc(c.known, m.Seq, bySeq); found { // its text must not outlive it
		c.known[i] = &rule.Message{Message: earshot.Message{ID: m.ID, Seq: m.Seq}}
	}
	c.whole = without(c.whole, m)
	c.threads[m.Thread] = without(c.threads[m.Thread], m)
	if m.ReplyTo != "" {
		if c.replying[m.ReplyTo] = without(c.replying[m.ReplyTo], m); len(c.replying[m.ReplyTo]) == 0 {
			delete(c.replying, m.ReplyTo)
		}
	}
	delete(c.byID, m.ID)
	delete(c.embedded, m.ID)
	delete(c.reactions, m.ID)
	delete(c.history, m.ID)
	if len(m.Files) > 0 {
		c.blobs.drop(func(f file) bool { return f.message == m.ID })
	}
	c.compact()
	c.seq++
	if len(c.evicted) == maxEvicted {
		c.evicted = slices.Delete(c.evicted, 0, maxEvicted/2)
	}
	c.evicted = append(c.evicted, earshot.Terms{ID: m.ID, Seq: c.seq, Deleted: true})
	if c.lost == nil {
		c.lost = map[earshot.MessageID]earshot.Time{}
	}
	c.lost[m.Thread] = max(c.lost[m.Thread], m.Time)
}

// maxEvicted is how many evicted messages of a channel a search index hears of. An
// index that missed more is built again as soon as it finds one.
const maxEvicted = 1024

// begins remembers that a thread may have had replies that were evicted with it:
// its root is older than the newest of those, or not stored.
func (c *channel) begins(m *rule.Message) {
	if m.Thread == "" || c.lostThread == 0 || len(c.threads[m.Thread]) > 0 || c.lost[m.Thread] != 0 {
		return
	}
	if root := c.byID[m.Thread]; root == nil || root.Time <= c.lostThread {
		if c.lost == nil {
			c.lost = map[earshot.MessageID]earshot.Time{}
		}
		c.lost[m.Thread] = c.lostThread
	}
}

// gaps are the stretches of which messages were evicted.
func (c *channel) gaps() []earshot.Coverage {
	var out []earshot.Coverage
	for root, to := range c.lost {
		out = append(out, earshot.Coverage{Thread: root, To: to, State: earshot.Missing, Why: "evicted: the store in memory is bounded"})
	}
	return out
}

// removed returns the evictions after seq.
func (c *channel) removed(seq int64) []earshot.Terms {
	i, _ := slices.BinarySearchFunc(c.evicted, seq+1, func(t earshot.Terms, seq int64) int { return cmp.Compare(t.Seq, seq) })
	return slices.Clone(c.evicted[i:])
}
