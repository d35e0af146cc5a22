package store_test

import (
	"context"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/store/storetest"
	"github.com/jackc/pgx/v5"
)

// migrated is an empty store in PostgreSQL, for tests to copy.
var migrated = pgtest.NewTemplate(func(ctx context.Context, spec string) error {
	_, _, err := store.Migrate(ctx, spec)
	return err
})

func TestConformanceOfPostgres(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) earshot.Store { return open(t, migrated.Spec(t)) })
	storetest.Reopen(t, func(t *testing.T) func() earshot.Store {
		spec := migrated.Spec(t)
		return func() earshot.Store { return open(t, spec) }
	})
}

// BenchmarkAppendPostgres is BenchmarkAppend on PostgreSQL, with fsync.
func BenchmarkAppendPostgres(b *testing.B) {
	server := pgtest.Start(b)
	benchmarkAppend(b, func(b *testing.B) string { return server.Schema(b) })
}

// BenchmarkReadPostgres is BenchmarkRead on PostgreSQL.
func BenchmarkReadPostgres(b *testing.B) {
	spec := pgtest.Spec(b)
	s := open(b, spec)
	conn, err := pgx.Connect(b.Context(), spec)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close(b.Context())
	for _, query := range []string{
		`INSERT INTO message (platform, workspace, channel, id, time, thread, reply_to, edited, deleted, seq, tokens, author, author_name, author_kind, lists, text, terms)
			SELECT 'slack', 'T0123456789', 'C0123456789', (1700000000 + n * 7) || '.' || lpad((n % 1000000)::text, 6, '0'), 1700000000000000 + n::bigint * 7000000,
			CASE WHEN n % 3 = 2 THEN (1700000000 + n / 100 * 700) || '.' || lpad((n / 100 * 100 % 1000000)::text, 6, '0') ELSE '' END,
			'', 0, 0, n + 1, 20, 'U0000000' || n % 17, 'Alice Example', 'human', '',
			left('What about the index? It was rebuilt on Monday and nobody looked at it since. I can have a look after lunch.', (2 + n::bigint * 31 % 105)::int),
			left('index rebuilt monday nobodi look sinc have look after lunch', (2 + n::bigint * 17 % 55)::int) FROM generate_series(0, 999999) AS n`,
		`INSERT INTO thread SELECT platform, workspace, channel, thread, count(*) FROM message WHERE thread <> '' GROUP BY 1, 2, 3, 4`,
		`INSERT INTO channel SELECT platform, workspace, channel, '', '', '', '', max(seq), count(*), count(*) FILTER (WHERE thread = ''), count(DISTINCT nullif(thread, ''))
			FROM message GROUP BY 1, 2, 3`,
		`VACUUM ANALYZE message, thread, channel`,
	} {
		if _, err := conn.Exec(b.Context(), query); err != nil {
			b.Fatal(err)
		}
	}
	benchmarkRead(b, s)
}
