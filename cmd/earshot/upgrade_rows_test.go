package main

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// inLocal is a channel of the old databases.
func inLocal(channel earshot.ChannelID) earshot.Scope {
	return earshot.Scope{Platform: earshot.Local, Workspace: "local", Channel: channel}
}

// read checks what an upgraded store tells of the messages of then: the edited one has
// its old text, threads count their replies, and no delivery is taken twice. Turns have
// their sessions, whose form nobody wrote down before version 7. Reactions, which were
// counts before version 19, are a floor where persons are unknown.
func (old oldStore) read(t *testing.T, st earshot.Store, fates map[string]fate, now time.Time) {
	t.Helper()
	ctx, general := t.Context(), inLocal("general")
	list, err := st.Since(ctx, general, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	var edited, root earshot.Message
	for _, m := range list {
		switch {
		case m.Edited > 0 && m.Author.ID == "bob":
			edited = m
		case strings.Contains(m.Text, "when does the release go out"):
			root = m
		}
		events, err := st.Events(ctx, general, m.ID)
		if err != nil || len(events) == 0 && m.Author.Kind == earshot.Human {
			t.Errorf("the deliveries of %q: got %+v, %v", m.Text, events, err)
		}
		for _, e := range events {
			again, err := st.Accept(ctx, general, earshot.Event{Delivery: e.Delivery, Message: m}, nil)
			if err != nil || !again.Duplicate {
				t.Errorf("%s, delivered again: got %+v, %v, want it known", e.Delivery, again, err)
			}
		}
	}
	past, err := st.Revisions(ctx, general, edited.ID)
	if err != nil || len(past) != 2 || past[0].Text != "the code of the door is 4711" || past[1].Text != edited.Text {
		t.Errorf("the revisions of %q: got %+v, %v", edited.Text, past, err)
	}
	thread, err := st.Newest(ctx, general, earshot.ThreadOf(root.ID), earshot.Position{}, 100)
	if err != nil {
		t.Fatal(err)
	}
	// Three questions with their answers, and one that was left in the middle.
	if n, err := st.Count(ctx, general, earshot.ThreadOf(root.ID), earshot.Position{}); err != nil || n.Count != 8 || len(thread) != 8 {
		t.Errorf("the thread: counted %+v, read %d, %v, want 8", n, len(thread), err)
	}
	turn, err := st.Turn(ctx, fates["@earshot when does the release go out?"].turn.Conversation, 0)
	if n := len(turn.Session); err != nil || n < 2 || turn.Session[0].Role != earshot.User || turn.Session[n-1].Text == "" || (turn.Form == "") != (old.version < 7) {
		t.Errorf("the first turn: got %+v, %v", turn, err)
	}
	for i, step := range []struct {
		author earshot.AuthorID
		taken  bool
		want   string
	}{{"alice", false, "[{eyes 1}]"}, {"bob", false, "[{eyes 2}]"}, {"bob", true, "[{eyes 1}]"}, {"bob", true, "[{eyes 1}]"}, {"alice", true, "[]"}} {
		at := earshot.TimeOf(now) + earshot.Time(i)
		_, err := st.React(ctx, general, earshot.ReactionEvent{Message: edited.ID, Emoji: "eyes", Author: step.author, Taken: step.taken, At: at})
		if err != nil {
			t.Fatal(err)
		}
		if m, err := st.Message(ctx, general, edited.ID); err != nil || fmt.Sprint(m.Reactions) != step.want {
			t.Errorf("after %+v: got %v, %v", step, m.Reactions, err)
		}
	}
}

// altered runs statements on an old database, before today's program opens it.
func (old oldStore) altered(t *testing.T, statements ...string) *sql.DB {
	t.Helper()
	driver := "sqlite"
	if strings.HasSuffix(old.name, ".postgres") {
		driver = "pgx"
	}
	db, err := sql.Open(driver, old.spec)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

// Before version 18 an idempotency key counted in its channel alone.
func TestOfConversationsWithTheSameKeyTheOldestKeepsIt(t *testing.T) {
	t.Parallel()
	oldStores(t, "1[67].*", func(t *testing.T, old oldStore) {
		db := old.altered(t,
			`UPDATE conversation SET idempotency_key = 'key' WHERE channel IN ('dm-failed', 'dm-open', 'dm-parked')`,
			`UPDATE conversation SET created = 1 WHERE channel = 'dm-open'`)
		st, err := store.Open(t.Context(), old.spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		got, created, err := st.OpenConversation(t.Context(), earshot.ConversationID{Agent: "earshot", Scope: inLocal("another"), Name: "dm"}, "key")
		if err != nil || created || got.ID.Scope.Channel != "dm-open" {
			t.Errorf("got %+v, %v, %v, want the oldest", got.ID, created, err)
		}
		var without int
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM conversation WHERE channel IN ('dm-failed', 'dm-parked') AND idempotency_key = ''`).Scan(&without); err != nil || without != 2 {
			t.Errorf("%d conversations are without the key, %v, want the two others", without, err)
		}
	})
}

// Before version 9 SQLite named a message by platform, workspace and channel.
func TestMessagesFromBeforeThereWerePlacesAreRead(t *testing.T) {
	t.Parallel()
	oldStores(t, "8.sqlite", func(t *testing.T, old oldStore) {
		// Another workspace has the same channels with the same ids, and other texts.
		var copies []string
		for _, table := range []string{"channel", "message", "revision", "thread", "event"} {
			copies = append(copies, "CREATE TABLE copy AS SELECT * FROM "+table, "UPDATE copy SET workspace = 'other'")
			switch table {
			case "message", "revision":
				copies = append(copies, "UPDATE copy SET text = 'other: ' || text WHERE deleted = 0")
			case "event":
				copies = append(copies, "UPDATE copy SET id = id + 1000")
			}
			copies = append(copies, "INSERT INTO "+table+" SELECT * FROM copy", "DROP TABLE copy")
		}
		old.altered(t, copies...).Close()
		st, err := store.Open(t.Context(), old.spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		for _, channel := range []earshot.ChannelID{"general", "ops", "dm-open"} {
			s := inLocal(channel)
			here := everything(t, st, s, "other: ")
			s.Workspace = "other"
			if d := cmp.Diff(here, everything(t, st, s, "")); d != "" || len(here) == 0 {
				t.Errorf("%s (-local +other): %d\n%s", channel, len(here), d)
			}
		}
	})
}

// everything returns what is stored of the messages of a channel, with a word before
// each text.
func everything(t *testing.T, st earshot.Store, s earshot.Scope, before string) (all []any) {
	t.Helper()
	ctx := t.Context()
	list, err := st.Since(ctx, s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range list {
		past, err := st.Revisions(ctx, s, m.ID)
		if err != nil {
			t.Fatal(err)
		}
		events, err := st.Events(ctx, s, m.ID)
		if err != nil {
			t.Fatal(err)
		}
		counted, err := st.Count(ctx, s, earshot.ThreadOf(m.ID), earshot.Position{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range past {
			if !past[i].Deleted {
				past[i].Text = before + past[i].Text
			}
		}
		all = append(all, past, events, counted)
		if len(events) > 0 {
			again, err := st.Accept(ctx, s, earshot.Event{Delivery: events[0].Delivery, Message: m}, nil)
			if err != nil || !again.Duplicate {
				t.Errorf("%s, delivered again: got %+v, %v, want it known", events[0].Delivery, again, err)
			}
		}
	}
	return all
}
