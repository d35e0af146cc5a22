package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"

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
	}, func(_ context.Context, t *tx, r *running) error {
		if err := errors.Join(r.final(), r.lowest()); err != nil {
			return err
		}
		c := r.conversation
		if p.From != c.Epoch {
			return fmt.Errorf("turn %d was gathered in epoch %d, the conversation is in %d: %w", id, p.From, c.Epoch, earshot.ErrConflict)
		}
		if gone {
			return fmt.Errorf("turn %d shows what is deleted: %w", id, earshot.ErrConflict)
		}
		t.hasRead(c.ID, p.Epoch, slices.Concat(p.Shows, []earshot.MessageID{r.Anchor}))
		again := r.Hash == p.Hash && r.from == p.From && r.Epoch == p.Epoch
		if again && rule.Begun(r.State) {
			return nil
		}
		if !again {
			t.write(`DELETE FROM journal WHERE turn = $1`, int64(id))
		}
		if r.outdated() {
			t.erasePosts(`id = $1`, int64(id))
		}
		t.write(`UPDATE queued_turn SET state = CASE state WHEN 'posting' THEN state ELSE 'generating' END,
			from_epoch = $2, epoch = $3, hash = $4, input = $5, updated = $6 WHERE id = $1`,
			int64(id), p.From, p.Epoch, p.Hash, blob(p.Input), int64(r.now))
		return nil
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
	var steps int
	var puts []*putting
	gone := false
	return s.under(ctx, "add a step", l, id, func(t *tx) {
		gone, puts = false, nil
		scope := rule.Lease(l).Conversation.Scope
		t.ask(`SELECT count(*) FROM journal WHERE turn = $1`, []any{int64(id)}, func(rows pgx.Rows) error { return rows.Scan(&steps) })
		t.askDeleted(scope, step.Shows, &gone)
		for _, p := range posts {
			puts = append(puts, t.askPut(scope, p))
		}
	}, func(_ context.Context, t *tx, r *running) error {
		if err := t.addStep(r, step, steps, gone); err != nil {
			return err
		}
		for _, p := range puts {
			if err := t.put(r, p); err != nil {
				return err
			}
		}
		return nil
	})
}

// addStep appends to a journal of so many steps. gone says that the step shows
// what is deleted.
func (t *tx) addStep(r *running, step earshot.Step, steps int, gone bool) error {
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
	data, erased := blob(step.Data), 0
	switch {
	case r.outdated() || step.Erased:
		data, erased = []byte{}, 1
	case gone: // it ends the epoch
		data, erased = []byte{}, 1
		t.leave(r.Conversation, r.Epoch, r.now)
	default:
		t.hasRead(r.Conversation, r.Epoch, step.Shows)
	}
	t.write(`INSERT INTO journal (turn, n, kind, time, erased, data) VALUES ($1, $2, $3, $4, $5, $6)`,
		int64(r.ID), step.N, step.Kind, int64(step.Time), erased, data)
	t.write(`UPDATE queued_turn SET updated = $2 WHERE id = $1`, int64(r.ID), int64(r.now))
	return nil
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

const postColumns = `turn, chunk, key, state, message, tries, updated, text`

func scanPost(rows pgx.Rows, p *earshot.Post) error {
	return rows.Scan(&p.Turn, &p.Chunk, &p.Key, &p.State, &p.Message, &p.Tries, &p.Updated, &p.Text)
}

// PutPost implements [earshot.Queue].
func (s *Store) PutPost(ctx context.Context, l earshot.Lease, p earshot.Post) error {
	p, err := rule.CheckPost(p)
	if err != nil {
		return err
	}
	var put *putting
	return s.under(ctx, "put a post", l, p.Turn, func(t *tx) { put = t.askPut(rule.Lease(l).Conversation.Scope, p) },
		func(_ context.Context, t *tx, r *running) error { return t.put(r, put) })
}

// A putting is a post that is to be written, with what is stored of it.
type putting struct {
	post          earshot.Post
	stored, taken []earshot.Post
}

// askPut asks for what is stored of a post, and locks it.
func (t *tx) askPut(scope earshot.Scope, p earshot.Post) *putting {
	put := &putting{post: p}
	t.ask(`SELECT `+postColumns+` FROM outbox WHERE turn = $1 AND chunk = $2 FOR UPDATE`, []any{int64(p.Turn), p.Chunk}, gather(&put.stored, scanPost))
	t.askPost(scope, p.Key, &put.taken)
	return put
}

func (t *tx) put(r *running, put *putting) error {
	p := put.post
	changed := true
	if len(put.stored) > 0 {
		var err error
		if changed, err = rule.NextPost(put.stored[0], p); err != nil {
			return err
		}
	}
	if !changed && (r.State == earshot.TurnPosting || p.State == earshot.PostSent) {
		return nil
	}
	if err := errors.Join(r.final(), r.lowest()); err != nil {
		return err
	}
	if taken := put.taken; len(taken) > 0 && (taken[0].Turn != p.Turn || taken[0].Chunk != p.Chunk) {
		return fmt.Errorf("the key of post %d of turn %d is taken: %w", p.Chunk, p.Turn, earshot.ErrConflict)
	}
	p.Updated = r.now
	t.putPost(r.Conversation.Scope, p)
	t.write(`UPDATE queued_turn SET state = 'posting', updated = $2 WHERE id = $1`, int64(p.Turn), int64(r.now))
	return nil
}

func (t *tx) putPost(scope earshot.Scope, p earshot.Post) {
	t.write(`INSERT INTO outbox (platform, workspace, channel, `+postColumns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
		ON CONFLICT (turn, chunk) DO UPDATE SET key = excluded.key, state = excluded.state, message = excluded.message,
			tries = excluded.tries, updated = excluded.updated, text = excluded.text`,
		args(scope, int64(p.Turn), p.Chunk, p.Key, string(p.State), string(p.Message), p.Tries, int64(p.Updated), p.Text)...)
}

// askPost asks for the post with a key, and locks it.
func (t *tx) askPost(scope earshot.Scope, key string, out *[]earshot.Post) {
	t.ask(`SELECT `+postColumns+` FROM outbox`+in+` AND key = $4 AND key <> '' FOR UPDATE`, args(scope, key), gather(out, scanPost))
}

// Posts implements [earshot.Queue].
func (s *Store) Posts(ctx context.Context, id earshot.TurnID) ([]earshot.Post, error) {
	return list(ctx, s, "read the outbox", `SELECT `+postColumns+` FROM outbox WHERE turn = $1 ORDER BY chunk`, []any{int64(id)}, scanPost)
}

// Confirm implements [earshot.Queue].
func (s *Store) Confirm(ctx context.Context, scope earshot.Scope, key string, id earshot.MessageID) error {
	key, id, err := rule.CheckConfirm(key, id)
	if err != nil {
		return err
	}
	scope = rule.Scope(scope)
	return s.apply(ctx, "confirm a post", func(ctx context.Context, t *tx) error {
		var found []earshot.Post
		t.shared(scope) // or a text that is being erased would be written back
		t.askPost(scope, key, &found)
		if err := t.send(ctx); err != nil {
			return err
		}
		return t.confirm(scope, key, id, found)
	})
}

// confirm writes that the post with a key, which was found or not, became a
// message.
func (t *tx) confirm(scope earshot.Scope, key string, id earshot.MessageID, found []earshot.Post) error {
	if len(found) == 0 {
		return fmt.Errorf("post with key %q: %w", key, earshot.ErrNotFound)
	}
	next := found[0]
	next.State, next.Message, next.Updated = earshot.PostSent, id, earshot.TimeOf(t.store.now())
	if changed, err := rule.NextPost(found[0], next); !changed {
		return err
	}
	t.putPost(scope, next)
	return nil
}

// An arriving is what is stored and confirmed when a turn ends.
type arriving struct {
	keys     []string
	messages []rule.Message
	found    [][]earshot.Post
	inserted int
}

// record stores the messages. It locks the channel for itself, and comes before
// all that locks it otherwise.
func (a *arriving) record(ctx context.Context, t *tx, scope earshot.Scope) error {
	if len(a.keys) == 0 {
		return nil
	}
	b, err := t.batchOf(ctx, scope, a.messages, nil)
	if err != nil {
		return err
	}
	for _, m := range a.messages {
		b.Add(m)
	}
	a.inserted = len(b.Inserts())
	return t.writeBatch(ctx, scope, b)
}

// ask asks for the posts.
func (a *arriving) ask(t *tx, scope earshot.Scope) {
	a.found = make([][]earshot.Post, len(a.keys))
	for i, key := range a.keys {
		t.askPost(scope, key, &a.found[i])
	}
}

func (a *arriving) confirm(t *tx, scope earshot.Scope) error {
	for i, key := range a.keys {
		if err := t.confirm(scope, key, a.messages[i].ID, a.found[i]); err != nil {
			return err
		}
	}
	return nil
}

// Posted implements [earshot.Queue].
func (s *Store) Posted(ctx context.Context, scope earshot.Scope, id earshot.MessageID) (earshot.QueuedTurn, error) {
	found, err := list(ctx, s, "read the outbox", `SELECT `+postColumns+` FROM outbox`+in+` AND message = $4 AND message <> '' ORDER BY turn DESC LIMIT 1`,
		args(rule.Scope(scope), string(rule.ID(id))), scanPost)
	if err != nil {
		return earshot.QueuedTurn{}, err
	}
	if len(found) == 0 {
		return earshot.QueuedTurn{}, fmt.Errorf("turn that posted message %q: %w", id, earshot.ErrNotFound)
	}
	return s.QueuedTurn(ctx, found[0].Turn)
}
