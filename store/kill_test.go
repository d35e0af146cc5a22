package store_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// appendTo names the database that a subprocess of the tests appends to.
const appendTo = "EARSHOT_TEST_APPEND_TO"

// subprocess appends messages, if this process was started to be killed, and prints
// the id of each one that was acknowledged. Otherwise it returns false.
func subprocess() bool {
	path := os.Getenv(appendTo)
	if path == "" {
		return false
	}
	s, err := store.Open(context.Background(), path, nil)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := w; ; n += 4 {
				m := chatter(n)
				if _, err := s.Record(context.Background(), benchScope, m); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				mu.Lock()
				fmt.Println(m.ID)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return true
}

func TestWhatWasAcknowledgedOutlivesAKill(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.db")
	var acknowledged []earshot.MessageID
	kills := []int{1, 40, 150, 333}
	if raceEnabled {
		kills = kills[:2]
	}
	for _, after := range kills {
		acknowledged = append(acknowledged, appendUntilKilled(t, path, after)...)
		s, err := store.Open(t.Context(), path, nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := s.ByID(t.Context(), benchScope, acknowledged...)
		if err != nil {
			t.Fatal(err)
		}
		distinct := map[earshot.MessageID]bool{}
		for _, id := range acknowledged {
			distinct[id] = true
		}
		if len(found) != len(distinct) {
			t.Errorf("after a kill %d of %d acknowledged messages are there", len(found), len(distinct))
		}
		count, err := s.Count(t.Context(), benchScope, earshot.Whole(), earshot.Position{})
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Since(t.Context(), benchScope, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if count.Count != len(all) || len(all) < len(distinct) {
			t.Errorf("counted %d, stored %d, acknowledged %d", count.Count, len(all), len(distinct))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestManyProcessesMayOpenANewDatabaseAtOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "folder", "x.db")
	for range 6 {
		t.Run("one of them", func(t *testing.T) {
			t.Parallel()
			appendUntilKilled(t, path, 1)
		})
	}
}

// appendUntilKilled runs the subprocess, kills it after so many
// acknowledgements, and returns all that it still managed to print.
func appendUntilKilled(t *testing.T, path string, after int) []earshot.MessageID {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), appendTo+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ids []earshot.MessageID
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // the kill cut the last line
		}
		if ids = append(ids, earshot.MessageID(strings.TrimSpace(line))); len(ids) == after {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(ids) < after {
		t.Fatalf("the process ended by itself after %d messages: %v", len(ids), err)
	}
	return ids
}
