package sqlite

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/google/go-cmp/cmp"
)

// undo takes back what each version made.
var undo = map[int][]string{7: {
	`ALTER TABLE turn DROP COLUMN form`, `ALTER TABLE turn DROP COLUMN zone`, `ALTER TABLE session DROP COLUMN more`, `ALTER TABLE attachment DROP COLUMN tokens`,
	`DROP TABLE named`, `DROP TABLE blob`, `DROP TABLE blob_data`, `DROP TABLE blob_file`,
}, 8: {`DROP TABLE resume`}, 9: {
	`ALTER TABLE channel RENAME TO c9`, `ALTER TABLE message RENAME TO m9`, `ALTER TABLE revision RENAME TO r9`, `ALTER TABLE thread RENAME TO t9`, `ALTER TABLE event RENAME TO e9`,
	`CREATE TABLE channel AS SELECT platform, workspace, id, name, kind, topic, purpose, seq, messages, top, threads FROM c9`,
	`CREATE TABLE message AS SELECT platform, workspace, c9.id AS channel, m9.id, time, thread, reply_to, edited, deleted, m9.seq, tokens, author, author_name, author_kind, lists, text, terms FROM m9 JOIN c9 USING (place)`,
	`CREATE TABLE revision AS SELECT platform, workspace, c9.id AS channel, r9.* FROM r9 JOIN c9 USING (place)`,
	`CREATE TABLE thread AS SELECT platform, workspace, c9.id AS channel, root, replies FROM t9 JOIN c9 USING (place)`,
	`CREATE TABLE event AS SELECT platform, workspace, c9.id AS channel, e9.* FROM e9 JOIN c9 USING (place)`,
	`DROP TABLE m9`, `DROP TABLE r9`, `DROP TABLE t9`, `DROP TABLE e9`, `DROP TABLE c9`,
	`DELETE FROM sqlite_stat1 WHERE tbl = 'message'`,
}, 10: {`DROP TABLE rate`}, 11: {`DROP TABLE note`}, 12: {`ALTER TABLE queued_turn DROP COLUMN ends`}, 13: {
	`DROP INDEX conversation_due`, `DROP TABLE summarised`, `ALTER TABLE summary DROP COLUMN made_by`, `ALTER TABLE summary DROP COLUMN since`,
	`ALTER TABLE turn DROP COLUMN weight`, `ALTER TABLE conversation DROP COLUMN weight`, `ALTER TABLE conversation DROP COLUMN summed`,
	`ALTER TABLE conversation DROP COLUMN summary_owner`, `ALTER TABLE conversation DROP COLUMN summary_fence`, `ALTER TABLE conversation DROP COLUMN summary_until`,
}, 14: {
	`DROP TABLE erasure`, `DROP TABLE barred`, `DROP INDEX message_by_author`, `DROP INDEX message_gone`, `DROP INDEX named_by_author`,
	`DROP INDEX turn_by_epoch`, `DROP INDEX conversation_by_channel`,
}, 16: {`ALTER TABLE queued_turn DROP COLUMN began`}, 18: {
	`DROP TABLE draft`, `DROP TABLE draft_reading`, `DROP INDEX conversation_with_about`, `ALTER TABLE conversation DROP COLUMN about`, `DROP INDEX conversation_by_key`,
	`CREATE UNIQUE INDEX conversation_by_key ON conversation (agent, platform, workspace, channel, idempotency_key) WHERE idempotency_key <> ''`,
}, 19: {`DROP TABLE reaction`, `DROP INDEX channel_with_early`, `ALTER TABLE channel DROP COLUMN early`},
	21: {`DROP INDEX channel_by_id`, `DROP INDEX channel_by_name`, `DROP INDEX channel_in_order`, `DROP INDEX channel_of_workspace`},
	22: {
		`ALTER TABLE channel DROP COLUMN name_as_of`, `ALTER TABLE channel DROP COLUMN kind_as_of`, `ALTER TABLE channel DROP COLUMN topic_as_of`,
		`ALTER TABLE channel DROP COLUMN purpose_as_of`, `ALTER TABLE author DROP COLUMN as_of`,
	}}

// downTo leaves the database of a store, which is closed, as a version made it.
func downTo(t *testing.T, s *Store, version int) {
	t.Helper()
	has, err := schema(t.Context(), s.reader)
	check(t, err)
	for v := int(has.Known); v > version; v-- {
		for _, query := range append(undo[v], fmt.Sprint(`DELETE FROM goose_db_version WHERE version_id = `, v)) {
			check(t, s.apply(t.Context(), "undo", func(t *tx) error { return t.exec(query) }))
		}
	}
	check(t, s.Close())
}

// A database from before channels had places reads the same afterwards.
func TestMessagesFromBeforeThereWerePlacesAreRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	s := opened(t, path)
	everyCall(t, s)
	other := earshot.Scope{Platform: earshot.Slack, Workspace: "T2", Channel: scope.Channel}
	_, err := s.Accept(t.Context(), other, earshot.Event{Delivery: "Ev1", Raw: []byte("{}"), Message: said("A", 3, "in another workspace")}, nil)
	check(t, err)
	before := everything(t, s, scope, other)
	downTo(t, s, 8)
	s = opened(t, path)
	if d := cmp.Diff(before, everything(t, s, scope, other)); d != "" {
		t.Errorf("after the migration (-before +after):\n%s", d)
	}
	got, err := s.Accept(t.Context(), other, earshot.Event{Delivery: "Ev1", Message: said("A", 3, "in another workspace")}, nil)
	check(t, err)
	if !got.Duplicate {
		t.Errorf("got %+v, want the delivery known", got)
	}
}

// everything returns what is stored of the messages of channels.
func everything(t *testing.T, s *Store, scopes ...earshot.Scope) (all []any) {
	t.Helper()
	ctx := t.Context()
	channels, err := s.Channels(ctx)
	check(t, err)
	all = append(all, channels)
	for _, scope := range scopes {
		list, err := s.Since(ctx, scope, 0, 0)
		check(t, err)
		thread, err := s.Newest(ctx, scope, earshot.ThreadOf("A"), earshot.Position{}, 100)
		check(t, err)
		past, err := s.Revisions(ctx, scope, "A")
		check(t, err)
		counted, err := s.Count(ctx, scope, earshot.ThreadOf("A"), earshot.Position{})
		check(t, err)
		events, err := s.Events(ctx, scope, "A")
		check(t, err)
		all = append(all, list, thread, past, counted, events)
	}
	return all
}

// Before version 19 reactions were counts.
func TestCountsFromBeforePersonsWereKnownAreAFloor(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	s := opened(t, path)
	m := said("A", 1, "text")
	m.Reactions = []earshot.Reaction{{Name: "eyes", Count: 2}}
	_, err := s.Record(t.Context(), scope, m)
	check(t, err)
	downTo(t, s, 18)
	s = opened(t, path)
	for _, step := range []struct {
		user  earshot.AuthorID
		taken bool
		want  string
	}{{"U1", false, "[{eyes 2}]"}, {"U2", false, "[{eyes 2}]"}, {"U3", false, "[{eyes 3}]"}, {"U3", true, "[{eyes 2}]"}, {"U2", true, "[{eyes 1}]"}, {"U2", true, "[{eyes 1}]"}, {"U1", true, "[]"}} {
		at := earshot.Time(100)
		if step.taken {
			at++
		}
		_, err := s.React(t.Context(), scope, earshot.Reacted{Message: "A", Emoji: "eyes", Author: step.user, Taken: step.taken, At: at})
		check(t, err)
		got, err := s.Message(t.Context(), scope, "A")
		check(t, err)
		if fmt.Sprint(got.Reactions) != step.want {
			t.Errorf("after %+v: got %v, want %s", step, got.Reactions, step.want)
		}
	}
}

func TestTurnsFromBeforeThereWereFormsAreRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	s := opened(t, path)
	answer(t, s, 1, dm, "text")
	downTo(t, s, 6)
	s = opened(t, path)
	got, err := s.Turn(t.Context(), dm, 0)
	check(t, err)
	want := []earshot.SessionEntry{{Role: earshot.User, Text: "session text"}, {Role: earshot.Assistant}, {Role: earshot.ToolRole, Text: "found text"}, {Role: earshot.Assistant, Text: "text"}}
	if d := cmp.Diff(got.Session, want); d != "" || got.Form != "" || got.Zone != "" || got.Names != nil || got.Attached[0].Tokens != 0 {
		t.Errorf("got %+v; session (-got +want):\n%s", got, d)
	}
	answer(t, s, 2, dm, "next")
	m, err := s.Manifest(t.Context(), dm)
	check(t, err)
	if len(m.Names) != 1 || len(m.Attached) != 2 {
		t.Errorf("got %+v, want what both turns attached and the name of the second", m)
	}
}

// Before version 18 an idempotency key counted in its channel alone.
func TestOfConversationsWithTheSameKeyTheOldestKeepsIt(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	s := opened(t, path)
	id := func(channel earshot.ChannelID) earshot.ConversationID {
		return earshot.ConversationID{Agent: "a", Scope: earshot.Scope{Platform: scope.Platform, Workspace: scope.Workspace, Channel: channel}, Name: "dm"}
	}
	for _, channel := range []earshot.ChannelID{"C3", "C1", "C2"} {
		_, _, err := s.OpenConversation(t.Context(), id(channel), "key "+string(channel))
		check(t, err)
	}
	downTo(t, s, 17)
	db, err := dial(path, readWrite, 1, nil)
	check(t, err)
	for _, query := range []string{`UPDATE conversation SET idempotency_key = 'key'`, `UPDATE conversation SET created = CASE channel WHEN 'C2' THEN 1 ELSE 2 END`} {
		_, err := db.ExecContext(t.Context(), query)
		check(t, err)
	}
	check(t, db.Close())
	s = opened(t, path)
	got, created, err := s.OpenConversation(t.Context(), id("C9"), "key")
	check(t, err)
	if created || got.ID != id("C2") {
		t.Errorf("got %+v, %v, want the oldest", got.ID, created)
	}
	for _, channel := range []earshot.ChannelID{"C3", "C1"} {
		if _, created, err := s.OpenConversation(t.Context(), id(channel), "new "+string(channel)); created || err != nil {
			t.Errorf("%s: %v, %v, want one without a key", channel, created, err)
		}
	}
}
