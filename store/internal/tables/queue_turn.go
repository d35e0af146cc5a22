package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Begin implements [earshot.Queue]. It need not wait for the disk: nothing of the turn
// is visible yet, and the write before anything becomes visible makes this one durable
// too. After a power cut the prompt is made again.
func (s *Store) Begin(ctx context.Context, l earshot.Lease, id earshot.TurnID, p earshot.Prompt) error {
	p, err := rule.CheckPrompt(p)
	if err != nil {
		return err
	}
	gone := false
	var steps, erased int
	return s.engine.Volatile(ctx, "begin a turn", underLease(l, id, func(t *Tx) {
		gone, steps, erased = false, 0, 0
		scope := rule.Lease(l).Conversation.Scope
		t.askDeleted(scope, p.Shows, &gone)
		t.Ask(`SELECT 1 FROM message`+t.SQL.MessagesIn+` AND id = (SELECT anchor FROM queued_turn WHERE id = $4) AND deleted + 0 = 1`,
			Args(scope, int64(id)), ScanOne(&gone, new(int)))
		if p.Keeps {
			t.Ask(`SELECT count(*), count(CASE WHEN erased <> 0 OR data = `+t.SQL.NoBytes+` THEN 1 END) FROM journal WHERE turn = $1`, []any{int64(id)},
				ScanOne(new(bool), &steps, &erased)) // see rule.WholeJournal
		}
	}, func(h rule.LeasedTurn) (rule.Change, error) {
		return rule.DecideBegin(h, p, gone, steps > 0 && erased == 0)
	}))
}

// AddStep implements [earshot.Queue].
func (s *Store) AddStep(ctx context.Context, l earshot.Lease, id earshot.TurnID, step earshot.Step, posts ...earshot.Post) error {
	step, err := rule.CheckStep(step)
	if err != nil {
		return err
	}
	if posts, err = rule.CheckPosts(id, posts); err != nil {
		return err
	}
	var steps int
	var puts []rule.PostCall
	gone := false
	return s.under(ctx, "add a step", l, id, func(t *Tx) {
		gone, puts = false, make([]rule.PostCall, len(posts))
		scope := rule.Lease(l).Conversation.Scope
		t.Ask(`SELECT count(*) FROM journal WHERE turn = $1`, []any{int64(id)}, ScanOne(new(bool), &steps))
		t.askDeleted(scope, step.Shows, &gone)
		for i, p := range posts {
			t.askPut(scope, p, &puts[i])
		}
	}, func(h rule.LeasedTurn) (rule.Change, error) { return rule.AddStep(h, step, steps, gone, puts...) })
}

// Steps implements [earshot.Queue].
func (s *Store) Steps(ctx context.Context, id earshot.TurnID) ([]earshot.Step, error) {
	return List(ctx, s.engine, "read the journal", `SELECT n, kind, time, erased, data FROM journal WHERE turn = $1 ORDER BY n`, []any{int64(id)},
		func(row Row, step *earshot.Step) error {
			var erased int
			err := row.Scan(&step.N, &step.Kind, &step.Time, &erased, &step.Data)
			step.Erased, step.Data = erased != 0, orNil(step.Data)
			return err
		})
}

func scanPost(row Row, p *earshot.Post) error { return row.Scan(rule.PostFields(p)...) }

// PutPost implements [earshot.Queue].
func (s *Store) PutPost(ctx context.Context, l earshot.Lease, p earshot.Post) error {
	p, err := rule.CheckPost(p)
	if err != nil {
		return err
	}
	var put rule.PostCall
	return s.under(ctx, "put a post", l, p.Turn, func(t *Tx) { t.askPut(rule.Lease(l).Conversation.Scope, p, &put) },
		func(h rule.LeasedTurn) (rule.Change, error) { return rule.PutPost(h, put) })
}

// askPut queries the stored posts that p would replace, and locks them.
func (t *Tx) askPut(scope earshot.Scope, p earshot.Post, put *rule.PostCall) {
	*put = rule.PostCall{Post: p}
	t.Ask(`SELECT `+rule.PostColumns+` FROM outbox WHERE turn = $1 AND chunk = $2`+t.SQL.Lock, []any{int64(p.Turn), p.Chunk}, postInto(&put.Stored))
	t.askPost(scope, p.Key, &put.Keyed)
}

// askPost queries the post with a key, and locks it.
func (t *Tx) askPost(scope earshot.Scope, key string, out **earshot.Post) {
	*out = nil
	if key != "" {
		t.Ask(`SELECT `+rule.PostColumns+` FROM outbox`+In+` AND key = $4 AND key <> ''`+t.SQL.Lock, Args(scope, key), postInto(out))
	}
}

// postInto returns a function for Ask that scans a row of rule.PostColumns.
func postInto(out **earshot.Post) func(Row) error {
	return func(row Row) error {
		*out = &earshot.Post{}
		return scanPost(row, *out)
	}
}

// Posts implements [earshot.Queue].
func (s *Store) Posts(ctx context.Context, id earshot.TurnID) ([]earshot.Post, error) {
	return List(ctx, s.engine, "read the outbox", `SELECT `+rule.PostColumns+` FROM outbox WHERE turn = $1 ORDER BY chunk`, []any{int64(id)}, scanPost)
}

// Confirm implements [earshot.Queue].
func (s *Store) Confirm(ctx context.Context, scope earshot.Scope, key string, id earshot.MessageID) error {
	key, id, err := rule.CheckConfirm(key, id)
	if err != nil {
		return err
	}
	scope = rule.Scope(scope)
	return s.engine.Apply(ctx, "confirm a post", func(ctx context.Context, t *Tx) error {
		var found *earshot.Post
		t.Shared(scope) // keeps an erasure from running between the read and the write
		t.askPost(scope, key, &found)
		if err := t.Send(ctx); err != nil {
			return err
		}
		c, err := rule.DecideConfirm(s.stamp(), rule.Confirmation{Key: key, Message: id, Stored: found})
		if err == nil {
			t.putPosts(scope, c.Posts)
		}
		return err
	})
}

// Posted implements [earshot.Queue].
func (s *Store) Posted(ctx context.Context, scope earshot.Scope, id earshot.MessageID) (earshot.QueuedTurn, error) {
	turn, err := readFirst(ctx, s.engine, "read the outbox", `SELECT turn FROM outbox`+In+` AND message = $4 AND message <> '' ORDER BY turn DESC LIMIT 1`,
		Args(rule.Scope(scope), string(rule.ID(id))), rule.NoTurnPosted(id), Scan[earshot.TurnID])
	if err != nil {
		return earshot.QueuedTurn{}, err
	}
	return s.QueuedTurn(ctx, turn)
}
