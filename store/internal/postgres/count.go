package postgres

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/earshot-ai/earshot/store/internal/tables"
)

// Count implements [earshot.Messages]: the stored counter minus the messages after
// upTo, in one statement, so that both are read from one snapshot.
func (s *Store) Count(ctx context.Context, scope earshot.Scope, part earshot.Part, upTo earshot.Position) (earshot.Count, error) {
	scope, part, upTo = rule.Scope(scope), rule.Part(part), or(upTo, last)
	const channel = ` FROM channel WHERE platform = $1 AND workspace = $2 AND id = $3)`
	var counter string
	switch {
	case part.IsWhole():
		counter = `(SELECT messages` + channel
	case part.IsTopLevel():
		counter = `(SELECT top` + channel
	default:
		counter = `(SELECT replies FROM thread` + in + ` AND root = $4)`
	}
	where, a := bounded(part, scope)
	var root *earshot.Message
	var out earshot.Count
	err := s.read(ctx, func(t *tx) {
		t.askRoot(scope, part, first, upTo, &root)
		t.Ask(`SELECT coalesce(`+counter+`, 0) - (SELECT count(*) FROM message`+where+` AND (time, id) > ($5, $6)),
			coalesce((SELECT time FROM message`+where+` ORDER BY time, id LIMIT 1), 0),
			coalesce((SELECT time FROM message`+where+` AND (time, id) <= ($5, $6) ORDER BY time DESC, id DESC LIMIT 1), 0)`,
			append(a, int64(upTo.Time), string(upTo.ID)), func(rows tables.Row) error {
				return rows.Scan(&out.Count, &out.From, &out.To)
			})
	})
	if err != nil {
		return earshot.Count{}, fmt.Errorf("count messages: %w", err)
	}
	if out.Count == 0 {
		out = earshot.Count{}
	}
	if root == nil {
		return out, nil
	}
	if out.Count == 0 {
		out.From, out.To = root.Time, root.Time
	}
	out.Count++
	out.From, out.To = min(out.From, root.Time), max(out.To, root.Time)
	return out, nil
}

// Activity implements [earshot.Messages].
func (s *Store) Activity(ctx context.Context, scope earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error) {
	const replies = `FROM message m WHERE m.platform = $1 AND m.workspace = $2 AND m.channel = $3 AND m.thread = t.root AND m.deleted = 0`
	const query = `SELECT t.root, t.replies - (SELECT count(*) ` + replies + ` AND (m.time, m.id) > ($5, $6)),
		(SELECT count(*) ` + replies + ` AND m.time >= $7 AND (m.time, m.id) <= ($5, $6)),
		coalesce((SELECT m.time ` + replies + ` AND (m.time, m.id) <= ($5, $6) ORDER BY m.time DESC, m.id DESC LIMIT 1), 0)
		FROM thread t WHERE t.platform = $1 AND t.workspace = $2 AND t.channel = $3 AND t.root = ANY($4)`
	scope, bound, ids := rule.Scope(scope), or(upTo, last), tables.Texts(rule.IDs(roots))
	hourAgo := bound.Time // without a bound LastHour is 0
	if !upTo.IsZero() {
		hourAgo -= rule.Hour
	}
	type row struct {
		root string
		earshot.Activity
	}
	var found []row
	var reported []earshot.Message
	err := s.read(ctx, func(t *tx) {
		found, reported = nil, nil
		t.Ask(query, tables.Args(scope, ids, int64(bound.Time), string(bound.ID), int64(hourAgo)),
			tables.Gather(&found, func(rows tables.Row, r *row) error { return rows.Scan(&r.root, &r.Count, &r.LastHour, &r.Last) }))
		t.Ask(`SELECT id, lists FROM message`+in+` AND id = ANY($4) AND lists <> ''`, tables.Args(scope, ids), tables.Gather(&reported, scanReplies))
	})
	if err != nil {
		return nil, fmt.Errorf("read the activity of threads: %w", err)
	}
	stored := map[earshot.MessageID]earshot.Activity{}
	for _, r := range found {
		stored[earshot.MessageID(r.root)] = r.Activity
	}
	reportedOf := map[earshot.MessageID]*earshot.Activity{}
	for _, m := range reported {
		reportedOf[m.ID] = m.Replies
	}
	out := map[earshot.MessageID]earshot.Activity{}
	for _, root := range rule.IDs(roots) {
		if a, ok := rule.Activity(stored[root], reportedOf[root], upTo); ok && root != "" {
			out[root] = a
		}
	}
	return out, nil
}

// scanReplies sets m.Replies to what the platform reported of m's thread.
func scanReplies(rows tables.Row, m *earshot.Message) error {
	var id, lists string
	if err := rows.Scan(&id, &lists); err != nil {
		return err
	}
	m.ID = earshot.MessageID(id)
	return rule.ReadReplies(lists, m)
}
