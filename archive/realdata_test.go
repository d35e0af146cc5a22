package archive

import (
	"bufio"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// Every shared chat imports whole, and a second time changes nothing.
func TestRealChats(t *testing.T) {
	if raceEnabled {
		t.Skip("real chats run without -race")
	}
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(testData(t), "*.messages.jsonl.gz"))
	if err != nil || len(paths) < 6 {
		t.Fatalf("found %d chats, %v", len(paths), err)
	}
	for _, p := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".messages.jsonl.gz"), func(t *testing.T) {
			t.Parallel()
			lines, conversations := countLines(t, p)
			spec := "sqlite:" + filepath.Join(t.TempDir(), "x.db")
			if lines > 40_000 { // the smaller chats show that SQLite keeps what is imported
				spec = "memory:"
			}
			s := open(t, spec)
			got, err := ImportJSONL(t.Context(), s, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Messages != (Counts{New: lines}) || got.SkippedCount() != 0 || got.Channels != conversations {
				t.Errorf("got %+v, want %d new messages in %d channels and nothing skipped", got, lines, conversations)
			}
			t.Logf("%d messages, %.0f a second", lines, float64(lines)/got.Duration.Seconds())
			before := sequences(t, s)
			again, err := ImportJSONL(t.Context(), s, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			if again.Messages != (Counts{Unchanged: lines}) {
				t.Errorf("a second import: got %+v, want %d unchanged", again.Messages, lines)
			}
			if sequences(t, s) != before {
				t.Error("a second import moved a sequence")
			}
		})
	}
}

// countLines counts the lines and conversations of a file by itself.
func countLines(t *testing.T, p string) (lines, conversations int) {
	t.Helper()
	f, err := os.Open(p)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	in := bufio.NewScanner(z)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		_, rest, _ := strings.Cut(in.Text(), `"conversation": "`)
		name, _, _ := strings.Cut(rest, `"`)
		seen[name] = true
		lines++
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return lines, len(seen)
}

// sequences adds up the newest sequence of every channel.
func sequences(t *testing.T, s earshot.Store) int64 {
	t.Helper()
	channels, err := s.Channels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var sum int64
	for _, c := range channels {
		list, err := s.Newest(t.Context(), c.Scope(), earshot.Whole(), earshot.Position{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(list) == 0 {
			continue
		}
		after, err := s.Since(t.Context(), c.Scope(), list[0].Seq, 0)
		if err != nil {
			t.Fatal(err)
		}
		sum += list[0].Seq + int64(len(after))
	}
	return sum
}
