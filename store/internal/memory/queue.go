package memory

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// A queue is the state of an [earshot.Queue]. The store's lock guards it.
type queue struct {
	inboxes       map[earshot.Scope]*inbox
	turns         []*queuedTurn // by id
	last          earshot.TurnID
	anchors       map[agentKey]*queuedTurn
	conversations map[earshot.ConversationID]*conversationQueue
	posts         map[scopedID]*earshot.Post // by key; a post's turn is in it
	approvals     map[earshot.ApprovalID]*approval
	asked         int // how many approvals were ever asked for
	reading       map[scopedID]map[earshot.ConversationID]map[int]bool
	resumes       map[stream][]byte
}

// A stream names a platform's stream of events by [earshot.Resume.Key].
type stream struct {
	platform earshot.Platform
	key      string
}

// A scopedID is an id within a scope: a message's id or a post's key.
type scopedID struct {
	scope earshot.Scope
	id    string
}

// An inbox has the events of one scope.
type inbox struct {
	deliveries map[string]bool
	events     map[earshot.MessageID][]earshot.Event
}

// A queuedTurn is a turn with its journal and its posts by chunk.
type queuedTurn struct {
	rule.StoredTurn
	client string
	author earshot.AuthorID
	said   earshot.Time
	steps  []earshot.Step
	posts  []*earshot.Post
	pruned bool

	approvals []*approval        // as they were asked for
	feedback  []earshot.Feedback // by author
}

// A conversationQueue is a conversation's lease with its turns.
type conversationQueue struct {
	rule.StoredLease
	all   []*queuedTurn // by id
	turns []*queuedTurn // those in line, by rule.CompareInLine
}

func newQueue() queue {
	return queue{
		inboxes:       map[earshot.Scope]*inbox{},
		anchors:       map[agentKey]*queuedTurn{},
		conversations: map[earshot.ConversationID]*conversationQueue{},
		posts:         map[scopedID]*earshot.Post{},
		approvals:     map[earshot.ApprovalID]*approval{},
		reading:       map[scopedID]map[earshot.ConversationID]map[int]bool{},
		resumes:       map[stream][]byte{},
	}
}

// Accept implements [earshot.Queue].
func (s *Store) Accept(ctx context.Context, scope earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.AcceptResult, error) {
	scope, e, id, err := rule.CheckAccept(scope, e, ask)
	if err != nil {
		return earshot.AcceptResult{}, err
	}
	prepared, err := rule.Prepare(ctx, []earshot.Message{e.Message})
	if err != nil {
		return earshot.AcceptResult{}, err
	}
	e.Message = prepared[0].Message
	var out earshot.AcceptResult
	err = s.write(ctx, func() error {
		h := rule.AcceptState{Event: e, Asked: ask != nil, ID: id, Now: s.time()}
		box := s.queue.inbox(scope)
		c := s.channel(scope)
		if h.Known = e.Delivery != "" && box.deliveries[e.Delivery]; !h.Known {
			h.Record = s.record(scope, c, prepared[0])
		}
		if m := c.byID[e.Message.ID]; m != nil {
			h.Gone = m.Deleted
			if h.Known {
				h.Record.Seq = m.Seq
			}
		}
		h.Quoted = s.anyDeleted(scope, rule.Quotes(e.Message))
		if t := s.queue.anchors[agentKey{id.Agent, scope, string(e.Message.ID)}]; t != nil {
			h.Of = rule.NewAnchorTurn(t.QueuedTurn)
		}
		h.Twice = s.sentTwice(id.Agent, scope, e)
		a := rule.DecideAccept(h)
		if out = a.Accepted; a.Event != nil {
			box.put(*a.Event)
		}
		if a.Open != nil {
			turn := s.enqueue(*a.Open, e)
			if out.Opened {
				out.Turn = turn
			}
		}
		if r := a.Resume; r != nil {
			s.queue.resumes[stream{scope.Platform, r.Key}] = r.State
		}
		return nil
	})
	if err != nil {
		return earshot.AcceptResult{}, err
	}
	return out, nil
}

func (q *queue) inbox(scope earshot.Scope) *inbox {
	box := q.inboxes[scope]
	if box == nil {
		box = &inbox{deliveries: map[string]bool{}, events: map[earshot.MessageID][]earshot.Event{}}
		q.inboxes[scope] = box
	}
	return box
}

// put stores an event.
func (b *inbox) put(e earshot.Event) {
	if e.Delivery != "" {
		b.deliveries[e.Delivery] = true
	}
	id := e.Message.ID
	e.Message = earshot.Message{ID: id}
	e.By = earshot.Reactor{} // the turn says who asked
	b.events[id] = append(b.events[id], e)
}

// sentTwice reports whether the sender sent the message under another id
// already, and that one has a turn.
func (s *Store) sentTwice(agent earshot.AgentID, scope earshot.Scope, e earshot.Event) bool {
	m := e.Message
	return e.Client != "" && slices.ContainsFunc(s.queue.turns, func(t *queuedTurn) bool {
		return t.Conversation.Agent == agent && t.Conversation.Scope == scope && t.State != earshot.TurnRefused && t.client == e.Client && t.author == m.Author.ID &&
			t.said >= m.Time-rule.ClientWindow && t.said <= m.Time+rule.ClientWindow
	})
}

// enqueue opens a turn and returns its id.
func (s *Store) enqueue(q rule.StoredTurn, e earshot.Event) earshot.TurnID {
	id := q.Conversation
	if s.conversations[id] == nil {
		s.create(earshot.Conversation{ID: id, Metadata: map[string]string{}}, q.Updated)
	}
	s.queue.last++
	q.ID = s.queue.last
	t := &queuedTurn{StoredTurn: q, client: e.Client, author: e.Message.Author.ID, said: e.Message.Time}
	s.queue.removeRefused(id, q.Anchor)
	s.queue.turns = append(s.queue.turns, t)
	s.queue.anchors[agentKey{id.Agent, id.Scope, string(t.Anchor)}] = t
	l := s.queue.of(id)
	l.all = append(l.all, t)
	s.queue.advance(id)
	return t.ID
}

// removeRefused removes an agent's turn for an anchor if it was refused.
func (q *queue) removeRefused(id earshot.ConversationID, anchor earshot.MessageID) {
	at := agentKey{id.Agent, id.Scope, string(anchor)}
	old := q.anchors[at]
	if old == nil || old.State != earshot.TurnRefused {
		return
	}
	delete(q.anchors, at)
	same := func(t *queuedTurn) bool { return t == old }
	q.turns = slices.DeleteFunc(q.turns, same)
	l := q.of(old.Conversation)
	l.all = slices.DeleteFunc(l.all, same)
}

func (q *queue) of(id earshot.ConversationID) *conversationQueue {
	l := q.conversations[id]
	if l == nil {
		l = &conversationQueue{}
		q.conversations[id] = l
	}
	return l
}

// advance updates which turns of a conversation are in line, and the first of them.
func (q *queue) advance(id earshot.ConversationID) {
	l := q.of(id)
	l.turns, l.Lowest = nil, 0
	for _, t := range l.all {
		if rule.InLine(t.State) {
			l.turns = append(l.turns, t)
		}
	}
	slices.SortFunc(l.turns, func(a, b *queuedTurn) int { return rule.CompareInLine(a.QueuedTurn, b.QueuedTurn) })
	if len(l.turns) > 0 {
		l.Lowest = l.turns[0].ID
	}
}

// Resume implements [earshot.Queue].
func (s *Store) Resume(ctx context.Context, p earshot.Platform, key string) ([]byte, error) {
	key = rule.Text(key)
	var out []byte
	err := s.read(ctx, func() error {
		state, found := s.queue.resumes[stream{rule.ID(p), key}]
		if !found {
			return rule.NoResume(key)
		}
		out = slices.Clone(state)
		return nil
	})
	return out, err
}

// Events implements [earshot.Queue].
func (s *Store) Events(ctx context.Context, scope earshot.Scope, id earshot.MessageID) ([]earshot.Event, error) {
	var out []earshot.Event
	err := s.read(ctx, func() error {
		if box := s.queue.inboxes[rule.Scope(scope)]; box != nil {
			for _, e := range box.events[rule.ID(id)] {
				e.Raw = slices.Clone(e.Raw)
				out = append(out, e)
			}
		}
		return nil
	})
	return out, err
}

// PruneEvents implements [earshot.Queue].
func (s *Store) PruneEvents(ctx context.Context, before earshot.Time) (int, error) {
	n := 0
	err := s.write(ctx, func() error {
		for _, c := range s.channels {
			c.dropEarly(before)
		}
		for _, box := range s.queue.inboxes {
			for id, list := range box.events {
				box.events[id] = slices.DeleteFunc(list, func(e earshot.Event) bool {
					if e.Received >= before {
						return false
					}
					delete(box.deliveries, e.Delivery)
					n++
					return true
				})
			}
			maps.DeleteFunc(box.events, func(_ earshot.MessageID, list []earshot.Event) bool { return len(list) == 0 })
		}
		return nil
	})
	return n, err
}

// PruneTurns implements [earshot.Queue].
func (s *Store) PruneTurns(ctx context.Context, before earshot.Time) (int, error) {
	n := 0
	err := s.write(ctx, func() error {
		for _, t := range s.queue.turns {
			if !t.State.Final() || t.pruned || t.Updated >= before {
				continue
			}
			t.Input, t.steps, t.pruned = nil, nil, true
			t.erasePosts()
			t.eraseWords()
			n++
		}
		for _, c := range s.channels {
			c.blobs.prune(before)
		}
		return nil
	})
	return n, err
}

// turn returns the turn with this id, or [earshot.ErrNotFound].
func (q *queue) turn(id earshot.TurnID) (*queuedTurn, error) {
	i, found := slices.BinarySearchFunc(q.turns, id, func(t *queuedTurn, id earshot.TurnID) int { return cmp.Compare(t.ID, id) })
	if !found {
		return nil, rule.NoTurn(id)
	}
	return q.turns[i], nil
}

func (t *queuedTurn) export() earshot.QueuedTurn {
	out := t.Export()
	out.Input = slices.Clone(out.Input)
	return out
}

// QueuedTurn implements [earshot.Queue].
func (s *Store) QueuedTurn(ctx context.Context, id earshot.TurnID) (earshot.QueuedTurn, error) {
	var out earshot.QueuedTurn
	err := s.read(ctx, func() error {
		t, err := s.queue.turn(id)
		if err == nil {
			out = t.export()
		}
		return err
	})
	return out, err
}

// QueuedTurns implements [earshot.Queue].
func (s *Store) QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error) {
	q = rule.CheckTurnQuery(q)
	var out []earshot.QueuedTurn
	err := s.read(ctx, func() error {
		turns := slices.Backward(s.queue.turns)
		if q.Oldest {
			turns = slices.All(s.queue.turns)
		}
		for _, t := range turns {
			if len(out) == q.Limit {
				break
			}
			if t.ID >= q.Before || q.Agent != "" && t.Conversation.Agent != q.Agent || q.Scope != nil && t.Conversation.Scope != *q.Scope ||
				len(q.States) > 0 && !slices.Contains(q.States, t.State) {
				continue
			}
			x := t.export()
			x.Input = nil
			out = append(out, x)
		}
		return nil
	})
	return out, err
}

// Depth implements [earshot.Queue].
func (s *Store) Depth(ctx context.Context, states ...earshot.TurnState) (map[earshot.TurnState]int, error) {
	out := map[earshot.TurnState]int{}
	err := s.read(ctx, func() error {
		for _, t := range s.queue.turns {
			if len(states) == 0 || slices.Contains(states, t.State) {
				out[t.State]++
			}
		}
		return nil
	})
	return out, err
}
