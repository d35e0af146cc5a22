package postgres

import (
	"cmp"
	"context"
	"slices"

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
	t.write(`UPDATE channel SET name = $4, kind = $5, topic = $6, purpose = $7`+ofChannel,
		args(c.Scope(), c.Name, string(c.Kind), c.Topic, c.Purpose)...)
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
	const of = `FROM message WHERE platform = c.platform AND workspace = c.workspace AND channel = c.id AND deleted = 0`
	return list(ctx, s, "list channels", `SELECT c.platform, c.workspace, c.id, c.name, c.kind, c.topic, c.purpose, c.messages, c.threads,
		coalesce((SELECT time `+of+` ORDER BY time, id LIMIT 1), 0),
		coalesce((SELECT time `+of+` ORDER BY time DESC, id DESC LIMIT 1), 0)
		FROM channel c ORDER BY c.platform, c.workspace, c.name, c.id`, nil,
		func(rows pgx.Rows, c *earshot.ChannelInfo) error {
			return rows.Scan(&c.Platform, &c.Workspace, &c.ID, &c.Name, &c.Kind, &c.Topic, &c.Purpose, &c.Messages, &c.Threads, &c.First, &c.Last)
		})
}

// PutAuthors implements [earshot.Messages].
func (s *Store) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	authors, err := rule.CheckAuthors(p, authors)
	if err != nil || len(authors) == 0 {
		return err
	}
	// By id, so that two calls at once wait for each other in one order.
	slices.SortFunc(authors, func(a, b earshot.Author) int { return cmp.Compare(a.ID, b.ID) })
	var ids, names, kinds, full, zones []string
	for _, a := range authors {
		ids, names, kinds = append(ids, string(a.ID)), append(names, a.Name), append(kinds, string(a.Kind))
		full, zones = append(full, a.FullName), append(zones, a.Zone)
	}
	return s.apply(ctx, "put authors", func(_ context.Context, t *tx) error {
		t.write(`INSERT INTO author (platform, workspace, id, name, kind, full_name, zone)
			SELECT $1::text, $2::text, v.* FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) AS v
			ON CONFLICT (platform, workspace, id) DO UPDATE SET name = excluded.name, kind = excluded.kind,
				full_name = CASE excluded.full_name WHEN '' THEN author.full_name ELSE excluded.full_name END,
				zone = CASE excluded.zone WHEN '' THEN author.zone ELSE excluded.zone END`,
			string(rule.ID(p)), string(rule.ID(w)), ids, names, kinds, full, zones)
		return nil
	})
}

// Authors implements [earshot.Messages].
func (s *Store) Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error) {
	query, a := `SELECT id, name, kind, full_name, zone FROM author WHERE platform = $1 AND workspace = $2`, []any{string(rule.ID(p)), string(rule.ID(w))}
	if len(ids) > 0 {
		query, a = query+` AND id = ANY($3)`, append(a, texts(rule.IDs(ids)))
	}
	return list(ctx, s, "list authors", query+` ORDER BY id`, a, func(rows pgx.Rows, a *earshot.Author) error {
		return rows.Scan(&a.ID, &a.Name, &a.Kind, &a.FullName, &a.Zone)
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
	return list(ctx, s, "list coverage", `SELECT thread, from_time, to_time, state, why FROM coverage`+in+` ORDER BY thread, from_time, to_time`,
		args(rule.Scope(scope)),
		func(rows pgx.Rows, c *earshot.Coverage) error {
			return rows.Scan(&c.Thread, &c.From, &c.To, &c.State, &c.Why)
		})
}
