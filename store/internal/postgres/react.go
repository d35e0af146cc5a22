package postgres

import (
	"context"

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
	err = s.apply(ctx, "record a reaction", func(ctx context.Context, t *tx) error {
		b, err := t.Batch(ctx, scope, []rule.Message{rule.Stub(x)})
		if err != nil {
			return err
		}
		if out, err = b.React(x); err != nil {
			return err
		}
		return t.WriteBatch(ctx, scope, b)
	})
	return out, err
}

const gaveByID = `SELECT message, emoji, author, first, was, given, at FROM reaction` + in + ` AND message = ANY($4)`

func scanGave(rows tables.Row, g *rule.Gave) error {
	var given int64
	err := rows.Scan(&g.Message, &g.Emoji, &g.Author, &g.First, &g.Was, &given, &g.At)
	g.Given = given != 0
	return err
}

// Reactors implements [earshot.Messages].
func (s *Store) Reactors(ctx context.Context, scope earshot.Scope, ids ...earshot.MessageID) (map[earshot.MessageID][]earshot.Reactor, error) {
	type row struct {
		id earshot.MessageID
		earshot.Reactor
	}
	rows, err := tables.List(ctx, s, "read who reacted", `SELECT message, emoji, author, at FROM reaction r`+in+` AND message = ANY($4) AND given = 1
		AND EXISTS (SELECT 1 FROM message m WHERE m.platform = $1 AND m.workspace = $2 AND m.channel = $3 AND m.id = r.message) ORDER BY message, emoji, author`,
		tables.Args(rule.Scope(scope), tables.Texts(rule.IDs(ids))), func(rows tables.Row, r *row) error { return rows.Scan(&r.id, &r.Emoji, &r.ID, &r.At) })
	out := map[earshot.MessageID][]earshot.Reactor{}
	for _, r := range rows {
		out[r.id] = append(out[r.id], r.Reactor)
	}
	return out, err
}

// writeReactions queues what b changes of who reacted.
func (t *tx) writeReactions(scope earshot.Scope, b *rule.Batch) {
	if buried := b.Buried(); len(buried) > 0 {
		t.Write(`DELETE FROM reaction`+in+` AND message = ANY($4)`, tables.Args(scope, tables.Texts(buried))...)
	}
	t.putReactions(scope, b.Gave)
	if at := b.Awaited(); at != 0 {
		t.Write(`UPDATE channel SET early = greatest(early, $4)`+tables.OfChannel, tables.Args(scope, int64(at))...)
	}
}

// putReactions queues the changes that a function returns: the rows to be written, and
// those to be deleted.
func (t *tx) putReactions(scope earshot.Scope, changes func() (write, drop []rule.Gave)) {
	write, drop := changes()
	if len(write) > 0 {
		var message, emoji, author []string
		var first, was, given, at []int64
		for _, g := range write {
			message, emoji, author = append(message, string(g.Message)), append(emoji, g.Emoji), append(author, string(g.Author))
			first, was, at = append(first, int64(g.First)), append(was, int64(g.Was)), append(at, int64(g.At))
			if g.Given {
				given = append(given, 1)
			} else {
				given = append(given, 0)
			}
		}
		t.Write(`INSERT INTO reaction (platform, workspace, channel, message, emoji, author, first, was, given, at)
			SELECT $1::text, $2::text, $3::text, v.* FROM unnest($4::text[], $5::text[], $6::text[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[]) AS v
			ON CONFLICT (platform, workspace, channel, message, emoji, author) DO UPDATE
			SET first = excluded.first, was = excluded.was, given = excluded.given, at = excluded.at`,
			tables.Args(scope, message, emoji, author, first, was, given, at)...)
	}
	for _, g := range drop {
		t.Write(`DELETE FROM reaction`+in+` AND message = $4 AND emoji = $5 AND author = $6`, tables.Args(scope, string(g.Message), g.Emoji, string(g.Author))...)
	}
}

// ForgetReactions implements [rule.Eraser].
func (e eraser) ForgetReactions(ctx context.Context, s earshot.Scope, id earshot.AuthorID, until earshot.Time) (bool, error) {
	var messages []earshot.MessageID
	e.Exclusive(s)
	e.Ask(`SELECT DISTINCT message FROM reaction`+in+` AND author = $4 AND author <> '' AND at <= $5 LIMIT $6`, tables.Args(s, string(id), int64(until), tables.ScrubbedRows), tables.Gather(&messages, tables.Scan[earshot.MessageID]))
	if err := e.Send(ctx); err != nil || len(messages) == 0 {
		return false, err
	}
	var gave []rule.Gave
	e.Ask(gaveByID, tables.Args(s, tables.Texts(messages)), tables.Gather(&gave, scanGave))
	if err := e.Send(ctx); err != nil {
		return false, err
	}
	of := map[earshot.MessageID][]rule.Gave{}
	for _, g := range gave {
		of[g.Message] = append(of[g.Message], g)
	}
	for _, message := range messages {
		r := rule.NewReactions(of[message])
		r.Forget(id, until, earshot.TimeOf(e.store.now()))
		e.putReactions(s, func() (write, drop []rule.Gave) { return r.Changes(message) })
	}
	return len(messages) == tables.ScrubbedRows, e.Send(ctx)
}

// dropEarly queues the deletion of the reactions of before a time to messages of a
// channel that are not stored.
func (t *tx) dropEarly(scope earshot.Scope, before earshot.Time) {
	t.Write(`DELETE FROM reaction r`+in+` AND at < $4
		AND NOT EXISTS (SELECT 1 FROM message m WHERE m.platform = $1 AND m.workspace = $2 AND m.channel = $3 AND m.id = r.message)`, tables.Args(scope, int64(before))...)
	t.Write(`UPDATE channel SET early = 0`+tables.OfChannel+` AND early < $4`, tables.Args(scope, int64(before))...)
}

// PruneEarly implements [tables.Engine], one channel after another.
func (s *Store) PruneEarly(ctx context.Context, before earshot.Time) error {
	scopes, err := tables.List(ctx, s, "prune reactions", `SELECT platform, workspace, id FROM channel WHERE early <> 0`, nil,
		func(rows tables.Row, x *earshot.Scope) error { return rows.Scan(&x.Platform, &x.Workspace, &x.Channel) })
	if err != nil {
		return err
	}
	for _, scope := range scopes {
		err := s.apply(ctx, "prune reactions", func(_ context.Context, t *tx) error {
			t.Exclusive(scope)
			t.dropEarly(scope, before)
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
