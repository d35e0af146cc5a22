package postgres

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// Begin implements [earshot.Queue].
func (s *Store) Begin(ctx context.Context, l earshot.Lease, id earshot.TurnID, p earshot.Prompt) error {
	p, err := rule.CheckPrompt(p)
	if err != nil {
		return err
	}
	gone := false
	return s.under(ctx, "begin a turn", l, id, func(t *tx) {
		gone = false
		scope := rule.Lease(l).Conversation.Scope
		t.askDeleted(scope, p.Shows, &gone)
		t.ask(`SELECT 1 FROM message`+in+` AND id = (SELECT anchor FROM queued_turn WHERE id = $4) AND deleted = 1`, args(scope, int64(id)), one(&gone, new(int)))
	}, func(h rule.LeasedTurn) (rule.Change, error) { return rule.Begin(h, p, gone) })
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
	var puts []rule.Put
	gone := false
	return s.under(ctx, "add a step", l, id, func(t *tx) {
		gone, puts = false, make([]rule.Put, len(posts))
		scope := rule.Lease(l).Conversation.Scope
		t.ask(`SELECT count(*) FROM journal WHERE turn = $1`, []any{int64(id)}, func(rows pgx.Rows) error { return rows.Scan(&steps) })
		t.askDeleted(scope, step.Shows, &gone)
		for i, p := range posts {
			t.askPut(scope, p, &puts[i])
		}
	}, func(h rule.LeasedTurn) (rule.Change, error) { return rule.AddStep(h, step, steps, gone, puts...) })
}

// Steps implements [earshot.Queue].
func (s *Store) Steps(ctx context.Context, id earshot.TurnID) ([]earshot.Step, error) {
	return list(ctx, s, "read the journal", `SELECT n, kind, time, erased, data FROM journal WHERE turn = $1 ORDER BY n`, []any{int64(id)},
		func(rows pgx.Rows, step *earshot.Step) error {
			var erased int
			err := rows.Scan(&step.N, &step.Kind, &step.Time, &erased, &step.Data)
			step.Erased, step.Data = erased != 0, orNil(step.Data)
			return err
		})
}

func scanPost(rows pgx.Rows, p *earshot.Post) error {
	return rows.Scan(rule.PostFields(p)...)
}

// PutPost implements [earshot.Queue].
func (s *Store) PutPost(ctx context.Context, l earshot.Lease, p earshot.Post) error {
	p, err := rule.CheckPost(p)
	if err != nil {
		return err
	}
	var put rule.Put
	return s.under(ctx, "put a post", l, p.Turn, func(t *tx) { t.askPut(rule.Lease(l).Conversation.Scope, p, &put) },
		func(h rule.LeasedTurn) (rule.Change, error) { return rule.PutPost(h, put) })
}

// askPut queries the stored posts that p would replace, and locks them.
func (t *tx) askPut(scope earshot.Scope, p earshot.Post, put *rule.Put) {
	*put = rule.Put{Post: p}
	t.ask(`SELECT `+rule.PostColumns+` FROM outbox WHERE turn = $1 AND chunk = $2 FOR UPDATE`, []any{int64(p.Turn), p.Chunk}, postInto(&put.Stored))
	t.askPost(scope, p.Key, &put.Keyed)
}

// askPost queries the post with a key, and locks it.
func (t *tx) askPost(scope earshot.Scope, key string, out **earshot.Post) {
	*out = nil
	t.ask(`SELECT `+rule.PostColumns+` FROM outbox`+in+` AND key = $4 AND key <> '' FOR UPDATE`, args(scope, key), postInto(out))
}

// postInto returns a function for ask that scans a row of rule.PostColumns.
func postInto(out **earshot.Post) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		*out = &earshot.Post{}
		return scanPost(rows, *out)
	}
}

// Posts implements [earshot.Queue].
func (s *Store) Posts(ctx context.Context, id earshot.TurnID) ([]earshot.Post, error) {
	return list(ctx, s, "read the outbox", `SELECT `+rule.PostColumns+` FROM outbox WHERE turn = $1 ORDER BY chunk`, []any{int64(id)}, scanPost)
}

// Confirm implements [earshot.Queue].
func (s *Store) Confirm(ctx context.Context, scope earshot.Scope, key string, id earshot.MessageID) error {
	key, id, err := rule.CheckConfirm(key, id)
	if err != nil {
		return err
	}
	scope = rule.Scope(scope)
	return s.apply(ctx, "confirm a post", func(ctx context.Context, t *tx) error {
		var found *earshot.Post
		t.shared(scope) // keeps an erasure from running between the read and the write
		t.askPost(scope, key, &found)
		if err := t.send(ctx); err != nil {
			return err
		}
		c, err := rule.Confirm(earshot.TimeOf(s.now()), rule.Confirmation{Key: key, Message: id, Stored: found})
		if err == nil {
			t.putPosts(scope, c.Posts)
		}
		return err
	})
}

// Posted implements [earshot.Queue].
func (s *Store) Posted(ctx context.Context, scope earshot.Scope, id earshot.MessageID) (earshot.QueuedTurn, error) {
	found, err := list(ctx, s, "read the outbox", `SELECT `+rule.PostColumns+` FROM outbox`+in+` AND message = $4 AND message <> '' ORDER BY turn DESC LIMIT 1`,
		args(rule.Scope(scope), string(rule.ID(id))), scanPost)
	if err != nil {
		return earshot.QueuedTurn{}, err
	}
	if len(found) == 0 {
		return earshot.QueuedTurn{}, rule.NoTurnPosted(id)
	}
	return s.QueuedTurn(ctx, found[0].Turn)
}
