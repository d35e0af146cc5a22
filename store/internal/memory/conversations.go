package memory

import (
	"context"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// A conversation is an agent's state with its turns. Session and manifest are
// read from the turns of the current epoch.
type conversation struct {
	earshot.Conversation
	key   string
	turns []earshot.Turn
	// session is set while the current epoch has one.
	session bool
	weight  []int // what the turns count up to each one, see [rule.Weight]

	summed     rule.SummaryState          // Claim, Before, Summed and Since; Before.Turns is 0 when there is no summary
	summarised map[earshot.MessageID]bool // what the summary is made of
}

// weighs returns what the first n turns count together.
func (c *conversation) weighs(n int) int {
	if n == 0 {
		return 0
	}
	return c.weight[n-1]
}

func (c *conversation) export() earshot.Conversation {
	out := c.Conversation
	out.Metadata, out.About.Tags = maps.Clone(c.Metadata), slices.Clone(c.About.Tags)
	return out
}

// time returns the clock's time.
func (s *Store) time() earshot.Time { return earshot.TimeOf(s.now()) }

// OpenConversation implements [earshot.Conversations].
func (s *Store) OpenConversation(ctx context.Context, id earshot.ConversationID, idempotencyKey string) (earshot.Conversation, bool, error) {
	return s.CreateConversation(ctx, earshot.Conversation{ID: id}, idempotencyKey)
}

// CreateConversation implements [earshot.Conversations].
func (s *Store) CreateConversation(ctx context.Context, in earshot.Conversation, key string) (earshot.Conversation, bool, error) {
	in, key, err := rule.CheckCreate(in, key)
	if err != nil {
		return earshot.Conversation{}, false, err
	}
	id := in.ID
	var out earshot.Conversation
	created := false
	err = s.write(ctx, func() error {
		at := idempotencyKey{id.Agent, id.Scope.Workspace, key}
		first, byKey := s.keys[at]
		c, stored := s.conversations[id], ""
		if c != nil {
			stored = c.key
		}
		what, err := rule.DecideOpen(id, key, byKey, c != nil, stored)
		switch {
		case err != nil:
			return err
		case what == rule.OpenByKey:
			c = s.conversations[first]
		case what == rule.OpenCreates:
			c, created = s.create(in, s.time()), true
		}
		if key != "" && what != rule.OpenByKey {
			c.key, s.keys[at] = key, id
		}
		out = c.export()
		return nil
	})
	return out, created, err
}

func (s *Store) create(in earshot.Conversation, now earshot.Time) *conversation {
	in.Created, in.Updated = now, now
	c := &conversation{Conversation: in}
	s.conversations[in.ID] = c
	if s.bound != nil {
		s.agents[in.ID.Agent] = true
	}
	return c
}

// Conversation implements [earshot.Conversations].
func (s *Store) Conversation(ctx context.Context, id earshot.ConversationID) (earshot.Conversation, error) {
	var out earshot.Conversation
	err := s.read(ctx, func() error {
		c, err := s.conversation(id)
		if err == nil {
			out = c.export()
		}
		return err
	})
	return out, err
}

// FindConversations implements [earshot.Conversations].
func (s *Store) FindConversations(ctx context.Context, q earshot.ConversationQuery) (out []earshot.Conversation, err error) {
	q = rule.NormaliseConversationQuery(q)
	err = s.read(ctx, func() error {
		for _, c := range s.conversations {
			if rule.SelectsConversation(q, c.Conversation) {
				out = append(out, c.export())
			}
		}
		slices.SortFunc(out, rule.CompareConversations)
		if q.Limit > 0 && len(out) > q.Limit {
			out = out[:q.Limit]
		}
		return nil
	})
	return out, err
}

// conversation returns the stored one, or [earshot.ErrNotFound].
func (s *Store) conversation(id earshot.ConversationID) (*conversation, error) {
	if c := s.conversations[rule.Conversation(id)]; c != nil {
		return c, nil
	}
	return nil, rule.NoConversation(id)
}

// MergeMetadata implements [earshot.Conversations].
func (s *Store) MergeMetadata(ctx context.Context, id earshot.ConversationID, patch map[string]*string) (earshot.Conversation, error) {
	var out earshot.Conversation
	err := s.write(ctx, func() error {
		c, err := s.conversation(id)
		if err != nil {
			return err
		}
		next, err := rule.MergeMetadata(c.Metadata, patch)
		if err != nil {
			return err
		}
		if !maps.Equal(next, c.Metadata) {
			c.Metadata, c.Updated = next, s.time()
		}
		out = c.export()
		return nil
	})
	return out, err
}

// AdvanceCursor implements [earshot.Conversations].
func (s *Store) AdvanceCursor(ctx context.Context, id earshot.ConversationID, seq int64) error {
	return s.write(ctx, func() error {
		c, err := s.conversation(id)
		if err == nil && seq > c.Cursor {
			c.Cursor, c.Updated = seq, s.time()
		}
		return err
	})
}

// epoch calls f with each turn of the current epoch.
func (s *Store) epoch(ctx context.Context, id earshot.ConversationID, f func(earshot.Turn)) error {
	return s.read(ctx, func() error {
		c := s.conversations[rule.Conversation(id)]
		if c == nil {
			return nil
		}
		for _, t := range c.turns {
			if t.Epoch == c.Epoch {
				f(t)
			}
		}
		return nil
	})
}

// Manifest implements [earshot.Conversations].
func (s *Store) Manifest(ctx context.Context, id earshot.ConversationID) (earshot.Manifest, error) {
	var out earshot.Manifest
	err := s.epoch(ctx, id, func(t earshot.Turn) {
		out.Shown = append(out.Shown, t.Shown...)
		out.Attached = append(out.Attached, t.Attached...)
		out.Names = append(out.Names, t.Names...)
	})
	out.Names = rule.Names(out.Names)
	return out, err
}

// Session implements [earshot.Conversations].
func (s *Store) Session(ctx context.Context, id earshot.ConversationID) ([]earshot.SessionEntry, error) {
	var out []earshot.SessionEntry
	err := s.epoch(ctx, id, func(t earshot.Turn) { out = append(out, rule.CloneSession(t.Session)...) })
	return out, err
}

// CommitTurn implements [earshot.Turns].
func (s *Store) CommitTurn(ctx context.Context, id earshot.ConversationID, t earshot.Turn) (int, error) {
	t, err := rule.CheckTurn(t)
	if err != nil {
		return 0, err
	}
	number := 0
	err = s.write(ctx, func() error {
		c, err := s.conversation(id)
		if err != nil {
			return err
		}
		done, err := rule.CommitTurn(t, s.answered(c.ID, t), s.time())
		if err != nil {
			return err
		}
		s.commit(c, done)
		number = done.Turn.Number
		return nil
	})
	return number, err
}

// answered loads what it takes to commit a turn.
func (s *Store) answered(id earshot.ConversationID, t earshot.Turn) rule.CommitState {
	a := rule.CommitState{Taken: s.anchors[agentKey{id.Agent, id.Scope, string(t.Answer.Anchor)}], Gone: s.anyDeleted(id.Scope, rule.MessagesRead(t))}
	if c := s.conversations[id]; c != nil {
		a.Conversation, a.Turns, a.Weight = c.Conversation, len(c.turns), c.weighs(len(c.turns))
	}
	return a
}

// commit appends a turn.
func (s *Store) commit(c *conversation, done rule.Commit) {
	c.session = (c.session && done.Conversation.Epoch == c.Epoch || len(done.Turn.Session) > 0) && done.Turn.Epoch == done.Conversation.Epoch
	c.Conversation = done.Conversation
	c.turns, c.weight = append(c.turns, done.Turn), append(c.weight, done.Weight)
	s.anchors[agentKey{c.ID.Agent, c.ID.Scope, string(done.Turn.Answer.Anchor)}] = true
	s.queue.hasRead(c.ID, done.Turn.Epoch, done.Read)
}

// AddReply implements [earshot.Turns].
func (s *Store) AddReply(ctx context.Context, id earshot.ConversationID, number int, have []earshot.MessageID, reply earshot.ShownRevision) error {
	id = rule.Conversation(id)
	return s.write(ctx, func() error {
		c, err := s.conversation(id)
		if err != nil {
			return err
		}
		if number < 0 || number >= len(c.turns) {
			return rule.NoCommitted(id, number)
		}
		a := rule.Addition{Have: have, Reply: reply}.Clean()
		a.Gone = s.anyDeleted(id.Scope, []earshot.MessageID{a.Reply.ID})
		for _, t := range c.turns {
			a.Shown = a.Shown || t.Epoch == c.turns[number].Epoch && slices.ContainsFunc(t.Shown, func(x earshot.ShownRevision) bool { return x.ID == a.Reply.ID })
		}
		turn, err := a.To(rule.CloneTurn(c.turns[number]))
		if err != nil {
			return err
		}
		turn.Shown = append(turn.Shown, a.Reply)
		c.turns[number] = turn
		s.queue.hasRead(id, turn.Epoch, []earshot.MessageID{a.Reply.ID})
		return nil
	})
}

// Turns implements [earshot.Turns].
func (s *Store) Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error) {
	var out []earshot.Turn
	err := s.read(ctx, func() error {
		c := s.conversations[rule.Conversation(id)]
		if c == nil {
			return nil
		}
		list := c.turns
		if limit > 0 {
			list = list[len(list)-min(limit, len(list)):]
		}
		for _, t := range list {
			t.Session, t.Ledger = nil, nil
			out = append(out, rule.CloneTurn(t))
		}
		return nil
	})
	return out, err
}

// Turn implements [earshot.Turns].
func (s *Store) Turn(ctx context.Context, id earshot.ConversationID, number int) (earshot.Turn, error) {
	var out earshot.Turn
	err := s.read(ctx, func() error {
		c := s.conversations[rule.Conversation(id)]
		if c == nil || number < 0 || number >= len(c.turns) {
			return rule.NoCommitted(id, number)
		}
		out = rule.CloneTurn(c.turns[number])
		return nil
	})
	return out, err
}

var _ earshot.Store = (*Store)(nil)

// without removes from what is said of a conversation the values of which holds is
// true.
func (c *conversation) without(holds func(string) bool, now earshot.Time) {
	next, less := rule.ScrubbedValues{Metadata: c.Metadata, About: c.About}.Without(holds)
	if less {
		c.Metadata, c.About, c.Updated = next.Metadata, next.About, now
	}
}
