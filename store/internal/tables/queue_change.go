package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// A leasedTurn is a turn with its lease and its conversation.
type leasedTurn struct {
	rule.LeasedTurn
	conversation Conversation
}

// under runs one transaction that loads a turn of the lease's conversation, lets
// decide make a change, and writes it. The queries that more queues, unless it is
// nil, are sent along.
func (s *Store) under(ctx context.Context, what string, l earshot.Lease, id earshot.TurnID, more func(*Tx), decide func(rule.LeasedTurn) (rule.Change, error)) error {
	return s.engine.Apply(ctx, what, underLease(l, id, more, decide))
}

// underLease is the transaction of under.
func underLease(l earshot.Lease, id earshot.TurnID, more func(*Tx), decide func(rule.LeasedTurn) (rule.Change, error)) func(context.Context, *Tx) error {
	return func(ctx context.Context, t *Tx) error {
		return t.under(ctx, l, id, more, func(h leasedTurn) (rule.Change, error) { return decide(h.LeasedTurn) })
	}
}

// under is Store.under within a transaction. Its locks keep others from claiming the
// lease, and from deleting messages of the channel, until the transaction ends.
func (t *Tx) under(ctx context.Context, l earshot.Lease, id earshot.TurnID, more func(*Tx), decide func(leasedTurn) (rule.Change, error)) error {
	h := leasedTurn{LeasedTurn: rule.LeasedTurn{Lease: rule.Lease(l), ID: id, Now: t.now()}}
	in := h.Lease.Conversation
	t.Shared(in.Scope)
	t.askLease(in, &h.Stored)
	h.conversation.Ask(t, in, t.SQL.Lock)
	askQueued(t, id, &h.Turn)
	if more != nil {
		more(t)
	}
	if err := t.Send(ctx); err != nil {
		return err
	}
	h.Epoch = h.conversation.Epoch
	c, err := decide(h)
	if err != nil {
		return err
	}
	return t.Change(h.Turn, c, h.Now)
}

// askQueued queries one turn, without its input. q stays zero when there is none.
func askQueued(a Asker, id earshot.TurnID, q *rule.StoredTurn) {
	*q = rule.StoredTurn{}
	a.Ask(`SELECT `+rule.QueuedColumns+` FROM queued_turn WHERE id = $1`, []any{int64(id)}, func(row Row) error { return scanQueued(row, q) })
}

// Change queues the writes of c, which is about the turn of. Its lease is locked.
func (t *Tx) Change(of rule.StoredTurn, c rule.Change, now earshot.Time) error {
	id := of.Conversation
	if c.EmptyJournal {
		t.Write(`DELETE FROM journal WHERE turn = $1`, int64(of.ID))
	}
	if c.ErasePosts {
		t.Write(`UPDATE outbox SET text = '' WHERE turn = $1 AND text <> ''`, int64(of.ID))
		t.eraseWords(`turn = $1`, int64(of.ID))
		t.Erased()
	}
	t.hasRead(id, c.Epoch, c.Read)
	if c.CopyRead {
		t.copyRead(id, c.CopyFrom, c.Epoch)
	}
	if c.EndEpoch {
		t.endEpoch(id, c.Epoch, now)
	}
	if s := c.Step; s != nil {
		erased := 0
		if s.Erased {
			erased = 1
		}
		t.Write(`INSERT INTO journal (turn, n, kind, time, erased, data) VALUES ($1, $2, $3, $4, $5, $6)`,
			int64(of.ID), s.N, s.Kind, int64(s.Time), erased, Blob(s.Data))
	}
	t.putPosts(id.Scope, c.Posts)
	t.changeApprovals(of.ID, c, now)
	if c.Commit != nil {
		if err := t.commitTurn(*c.Commit); err != nil {
			return err
		}
	}
	t.putTurns(c)
	if c.Unmerge != 0 {
		t.Write(`UPDATE queued_turn SET `+rule.UnmergeSQL+`, updated = $6`+OfConversation+` AND `+t.SQL.NoIndex+rule.UnmergedSQL+` AND why = $7`,
			AgentParams(id, id.Name, int64(now), rule.AnsweredWith(c.Unmerge))...)
	}
	if c.Erase {
		t.EraseTurn(of.ID)
	}
	if c.FindLowest {
		t.advance(id)
	}
	if c.Free {
		t.Write(`UPDATE lease SET until = 0`+OfConversation+` AND owner = ''`, AgentParams(id, id.Name)...)
	}
	return nil
}

// putTurns writes the rows of turns.
func (t *Tx) putTurns(c rule.Change) {
	for _, q := range c.Turns {
		if c.OnlyUpdated {
			t.Write(`UPDATE queued_turn SET updated = $2 WHERE id = $1`, int64(q.ID), int64(q.Updated))
			continue
		}
		a := []any{int64(q.ID), string(q.State), q.Why, q.Tries, int64(q.Updated), q.From, q.Epoch, q.Number, q.Hash, q.Ends, string(q.Began), int64(q.Stopped), string(q.StoppedBy)}
		input := ``
		if c.Input {
			input = `, input = $14`
			a = append(a, Blob(q.Input))
		}
		t.Write(`UPDATE queued_turn SET state = $2, why = $3, tries = $4, updated = $5, from_epoch = $6, epoch = $7, number = $8, hash = $9, ends = $10, began = $11, stopped = $12, stopped_by = $13, pruned = 0`+input+` WHERE id = $1`, a...)
	}
}

// putPosts stores posts. Each replaces the post of the same turn and chunk.
func (t *Tx) putPosts(scope earshot.Scope, posts []earshot.Post) {
	for _, p := range posts {
		t.Write(`INSERT INTO outbox (platform, workspace, channel, `+rule.PostColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
			ON CONFLICT (turn, chunk) DO UPDATE SET key = excluded.key, state = excluded.state, message = excluded.message,
				tries = excluded.tries, updated = excluded.updated, text = excluded.text`,
			Args(scope, int64(p.Turn), p.Chunk, p.Key, string(p.State), string(p.Message), p.Tries, int64(p.Updated), p.Text)...)
	}
}
