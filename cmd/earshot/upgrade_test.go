package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/store"
)

// An oldStore is a database of testdata/upgrade, which a program of its time has
// made and which was killed at each point of a turn. See the README there.
type oldStore struct {
	name    string    // of its file
	version int       // of its schema
	spec    string    // of a copy
	Made    time.Time `json:"made"`
	Said    []struct {
		Channel string `json:"channel"`
		Text    string `json:"text"`
		At      string `json:"at"` // how far it had come
	} `json:"said"`
}

// oldStores calls check with a copy of each database whose file matches a pattern. A
// check waits more than it computes, so that more run at once than there are cores.
func oldStores(t *testing.T, pattern string, check func(t *testing.T, old oldStore)) {
	t.Helper()
	files, err := filepath.Glob("testdata/upgrade/" + pattern + ".gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no databases: %v", err)
	}
	var group errgroup.Group
	group.SetLimit(6)
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".gz"), ".sql")
		group.Go(func() error {
			t.Run(name, func(t *testing.T) { check(t, opened(t, name, file)) })
			return nil
		})
	}
	_ = group.Wait()
}

// opened returns a copy of a database.
func opened(t *testing.T, name, file string) oldStore {
	t.Helper()
	old := oldStore{name: name}
	_, err := fmt.Sscan(name, &old.version)
	var about []byte
	if err == nil {
		about, err = os.ReadFile(filepath.Join("testdata/upgrade", name+".json"))
	}
	if err == nil {
		err = json.Unmarshal(about, &old)
	}
	if err != nil {
		t.Fatal(err)
	}
	content := unpacked(t, file)
	if strings.HasSuffix(name, ".postgres") {
		old.spec = pgtest.Spec(t)
		restore(t, old.spec, string(content))
		return old
	}
	old.spec = filepath.Join(t.TempDir(), "x.db")
	if err := os.WriteFile(old.spec, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return old
}

func unpacked(t *testing.T, file string) []byte {
	t.Helper()
	packed, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// restore runs a dump in the schema that spec names.
func restore(t *testing.T, spec, dump string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	var schema string
	if err := conn.QueryRow(t.Context(), "SELECT current_schema()").Scan(&schema); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.PgConn().Exec(t.Context(), strings.ReplaceAll(dump, "SCHEMA.", schema+".")).ReadAll(); err != nil {
		t.Fatalf("load the dump: %v", err)
	}
}

// goOn opens a store and runs the daemon of today over it, by a clock that begins at
// now, until every turn has ended. env are settings.
func (old oldStore) goOn(t *testing.T, now time.Time, env ...string) earshot.Store {
	t.Helper()
	began := time.Now()
	clock := func() time.Time { return now.Add(time.Since(began)) }
	st, err := store.Open(t.Context(), old.spec, &store.Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	cfg, err := config.Load("", append(env, "EARSHOT_PLATFORM=local"))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{}, 1)
	d, err := daemon.Open(t.Context(), daemon.Options{
		Config: cfg, Store: st, Outside: daemon.Outside{Now: clock},
		Done: func(bot.Report) {
			select {
			case ended <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 3*time.Minute)
	defer stop()
	var running sync.WaitGroup
	running.Go(func() {
		if err := d.Run(ctx); err != nil {
			t.Errorf("run: %v", err)
		}
	})
	for waits := true; waits; {
		open, err := st.QueuedTurns(ctx, earshot.TurnQuery{States: unfinished})
		if err != nil {
			t.Fatal(err)
		}
		if waits = len(open) > 0; waits {
			select {
			case <-ended:
			case <-ctx.Done():
				t.Fatalf("%d turns do not end, such as %+v", len(open), open[0])
			}
		}
	}
	stop()
	running.Wait()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	return st
}

// patient has questions answered that were asked while a database was made slowly.
var patient = []string{"EARSHOT_FRESH_MINUTES=1440", "EARSHOT_POST_MINUTES=1440"}

// A fate is what has become of a question: the state of its turn, how many visible
// messages of the bot answer it, and why.
type fate struct {
	state   earshot.TurnState
	visible int
	turn    earshot.QueuedTurn
}

// fates finds each thing that was said, and checks that nothing is lost and nothing
// is there twice: messages are there once, with their texts, and each message of the
// bot is of one turn.
func (old oldStore) fates(t *testing.T, st earshot.Store) map[string]fate {
	t.Helper()
	ctx := t.Context()
	channels, err := st.Channels(ctx)
	if err != nil {
		t.Fatal(err)
	}
	turns := map[earshot.MessageID][]earshot.QueuedTurn{}
	list, err := st.QueuedTurns(ctx, earshot.TurnQuery{Limit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	of := map[earshot.MessageID]earshot.TurnID{} // the bot's messages
	for _, q := range list {
		if q.Conversation.Agent == "earshot" { // the draft is another agent's
			turns[q.Anchor] = append(turns[q.Anchor], q)
		}
		posts, err := st.Posts(ctx, q.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range posts {
			if p.Message != "" {
				if other, ok := of[p.Message]; ok {
					t.Errorf("message %s is of turns %d and %d", p.Message, other, q.ID)
				}
				of[p.Message] = q.ID
			}
		}
	}
	found, visible := map[string]earshot.Message{}, map[earshot.TurnID]int{}
	for _, c := range channels {
		list, err := st.Since(ctx, c.Scope(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range list {
			switch {
			case m.Deleted:
			case m.Author.Kind == earshot.Bot:
				if of[m.ID] == 0 || m.Text == "" {
					t.Errorf("the bot has said what no turn knows of: %+v", m)
				}
				visible[of[m.ID]]++
			default:
				if _, twice := found[m.Text]; twice {
					t.Errorf("%q is there twice", m.Text)
				}
				found[m.Text] = m
			}
		}
	}
	out := map[string]fate{}
	for _, s := range old.Said {
		m, ok := found[strings.ReplaceAll(s.Text, "@earshot", "<@earshot|earshot>")]
		if ok != (s.At != "deleted") {
			t.Errorf("%q, which was %s, is stored: %v", s.Text, s.At, ok)
			continue
		}
		if s.At == "heard" || s.At == "deleted" {
			continue
		}
		if len(turns[m.ID]) != 1 {
			t.Errorf("%q has %d turns", s.Text, len(turns[m.ID]))
			continue
		}
		q := turns[m.ID][0]
		out[s.Text] = fate{q.State, visible[q.ID], q}
	}
	return out
}

// ends are how turns must end that today's program takes over soon: with one visible
// reply, unless a later question is answered with them.
func (old oldStore) checkSoon(t *testing.T, fates map[string]fate) {
	t.Helper()
	merged := 0
	for _, s := range old.Said {
		f, ok := fates[s.Text]
		if !ok {
			continue
		}
		want, visible := earshot.TurnDone, 1
		switch {
		case s.Channel == "ops":
			visible = f.visible // later versions delete replies that quote what was deleted
		case s.At == "failed":
			want = earshot.TurnFailed // with its apology
		case s.At == "parked":
			want, visible = earshot.TurnParked, 0
		case f.state == earshot.TurnDropped && strings.HasPrefix(f.turn.Why, "answered with turn"):
			merged++
			want, visible = earshot.TurnDropped, 0
		}
		if f.state != want || f.visible != visible {
			t.Errorf("%q, left at %s: turn %d is %s (%s) with %d visible messages, want %s with %d",
				s.Text, s.At, f.turn.ID, f.state, f.turn.Why, f.visible, want, visible)
		}
	}
	if merged < 1 || merged > 2 {
		t.Errorf("%d questions were answered with a later one, want that of after_merge and perhaps that before the waiting one", merged)
	}
}

// checkLate checks turns that today's program finds days later: what had been begun
// visibly is ended, and nothing is answered that nobody waits for any more.
func (old oldStore) checkLate(t *testing.T, fates map[string]fate) {
	t.Helper()
	states := map[earshot.TurnState]int{}
	for _, s := range old.Said {
		f, ok := fates[s.Text]
		if !ok {
			continue
		}
		states[f.state]++
		switch {
		case s.At == "answered" || s.At == "after_finish" || s.At == "before_finish" || s.At == "after_post":
			if f.state != earshot.TurnDone || f.visible != 1 && s.Channel != "ops" {
				t.Errorf("%q, left at %s: %s (%s) with %d visible messages, want done with its answer", s.Text, s.At, f.state, f.turn.Why, f.visible)
			}
		case s.At == "failed":
			if f.state != earshot.TurnFailed || f.visible != 1 {
				t.Errorf("%q: %s with %d visible messages, want failed with its apology", s.Text, f.state, f.visible)
			}
		case s.At == "parked":
			if f.state != earshot.TurnParked {
				t.Errorf("%q: %s, want parked", s.Text, f.state)
			}
		case f.state == earshot.TurnDropped:
			if f.turn.Why == "" {
				t.Errorf("%q, left at %s: dropped without a reason", s.Text, s.At)
			}
		case f.visible != 1:
			t.Errorf("%q, left at %s: %s (%s) with %d visible messages, want one", s.Text, s.At, f.state, f.turn.Why, f.visible)
		}
	}
	if states[earshot.TurnDropped] == 0 {
		t.Errorf("nothing was dropped as too old: %v", states)
	}
}

// TestUpgrade opens databases of earlier versions, with turns that were killed at
// each point, by the program of today: soon after, when people still wait, and three
// days later. The turns end as they should, nothing is lost and nothing is doubled,
// and each old prompt is made again to the byte, or it is said why not.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	t.Run("soon after", func(t *testing.T) {
		t.Parallel()
		oldStores(t, "*", func(t *testing.T, old oldStore) {
			old.checked(t)
			now := old.Made.Add(6 * time.Minute) // leases have run out
			st := old.goOn(t, now, patient...)
			fates := old.fates(t, st)
			old.checkSoon(t, fates)
			old.replayed(t, st, fates)
			old.outside(t, st, now)
			old.read(t, st, fates, now)
			for _, s := range old.Said {
				if s.At == "parked" || s.At == "failed" {
					if err := st.Reopen(t.Context(), fates[s.Text].turn.ID); err != nil {
						t.Errorf("%q, which was %s, cannot be opened again: %v", s.Text, s.At, err)
					}
				}
			}
			again := old.fates(t, old.goOn(t, now.Add(time.Minute), patient...))
			for _, s := range old.Said {
				if f := again[s.Text]; (s.At == "parked" || s.At == "failed") && f.state != earshot.TurnDone {
					t.Errorf("%q, which was %s and opened again, is %s (%s)", s.Text, s.At, f.state, f.turn.Why)
				}
			}
		})
	})
	t.Run("three days later", func(t *testing.T) {
		t.Parallel()
		oldStores(t, "*", func(t *testing.T, old oldStore) {
			old.checkLate(t, old.fates(t, old.goOn(t, old.Made.Add(72*time.Hour))))
		})
	})
}

// checked looks at what a migration would do, which changes nothing.
func (old oldStore) checked(t *testing.T) {
	t.Helper()
	plan := asked[migrateJSON](t, old.spec, "migrate", "--check")
	if again := asked[migrateJSON](t, old.spec, "migrate", "--check"); !cmp.Equal(plan, again) {
		t.Errorf("a check has changed something:\n%s", cmp.Diff(plan, again))
	}
	if plan.From != int64(old.version) {
		t.Errorf("it has version %d", plan.From)
	}
	if upToDate := len(plan.Migrations) == 0; plan.Older || plan.OK != upToDate || plan.From < plan.To && upToDate {
		t.Errorf("got %+v, want the migrations from %d to %d", plan, plan.From, plan.To)
	}
}

// replayed makes every prompt again that was recorded: to the byte, unless a message
// that it shows was deleted since, which was in the channel ops, or it was made before
// there was the log form, in version 7.
func (old oldStore) replayed(t *testing.T, st earshot.Store, fates map[string]fate) {
	t.Helper()
	same, deleted, older := 0, 0, 0
	for _, s := range old.Said {
		id := fates[s.Text].turn.ID
		if id == 0 {
			continue
		}
		w, err := turnsOf(st).turns.Record(t.Context(), operator, id, true)
		switch {
		case err != nil:
			t.Errorf("replay of %q: %v", s.Text, err)
		case w.Queued.Hash == "":
		case w.Prompt != nil:
			same++
		case s.Channel == "ops" && strings.Contains(w.Changed, "erased or replaced since"):
			deleted++
		case old.version < 7 && strings.Contains(w.Changed, "older than the log form"):
			older++
		default:
			t.Errorf("replay of %q: %s, want the same prompt", s.Text, w.Changed)
		}
	}
	t.Logf("replays: %d to the byte, %d read what was deleted since, %d are older than the log form", same, deleted, older)
	if same == 0 {
		t.Error("no turn is replayed, not even those that were answered just now")
	}
}

// outside commits the open draft, and makes the summary that a dead process had
// begun, where the version had drafts and summaries.
func (old oldStore) outside(t *testing.T, st earshot.Store, now time.Time) {
	t.Helper()
	ctx := t.Context()
	if old.version >= 18 {
		d, err := st.Draft(ctx, 1)
		for id := earshot.TurnID(2); errors.Is(err, earshot.ErrNotFound) && id < 100; id++ {
			d, err = st.Draft(ctx, id)
		}
		if err != nil {
			t.Fatalf("the draft: %v", err)
		}
		turn := d.Turn
		turn.Session = append(turn.Session, earshot.SessionEntry{Role: earshot.Assistant, Text: "an answer from outside"})
		if got, err := st.CommitDraft(ctx, d.ID, turn, earshot.TimeOf(now)); err != nil || got.Repeated || got.State != earshot.DraftCommitted {
			t.Errorf("commit the draft: got %+v, %v", got, err)
		}
		if q, err := st.QueuedTurn(ctx, d.ID); err != nil || q.State != earshot.TurnDone {
			t.Errorf("the draft's turn: got %+v, %v, want it done", q, err)
		}
	}
	if old.version >= 16 { // versions 13 to 17 came at once; SQLite has no 17
		if found := asked[whereJSON](t, old.spec, "where", "Alice asked about the release."); found.Found == 0 {
			t.Error("the summary is lost")
		}
		if _, err := st.ClaimSummary(ctx, "earshot", "today", 1, earshot.TimeOf(now), time.Minute); err != nil {
			t.Errorf("the summary that a dead process had claimed cannot be claimed: %v", err)
		}
	}
}

// TestAnUpgradedDatabaseHasTheSchemaOfANewOne finds migrations that were changed after
// a program had applied them, and those that a database lacks between others.
func TestAnUpgradedDatabaseHasTheSchemaOfANewOne(t *testing.T) {
	t.Parallel()
	of := func(t *testing.T, spec string) []string {
		if _, _, err := store.Migrate(t.Context(), spec); err != nil {
			t.Fatal(err)
		}
		plan, err := store.Plan(t.Context(), spec)
		if err != nil || len(plan.Migrations) > 0 {
			t.Errorf("there is still something to do: %+v, %v", plan, err)
		}
		return columns(t, spec)
	}
	for engine, spec := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "new.db") },
		"postgres": func(t *testing.T) string { return pgtest.Spec(t) },
	} {
		t.Run(engine, func(t *testing.T) {
			want := of(t, spec(t))
			oldStores(t, "*."+engine+"*", func(t *testing.T, old oldStore) {
				if d := cmp.Diff(want, of(t, old.spec)); d != "" {
					t.Errorf("(-new +upgraded):\n%s", d)
				}
			})
		})
	}
}

// TestMigrateBackupKeepsTheDatabaseOfBefore goes back to the copy.
func TestMigrateBackupKeepsTheDatabaseOfBefore(t *testing.T) {
	t.Parallel()
	oldStores(t, "1[18].*", func(t *testing.T, old oldStore) {
		before := asked[migrateJSON](t, old.spec, "migrate", "--check")
		code, out, errs := ran(t, nil, "--db", old.spec, "--json", "migrate", "--backup")
		if strings.HasSuffix(old.name, ".postgres") {
			if after := asked[migrateJSON](t, old.spec, "migrate", "--check"); code != exitUsage || !strings.Contains(errs, "pg_dump --format=custom") || !cmp.Equal(before, after) {
				t.Errorf("got status %d, %q, %+v, want the command for a copy and no change", code, errs, after)
			}
			return
		}
		var done migrateJSON
		if err := json.Unmarshal([]byte(out), &done); err != nil || code != exitOK {
			t.Fatalf("status %d: %v: %s", code, err, errs)
		}
		if !done.OK || done.Backup == "" || !slices.Equal(done.Migrations, before.Migrations) {
			t.Errorf("got %+v, want what the check has said: %+v", done, before)
		}
		copied := asked[migrateJSON](t, done.Backup, "migrate", "--check")
		if copied.DB = before.DB; !cmp.Equal(copied, before) {
			t.Errorf("the copy is not the database of before: %+v, want %+v", copied, before)
		}
	})
}
