package sqlite

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// React implements [earshot.Messages].
func (s *Store) React(ctx context.Context, scope earshot.Scope, x earshot.Reacted) (out earshot.Recorded, err error) {
	if scope, err = rule.CheckScope(scope); err != nil {
		return out, err
	}
	if x, err = rule.CheckReacted(x); err != nil {
		return out, err
	}
	err = s.apply(ctx, "record a reaction", func(t *tx) error {
		place, b, err := t.batchOf(scope, []rule.Message{rule.Stub(x)})
		if err != nil {
			return err
		}
		if out, err = b.React(x); err != nil {
			return err
		}
		return t.writeBatch(scope, place, b)
	})
	return out, err
}

const gaveColumns = `message, emoji, author, first, was, given, at`

var gaveByID = chunked(func(n int) string {
	return `SELECT ` + gaveColumns + ` FROM reaction` + inPlace + ` AND message IN ` + marks(n, 1)
})

func scanGave(rows tables.Row, g *rule.Gave) error {
	return rows.Scan(&g.Message, &g.Emoji, &g.Author, &g.First, &g.Was, &g.Given, &g.At)
}

// Reactors implements [earshot.Messages].
func (s *Store) Reactors(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) (map[earshot.MessageID][]earshot.Reactor, error) {
	scope = rule.Scope(scope)
	out := map[earshot.MessageID][]earshot.Reactor{}
	for q := range idQueries(givenByID, scope, rule.IDs(ids)) {
		if err := s.reactors(ctx, q, out); err != nil {
			return nil, fmt.Errorf("read who reacted: %w", err)
		}
	}
	return out, nil
}

func (s *Store) reactors(ctx context.Context, q idQuery, out map[earshot.MessageID][]earshot.Reactor) error {
	rows, err := s.query(ctx, q.text, q.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id earshot.MessageID
		var x earshot.Reactor
		if err := rows.Scan(&id, &x.Emoji, &x.ID, &x.At); err != nil {
			return err
		}
		out[id] = append(out[id], x)
	}
	return rows.Err()
}

var givenByID = chunked(func(n int) string {
	return `SELECT message, emoji, author, at FROM reaction` + inPlace + ` AND message IN ` + marks(n, 1) + ` AND given = 1
		AND EXISTS (SELECT 1 FROM message WHERE message.place = reaction.place AND message.id = reaction.message) ORDER BY message, emoji, author`
})

// loadReactions passes the stored reactions of messages to b.
func (t *tx) loadReactions(scope earshot.Scope, b *rule.Batch, ids []earshot.MessageID) error {
	for q := range idQueries(gaveByID, scope, ids) {
		found, err := all(t, q.text, q.args, scanGave)
		if err != nil {
			return err
		}
		b.LoadReactions(found)
	}
	return nil
}

// writeReactions writes what b changes of who reacted.
func (t *tx) writeReactions(place int64, b *rule.Batch) error {
	write, drop := b.Gave()
	for _, id := range b.Buried() {
		if err := t.exec(`DELETE FROM reaction WHERE place = ? AND message = ?`, place, string(id)); err != nil {
			return err
		}
	}
	if err := t.putReactions(place, write, drop); err != nil {
		return err
	}
	if at := b.Awaited(); at != 0 {
		return t.exec(`UPDATE channel SET early = max(early, ?) WHERE place = ?`, int64(at), place)
	}
	return nil
}

func (t *tx) putReactions(place int64, write, drop []rule.Gave) error {
	for _, g := range write {
		if err := t.exec(`INSERT OR REPLACE INTO reaction (place, `+gaveColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			place, string(g.Message), g.Emoji, string(g.Author), int64(g.First), g.Was, g.Given, int64(g.At)); err != nil {
			return err
		}
	}
	for _, g := range drop {
		if err := t.exec(`DELETE FROM reaction WHERE place = ? AND message = ? AND emoji = ? AND author = ?`,
			place, string(g.Message), g.Emoji, string(g.Author)); err != nil {
			return err
		}
	}
	return nil
}

// ForgetReactions implements [rule.Eraser].
func (e eraser) ForgetReactions(_ context.Context, s earshot.Scope, id earshot.AuthorID, until earshot.Time) (bool, error) {
	var place int64
	if _, err := e.one(`SELECT place FROM channel`+ofChannel, tables.Args(s), []any{&place}); err != nil {
		return false, err
	}
	messages, err := all(e.tx, `SELECT DISTINCT message FROM reaction WHERE place = ? AND author = ? AND author <> '' AND at <= ? LIMIT ? + 0`,
		[]any{place, string(id), int64(until), tables.ScrubbedRows}, tables.Scan[earshot.MessageID])
	if err != nil || len(messages) == 0 {
		return false, err
	}
	for _, message := range messages {
		rows, err := all(e.tx, gaveByID[1], tables.Args(s, string(message)), scanGave)
		if err != nil {
			return false, err
		}
		r := rule.NewReactions(rows)
		r.Forget(id, until, earshot.TimeOf(e.tx.Now()))
		write, drop := r.Changes(message)
		if err := e.putReactions(place, write, drop); err != nil {
			return false, err
		}
	}
	return len(messages) == tables.ScrubbedRows, e.needScrub()
}

// dropEarly deletes the reactions of before a time to messages of a channel that are
// not stored, and returns how many.
func (t *tx) dropEarly(place int64, before earshot.Time) (int, error) {
	n, err := t.affected(`DELETE FROM reaction WHERE place = ? AND at < ?
		AND NOT EXISTS (SELECT 1 FROM message WHERE message.place = reaction.place AND message.id = reaction.message)`, place, int64(before))
	if err != nil {
		return 0, err
	}
	return n, t.exec(`UPDATE channel SET early = 0 WHERE place = ? AND early < ?`, place, int64(before))
}

// PruneEarly implements [tables.Engine], one channel after another.
func (s *Store) PruneEarly(ctx context.Context, before earshot.Time) error {
	for after, more := int64(-1), true; more; {
		err := s.apply(ctx, "prune reactions", func(t *tx) (err error) {
			if more, err = t.one(`SELECT place FROM channel WHERE early <> 0 AND place > ? ORDER BY place LIMIT 1`, []any{after}, []any{&after}); err != nil || !more {
				return err
			}
			n, err := t.dropEarly(after, before)
			if err != nil || n == 0 {
				return err
			}
			return t.needScrub()
		})
		if err != nil {
			return err
		}
	}
	return nil
}
