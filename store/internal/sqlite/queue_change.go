package sqlite

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// under runs one transaction that loads a turn of the lease's conversation, lets
// decide make a change, and writes it.
func (s *Store) under(ctx context.Context, what string, l earshot.Lease, id earshot.TurnID, decide func(*tx, rule.LeasedTurn) (rule.Change, error)) error {
	return s.apply(ctx, what, s.changing(l, id, decide))
}

// changing is the transaction of under.
func (s *Store) changing(l earshot.Lease, id earshot.TurnID, decide func(*tx, rule.LeasedTurn) (rule.Change, error)) func(*tx) error {
	return func(t *tx) error {
		h, err := t.leased(l, id, earshot.TimeOf(s.now()))
		if err != nil {
			return err
		}
		c, err := decide(t, h)
		if err != nil {
			return err
		}
		return t.change(h.Turn, c, h.Now)
	}
}

// leased loads a turn with the stored lease of its conversation.
func (t *tx) leased(l earshot.Lease, id earshot.TurnID, now earshot.Time) (rule.LeasedTurn, error) {
	h := rule.LeasedTurn{Lease: rule.Lease(l), ID: id, Now: now}
	var err, turnErr error
	h.Stored, h.Epoch, err = t.stored(h.Lease.Conversation)
	h.Turn, turnErr = t.queued(id)
	return h, errors.Join(err, turnErr)
}

// queued returns one turn without its input; a zero one when there is none.
func (t *tx) queued(id earshot.TurnID) (q rule.Queued, err error) {
	_, err = t.one(`SELECT `+rule.QueuedColumns+` FROM queued_turn WHERE id = ?`, []any{int64(id)}, rule.QueuedFields(&q))
	return q, err
}

// change writes c, which is about the turn of.
func (t *tx) change(of rule.Queued, c rule.Change, now earshot.Time) error {
	id := of.Conversation
	var steps []func() error
	also := func(when bool, step func() error) {
		if when {
			steps = append(steps, step)
		}
	}
	also(c.EmptyJournal, func() error { return t.exec(`DELETE FROM journal WHERE turn = ?`, int64(of.ID)) })
	also(c.ErasePosts, func() error { return errors.Join(t.exec(erasePosts, int64(of.ID)), t.needScrub()) })
	also(len(c.Read) > 0, func() error { return t.hasRead(id, c.Epoch, c.Read) })
	also(c.EndEpoch, func() error { return t.endEpoch(id, c.Epoch, now) })
	also(c.Step != nil, func() error { return t.putStep(of.ID, *c.Step) })
	also(len(c.Posts) > 0, func() error { return t.putPosts(id.Scope, c.Posts) })
	also(c.Commit != nil, func() error { return t.commitTurn(*c.Commit) })
	also(len(c.Turns) > 0, func() error { return t.putTurns(c) })
	also(c.Unmerge != 0, func() error {
		return t.exec(`UPDATE queued_turn SET `+rule.UnmergeSQL+`, updated = ?`+ofConversation+` AND +`+rule.UnmergedSQL+` AND why = ?`,
			append([]any{int64(now)}, own(id, id.Name, rule.AnsweredWith(c.Unmerge))...)...)
	})
	also(c.Erase, func() error { return t.eraseTurn(of.ID) })
	also(c.FindLowest, func() error { return t.advance(id) })
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// putTurns writes the rows of turns.
func (t *tx) putTurns(c rule.Change) error {
	for _, q := range c.Turns {
		if c.OnlyUpdated {
			if err := t.exec(`UPDATE queued_turn SET updated = ? WHERE id = ?`, int64(q.Updated), int64(q.ID)); err != nil {
				return err
			}
			continue
		}
		a := []any{string(q.State), q.Why, q.Tries, q.Ends, int64(q.Updated), q.From, q.Epoch, q.Number, q.Hash, string(q.Began)}
		input := ``
		if c.Input {
			input = `, input = ?`
			a = append(a, blob(q.Input))
		}
		err := t.exec(`UPDATE queued_turn SET state = ?, why = ?, tries = ?, ends = ?, updated = ?, from_epoch = ?, epoch = ?, number = ?, hash = ?, began = ?, pruned = 0`+input+` WHERE id = ?`,
			append(a, int64(q.ID))...)
		if err != nil {
			return err
		}
	}
	return nil
}

// putStep appends to a turn's journal.
func (t *tx) putStep(id earshot.TurnID, s earshot.Step) error {
	return t.exec(`INSERT INTO journal (turn, n, kind, time, erased, data) VALUES `+marks(6, 1),
		int64(id), s.N, s.Kind, int64(s.Time), s.Erased, blob(s.Data))
}

// putPosts stores posts. Each replaces the post of the same turn and chunk.
func (t *tx) putPosts(scope earshot.Scope, posts []earshot.Post) error {
	for _, p := range posts {
		err := t.exec(`INSERT INTO outbox (platform, workspace, channel, `+rule.PostColumns+`) VALUES `+marks(11, 1)+`
			ON CONFLICT (turn, chunk) DO UPDATE SET key = excluded.key, state = excluded.state, message = excluded.message,
				tries = excluded.tries, updated = excluded.updated, text = excluded.text`,
			args(scope, int64(p.Turn), p.Chunk, p.Key, string(p.State), string(p.Message), p.Tries, int64(p.Updated), p.Text)...)
		if err != nil {
			return err
		}
	}
	return nil
}
