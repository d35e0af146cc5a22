package archive

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// BenchmarkAcceptBeside measures how long an event waits for its
// acknowledgement, the fsync included, when events arrive at a steady rate: with
// the SQLite store to themselves, beside an import in the same process, and
// beside one in another process on the same file. The aims are in .ci/aims. Its
// iterations are events, so -benchtime=5000x is ten seconds at 500 a second.
func BenchmarkAcceptBeside(b *testing.B) {
	path := writeBusyLines(b)
	for _, c := range []struct {
		name   string
		rate   int
		beside func(b *testing.B, s earshot.Store, db, path string) (stop func())
	}{
		{"nothing/500", 500, alone},
		{"nothing/2000", 2000, alone},
		{"import/500", 500, importHere},
		{"import of another process/500", 500, importElsewhere},
	} {
		b.Run(c.name, func(b *testing.B) {
			db := filepath.Join(b.TempDir(), "x.db")
			s, err := store.Open(b.Context(), "sqlite:"+db, nil)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			stop := c.beside(b, s, db, path)
			took := acceptAt(b, s, c.rate)
			stop()
			slices.Sort(took)
			for _, q := range []struct {
				unit string
				of   float64
			}{{"ms/p50", 0.5}, {"ms/p99", 0.99}, {"ms/p99.9", 0.999}, {"ms/max", 1}} {
				b.ReportMetric(took[int(q.of*float64(len(took)-1))].Seconds()*1000, q.unit)
			}
		})
	}
}

// acceptAt has events accepted at so many a second and returns how long each
// took. An event that starts late has waited since it was due.
func acceptAt(b *testing.B, s earshot.Store, rate int) []time.Duration {
	scope := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	every := time.Second / time.Duration(rate)
	var mu sync.Mutex // guards took
	var took []time.Duration
	var wg sync.WaitGroup
	n, due := 0, time.Now()
	for b.Loop() {
		time.Sleep(time.Until(due))
		arrived, nth := due, n
		wg.Go(func() {
			m := earshot.Message{
				ID: earshot.MessageID(fmt.Sprintf("%d.000000", 1_700_000_000+nth)), Time: earshot.Time(1_700_000_000_000_000 + nth*1_000_000),
				Author: earshot.Author{ID: "U1", Name: "Ann", Kind: earshot.Human}, Text: fmt.Sprintf(oneMessage, nth),
			}
			e := earshot.Event{Delivery: fmt.Sprintf("Ev%d", nth), Received: m.Time, Message: m, Raw: []byte(`{"type":"message","text":"` + m.Text + `"}`)}
			var ask *earshot.ConversationID
			if nth%10 == 0 {
				ask = &earshot.ConversationID{Agent: "agent", Scope: scope, Name: string(m.ID)}
			}
			if _, err := s.Accept(context.Background(), scope, e, ask); err != nil {
				b.Error(err)
			}
			d := time.Since(arrived)
			mu.Lock()
			took = append(took, d)
			mu.Unlock()
		})
		n++
		due = due.Add(every)
	}
	wg.Wait()
	return took
}

func alone(*testing.B, earshot.Store, string, string) func() { return func() {} }

// importHere imports again and again, each time into another workspace.
func importHere(b *testing.B, s earshot.Store, _, path string) func() {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- importAgain(ctx, s, path) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	}
}

func importAgain(ctx context.Context, s earshot.Store, path string) error {
	for n := 0; ctx.Err() == nil; n++ {
		_, err := ImportJSONL(ctx, s, path, &Options{Workspace: earshot.WorkspaceID(fmt.Sprintf("W%d-%d", os.Getpid(), n))})
		if err != nil && ctx.Err() == nil {
			return err
		}
	}
	return nil
}

// importElsewhere is importHere in another process, which is TestImportAgain of
// this package. It returns when that has recorded something.
func importElsewhere(b *testing.B, s earshot.Store, db, path string) func() {
	cmd := exec.Command(os.Args[0], "-test.run=^TestImportAgain$")
	cmd.Env = append(os.Environ(), "EARSHOT_IMPORT_INTO="+db, "EARSHOT_IMPORT_OF="+path)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	for {
		list, err := s.Channels(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if len(list) > 0 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	return func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}
}

// TestImportAgain is the other process of importElsewhere.
func TestImportAgain(t *testing.T) {
	db, path := os.Getenv("EARSHOT_IMPORT_INTO"), os.Getenv("EARSHOT_IMPORT_OF")
	if db == "" {
		t.Skip("it runs as a part of BenchmarkAcceptBeside")
	}
	s, err := store.Open(t.Context(), "sqlite:"+db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := importAgain(t.Context(), s, path); err != nil {
		t.Fatal(err)
	}
}

// writeBusyLines writes 100,000 messages of 50 conversations as JSON lines.
func writeBusyLines(b *testing.B) string {
	return writeLines(b, "busy.jsonl", 100_000, func(i int) string {
		return fmt.Sprintf(`{"conversation":"ch-%02d","id":"%d","ts":%d,"author":"user%d","text":%q}`,
			i/2000, i, 1_709_290_000+i, i%500, fmt.Sprintf(oneMessage, i))
	})
}
