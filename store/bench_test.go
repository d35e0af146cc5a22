package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

var benchScope = earshot.Scope{Platform: earshot.Slack, Workspace: "T0123456789", Channel: "C0123456789"}

// chatter returns the nth message of a channel: every third is a reply in one
// of the threads before it.
func chatter(n int) earshot.Message {
	at := earshot.Time(1_700_000_000_000_000 + int64(n)*7_000_000)
	m := earshot.Message{
		ID: chatterID(n), Time: at,
		Author: earshot.Author{ID: earshot.AuthorID(fmt.Sprint("U0000000", n%17)), Name: "Alice Example", Kind: earshot.Human},
		Text:   texts[n%len(texts)],
	}
	if n%3 == 2 {
		m.Thread = chatterID(n / 100 * 100)
	}
	return m
}

func chatterID(n int) earshot.MessageID {
	return earshot.MessageID(fmt.Sprintf("%d.%06d", 1_700_000_000+n*7, n%1_000_000))
}

var texts = []string{
	"I think we should try the new approach",
	"staging is down since the 1.4 deploy, the migration hangs on the users table",
	"ok",
	"What about the index? It was rebuilt on Monday and nobody looked at it since. I can have a look after lunch.",
	"see https://example.com/runbook#rollback",
	"did anyone change the retry policy of the mailer? I see three times as many bounces as last week, all of them from one domain",
	"+1",
}

// BenchmarkAppend compares durable appends with bare ones of the same messages. They
// alternate within one run, so that all see the same disk. The metric
// "of-bare" is the time of a bare append to SQLite (JSON into a table without
// an index, one transaction with synchronous=FULL a call) divided by the
// store's, of which making terms and counts is a part: the aim is 0.70 or
// more. "of-file" is the same for a plain file with one write and one fsync.
func BenchmarkAppend(b *testing.B) {
	benchmarkAppend(b, func(b *testing.B) string { return filepath.Join(b.TempDir(), "x.db") })
}

func benchmarkAppend(b *testing.B, spec func(b *testing.B) string) {
	for _, size := range []int{1, 50} {
		b.Run(fmt.Sprintf("calls of %d", size), func(b *testing.B) {
			s := open(b, spec(b))
			bare, file := newBare(b), newFile(b)
			n := 0
			var storeTime, bareTime, fileTime time.Duration
			for b.Loop() { // alternating, so that both see the same disk
				batch := make([]earshot.Message, size)
				for i := range batch {
					batch[i] = chatter(n)
					n++
				}
				start := time.Now()
				if _, err := s.Record(b.Context(), benchScope, batch...); err != nil {
					b.Fatal(err)
				}
				mid := time.Now()
				bare.append(b, batch)
				end := time.Now()
				file.append(b, batch)
				storeTime += mid.Sub(start)
				bareTime += end.Sub(mid)
				fileTime += time.Since(end)
			}
			report(b, storeTime, bareTime, fileTime, n)
		})
	}
	// With many concurrent callers: here the store itself forms the groups, while the
	// bare appends have one fsync for each 50.
	b.Run("50 callers of 1", func(b *testing.B) {
		s := open(b, spec(b))
		bare, file := newBare(b), newFile(b)
		n := 0
		var storeTime, bareTime, fileTime time.Duration
		for b.Loop() {
			batch := make([]earshot.Message, 50)
			for i := range batch {
				batch[i] = chatter(n)
				n++
			}
			start := time.Now()
			var wg sync.WaitGroup
			for _, m := range batch {
				wg.Go(func() {
					if _, err := s.Record(context.Background(), benchScope, m); err != nil {
						b.Error(err)
					}
				})
			}
			wg.Wait()
			mid := time.Now()
			bare.append(b, batch)
			end := time.Now()
			file.append(b, batch)
			storeTime += mid.Sub(start)
			bareTime += end.Sub(mid)
			fileTime += time.Since(end)
		}
		report(b, storeTime, bareTime, fileTime, n)
	})
}

func report(b *testing.B, storeTime, bareTime, fileTime time.Duration, messages int) {
	b.ReportMetric(bareTime.Seconds()/storeTime.Seconds(), "of-bare")
	b.ReportMetric(fileTime.Seconds()/storeTime.Seconds(), "of-file")
	b.ReportMetric(float64(storeTime.Microseconds())/float64(b.N), "µs/store")
	b.ReportMetric(float64(bareTime.Microseconds())/float64(b.N), "µs/bare")
	b.ReportMetric(float64(fileTime.Microseconds())/float64(b.N), "µs/file")
	b.ReportMetric(float64(messages)/storeTime.Seconds(), "messages/s")
}

// jsonLines encodes a batch, for the bare appends.
func jsonLines(b *testing.B, batch []earshot.Message) [][]byte {
	lines := make([][]byte, len(batch))
	for i, m := range batch {
		line, err := json.Marshal(m)
		if err != nil {
			b.Fatal(err)
		}
		lines[i] = append(line, '\n')
	}
	return lines
}

// A bare is a SQLite table without an index, to compare with.
type bare struct {
	db     *sql.DB
	insert *sql.Stmt
}

func newBare(b *testing.B) *bare {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "bare.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { db.Close() })
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(b.Context(), `CREATE TABLE bare (n INTEGER PRIMARY KEY, line TEXT NOT NULL)`); err != nil {
		b.Fatal(err)
	}
	insert, err := db.PrepareContext(b.Context(), `INSERT INTO bare (line) VALUES (?)`)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { insert.Close() })
	return &bare{db, insert}
}

// append writes a batch in one transaction.
func (w *bare) append(b *testing.B, batch []earshot.Message) {
	lines := jsonLines(b, batch)
	tx, err := w.db.BeginTx(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	insert := tx.StmtContext(b.Context(), w.insert)
	for _, line := range lines {
		if _, err := insert.ExecContext(b.Context(), string(line)); err != nil {
			b.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		b.Fatal(err)
	}
}

// A file is a plain file, to compare with.
type file struct{ f *os.File }

func newFile(b *testing.B) *file {
	f, err := os.Create(filepath.Join(b.TempDir(), "bare.jsonl"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { f.Close() })
	return &file{f}
}

// append writes a batch in one write and one fsync.
func (w *file) append(b *testing.B, batch []earshot.Message) {
	if _, err := w.f.Write(bytes.Join(jsonLines(b, batch), nil)); err != nil {
		b.Fatal(err)
	}
	if err := w.f.Sync(); err != nil {
		b.Fatal(err)
	}
}

// millionDir is the folder of million, which TestMain deletes.
var millionDir atomic.Pointer[string]

// million is a database of 1,000,000 messages in one channel, made once a run
// the way an import makes it.
var million = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "earshot-bench-")
	if err != nil {
		return "", err
	}
	millionDir.Store(&dir)
	path := filepath.Join(dir, "x.db")
	return path, fill(path, 1_000_000)
})

// fill creates a database of n messages by SQL: the same rows as by the store, in a
// tenth of the time.
func fill(path string, n int) error {
	ctx := context.Background()
	s, err := store.Open(ctx, path, nil)
	if err != nil {
		return err
	}
	if err := s.Close(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)&_pragma=cache_size(-262144)")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	defer db.Close()
	const rows = `WITH RECURSIVE count(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM count WHERE n + 1 < ?),
		t AS (SELECT n, n / 100 * 100 AS root, n % 3 = 2 AS reply FROM count)
		INSERT INTO message SELECT (1 << 40) + n + 1, 1, printf('%d.%06d', 1700000000 + n * 7, n % 1000000),
		1700000000000000 + n * 7000000, CASE WHEN reply THEN printf('%d.%06d', 1700000000 + root * 7, root % 1000000) ELSE '' END,
		'', 0, 0, n + 1, 20, 'U0000000' || n % 17, 'Alice Example', 'human', '',
		substr('What about the index? It was rebuilt on Monday and nobody looked at it since. I can have a look after lunch.', 1, 2 + n * 31 % 105),
		substr('index rebuilt monday nobodi look sinc have look after lunch', 1, 2 + n * 17 % 55) FROM t`
	for _, q := range []struct {
		text string
		args []any
	}{
		{rows, []any{n}},
		{`INSERT INTO thread SELECT place, thread, count(*) FROM message WHERE thread <> '' GROUP BY 1, 2`, nil},
		{`INSERT INTO channel (place, platform, workspace, id, name, kind, topic, purpose, seq, messages, top, threads) SELECT place, 'slack', 'T0123456789', 'C0123456789', '', '', '', '', max(seq), count(*), sum(thread = ''), count(DISTINCT nullif(thread, '')) FROM message`, nil},
		{`PRAGMA journal_mode = WAL`, nil},
	} {
		if _, err := db.ExecContext(ctx, q.text, q.args...); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkRead reads from a channel of 1,000,000 messages. The aim is 200 µs
// for the newest 50.
func BenchmarkRead(b *testing.B) {
	path, err := million()
	if err != nil {
		b.Fatal(err)
	}
	benchmarkRead(b, open(b, path))
}

func benchmarkRead(b *testing.B, s earshot.Store) {
	root := chatterID(900_000)
	middle := chatter(500_000)
	none, half := earshot.Position{}, middle.Position()
	ids := make([]earshot.MessageID, 50)
	for i := range ids {
		ids[i] = chatterID(i * 19_997)
	}
	for _, c := range []struct {
		name string
		want int
		read func(ctx context.Context) (int, error)
	}{
		{"newest 50", 50, func(ctx context.Context) (int, error) {
			list, err := s.Newest(ctx, benchScope, earshot.Whole(), none, 50)
			return len(list), err
		}},
		{"newest 50 of the top level up to the middle", 50, func(ctx context.Context) (int, error) {
			list, err := s.Newest(ctx, benchScope, earshot.TopLevel(), half, 50)
			return len(list), err
		}},
		{"a thread of 34", 34, func(ctx context.Context) (int, error) {
			list, err := s.Newest(ctx, benchScope, earshot.ThreadOf(root), none, 300)
			return len(list), err
		}},
		{"newest 300", 300, func(ctx context.Context) (int, error) {
			list, err := s.Newest(ctx, benchScope, earshot.Whole(), none, 300)
			return len(list), err
		}},
		{"50 by id", 50, func(ctx context.Context) (int, error) {
			list, err := s.ByID(ctx, benchScope, ids...)
			return len(list), err
		}},
		{"count", 1_000_000, func(ctx context.Context) (int, error) {
			c, err := s.Count(ctx, benchScope, earshot.Whole(), none)
			return c.Count, err
		}},
		{"activity of a thread", 33, func(ctx context.Context) (int, error) {
			a, err := s.Activity(ctx, benchScope, none, root)
			return a[root].Count, err
		}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if got, err := c.read(b.Context()); err != nil || got != c.want {
					b.Fatalf("got %d, %v, want %d", got, err, c.want)
				}
			}
		})
	}
}
