package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// PutChannel implements [earshot.Messages].
func (s *Store) PutChannel(ctx context.Context, c earshot.Channel) error {
	c, err := rule.CheckChannel(c)
	if err != nil {
		return err
	}
	return s.apply(ctx, "put channel", func(t *tx) error { return t.putChannel(c) })
}

func (t *tx) putChannel(c earshot.Channel) error {
	if err := t.exec(openChannel, args(c.Scope())...); err != nil {
		return err
	}
	var a []any
	query := rule.PutChannelSQL(c, func(v any) string { a = append(a, v); return "?" })
	if query == "" {
		return nil
	}
	return t.exec(query, a...)
}

const ofChannel = ` WHERE platform = ? AND workspace = ? AND id = ?`

// openChannel creates a channel's row where there is none.
const openChannel = `INSERT INTO channel (platform, workspace, id, name, kind, topic, purpose, seq, messages, top, threads)
	VALUES (?, ?, ?, '', '', '', '', (SELECT seq FROM erased WHERE one = 1), 0, 0, 0) ON CONFLICT (platform, workspace, id) DO NOTHING`

// Channel implements [earshot.Messages].
func (s *Store) Channel(ctx context.Context, scope earshot.Scope) (earshot.Channel, error) {
	scope = rule.Scope(scope)
	c := earshot.Channel{Platform: scope.Platform, Workspace: scope.Workspace, ID: scope.Channel}
	err := s.row(ctx, `SELECT name, kind, topic, purpose FROM channel`+ofChannel, args(scope), &c.Name, &c.Kind, &c.Topic, &c.Purpose)
	if err != nil {
		return earshot.Channel{}, missing(err, "read a channel", rule.NoChannel(scope.Channel))
	}
	return c, nil
}

// apply runs f in a transaction of the writer's.
func (s *Store) apply(ctx context.Context, what string, f func(*tx) error) error {
	return s.do(ctx, what, &job{apply: f})
}

// volatile is apply for writes that a power cut may undo: leases, whose holders end
// with the machine, and the prompt of a turn of which nothing is visible yet. They
// survive the end of the process, and the next durable commit makes them durable.
func (s *Store) volatile(ctx context.Context, what string, f func(*tx) error) error {
	return s.do(ctx, what, &job{apply: f, volatile: true})
}

func (s *Store) do(ctx context.Context, what string, j *job) error {
	if err := s.writer.do(ctx, j); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// Channels implements [earshot.Messages].
func (s *Store) Channels(ctx context.Context) ([]earshot.ChannelInfo, error) {
	return s.FindChannels(ctx, earshot.ChannelQuery{})
}

// FindChannels implements [earshot.Messages].
func (s *Store) FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error) {
	const of = `FROM message WHERE place = c.place AND deleted = 0`
	const columns = `SELECT c.platform, c.workspace, c.id, c.name, c.kind, c.topic, c.purpose, c.messages, c.threads,
		coalesce((SELECT time ` + of + ` ORDER BY time, id LIMIT 1), 0),
		coalesce((SELECT time ` + of + ` ORDER BY time DESC, id DESC LIMIT 1), 0)
		FROM channel c`
	var parts [][]earshot.ChannelInfo
	for _, p := range rule.ChannelPicks(q) {
		var a []any
		query := columns
		if index := p.Index(); index != "" {
			query += ` INDEXED BY ` + index // without statistics SQLite may prefer one that begins with the platform
		}
		query += p.Where(func(v any) string { a = append(a, v); return "?" }) + ` ORDER BY ` + strings.Join(p.Order(), ", ")
		if p.Limit > 0 {
			query, a = query+` LIMIT ?`, append(a, p.Limit)
		}
		found, err := list(ctx, s, "list channels", query, a, func(rows *sql.Rows, c *earshot.ChannelInfo) error {
			return rows.Scan(&c.Platform, &c.Workspace, &c.ID, &c.Name, &c.Kind, &c.Topic, &c.Purpose, &c.Messages, &c.Threads, &c.First, &c.Last)
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, found)
	}
	return rule.JoinChannels(q.Limit, parts...), nil
}

// list reads all rows of a query, each with scan.
func list[T any](ctx context.Context, s *Store, what, query string, args []any, scan func(*sql.Rows, *T) error) ([]T, error) {
	rows, err := s.query(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	defer rows.Close()
	var out []T
	for rows.Next() {
		var v T
		if err := scan(rows, &v); err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		out = append(out, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return out, nil
}

// PutAuthors implements [earshot.Messages].
func (s *Store) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	authors, err := rule.CheckAuthors(p, authors)
	if err != nil || len(authors) == 0 {
		return err
	}
	const query = `INSERT INTO author (platform, workspace, ` + rule.AuthorColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?)` + rule.OnAuthor
	return s.apply(ctx, "put authors", func(t *tx) error {
		for _, a := range authors {
			if erased, err := t.nameless(rule.ID(p), rule.ID(w), a.ID); err != nil || erased {
				if err != nil {
					return err
				}
				continue
			}
			if err := t.exec(query, string(rule.ID(p)), string(rule.ID(w)), string(a.ID), a.Name, string(a.Kind), a.FullName, a.Zone, int64(a.AsOf)); err != nil {
				return err
			}
		}
		return nil
	})
}

// Authors implements [earshot.Messages].
func (s *Store) Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error) {
	const query = `SELECT ` + rule.AuthorColumns + ` FROM author WHERE platform = ? AND workspace = ?`
	read := func(query string, which []earshot.AuthorID) ([]earshot.Author, error) {
		a := []any{string(rule.ID(p)), string(rule.ID(w))}
		for _, id := range which {
			a = append(a, string(id))
		}
		return list(ctx, s, "list authors", query, a, func(rows *sql.Rows, a *earshot.Author) error {
			return rows.Scan(&a.ID, &a.Name, &a.Kind, &a.FullName, &a.Zone, &a.AsOf)
		})
	}
	if len(ids) == 0 {
		return read(query+` ORDER BY id`, nil)
	}
	var out []earshot.Author
	for ids = rule.IDs(ids); len(ids) > 0; {
		n := chunk(len(ids))
		found, err := read(query+` AND id IN `+marks(n, 1), ids[:n])
		if err != nil {
			return nil, err
		}
		out, ids = append(out, found...), ids[n:]
	}
	slices.SortFunc(out, func(a, b earshot.Author) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}

// PutCoverage implements [earshot.Messages].
func (s *Store) PutCoverage(ctx context.Context, scope earshot.Scope, list ...earshot.Coverage) error {
	scope, err := rule.CheckScope(scope)
	if err != nil {
		return err
	}
	if list, err = rule.CheckCoverage(list); err != nil || len(list) == 0 {
		return err
	}
	const remove = `DELETE FROM coverage` + in + ` AND thread = ? AND from_time = ? AND to_time = ?`
	const query = `INSERT INTO coverage (platform, workspace, channel, thread, from_time, to_time, state, why) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (platform, workspace, channel, thread, from_time, to_time) DO UPDATE SET state = excluded.state, why = excluded.why`
	return s.apply(ctx, "put coverage", func(t *tx) error {
		if err := t.exec(openChannel, args(scope)...); err != nil {
			return err
		}
		for _, c := range list {
			query, at := query, args(scope, string(c.Thread), int64(c.From), int64(c.To), string(c.State), c.Why)
			if c.State == "" {
				query, at = remove, at[:len(at)-2]
			}
			if err := t.exec(query, at...); err != nil {
				return err
			}
		}
		return nil
	})
}

// Coverage implements [earshot.Messages].
func (s *Store) Coverage(ctx context.Context, scope earshot.Scope) ([]earshot.Coverage, error) {
	out, err := list(ctx, s, "list coverage", `SELECT thread, from_time, to_time, state, why FROM coverage`+in+` ORDER BY thread, from_time, to_time`,
		args(rule.Scope(scope)),
		func(rows *sql.Rows, c *earshot.Coverage) error {
			return rows.Scan(&c.Thread, &c.From, &c.To, &c.State, &c.Why)
		})
	if err != nil {
		return nil, err
	}
	floor, err := list(ctx, s, "list coverage", `SELECT floor FROM barred`+in+` AND author = ''`, args(rule.Scope(scope)),
		func(rows *sql.Rows, at *earshot.Time) error { return rows.Scan(at) })
	if err != nil || len(floor) == 0 {
		return out, err
	}
	return rule.Above(out, floor[0]), nil
}
