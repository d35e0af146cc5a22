package memory

import (
	"cmp"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/coverage"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// join makes one channel of two, under the id of the second, whose sequences come after
// those of the first: see the other engines.
func (s *Store) join(from, to earshot.Scope) error {
	s.queue.removeRefusedTwice(to, from)
	s.queue.removeRefusedTwice(from, to)
	x := s.joinState(from, to)
	if err := x.Check(); err != nil {
		return err
	}
	was, is := s.channel(from), s.channel(to)
	for _, m := range was.known { // what was deleted under one id is not to be read under the other
		if have := is.byID[m.ID]; was.byID[m.ID] == m && m.Deleted && have != nil && !have.Deleted {
			s.record(to, is, rule.Tombstones([]earshot.MessageID{m.ID})[0])
		}
	}
	first, second := is.seq, is.seq+was.seq
	c := newChannel()
	c.add(was, first, func(earshot.MessageID) bool { return false })
	c.add(is, second, func(id earshot.MessageID) bool { return was.byID[id] != nil || was.reactions[id] != nil })
	c.seq = second + is.seq
	c.info, c.told = rule.JoinChannelInfo(was.info, is.info, was.told, is.told)
	for _, e := range coverage.Join(was.covered(), is.covered()) {
		c.coverage[coverageKey{e.Thread, e.From, e.To}] = e
	}
	c.blobs.join(was.blobs)
	c.blobs.join(is.blobs)
	for root, at := range was.lost {
		is.lose(root, at)
	}
	c.lost, c.lostThread = is.lost, max(was.lostThread, is.lostThread)

	delete(s.channels, from)
	s.channels[to] = c
	s.shiftCursors(to, second)
	s.shiftCursors(from, first)
	s.joinConversations(x.Conversations, to)
	s.joinQueues(from, to)
	s.bound.join(from, to)
	s.move(from, to)
	for id := range s.conversations {
		if id.Scope == to {
			s.queue.release(id)
		}
	}
	s.joinTwice(to, was, is, second)
	for root := range c.threads {
		s.bound.wrote(conversationPlace{to, root})
	}
	return nil
}

// joinState returns what decides whether two channels can be joined.
func (s *Store) joinState(from, to earshot.Scope) rule.JoinState {
	x := rule.JoinState{From: from, To: to, Was: s.joinSide(from), Is: s.joinSide(to)}
	x.Was.Reached, x.Is.Reached = s.reached(from, x.Was.Bars, x.Is.Bars), s.reached(to, x.Is.Bars, x.Was.Bars)
	for id, c := range s.conversations {
		if other := s.conversations[elsewhere(id, to)]; id.Scope == from && other != nil {
			x.Conversations = append(x.Conversations, rule.JoinedConversation{ID: id, Was: s.side(c), Is: s.side(other)})
		}
	}
	slices.SortFunc(x.Conversations, func(a, b rule.JoinedConversation) int {
		return cmp.Or(cmp.Compare(a.ID.Agent, b.ID.Agent), cmp.Compare(a.ID.Name, b.ID.Name))
	})
	twice := func(key agentKey) {
		if x.Twice == nil || key.id < string(x.Anchor) {
			x.Twice, x.Anchor = &earshot.ConversationID{Agent: key.agent, Scope: from}, earshot.MessageID(key.id)
		}
	}
	for key := range s.anchors {
		if key.scope == from && s.anchors[agentKey{key.agent, to, key.id}] {
			twice(key)
		}
	}
	for key := range s.queue.anchors {
		if key.scope == from && s.queue.anchors[agentKey{key.agent, to, key.id}] != nil {
			twice(key)
		}
	}
	for key := range s.queue.posts {
		if key.scope == from && s.queue.posts[scopedID{to, key.id}] != nil && (x.Post == "" || key.id < x.Post) {
			x.Post = key.id
		}
	}
	return x
}

func (s *Store) joinSide(scope earshot.Scope) (x rule.JoinSide) {
	for at, b := range s.bars {
		if at.workspace == (workspace{scope.Platform, scope.Workspace}) && at.channel == scope.Channel {
			x.Bars = append(x.Bars, b)
		}
	}
	slices.SortFunc(x.Bars, func(a, b rule.Bar) int { return cmp.Compare(a.Author, b.Author) })
	return x
}

// reached returns the bars that a channel lacks and that reach something it has.
func (s *Store) reached(scope earshot.Scope, mine, others []rule.Bar) (out []rule.Bar) {
	c := s.channels[scope]
	for _, b := range rule.Unbarred(mine, others) {
		if c != nil && slices.ContainsFunc(c.whole, func(m *rule.Message) bool { return b.Reaches(*m) }) {
			out = append(out, b)
		}
	}
	return out
}

func (s *Store) side(c *conversation) rule.ConversationSide {
	metadata, about, err := rule.ScrubbedValues{Metadata: c.Metadata, About: c.About}.Columns()
	x := rule.ConversationSide{Turns: len(c.turns), Said: c.key != "" || about != "" || err != nil || len(c.Metadata) > 0 && metadata != ""}
	if q := s.queue.conversations[c.ID]; q != nil {
		x.Begun = slices.ContainsFunc(q.all, func(t *queuedTurn) bool { return !t.State.Final() && t.From >= 0 })
	}
	return x
}

// elsewhere returns a conversation's id in another channel.
func elsewhere(id earshot.ConversationID, scope earshot.Scope) earshot.ConversationID {
	id.Scope = scope
	return id
}

// removeRefusedTwice removes the refusals of a channel for which another one has a turn.
func (q *queue) removeRefusedTwice(in, other earshot.Scope) {
	for key, t := range q.anchors {
		if key.scope == in && t.State == earshot.TurnRefused && q.anchors[agentKey{key.agent, other, key.id}] != nil {
			q.removeRefused(t.Conversation, t.Anchor)
		}
	}
}

// add takes over the messages of another channel whose ids are not out, with by added to
// their sequences, and what hangs on them.
func (c *channel) add(o *channel, by int64, out func(earshot.MessageID) bool) {
	for _, m := range o.known {
		if o.byID[m.ID] == m && !out(m.ID) {
			c.seq = m.Seq + by - 1
			c.replace(nil, *m)
		}
	}
	for id, list := range o.history {
		if out(id) {
			continue
		}
		for _, past := range list {
			if past.Seq > 0 {
				past.Seq += by
			}
			c.history[id] = append(c.history[id], past)
		}
	}
	for id, r := range o.reactions {
		if !out(id) {
			c.reactions[id] = r
		}
	}
	for id, e := range o.embedded {
		if !out(id) {
			e.Seq += by
			c.embedded[id] = e
		}
	}
	for _, t := range o.evicted {
		t.Seq += by
		c.evicted = append(c.evicted, t)
	}
}

func (c *channel) covered() []earshot.Coverage { return slices.Collect(maps.Values(c.coverage)) }

// lose remembers up to when history of a thread is missing.
func (c *channel) lose(root earshot.MessageID, at earshot.Time) {
	if c.lost == nil {
		c.lost = map[earshot.MessageID]earshot.Time{}
	}
	c.lost[root] = max(c.lost[root], at)
}

func (x *blobs) join(o blobs) {
	maps.Copy(x.stored, o.stored)
	maps.Copy(x.files, o.files)
	x.drop(func(file) bool { return false })
}

// shiftCursors adds to the cursors of a channel's conversations and turns.
func (s *Store) shiftCursors(scope earshot.Scope, by int64) {
	shift := func(cursor *int64) {
		if *cursor > 0 {
			*cursor += by
		}
	}
	for id, c := range s.conversations {
		if id.Scope == scope {
			shift(&c.Cursor)
			for i := range c.turns {
				shift(&c.turns[i].Cursor)
			}
		}
	}
}

// joinConversations leaves one of each conversation that both channels have.
func (s *Store) joinConversations(list []rule.JoinedConversation, to earshot.Scope) {
	for _, c := range list {
		if c.KeepsOld() {
			delete(s.conversations, elsewhere(c.ID, to))
		} else {
			delete(s.conversations, c.ID)
		}
		old, now := s.queue.conversations[c.ID], s.queue.conversations[elsewhere(c.ID, to)]
		if old == nil || now == nil {
			continue
		}
		now.Fence = max(now.Fence, old.Fence)
		now.all = append(now.all, old.all...)
		slices.SortFunc(now.all, func(a, b *queuedTurn) int { return cmp.Compare(a.ID, b.ID) })
		delete(s.queue.conversations, c.ID)
	}
}

// joinQueues joins what is kept of both channels besides conversations, where move would
// let one replace the other.
func (s *Store) joinQueues(from, to earshot.Scope) {
	if old, now := s.queue.inboxes[from], s.queue.inboxes[to]; old != nil && now != nil {
		for id, list := range old.events {
			list = slices.DeleteFunc(list, func(e earshot.Event) bool { return e.Delivery != "" && now.deliveries[e.Delivery] })
			if list = append(list, now.events[id]...); len(list) > 0 {
				now.events[id] = list
			}
		}
		maps.Copy(now.deliveries, old.deliveries)
		delete(s.queue.inboxes, from)
	}
	for key, readers := range s.queue.reading {
		now := s.queue.reading[scopedID{to, key.id}]
		if key.scope != from || now == nil {
			continue
		}
		for id, epochs := range readers {
			if have := now[elsewhere(id, to)]; have != nil {
				maps.Copy(have, epochs)
			} else {
				now[elsewhere(id, to)] = epochs
			}
		}
		delete(s.queue.reading, key)
	}
	in := workspace{from.Platform, from.Workspace}
	for key, b := range s.bars {
		if key.workspace == in && key.channel == from.Channel {
			delete(s.bars, key)
			b.Channel = to.Channel
			s.bars.set(in, b)
		}
	}
}

// release gives back the lease of a conversation.
func (q *queue) release(id earshot.ConversationID) {
	c := q.conversations[id]
	if c == nil {
		return
	}
	for _, t := range c.all {
		if !t.State.Final() {
			t.StoredTurn = t.Released()
		}
	}
	c.Owner, c.Until = "", 0
	q.advance(id)
}

// join forgets the conversations of a channel that moves which the other one has too.
func (b *evictor) join(from, to earshot.Scope) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for p, e := range b.at {
		if p.scope == from && b.at[conversationPlace{to, p.root}] != nil {
			b.order.Remove(e)
			delete(b.at, p)
		}
	}
}

// joinTwice records again what a channel and the one that moved to it both had of
// messages, in the order in which it became known. by is added to sequences.
func (s *Store) joinTwice(to earshot.Scope, was, is *channel, by int64) {
	c := s.channels[to]
	ids := map[earshot.MessageID]int64{}
	for _, m := range is.byID {
		ids[m.ID] = m.Seq
	}
	for id := range is.reactions {
		ids[id] += 0
	}
	maps.DeleteFunc(ids, func(id earshot.MessageID, _ int64) bool { return was.byID[id] == nil && was.reactions[id] == nil })
	for _, id := range slices.SortedFunc(maps.Keys(ids), func(a, b earshot.MessageID) int {
		return cmp.Or(cmp.Compare(ids[a], ids[b]), cmp.Compare(a, b))
	}) {
		var past []earshot.Message
		for _, p := range is.history[id] {
			past = append(past, p.Message)
		}
		var m *earshot.Message
		var theirs []earshot.Reaction
		if have := is.byID[id]; have != nil {
			m, theirs = &have.Message, have.Reactions
		}
		for _, copied := range rule.Copies(id, past, m, by) {
			s.record(to, c, copied)
		}
		now := c.byID[id]
		if now != nil && now.Deleted {
			continue
		}
		var have []earshot.Reaction
		if now != nil {
			have = now.Reactions
		}
		o := is.reactions[id]
		if o == nil {
			o = rule.NewReactions(nil)
		}
		if joined := c.reactionsOf(id).Join(have, o, theirs); now != nil && !rule.SameCounts(joined, have) {
			next := *now
			next.Reactions = joined
			c.replace(now, next)
		}
	}
}
