package bot_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// TestWhatAThreadOf200TurnsStoresGrowsLinearly checks that a hundred turns of one thread
// store as much as the hundred before them, in rows and in bytes, on disk and in memory.
// The first hundred are not compared: search finds a few messages more with each of
// them, up to as many as a turn may have.
func TestWhatAThreadOf200TurnsStoresGrowsLinearly(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 300 turns twice; runs without -short")
	}
	t.Parallel()
	for _, c := range []struct{ name, placeholder string }{{"sqlite", "…"}, {"memory", ""}} {
		t.Run(c.name+" "+c.placeholder, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "bot.db")
			spec := map[string]string{"sqlite": "sqlite:" + path, "memory": "memory:"}[c.name]
			st, err := store.Open(t.Context(), spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			size := func() (rows, bytes int) { return stored(t, st) }
			if c.name == "sqlite" {
				size = func() (int, int) { return onDisk(t, path) }
			}
			next := thread(t, st, c.placeholder)
			next(100) // the session has its first prompt, and search as many hits as it may have
			rows0, bytes0 := size()
			next(200)
			rows1, bytes1 := size()
			next(300)
			rows2, bytes2 := size()
			t.Logf("100 turns: %d rows, %d bytes; the next 100: %d rows, %d bytes", rows1-rows0, bytes1-bytes0, rows2-rows1, bytes2-bytes1)
			if first, second := rows1-rows0, rows2-rows1; first < 200 || second > first*21/20 {
				t.Errorf("rows: 100 turns took %d, the next 100 took %d", first, second)
			}
			if first, second := bytes1-bytes0, bytes2-bytes1; first < 10_000 || second > first*11/10 {
				t.Errorf("bytes: 100 turns took %d, the next 100 took %d", first, second)
			}
		})
	}
}

// thread returns a function that has a bot answer the questions of one thread up to
// a number, each after an ordinary message.
func thread(t *testing.T, st bot.Store, placeholder string) func(upTo int) {
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan bot.Report, 1)
	b := bot.New(bot.Options{
		Store: st, Model: &echo{}, Platform: &slate{board: &board{}}, Identity: self, Counter: counter, Placeholder: placeholder,
		Done: func(r bot.Report) { ended <- r },
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	n := 0
	return func(upTo int) {
		for ; n < upTo; n++ {
			for i, text := range []string{"and further, staging is slow %d", "<@U0BOT> what is the state of the deploy number %d?"} {
				e := bot.Event{Channel: general, Event: earshot.Event{Delivery: fmt.Sprint(n, ".", i), Raw: []byte(`{"type":"message"}`), Message: earshot.Message{
					ID: earshot.MessageID(fmt.Sprintf("m%03d.%d", n, i)), Time: earshot.TimeOf(time.Now()), Author: alice, Thread: "m000.0", Text: fmt.Sprintf(text, n)}}}
				if _, err := b.Handle(ctx, e); err != nil {
					t.Fatal(err)
				}
			}
			select {
			case r := <-ended:
				if r.Turn.State != earshot.TurnDone {
					t.Fatalf("turn %d is %s: %s", r.Turn.ID, r.Turn.State, r.Turn.Why)
				}
			case <-time.After(time.Minute):
				t.Fatalf("turn %d does not end", n)
			}
		}
	}
}

// onDisk counts the rows of all tables and the bytes of the file.
func onDisk(t *testing.T, path string) (rows, bytes int) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	tables, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name`)
	if err != nil {
		t.Fatal(err)
	}
	defer tables.Close()
	var counts []string
	for tables.Next() {
		var name string
		if err := tables.Scan(&name); err != nil {
			t.Fatal(err)
		}
		counts = append(counts, `(SELECT count(*) FROM "`+name+`")`)
	}
	if err := tables.Err(); err != nil {
		t.Fatal(err)
	}
	if err := db.QueryRow(`SELECT ` + strings.Join(counts, " + ")).Scan(&rows); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return rows, int(info.Size())
}

// stored counts what a store has of the thread, by its own methods.
func stored(t *testing.T, st bot.Store) (rows, bytes int) {
	t.Helper()
	ctx := t.Context()
	add := func(v any, err error) {
		raw, e := json.Marshal(v)
		if err != nil || e != nil {
			t.Fatal(err, e)
		}
		rows, bytes = rows+1, bytes+len(raw)
	}
	id := earshot.ConversationID{Agent: "U0BOT", Scope: general.Scope(), Name: "m000.0"}
	messages, err := st.Since(ctx, general.Scope(), 0, 0)
	add(messages, err)
	rows += len(messages)
	for _, m := range messages {
		revisions, err := st.Revisions(ctx, general.Scope(), m.ID)
		add(revisions, err)
		events, err := st.Events(ctx, general.Scope(), m.ID)
		add(events, err)
		rows += len(revisions) + len(events)
	}
	turns, err := st.Turns(ctx, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, turn := range turns {
		whole, err := st.Turn(ctx, id, turn.Number)
		add(whole, err)
		rows += len(whole.Shown) + len(whole.Session) + len(whole.Ledger)
	}
	queued, err := st.QueuedTurns(ctx, earshot.TurnQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range queued {
		whole, err := st.QueuedTurn(ctx, q.ID)
		add(whole, err)
		steps, err := st.Steps(ctx, q.ID)
		add(steps, err)
		posts, err := st.Posts(ctx, q.ID)
		add(posts, err)
		rows += len(steps) + len(posts)
	}
	return rows, bytes
}
