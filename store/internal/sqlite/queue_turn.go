package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Begin implements [earshot.Queue].
func (s *Store) Begin(ctx context.Context, l earshot.Lease, id earshot.TurnID, p earshot.Prompt) error {
	p, err := rule.CheckPrompt(p)
	if err != nil {
		return err
	}
	return s.under(ctx, "begin a turn", l, id, func(t *tx, r *running) error {
		if err := errors.Join(r.final(), r.lowest()); err != nil {
			return err
		}
		c, err := t.conversation(r.Conversation, "name", r.Conversation.Name)
		if err != nil {
			return err
		}
		if p.From != c.Epoch {
			return fmt.Errorf("turn %d was gathered in epoch %d, the conversation is in %d: %w", id, p.From, c.Epoch, earshot.ErrConflict)
		}
		shows := append(p.Shows, r.Anchor)
		gone, err := t.deleted(c.ID.Scope, shows)
		if err != nil {
			return err
		}
		if len(gone) > 0 {
			return fmt.Errorf("turn %d shows what is deleted: %w", id, earshot.ErrConflict)
		}
		if err := t.hasRead(c.ID, p.Epoch, shows); err != nil {
			return err
		}
		again := r.Hash == p.Hash && r.from == p.From && r.Epoch == p.Epoch
		if again && rule.Begun(r.State) {
			return nil
		}
		if !again {
			if err := t.exec(`DELETE FROM journal WHERE turn = ?`, int64(id)); err != nil {
				return err
			}
		}
		if r.outdated(c) {
			if err := errors.Join(t.exec(erasePosts, int64(id)), t.erase()); err != nil {
				return err
			}
		}
		return t.exec(`UPDATE queued_turn SET state = CASE state WHEN 'posting' THEN state ELSE 'generating' END,
			from_epoch = ?, epoch = ?, hash = ?, input = ?, updated = ? WHERE id = ?`, p.From, p.Epoch, p.Hash, blob(p.Input), int64(r.now), int64(id))
	})
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
	return s.under(ctx, "add a step", l, id, func(t *tx, r *running) error {
		if err := t.addStep(r, step); err != nil {
			return err
		}
		for _, p := range posts {
			if err := t.addPost(r, p); err != nil {
				return err
			}
		}
		return nil
	})
}

func (t *tx) addStep(r *running, step earshot.Step) error {
	var steps int
	if _, err := t.one(`SELECT count(*) FROM journal WHERE turn = ?`, []any{int64(r.ID)}, []any{&steps}); err != nil {
		return err
	}
	if step.N < steps {
		return nil
	}
	if err := r.final(); err != nil {
		return err
	}
	if !rule.Begun(r.State) || r.from < 0 {
		return fmt.Errorf("turn %d has not begun: %w", r.ID, earshot.ErrConflict)
	}
	if step.N > steps {
		return fmt.Errorf("%w: step %d of turn %d follows %d", earshot.ErrInvalid, step.N, r.ID, steps-1)
	}
	gone, err := t.stepErased(r, step)
	if err != nil {
		return err
	}
	erased := 0
	if gone {
		step.Data, erased = nil, 1
	}
	err = t.exec(`INSERT INTO journal (turn, n, kind, time, erased, data) VALUES `+marks(6, 1),
		int64(r.ID), step.N, step.Kind, int64(step.Time), erased, blob(step.Data))
	if err != nil {
		return err
	}
	return t.exec(`UPDATE queued_turn SET updated = ? WHERE id = ?`, int64(r.now), int64(r.ID))
}

// stepErased decides whether a step may be kept, and records what it shows. A
// step that shows what is deleted ends the epoch.
func (t *tx) stepErased(r *running, step earshot.Step) (bool, error) {
	c, err := t.conversation(r.Conversation, "name", r.Conversation.Name)
	if err != nil || r.outdated(c) || step.Erased {
		return true, err
	}
	gone, err := t.deleted(c.ID.Scope, step.Shows)
	if err != nil {
		return true, err
	}
	if len(gone) > 0 {
		return true, t.leave(c.ID, r.Epoch, r.now)
	}
	return false, t.hasRead(c.ID, r.Epoch, step.Shows)
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

const postColumns = `turn, chunk, key, state, message, tries, updated, text`

func postDest(p *earshot.Post) []any {
	return []any{&p.Turn, &p.Chunk, &p.Key, &p.State, &p.Message, &p.Tries, &p.Updated, &p.Text}
}

// PutPost implements [earshot.Queue].
func (s *Store) PutPost(ctx context.Context, l earshot.Lease, p earshot.Post) error {
	p, err := rule.CheckPost(p)
	if err != nil {
		return err
	}
	return s.under(ctx, "put a post", l, p.Turn, func(t *tx, r *running) error { return t.addPost(r, p) })
}

func (t *tx) addPost(r *running, p earshot.Post) error {
	var stored earshot.Post
	found, err := t.one(`SELECT `+postColumns+` FROM outbox WHERE turn = ? AND chunk = ?`, []any{int64(p.Turn), p.Chunk}, postDest(&stored))
	if err != nil {
		return err
	}
	changed := true
	if found {
		if changed, err = rule.NextPost(stored, p); err != nil {
			return err
		}
	}
	if !changed && (r.State == earshot.TurnPosting || p.State == earshot.PostSent) {
		return nil
	}
	if err := errors.Join(r.final(), r.lowest()); err != nil {
		return err
	}
	scope := r.Conversation.Scope
	if other, taken, err := t.postByKey(scope, p.Key); err != nil {
		return err
	} else if taken && (other.Turn != p.Turn || other.Chunk != p.Chunk) {
		return fmt.Errorf("the key of post %d of turn %d is taken: %w", p.Chunk, p.Turn, earshot.ErrConflict)
	}
	p.Updated = r.now
	if err := t.putPost(scope, p); err != nil {
		return err
	}
	return t.exec(`UPDATE queued_turn SET state = 'posting', updated = ? WHERE id = ?`, int64(r.now), int64(p.Turn))
}

func (t *tx) putPost(scope earshot.Scope, p earshot.Post) error {
	return t.exec(`INSERT INTO outbox (platform, workspace, channel, `+postColumns+`) VALUES `+marks(11, 1)+`
		ON CONFLICT (turn, chunk) DO UPDATE SET key = excluded.key, state = excluded.state, message = excluded.message,
			tries = excluded.tries, updated = excluded.updated, text = excluded.text`,
		args(scope, int64(p.Turn), p.Chunk, p.Key, string(p.State), string(p.Message), p.Tries, int64(p.Updated), p.Text)...)
}

func (t *tx) postByKey(scope earshot.Scope, key string) (p earshot.Post, found bool, err error) {
	if key == "" {
		return p, false, nil
	}
	found, err = t.one(`SELECT `+postColumns+` FROM outbox`+in+` AND key = ? AND key <> ''`, args(scope, key), postDest(&p))
	return p, found, err
}

// Posts implements [earshot.Queue].
func (s *Store) Posts(ctx context.Context, id earshot.TurnID) ([]earshot.Post, error) {
	return list(ctx, s, "read the outbox", `SELECT `+postColumns+` FROM outbox WHERE turn = ? ORDER BY chunk`, []any{int64(id)},
		func(rows *sql.Rows, p *earshot.Post) error { return rows.Scan(postDest(p)...) })
}

// Confirm implements [earshot.Queue].
func (s *Store) Confirm(ctx context.Context, scope earshot.Scope, key string, id earshot.MessageID) error {
	key, id, err := rule.CheckConfirm(key, id)
	if err != nil {
		return err
	}
	scope = rule.Scope(scope)
	return s.apply(ctx, "confirm a post", func(t *tx) error { return t.confirm(scope, key, id) })
}

func (t *tx) confirm(scope earshot.Scope, key string, id earshot.MessageID) error {
	p, found, err := t.postByKey(scope, key)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("post with key %q: %w", key, earshot.ErrNotFound)
	}
	next := p
	next.State, next.Message, next.Updated = earshot.PostSent, id, earshot.TimeOf(t.now())
	if changed, err := rule.NextPost(p, next); !changed {
		return err
	}
	return t.putPost(scope, next)
}

// arrive stores our own messages and confirms the posts that became them.
func (t *tx) arrive(scope earshot.Scope, keys []string, messages []rule.Message) error {
	if len(keys) == 0 {
		return nil
	}
	r := &recording{scope: scope, messages: messages, outcomes: make([]earshot.Recorded, len(messages))}
	if err := t.record([]*recording{r}); err != nil {
		return err
	}
	for i, key := range keys {
		if err := t.confirm(scope, key, messages[i].ID); err != nil {
			return err
		}
	}
	return nil
}

// Posted implements [earshot.Queue].
func (s *Store) Posted(ctx context.Context, scope earshot.Scope, id earshot.MessageID) (earshot.QueuedTurn, error) {
	var turn earshot.TurnID
	err := s.row(ctx, `SELECT turn FROM outbox`+in+` AND message = ? AND message <> '' ORDER BY turn DESC LIMIT 1`,
		args(rule.Scope(scope), string(rule.ID(id))), &turn)
	if err != nil {
		return earshot.QueuedTurn{}, fmt.Errorf("turn that posted message %q: %w", id, orNotFound(err))
	}
	return s.QueuedTurn(ctx, turn)
}
