package sqlite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// pragma sets one on the writer's connection, between its transactions.
func pragma(t *testing.T, s *Store, text string) {
	t.Helper()
	check(t, s.inTx(t.Context(), "pragma", func(t *tx) error {
		_, err := t.conn.ExecContext(background, "PRAGMA "+text)
		return err
	}))
}

func stored(t *testing.T, s *Store) int {
	t.Helper()
	n := 0
	for m, err := range s.Range(t.Context(), scope, earshot.Whole(), earshot.Position{}, earshot.Position{}) {
		check(t, err)
		if len(m.Text) != 1000 {
			t.Fatalf("%s has %d bytes of text", m.ID, len(m.Text))
		}
		n++
	}
	c, err := s.Count(t.Context(), scope, earshot.Whole(), earshot.Position{})
	check(t, err)
	if c.Count != n {
		t.Fatalf("counted %d, stored %d", c.Count, n)
	}
	return n
}

func large(i int) earshot.Message {
	return said(earshot.MessageID(fmt.Sprint("m", i)), earshot.Time(i+1), strings.Repeat("x", 1000))
}

func TestAFullDatabaseRefusesAndLosesNothingAndGoesOnWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	pragma(t, s, "max_page_count = 120")
	acknowledged := 0
	var err error
	for i := 0; err == nil && i < 10_000; i++ {
		if _, err = s.Record(t.Context(), scope, large(i)); err == nil {
			acknowledged++
		}
	}
	if err == nil {
		t.Fatal("a full database took 10,000 messages")
	}
	if got := stored(t, s); got != acknowledged || got == 0 {
		t.Errorf("stored %d, acknowledged %d", got, acknowledged)
	}
	if _, err := s.Record(t.Context(), scope, large(20_000)); err == nil {
		t.Error("a full database took another message")
	}
	pragma(t, s, "max_page_count = 100000")
	out, err := s.Record(t.Context(), scope, large(20_000))
	check(t, err)
	if out[0].Seq != int64(acknowledged+1) {
		t.Errorf("got sequence %d, want %d: a refused message left a trace", out[0].Seq, acknowledged+1)
	}
}

func TestInAFullDatabaseEachOfAGroupGetsItsOwnAnswer(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	check(t, s.PutChannel(t.Context(), earshot.Channel{Platform: scope.Platform, Workspace: scope.Workspace, ID: scope.Channel}))
	pragma(t, s, "max_page_count = 120")
	// One group, made by hand: a small message, one that cannot fit, another
	// small one.
	huge := large(2)
	huge.Text = strings.Repeat("words ", 150_000)
	var group []*job
	for _, m := range []earshot.Message{large(1), huge, large(3)} {
		r := recordingOf(t, m)
		group = append(group, &job{record: r, done: make(chan struct{})})
	}
	s.alone(t, func() { s.writer.commit(group) })
	for i, wantError := range []bool{false, true, false} {
		if got := group[i].err != nil; got != wantError {
			t.Errorf("job %d: got error %v, want one: %v", i, group[i].err, wantError)
		}
	}
	if got := stored(t, s); got != 2 {
		t.Errorf("stored %d, want 2", got)
	}
}

func TestAJobThatIsRefusedAfterItWroteLeavesNoTrace(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	var group []*job
	for _, refuse := range []error{nil, earshot.ErrConflict, nil} {
		name := fmt.Sprint("refused: ", refuse, len(group))
		group = append(group, &job{done: make(chan struct{}), apply: func(tx *tx) error {
			if err := tx.exec(`INSERT INTO author (platform, workspace, id, name, kind) VALUES ('slack', 'T1', ?, '', '')`, name); err != nil {
				return err
			}
			return refuse
		}})
	}
	s.alone(t, func() { s.writer.commit(group) })
	if group[0].err != nil || !errors.Is(group[1].err, earshot.ErrConflict) || group[2].err != nil {
		t.Errorf("got %v, %v, %v, want a conflict of the second", group[0].err, group[1].err, group[2].err)
	}
	authors, err := s.Authors(t.Context(), "slack", "T1")
	check(t, err)
	if len(authors) != 2 {
		t.Errorf("got %v, want what the first and the third wrote", authors)
	}
}

func TestAReadOnlyDatabaseRefusesAndLosesNothing(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	_, err := s.Record(t.Context(), scope, large(1))
	check(t, err)
	pragma(t, s, "query_only = 1")
	if _, err := s.Record(t.Context(), scope, large(2)); err == nil {
		t.Error("a read-only database took a message")
	}
	if got := stored(t, s); got != 1 {
		t.Errorf("stored %d, want 1", got)
	}
}

func TestAFileWithoutRightsIsAnErrorThatNamesIt(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root may write to every file")
	}
	path := filepath.Join(t.TempDir(), "x.db")
	check(t, os.WriteFile(path, nil, 0o400))
	_, err := Open(t.Context(), path, nil, nil)
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names %s", err, path)
	}
}

func TestOnlyTheOwnerMayReadTheFiles(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	_, err := s.Record(t.Context(), scope, large(1))
	check(t, err)
	for _, path := range files(t, s) {
		info, err := os.Stat(path)
		check(t, err)
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", filepath.Base(path), info.Mode())
		}
	}
}

// files lists the database's files.
func files(t *testing.T, s *Store) []string {
	t.Helper()
	var seq int
	var name, path string
	check(t, s.reader.QueryRowContext(t.Context(), "PRAGMA database_list").Scan(&seq, &name, &path))
	var out []string
	check(t, filepath.WalkDir(filepath.Dir(path), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, path)
		}
		return err
	}))
	return out
}

// What is deleted stands in no file any more, whether or not it was edited,
// moved to another page, or has written its neighbours over.
func TestADeletedTextStandsInNoFile(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	const canaries, batch = 1000, 20
	message := func(i int, text string) earshot.Message {
		m := said(earshot.MessageID(fmt.Sprint("m", i)), earshot.Time(i+1), text)
		m.Reactions = []earshot.Reaction{{Name: "canary-reaction", Count: i}}
		m.Files = []earshot.File{{ID: "F", Name: "canary-file"}}
		m.Author.Name = "canary-name"
		return m
	}
	for _, make := range []func(i int) earshot.Message{
		func(i int) earshot.Message {
			return message(i, fmt.Sprintf("canary-%d %s", i, strings.Repeat("zebra ", i%90)))
		},
		func(i int) earshot.Message { // edits of another length move rows between pages
			m := message(i, fmt.Sprintf("canary-edit-%d %s", i, strings.Repeat("zebra ", (i*7)%200)))
			m.Edited = earshot.Time(5000 + i)
			return m
		},
		func(i int) earshot.Message {
			return earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", i)), Time: earshot.Time(i + 1), Deleted: true}
		},
	} {
		if make(0).Deleted && (!occurs(t, s, "canary") || !occurs(t, s, "zebra")) {
			t.Fatal("the canaries were never in the files")
		}
		for i := 0; i < canaries; i += batch {
			var list []earshot.Message
			for n := range batch {
				list = append(list, make((i+n)*337%canaries))
			}
			_, err := s.Record(t.Context(), scope, list...)
			check(t, err)
		}
	}
	s.alone(t, func() {
		s.writer.startScrub()
		for s.writer.scrub.page != 0 {
			s.writer.scrubStep()
		}
		if s.writer.scrub.armed {
			t.Error("the scrub did not come to its end")
		}
	})
	for _, canary := range []string{"canary", "zebra"} {
		if occurs(t, s, canary) {
			t.Errorf("%q still stands in a file", canary)
		}
	}
	var result string
	check(t, s.reader.QueryRowContext(t.Context(), "PRAGMA integrity_check").Scan(&result))
	if result != "ok" {
		t.Errorf("after the scrub the database is not sound: %s", result)
	}
}

// alone runs f while the writer waits, on its goroutine.
func (s *Store) alone(t *testing.T, f func()) {
	t.Helper()
	in, out := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	go func() {
		done <- s.writer.do(t.Context(), &job{apply: func(tx *tx) error {
			if err := tx.exec("COMMIT"); err != nil { // the group's own transaction, still empty
				return err
			}
			close(in)
			<-out
			for _, query := range []string{"BEGIN IMMEDIATE", "SAVEPOINT job"} {
				if err := tx.exec(query); err != nil {
					return err
				}
			}
			return nil
		}})
	}()
	<-in
	f()
	close(out)
	check(t, <-done)
}

func occurs(t *testing.T, s *Store, text string) bool {
	t.Helper()
	for _, path := range files(t, s) {
		b, err := os.ReadFile(path)
		check(t, err)
		if bytes.Contains(b, []byte(text)) {
			return true
		}
	}
	return false
}

func TestADeletionIsScrubbedAtCloseOrAfterACrash(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path, copied := filepath.Join(folder, "x.db"), filepath.Join(t.TempDir(), "x.db")
	s := opened(t, path)
	_, err := s.Record(t.Context(), scope, said("m1", 1, "canary"), said("m2", 2, "kept"))
	check(t, err)
	_, err = s.Record(t.Context(), scope, earshot.Message{ID: "m1", Time: 1, Deleted: true})
	check(t, err)
	for _, suffix := range []string{"", "-wal"} { // what a crash would leave
		b, err := os.ReadFile(path + suffix)
		check(t, err)
		check(t, os.WriteFile(copied+suffix, b, 0o600))
	}
	check(t, s.Close())
	crashed := opened(t, copied)
	if !crashed.writer.tx.erased {
		t.Error("after a crash nobody knows that a scrub is due")
	}
	check(t, crashed.Close())
	for _, path := range []string{path, copied} {
		b, err := os.ReadFile(path)
		check(t, err)
		if bytes.Contains(b, []byte("canary")) || !bytes.Contains(b, []byte("kept")) {
			t.Errorf("%s: the deleted text stands in the file, or the other does not", filepath.Base(filepath.Dir(path)))
		}
		again := opened(t, path)
		if again.writer.tx.erased {
			t.Error("a scrub that is done is still due")
		}
		check(t, again.Close())
	}
}

func recordingOf(t *testing.T, m earshot.Message) *recording {
	t.Helper()
	prepared, err := rule.Prepare(t.Context(), []earshot.Message{m})
	check(t, err)
	return &recording{scope: scope, messages: prepared, outcomes: make([]earshot.RecordResult, 1)}
}

var background = context.Background()

// What a commit waits for is seen from within its transaction.
func TestOnlyWhatChangesLeasesAloneDoesNotWaitForTheDisk(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	const normal, full = 1, 2
	reads := func(volatile bool, level *int) *job {
		return &job{volatile: volatile, apply: func(t *tx) error {
			return t.conn.QueryRowContext(context.Background(), "PRAGMA synchronous").Scan(level)
		}}
	}
	for _, c := range []struct {
		name     string
		volatile []bool
		want     int
	}{
		{"at the beginning", []bool{false}, full},
		{"a lease", []bool{true}, normal},
		{"several leases", []bool{true, true}, normal},
		{"a lease with something else", []bool{true, false}, full},
		{"something else with a lease", []bool{false, true}, full},
		{"a lease again", []bool{true}, normal},
		{"something else", []bool{false}, full},
	} {
		levels := make([]int, len(c.volatile))
		s.alone(t, func() {
			for i := range levels {
				levels[i] = -1
			}
			var group []*job
			for i, volatile := range c.volatile {
				group = append(group, reads(volatile, &levels[i]))
			}
			s.writer.commit(group)
			for _, j := range group {
				check(t, j.err)
			}
		})
		for _, got := range levels {
			if got != c.want {
				t.Errorf("%s: got synchronous %d, want %d", c.name, got, c.want)
			}
		}
	}
}

// The prompt of a turn becomes durable with what is shown because of it.
func TestAPromptDoesNotWaitForTheDiskButAPostDoes(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	ctx := t.Context()
	out, err := s.Accept(ctx, dm.Scope, earshot.Event{Delivery: "Ev1", Received: 1, Message: said("m1", 1, "hello")}, &dm)
	check(t, err)
	l, _, err := s.Claim(ctx, dm.Agent, "owner", 1, time.Hour)
	check(t, err)
	for _, c := range []struct {
		name     string
		write    func() error
		unsynced bool
	}{
		{"the prompt", func() error { return s.Begin(ctx, l, out.Turn, earshot.Prompt{Input: []byte("input"), Hash: "h"}) }, true},
		{"a post", func() error {
			return s.PutPost(ctx, l, earshot.Post{Turn: out.Turn, Key: "k", Text: "hello", State: earshot.PostSending})
		}, false},
		{"the prompt again", func() error { return s.Begin(ctx, l, out.Turn, earshot.Prompt{Input: []byte("input"), Hash: "h"}) }, true},
		{"the journal", func() error { return s.AddStep(ctx, l, out.Turn, earshot.Step{Kind: "answer", Data: []byte("{}")}) }, false},
		{"the end", func() error { return s.Finish(ctx, l, out.Turn, earshot.TurnFailed, "why", nil) }, false},
	} {
		check(t, c.write())
		if got := s.writer.tx.unsynced; got != c.unsynced { // the writer sets it before it commits, and is idle now
			t.Errorf("%s: got a commit that does not wait for the disk: %v, want %v", c.name, got, c.unsynced)
		}
	}
}
