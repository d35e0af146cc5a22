package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
)

func openAt(t *testing.T, path string) *Store {
	t.Helper()
	s, err := Open(context.Background(), path, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// What somebody waits for is written between two pieces of bulk work, however
// much of that is left.
func TestAJobIsWrittenBetweenTwoPiecesOfBulkWork(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	synctest.Test(t, func(t *testing.T) {
		s := openAt(t, path)
		var order []string // the writer's goroutine appends, and is done before it is read
		note := func(what string) func(*tx) error {
			return func(*tx) error {
				order = append(order, what)
				return nil
			}
		}
		err := s.writer.runLoad(t.Context(), []func(*tx) error{
			note("piece 1"),
			func(*tx) error {
				go func() { _ = s.writer.do(context.Background(), &job{apply: note("job")}) }()
				synctest.Wait() // the job waits for the writer
				return note("piece 2")(nil)
			},
			note("piece 3"),
		})
		if err != nil {
			t.Fatal(err)
		}
		if want := []string{"piece 1", "piece 2", "job", "piece 3"}; !slices.Equal(order, want) {
			t.Errorf("got %v, want %v", order, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Of two loads in one transaction the failure of one leaves the other whole.
func TestAPieceThatFailsIsNotAnothers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	synctest.Test(t, func(t *testing.T) {
		s := openAt(t, path)
		broken := errors.New("broken")
		put := func(id string) func(*tx) error {
			return func(t *tx) error {
				t.PutChannel(earshot.Channel{Platform: "slack", Workspace: "T1", ID: earshot.ChannelID(id)})
				return t.did(nil)
			}
		}
		other := make(chan error, 1)
		err := s.writer.runLoad(t.Context(), []func(*tx) error{
			func(x *tx) error {
				if err := put("first")(x); err != nil {
					return err
				}
				if len(other) == 0 && s.writer.bulk.load != nil { // not when it is run again
					go func() { other <- s.writer.runLoad(context.Background(), []func(*tx) error{put("other")}) }()
					synctest.Wait()
				}
				return nil
			},
			func(x *tx) error {
				if err := put("second")(x); err != nil {
					return err
				}
				return broken
			},
			put("third"),
		})
		if !errors.Is(err, broken) {
			t.Errorf("got %v, want %v", err, broken)
		}
		if err := <-other; err != nil {
			t.Errorf("the other load: %v", err)
		}
		list, err := s.Channels(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range list {
			got = append(got, string(c.ID))
		}
		if want := []string{"first", "other"}; !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	})
}

// Another process, here another store on the same file, writes while an import
// is under way, not after it.
func TestAnotherProcessWritesWhileAnImportIsUnderWay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	importing, other := openAt(t, path), openAt(t, path)
	scope := earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}
	started, stop := make(chan struct{}), make(chan struct{})
	run := 0
	done := make(chan error, 1)
	pieces := make([]func(*tx) error, 1_000_000)
	for i := range pieces {
		pieces[i] = func(t *tx) error {
			select {
			case <-stop: // nothing is left to be shown
				return nil
			default:
			}
			if run++; run == 1000 {
				close(started)
			}
			t.PutChannel(earshot.Channel{Platform: "slack", Workspace: "T1", ID: earshot.ChannelID(fmt.Sprint("D", i%100))})
			return t.did(nil)
		}
	}
	go func() { done <- importing.writer.runLoad(context.Background(), pieces) }()
	<-started
	for i := range 5 {
		m := earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", i)), Time: 1, Text: "x"}
		if _, err := other.Record(t.Context(), scope, m); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if run == len(pieces) {
		t.Error("the other store had to wait until the import was over")
	}
}

// A full disk was reported in SQLite's words alone. What was refused is not stored,
// and is when there is room again.
func TestAFullDiskIsToldWithItsRemedy(t *testing.T) {
	t.Parallel()
	s := openAt(t, filepath.Join(t.TempDir(), "x.db"))
	scope := earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}
	const message = `the disk is full, and this is not stored; make room and do it again`
	list := make([]earshot.Message, 100)
	for i := range list {
		list[i] = earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", i)), Time: 1, Text: strings.Repeat("long ", 1000)}
	}
	pages := func(most string) {
		t.Helper()
		check(t, s.writer.do(t.Context(), &job{volatile: true, apply: func(x *tx) error { return x.pragma("max_page_count = " + most) }}))
	}
	pages("1") // SQLite takes the present size for it
	_, err := s.Record(t.Context(), scope, list...)
	if err == nil || !strings.Contains(err.Error(), message) {
		t.Errorf("Record: got %v, want %q", err, message)
	}
	_, err = s.RecordBatches(t.Context(), earshot.Batch{Scope: scope, Messages: list})
	if err == nil || !strings.Contains(err.Error(), message) {
		t.Errorf("RecordBatches: got %v, want %q", err, message)
	}
	pages("1000000")
	out, err := s.RecordBatches(t.Context(), earshot.Batch{Scope: scope, Messages: list})
	check(t, err)
	if last := out[0][len(list)-1]; last.Seq != int64(len(list)) {
		t.Errorf("got %+v as the last, want its sequence to be %d", last, len(list))
	}
}
