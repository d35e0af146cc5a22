package postgres

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
	"github.com/jackc/pgx/v5"
)

// PutChannel implements [earshot.Messages].
func (s *Store) PutChannel(ctx context.Context, c earshot.Channel) error {
	c, err := rule.CheckChannel(c)
	if err != nil {
		return err
	}
	return s.apply(ctx, "put channel", func(_ context.Context, t *tx) error {
		t.putChannel(c)
		return nil
	})
}

// putChannel queues what stores a channel.
func (t *tx) putChannel(c earshot.Channel) {
	t.shared(c.Scope())
	t.write(openChannel, args(c.Scope())...)
	var a []any
	if query := rule.PutChannelSQL(c, func(v any) string { a = append(a, v); return "$" + strconv.Itoa(len(a)) }); query != "" {
		t.write(query, a...)
	}
}

const ofChannel = ` WHERE platform = $1 AND workspace = $2 AND id = $3`

// openChannel makes a channel's row where there is none. The channel is locked,
// if only shared: its first sequence follows those of an erased one.
const openChannel = `INSERT INTO channel (platform, workspace, id, name, kind, topic, purpose, seq, messages, top, threads)
	SELECT $1::text, $2::text, $3::text, '', '', '', '', seq, 0, 0, 0 FROM erased ON CONFLICT (platform, workspace, id) DO NOTHING`

// Channel implements [earshot.Messages].
func (s *Store) Channel(ctx context.Context, scope earshot.Scope) (earshot.Channel, error) {
	scope = rule.Scope(scope)
	found, err := list(ctx, s, "read a channel", `SELECT name, kind, topic, purpose FROM channel`+ofChannel, args(scope),
		func(rows pgx.Rows, c *earshot.Channel) error {
			c.Platform, c.Workspace, c.ID = scope.Platform, scope.Workspace, scope.Channel
			return rows.Scan(&c.Name, &c.Kind, &c.Topic, &c.Purpose)
		})
	if err != nil {
		return earshot.Channel{}, err
	}
	if len(found) == 0 {
		return earshot.Channel{}, rule.NoChannel(scope.Channel)
	}
	return found[0], nil
}

// Channels implements [earshot.Messages].
func (s *Store) Channels(ctx context.Context) ([]earshot.ChannelInfo, error) {
	return s.FindChannels(ctx, earshot.ChannelQuery{})
}

// FindChannels implements [earshot.Messages].
func (s *Store) FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error) {
	const of = `FROM message WHERE platform = c.platform AND workspace = c.workspace AND channel = c.id AND deleted = 0`
	const columns = `SELECT c.platform, c.workspace, c.id, c.name, c.kind, c.topic, c.purpose, c.messages, c.threads,
		coalesce((SELECT time ` + of + ` ORDER BY time, id LIMIT 1), 0),
		coalesce((SELECT time ` + of + ` ORDER BY time DESC, id DESC LIMIT 1), 0)
		FROM channel c`
	var parts [][]earshot.ChannelInfo
	for _, p := range rule.ChannelPicks(q) {
		var a []any
		arg := func(v any) string { a = append(a, v); return "$" + strconv.Itoa(len(a)) }
		query := columns + p.Where(arg) + ` ORDER BY ` + strings.Join(p.Order(), ", ")
		if p.Limit > 0 {
			query += ` LIMIT ` + arg(p.Limit)
		}
		found, err := list(ctx, s, "list channels", query, a, func(rows pgx.Rows, c *earshot.ChannelInfo) error {
			return rows.Scan(&c.Platform, &c.Workspace, &c.ID, &c.Name, &c.Kind, &c.Topic, &c.Purpose, &c.Messages, &c.Threads, &c.First, &c.Last)
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, found)
	}
	return rule.JoinChannels(q.Limit, parts...), nil
}

// PutAuthors implements [earshot.Messages].
func (s *Store) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	authors, err := rule.CheckAuthors(p, authors)
	if err != nil || len(authors) == 0 {
		return err
	}
	// By id, so that two calls at once wait for each other in one order.
	slices.SortFunc(authors, func(a, b earshot.Author) int { return cmp.Compare(a.ID, b.ID) })
	return s.apply(ctx, "put authors", func(ctx context.Context, t *tx) error {
		nameless, err := t.nameless(ctx, rule.ID(p), rule.ID(w), authors)
		if err != nil {
			return err
		}
		var ids, names, kinds, full, zones []string
		var told []int64
		for _, a := range authors {
			if !nameless[a.ID] {
				ids, names, kinds = append(ids, string(a.ID)), append(names, a.Name), append(kinds, string(a.Kind))
				full, zones, told = append(full, a.FullName), append(zones, a.Zone), append(told, int64(a.AsOf))
			}
		}
		t.write(`INSERT INTO author (platform, workspace, `+rule.AuthorColumns+`)
			SELECT $1::text, $2::text, v.* FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[]) AS v`+rule.OnAuthor,
			string(rule.ID(p)), string(rule.ID(w)), ids, names, kinds, full, zones, told)
		return nil
	})
}

// nameless returns those of the authors who are erased from a workspace and have said
// nothing there since: then no name is stored of them.
func (t *tx) nameless(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors []earshot.Author) (map[earshot.AuthorID]bool, error) {
	var ids, barred []string
	for _, a := range authors {
		ids = append(ids, string(a.ID))
	}
	scan := func(rows pgx.Rows, id *string) error { return rows.Scan(id) }
	t.ask(`SELECT author FROM barred WHERE platform = $1 AND workspace = $2 AND channel = '' AND author = ANY($3)`, []any{string(p), string(w), ids}, gather(&barred, scan))
	if err := t.send(ctx); err != nil || len(barred) == 0 {
		return nil, err
	}
	out := map[earshot.AuthorID]bool{}
	for _, id := range barred {
		spoke := false
		which, a := bySpeaker(earshot.ErasureOf{Platform: p, Workspace: w, User: earshot.AuthorID(id)})
		t.ask(`SELECT 1 FROM message`+which+` ORDER BY channel, time LIMIT 1`, a, one(&spoke, new(int)))
		if err := t.send(ctx); err != nil {
			return nil, err
		}
		out[earshot.AuthorID(id)] = !spoke
	}
	return out, nil
}

// Authors implements [earshot.Messages].
func (s *Store) Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error) {
	query, a := `SELECT `+rule.AuthorColumns+` FROM author WHERE platform = $1 AND workspace = $2`, []any{string(rule.ID(p)), string(rule.ID(w))}
	if len(ids) > 0 {
		query, a = query+` AND id = ANY($3)`, append(a, texts(rule.IDs(ids)))
	}
	return list(ctx, s, "list authors", query+` ORDER BY id`, a, func(rows pgx.Rows, a *earshot.Author) error {
		return rows.Scan(&a.ID, &a.Name, &a.Kind, &a.FullName, &a.Zone, &a.AsOf)
	})
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
	return s.apply(ctx, "put coverage", func(_ context.Context, t *tx) error {
		t.shared(scope)
		t.write(openChannel, args(scope)...)
		for _, c := range list {
			at := args(scope, string(c.Thread), int64(c.From), int64(c.To))
			if c.State == "" {
				t.write(`DELETE FROM coverage`+in+` AND thread = $4 AND from_time = $5 AND to_time = $6`, at...)
				continue
			}
			t.write(`INSERT INTO coverage (platform, workspace, channel, thread, from_time, to_time, state, why) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
				ON CONFLICT (platform, workspace, channel, thread, from_time, to_time) DO UPDATE SET state = excluded.state, why = excluded.why`,
				append(at, string(c.State), c.Why)...)
		}
		return nil
	})
}

// Coverage implements [earshot.Messages].
func (s *Store) Coverage(ctx context.Context, scope earshot.Scope) ([]earshot.Coverage, error) {
	var out []earshot.Coverage
	var floor earshot.Time
	err := s.read(ctx, func(t *tx) {
		out, floor = nil, 0
		a := args(rule.Scope(scope))
		t.ask(`SELECT thread, from_time, to_time, state, why FROM coverage`+in+` ORDER BY thread, from_time, to_time`, a,
			gather(&out, func(rows pgx.Rows, c *earshot.Coverage) error {
				return rows.Scan(&c.Thread, &c.From, &c.To, &c.State, &c.Why)
			}))
		t.ask(`SELECT floor FROM barred`+in+` AND author = ''`, a, one(new(bool), &floor))
	})
	if err != nil {
		return nil, fmt.Errorf("list coverage: %w", err)
	}
	return rule.Above(out, floor), nil
}
