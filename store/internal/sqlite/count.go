package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// Count implements [earshot.Messages]: the stored counter minus the messages after
// upTo, in one statement, so that both are read from one snapshot.
func (s *Store) Count(ctx context.Context, scope earshot.Scope, part earshot.Part, upTo earshot.Position) (earshot.Count, error) {
	scope, part, upTo = rule.Scope(scope), rule.Part(part), or(upTo, last)
	a := tables.Args(scope)
	var counter string
	switch {
	case part.IsWhole():
		counter = `(SELECT messages FROM channel WHERE platform = ? AND workspace = ? AND id = ?)`
	case part.IsTopLevel():
		counter = `(SELECT top FROM channel WHERE platform = ? AND workspace = ? AND id = ?)`
	default:
		counter = `(SELECT replies FROM thread` + inPlace + ` AND root = ?)`
		a = tables.Args(scope, string(part.Thread()))
	}
	where, w := of(part, scope)
	at := []any{int64(upTo.Time), string(upTo.ID)}
	for _, more := range [][]any{w, at, w, w, at} {
		a = append(a, more...)
	}
	var total, from, to sql.NullInt64
	var after int64
	err := s.row(ctx, `SELECT `+counter+`,
		(SELECT count(*) FROM message`+where+` AND (time, id) > (?, ?)),
		(SELECT time FROM message`+where+` ORDER BY time, id LIMIT 1),
		(SELECT time FROM message`+where+` AND (time, id) <= (?, ?) ORDER BY time DESC, id DESC LIMIT 1)`,
		a, &total, &after, &from, &to)
	if err != nil {
		return earshot.Count{}, fmt.Errorf("count messages: %w", err)
	}
	out := earshot.Count{Count: int(total.Int64 - after)}
	if out.Count > 0 {
		out.From, out.To = earshot.Time(from.Int64), earshot.Time(to.Int64)
	}
	return s.withRoot(ctx, scope, part, upTo, out)
}

// withRoot adds a thread's root to the count of its replies.
func (s *Store) withRoot(ctx context.Context, scope earshot.Scope, part earshot.Part, upTo earshot.Position, c earshot.Count) (earshot.Count, error) {
	root, err := s.root(ctx, scope, part, first, upTo)
	if err != nil || root == nil {
		return c, err
	}
	if c.Count == 0 {
		c.From, c.To = root.Time, root.Time
	}
	c.Count++
	c.From, c.To = min(c.From, root.Time), max(c.To, root.Time)
	return c, nil
}

// Activity implements [earshot.Messages].
func (s *Store) Activity(ctx context.Context, scope earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error) {
	const where = inPlace + ` AND thread = ? AND deleted = 0`
	const query = `SELECT replies,
		(SELECT count(*) FROM message` + where + ` AND (time, id) > (?, ?)),
		(SELECT count(*) FROM message` + where + ` AND time >= ? AND (time, id) <= (?, ?)),
		(SELECT time FROM message` + where + ` AND (time, id) <= (?, ?) ORDER BY time DESC, id DESC LIMIT 1)
		FROM thread` + inPlace + ` AND root = ?`
	scope = rule.Scope(scope)
	bound := or(upTo, last)
	hourAgo := bound.Time // without a bound LastHour is 0
	if !upTo.IsZero() {
		hourAgo -= rule.Hour
	}
	ids := slices.DeleteFunc(rule.IDs(roots), func(id earshot.MessageID) bool { return id == "" })
	reported, err := s.reported(ctx, scope, ids)
	if err != nil {
		return nil, fmt.Errorf("read what was told of threads: %w", err)
	}
	out := map[earshot.MessageID]earshot.Activity{}
	for _, root := range ids {
		thread, at := tables.Args(scope, string(root)), []any{int64(bound.Time), string(bound.ID)}
		var a []any
		for _, more := range [][]any{thread, at, thread, {int64(hourAgo)}, at, thread, at, thread} {
			a = append(a, more...)
		}
		var total, after, hour int64
		var newest sql.NullInt64
		if err := s.row(ctx, query, a, &total, &after, &hour, &newest); err != nil && err != sql.ErrNoRows {
			return nil, fmt.Errorf("read the activity of thread %q: %w", root, err)
		}
		stored := earshot.Activity{Count: int(total - after), LastHour: int(hour), Last: earshot.Time(newest.Int64)}
		if a, ok := rule.Activity(stored, reported[root], upTo); ok {
			out[root] = a
		}
	}
	return out, nil
}

// reported returns what the platform reported of the threads of roots.
func (s *Store) reported(ctx context.Context, scope earshot.Scope, roots []earshot.MessageID) (map[earshot.MessageID]*earshot.Activity, error) {
	out := map[earshot.MessageID]*earshot.Activity{}
	for q := range idQueries(repliesByID, scope, roots) {
		found, err := tables.List(ctx, s, "read lists", q.text, q.args, func(rows tables.Row, m *earshot.Message) error {
			var lists string
			if err := rows.Scan(&m.ID, &lists); err != nil {
				return err
			}
			return rule.ReadReplies(lists, m)
		})
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			out[m.ID] = m.Replies
		}
	}
	return out, nil
}

// row reads one row into dest, or returns [sql.ErrNoRows].
func (s *Store) row(ctx context.Context, query string, args []any, dest ...any) error {
	rows, err := s.query(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := rows.Err(); err != nil {
			return err
		}
		return sql.ErrNoRows
	}
	if err := rows.Scan(dest...); err != nil {
		return err
	}
	return rows.Close()
}
