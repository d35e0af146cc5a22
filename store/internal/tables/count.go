package tables

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// Count implements [earshot.Messages]: the stored counter minus the messages after
// upTo, in one statement, so that both are read from one snapshot.
func (s *Store) Count(ctx context.Context, scope earshot.Scope, part earshot.ChannelPart, upTo earshot.Position) (earshot.Count, error) {
	scope, part, upTo = rule.Scope(scope), rule.Part(part), or(upTo, latest)
	counter := `(SELECT replies FROM thread` + s.sql.MessagesIn + ` AND root = $4)`
	switch {
	case part.IsWhole():
		counter = `(SELECT messages FROM channel` + OfChannel + `)`
	case part.IsTopLevel():
		counter = `(SELECT top FROM channel` + OfChannel + `)`
	}
	where, of := s.ofPart(part, scope)
	var root []earshot.Message
	var out earshot.Count
	err := s.engine.Read(ctx, "count messages", func(a Asker) {
		s.askRoot(a, scope, part, earliest, upTo, &root)
		a.Ask(`SELECT coalesce(`+counter+`, 0) - (SELECT count(*) FROM message`+where+` AND (time, id) > ($5, $6)),
			coalesce((SELECT time FROM message`+where+` ORDER BY time, id LIMIT 1), 0),
			coalesce((SELECT time FROM message`+where+` AND (time, id) <= ($5, $6) ORDER BY time DESC, id DESC LIMIT 1), 0)`,
			append(of, int64(upTo.Time), string(upTo.ID)), ScanOne(new(bool), &out.Count, &out.From, &out.To))
	})
	if err != nil {
		return earshot.Count{}, err
	}
	if out.Count == 0 {
		out = earshot.Count{}
	}
	for _, m := range root {
		if out.Count == 0 {
			out.From, out.To = m.Time, m.Time
		}
		out.Count++
		out.From, out.To = min(out.From, m.Time), max(out.To, m.Time)
	}
	return out, nil
}

// Activity implements [earshot.Messages].
func (s *Store) Activity(ctx context.Context, scope earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error) {
	replies := `FROM message` + s.sql.MessagesIn + ` AND thread = t.root AND deleted = 0`
	query := `SELECT root, replies - (SELECT count(*) ` + replies + ` AND (time, id) > ($5, $6)),
		(SELECT count(*) ` + replies + ` AND time >= $7 AND (time, id) <= ($5, $6)),
		coalesce((SELECT time ` + replies + ` AND (time, id) <= ($5, $6) ORDER BY time DESC, id DESC LIMIT 1), 0)
		FROM thread t` + s.sql.MessagesIn + ` AND ` + s.sql.Any(`root`, 4)
	type row struct {
		root earshot.MessageID
		earshot.Activity
	}
	bound := or(upTo, latest)
	hourAgo := bound.Time // without a bound LastHour is 0
	if !upTo.IsZero() {
		hourAgo -= rule.Hour
	}
	ids := rule.IDs(roots)
	of := Args(rule.Scope(scope), s.sql.List(Texts(ids)))
	var found []row
	var reported []earshot.Message
	err := s.engine.Read(ctx, "read the activity of threads", func(a Asker) {
		found, reported = nil, nil
		a.Ask(query, append(of, int64(bound.Time), string(bound.ID), int64(hourAgo)),
			Gather(&found, func(row Row, r *row) error { return row.Scan(&r.root, &r.Count, &r.LastHour, &r.Last) }))
		a.Ask(`SELECT id, lists FROM message`+s.sql.MessagesIn+` AND `+s.sql.Any(`id`, 4)+` AND lists <> ''`, of, Gather(&reported, scanReplies))
	})
	if err != nil {
		return nil, err
	}
	stored := map[earshot.MessageID]earshot.Activity{}
	for _, r := range found {
		stored[r.root] = r.Activity
	}
	reportedOf := map[earshot.MessageID]*earshot.Activity{}
	for _, m := range reported {
		reportedOf[m.ID] = m.Replies
	}
	out := map[earshot.MessageID]earshot.Activity{}
	for _, root := range ids {
		if a, ok := rule.Activity(stored[root], reportedOf[root], upTo); ok && root != "" {
			out[root] = a
		}
	}
	return out, nil
}

// scanReplies sets m.Replies to what the platform reported of m's thread.
func scanReplies(row Row, m *earshot.Message) error {
	var lists string
	if err := row.Scan(&m.ID, &lists); err != nil {
		return err
	}
	return rule.ReadReplies(lists, m)
}
