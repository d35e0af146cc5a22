package sqlite

import (
	"context"
	"database/sql"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Begin implements [earshot.Queue]. It does not wait for the disk: nothing of the
// turn is visible yet, and the write before anything becomes visible makes this one
// durable too. After a power cut the prompt is made again.
func (s *Store) Begin(ctx context.Context, l earshot.Lease, id earshot.TurnID, p earshot.Prompt) error {
	p, err := rule.CheckPrompt(p)
	if err != nil {
		return err
	}
	return s.volatile(ctx, "begin a turn", s.changing(l, id, func(t *tx, h rule.LeasedTurn) (rule.Change, error) {
		gone, err := t.anyDeleted(h.Lease.Conversation.Scope, append(p.Shows, h.Turn.Anchor)...)
		if err != nil {
			return rule.Change{}, err
		}
		return rule.Begin(h, p, gone)
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
	return s.under(ctx, "add a step", l, id, func(t *tx, h rule.LeasedTurn) (rule.Change, error) {
		var steps int
		if _, err := t.one(`SELECT count(*) FROM journal WHERE turn = ?`, []any{int64(id)}, []any{&steps}); err != nil {
			return rule.Change{}, err
		}
		gone, err := t.anyDeleted(h.Lease.Conversation.Scope, step.Shows...)
		if err != nil {
			return rule.Change{}, err
		}
		puts := make([]rule.Put, len(posts))
		for i, p := range posts {
			if puts[i], err = t.put(h, p); err != nil {
				return rule.Change{}, err
			}
		}
		return rule.AddStep(h, step, steps, gone, puts...)
	})
}

// Steps implements [earshot.Queue].
func (s *Store) Steps(ctx context.Context, id earshot.TurnID) ([]earshot.Step, error) {
	return list(ctx, s, "read the journal", `SELECT n, kind, time, erased, data FROM journal WHERE turn = ? ORDER BY n`, []any{int64(id)},
		func(rows *sql.Rows, step *earshot.Step) error {
			err := rows.Scan(&step.N, &step.Kind, &step.Time, &step.Erased, &step.Data)
			if len(step.Data) == 0 {
				step.Data = nil
			}
			return err
		})
}

// PutPost implements [earshot.Queue].
func (s *Store) PutPost(ctx context.Context, l earshot.Lease, p earshot.Post) error {
	p, err := rule.CheckPost(p)
	if err != nil {
		return err
	}
	return s.under(ctx, "put a post", l, p.Turn, func(t *tx, h rule.LeasedTurn) (rule.Change, error) {
		put, err := t.put(h, p)
		if err != nil {
			return rule.Change{}, err
		}
		return rule.PutPost(h, put)
	})
}

// put loads what is stored of a post.
func (t *tx) put(h rule.LeasedTurn, p earshot.Post) (rule.Put, error) {
	out := rule.Put{Post: p}
	var err error
	out.Stored, err = t.post(` WHERE turn = ? AND chunk = ?`, int64(p.Turn), p.Chunk)
	if err == nil {
		out.Keyed, err = t.postByKey(h.Lease.Conversation.Scope, p.Key)
	}
	return out, err
}

// post returns the post that where selects, or nil.
func (t *tx) post(where string, args ...any) (*earshot.Post, error) {
	var p earshot.Post
	found, err := t.one(`SELECT `+rule.PostColumns+` FROM outbox`+where, args, rule.PostFields(&p))
	if err != nil || !found {
		return nil, err
	}
	return &p, nil
}

func (t *tx) postByKey(scope earshot.Scope, key string) (*earshot.Post, error) {
	if key == "" {
		return nil, nil
	}
	return t.post(in+` AND key = ? AND key <> ''`, args(scope, key)...)
}

// Posts implements [earshot.Queue].
func (s *Store) Posts(ctx context.Context, id earshot.TurnID) ([]earshot.Post, error) {
	return list(ctx, s, "read the outbox", `SELECT `+rule.PostColumns+` FROM outbox WHERE turn = ? ORDER BY chunk`, []any{int64(id)},
		func(rows *sql.Rows, p *earshot.Post) error { return rows.Scan(rule.PostFields(p)...) })
}

// Confirm implements [earshot.Queue].
func (s *Store) Confirm(ctx context.Context, scope earshot.Scope, key string, id earshot.MessageID) error {
	key, id, err := rule.CheckConfirm(key, id)
	if err != nil {
		return err
	}
	scope = rule.Scope(scope)
	return s.apply(ctx, "confirm a post", func(t *tx) error {
		p, err := t.postByKey(scope, key)
		if err != nil {
			return err
		}
		c, err := rule.Confirm(earshot.TimeOf(s.now()), rule.Confirmation{Key: key, Message: id, Stored: p})
		if err != nil {
			return err
		}
		return t.putPosts(scope, c.Posts)
	})
}

// Posted implements [earshot.Queue].
func (s *Store) Posted(ctx context.Context, scope earshot.Scope, id earshot.MessageID) (earshot.QueuedTurn, error) {
	var turn earshot.TurnID
	err := s.row(ctx, `SELECT turn FROM outbox`+in+` AND message = ? AND message <> '' ORDER BY turn DESC LIMIT 1`,
		args(rule.Scope(scope), string(rule.ID(id))), &turn)
	if err != nil {
		return earshot.QueuedTurn{}, missing(err, "read the outbox", rule.NoTurnPosted(id))
	}
	return s.QueuedTurn(ctx, turn)
}
