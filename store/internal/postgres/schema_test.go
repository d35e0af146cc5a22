package postgres

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func TestMigrateTellsFromAndTo(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	before, err := Inspect(t.Context(), spec)
	known := before.Known
	if err != nil || before.Stored != 0 || known < 1 {
		t.Fatalf("before: got %+v, %v, want 0 and what is known", before, err)
	}
	for _, want := range []int64{0, known} {
		from, to, err := Migrate(t.Context(), spec)
		if err != nil || from != want || to != known {
			t.Errorf("got %d to %d, %v, want %d to %d", from, to, err, want, known)
		}
	}
	if after, err := Inspect(t.Context(), spec); err != nil || !after.UpToDate() {
		t.Errorf("after: got %+v, %v, want %d", after, err, known)
	}
}

func TestADatabaseThatIsNewerThanTheProgramIsRefused(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	s := opened(t, spec)
	exec(t, s, `INSERT INTO goose_db_version (version_id, is_applied) VALUES (9041, true)`)
	has, err := Inspect(t.Context(), spec)
	known := has.Known
	check(t, err)
	_, openErr := Open(t.Context(), spec, s.now, s.log)
	_, _, migrateErr := Migrate(t.Context(), spec)
	for name, err := range map[string]error{"Open": openErr, "Migrate": migrateErr} {
		if !errors.Is(err, earshot.ErrSchema) || !strings.Contains(err.Error(), "9041") || !strings.Contains(err.Error(), fmt.Sprint("knows ", known)) {
			t.Errorf("%s: got %v, want ErrSchema naming 9041 and %d", name, err, known)
		}
	}
}

// undoDrafts takes back what the versions from 18 on made.
var undoDrafts = []string{
	`ALTER TABLE channel DROP COLUMN name_as_of, DROP COLUMN kind_as_of, DROP COLUMN topic_as_of, DROP COLUMN purpose_as_of`, `ALTER TABLE author DROP COLUMN as_of`,
	`DROP INDEX channel_by_id, channel_by_name, channel_in_order, channel_of_workspace`, `DROP TABLE reaction`, `ALTER TABLE channel DROP COLUMN early`,
	`DROP TABLE draft, draft_reading`, `ALTER TABLE conversation DROP COLUMN about`, `DROP INDEX conversation_by_key`,
	`CREATE UNIQUE INDEX conversation_by_key ON conversation (agent, platform, workspace, channel, idempotency_key) WHERE idempotency_key <> ''`,
}

// Before version 18 an idempotency key counted in its channel alone.
func TestOfConversationsWithTheSameKeyTheOldestKeepsIt(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	s := opened(t, spec)
	id := func(channel earshot.ChannelID) earshot.ConversationID {
		return earshot.ConversationID{Agent: "a", Scope: earshot.Scope{Platform: scope.Platform, Workspace: scope.Workspace, Channel: channel}, Name: "dm"}
	}
	for _, channel := range []earshot.ChannelID{"C3", "C1", "C2"} {
		_, _, err := s.OpenConversation(t.Context(), id(channel), "key "+string(channel))
		check(t, err)
	}
	for _, query := range append(slices.Clone(undoDrafts), `UPDATE conversation SET idempotency_key = 'key'`,
		`UPDATE conversation SET created = CASE channel WHEN 'C2' THEN 1 ELSE 2 END`, `DELETE FROM goose_db_version WHERE version_id >= 18`) {
		exec(t, s, query)
	}
	s = opened(t, spec)
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

func TestTurnsFromBeforeThereWereFormsAreRead(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	s := opened(t, spec)
	id := earshot.ConversationID{Agent: "a", Scope: scope, Name: "dm"}
	_, _, err := s.OpenConversation(t.Context(), id, "")
	check(t, err)
	commit := func(anchor earshot.MessageID) {
		t.Helper()
		_, err := s.CommitTurn(t.Context(), id, earshot.Turn{
			Answer: earshot.Answer{Anchor: anchor}, Attached: []earshot.Attached{{ID: "F1", Tokens: 5}}, Names: []earshot.Named{{ID: "U1"}}, Form: "log",
			Session: []earshot.SessionEntry{{Role: earshot.ToolRole, Text: "found", Call: "1"}}})
		check(t, err)
	}
	commit("m1")
	for _, query := range append(slices.Clone(undoDrafts),
		`ALTER TABLE turn DROP COLUMN form, DROP COLUMN zone`, `ALTER TABLE session DROP COLUMN more`, `ALTER TABLE attachment DROP COLUMN tokens`,
		`DROP TABLE named, blob, blob_file`, `DROP TABLE rate, note, resume, erasure, barred`, `DROP INDEX message_by_author, message_gone, turn_by_epoch, conversation_by_channel`, `ALTER TABLE queued_turn DROP COLUMN ends, DROP COLUMN began`,
		`DROP TABLE summarised`, `ALTER TABLE summary DROP COLUMN made_by, DROP COLUMN since`, `ALTER TABLE turn DROP COLUMN weight`,
		`ALTER TABLE conversation DROP COLUMN weight, DROP COLUMN summed, DROP COLUMN summary_owner, DROP COLUMN summary_fence, DROP COLUMN summary_until`,
		`DELETE FROM goose_db_version WHERE version_id >= 7`,
	) {
		exec(t, s, query)
	}
	s = opened(t, spec)
	got, err := s.Turn(t.Context(), id, 0)
	check(t, err)
	want := earshot.SessionEntry{Role: earshot.ToolRole, Text: "found"}
	if d := cmp.Diff(got.Session, []earshot.SessionEntry{want}); d != "" || got.Form != "" || got.Names != nil || got.Attached[0].Tokens != 0 {
		t.Errorf("got %+v; session (-got +want):\n%s", got, d)
	}
	commit("m2")
	m, err := s.Manifest(t.Context(), id)
	check(t, err)
	if len(m.Names) != 1 || len(m.Attached) != 2 {
		t.Errorf("got %+v, want what both turns attached and the name of the second", m)
	}
}

func TestManyReplicasMayStartAtOnce(t *testing.T) {
	t.Parallel()
	spec := pgtest.Spec(t)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			s, err := Open(t.Context(), spec, time.Now, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Error(err)
				return
			}
			defer s.Close()
			if _, err := s.Record(t.Context(), scope, said(earshot.MessageID(fmt.Sprint("m", i)), 1, "x")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := stored(t, opened(t, spec)); got != 8 {
		t.Errorf("stored %d, want 8", got)
	}
}

func TestAReplicaWaitsForAMigrationHoweverLongItTakes(t *testing.T) {
	t.Parallel()
	spec := pgtest.With(pgtest.Spec(t), "lock_timeout", "1ms")
	other, err := pgx.Connect(t.Context(), spec)
	check(t, err)
	defer other.Close(t.Context())
	_, err = other.Exec(t.Context(), migrationLock)
	check(t, err)
	done := make(chan error)
	go func() { _, _, err := Migrate(t.Context(), spec); done <- err }()
	eventually(t, func() bool {
		n := 0
		check(t, other.QueryRow(t.Context(), `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`).Scan(&n))
		return n > 0
	})
	_, err = other.Exec(t.Context(), `SELECT pg_sleep(0.02), pg_advisory_unlock_all()`)
	check(t, err)
	check(t, <-done)
}
