package tables

import (
	"context"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// OpenChannel makes a channel's row where there is none. The channel is locked, if
// only shared: its first sequence follows those of an erased one.
const OpenChannel = `INSERT INTO channel (platform, workspace, id, name, kind, topic, purpose, seq, messages, top, threads)
	VALUES ($1, $2, $3, '', '', '', '', (SELECT seq FROM erased WHERE one = 1), 0, 0, 0) ON CONFLICT (platform, workspace, id) DO NOTHING`

// PutChannel implements [earshot.Messages].
func (s *Store) PutChannel(ctx context.Context, c earshot.Channel) error {
	c, err := rule.CheckChannel(c)
	if err != nil {
		return err
	}
	return s.engine.Apply(ctx, "put channel", func(_ context.Context, t *Tx) error {
		t.PutChannel(c)
		return nil
	})
}

// PutChannel queues what stores a channel.
func (t *Tx) PutChannel(c earshot.Channel) {
	t.Shared(c.Scope())
	t.Write(OpenChannel, Args(c.Scope())...)
	var p params
	if query := rule.PutChannelSQL(c, p.add); query != "" {
		t.Write(query, p...)
	}
}

// params are the parameters of a statement that is being written.
type params []any

// add returns the mark of another parameter.
func (p *params) add(v any) string {
	*p = append(*p, v)
	return "$" + strconv.Itoa(len(*p))
}

// addAll returns the marks of further parameters, with commas between them.
func (p *params) addAll(list []string) string {
	marks := make([]string, len(list))
	for i, v := range list {
		marks[i] = p.add(v)
	}
	return strings.Join(marks, `, `)
}

// Channel implements [earshot.Messages].
func (s *Store) Channel(ctx context.Context, scope earshot.Scope) (earshot.Channel, error) {
	scope = rule.Scope(scope)
	return readFirst(ctx, s.engine, "read a channel", `SELECT name, kind, topic, purpose, shared <> 0 FROM channel`+OfChannel, Args(scope), rule.NoChannel(scope.Channel),
		func(row Row, c *earshot.Channel) error {
			c.Platform, c.Workspace, c.ID = scope.Platform, scope.Workspace, scope.Channel
			return row.Scan(&c.Name, &c.Kind, &c.Topic, &c.Purpose, &c.Shared)
		})
}

// Channels implements [earshot.Messages].
func (s *Store) Channels(ctx context.Context) ([]earshot.ChannelInfo, error) {
	return s.FindChannels(ctx, earshot.ChannelQuery{})
}

// FindChannels implements [earshot.Messages].
func (s *Store) FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error) {
	of := `FROM message WHERE ` + s.sql.OfChannelC + ` AND deleted = 0`
	columns := `SELECT c.platform, c.workspace, c.id, c.name, c.kind, c.topic, c.purpose, c.shared <> 0, c.messages, c.threads,
		coalesce((SELECT time ` + of + ` ORDER BY time, id LIMIT 1), 0),
		coalesce((SELECT time ` + of + ` ORDER BY time DESC, id DESC LIMIT 1), 0)
		FROM channel c`
	var parts [][]earshot.ChannelInfo
	for _, pick := range rule.ChannelPicks(q) {
		var p params
		query := columns
		if index := pick.Index(); index != "" && s.sql.ByIndex != "" {
			query += s.sql.ByIndex + index
		}
		query += pick.Where(p.add) + ` ORDER BY ` + strings.Join(pick.Order(), ", ")
		if pick.Limit > 0 {
			query += ` LIMIT ` + p.add(pick.Limit)
		}
		found, err := List(ctx, s.engine, "list channels", query, p, func(row Row, c *earshot.ChannelInfo) error {
			return row.Scan(&c.Platform, &c.Workspace, &c.ID, &c.Name, &c.Kind, &c.Topic, &c.Purpose, &c.Shared, &c.Messages, &c.Threads, &c.First, &c.Last)
		})
		if err != nil {
			return nil, err
		}
		parts = append(parts, found)
	}
	return rule.JoinChannels(q.Limit, parts...), nil
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
	return s.engine.Apply(ctx, "put coverage", func(_ context.Context, t *Tx) error {
		t.Shared(scope)
		t.Write(OpenChannel, Args(scope)...)
		for _, c := range list {
			at := Args(scope, string(c.Thread), int64(c.From), int64(c.To))
			if c.State == "" {
				t.Write(`DELETE FROM coverage`+In+` AND thread = $4 AND from_time = $5 AND to_time = $6`, at...)
				continue
			}
			t.Write(`INSERT INTO coverage (platform, workspace, channel, thread, from_time, to_time, state, why) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
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
	at := Args(rule.Scope(scope))
	err := s.engine.Read(ctx, "list coverage", func(a Asker) {
		out, floor = nil, 0
		a.Ask(`SELECT thread, from_time, to_time, state, why FROM coverage`+In+` ORDER BY thread, from_time, to_time`, at, Gather(&out, scanCoverage))
		a.Ask(`SELECT floor FROM barred`+In+` AND author = ''`, at, ScanOne(new(bool), &floor))
	})
	if err != nil {
		return nil, err
	}
	return rule.CoverageAbove(out, floor), nil
}

func scanCoverage(row Row, c *earshot.Coverage) error {
	return row.Scan(&c.Thread, &c.From, &c.To, &c.State, &c.Why)
}

// Covered implements [earshot.Messages].
func (s *Store) Covered(ctx context.Context, why string) ([]earshot.Scope, error) {
	return List(ctx, s.engine, "list channels by coverage", `SELECT DISTINCT platform, workspace, channel FROM coverage
		WHERE why = $1 AND thread = '' AND to_time = 0 AND state = 'known' ORDER BY platform, workspace, channel`, []any{rule.Text(why)},
		func(row Row, c *earshot.Scope) error { return row.Scan(&c.Platform, &c.Workspace, &c.Channel) })
}
