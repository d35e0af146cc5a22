package archive

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/store"
)

// manyConversations is how many conversations of one message the benchmarks
// import: a company's direct messages.
const manyConversations = 100_000

const oneMessage = "What about the index of table %d? It was rebuilt on Monday and nobody looked at it since."

// BenchmarkImportManyConversations imports 100,000 conversations of one message
// each into SQLite. The aim is 15 s. "peak-MB" is how much more memory the
// process had at its peak than at the start, SQLite's own memory included; it is
// reported on Linux only.
func BenchmarkImportManyConversations(b *testing.B) {
	for _, form := range []struct {
		name  string
		write func(b *testing.B, n int) string
		read  importer
	}{
		{"slack", writeSlackOfMany, ImportSlack},
		{"jsonl", writeLinesOfMany, ImportJSONL},
	} {
		b.Run(form.name, func(b *testing.B) {
			path := form.write(b, manyConversations)
			peak := 0
			for b.Loop() {
				s, err := store.Open(b.Context(), "sqlite:"+filepath.Join(b.TempDir(), "x.db"), nil)
				if err != nil {
					b.Fatal(err)
				}
				before := resident(b, "VmRSS")
				resetPeak()
				r, err := form.read(b.Context(), s, path, nil)
				if err != nil {
					b.Fatal(err)
				}
				peak = max(peak, resident(b, "VmHWM")-before)
				if r.Messages.New != manyConversations || r.Channels != manyConversations {
					b.Fatalf("got %d messages in %d channels", r.Messages.New, r.Channels)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			if peak > 0 {
				b.ReportMetric(float64(peak)/1024, "peak-MB")
			}
		})
	}
}

// writeLinesOfMany writes n conversations of one message as JSON lines.
func writeLinesOfMany(b *testing.B, n int) string {
	return writeLines(b, "many.jsonl", n, func(i int) string {
		return fmt.Sprintf(`{"conversation":"dm-%06d","id":"%d","ts":%d,"author":"user%d","text":%q}`,
			i, i, 1_709_290_000+i, i%500, fmt.Sprintf(oneMessage, i))
	})
}

// writeLines writes a file of n lines.
func writeLines(b *testing.B, name string, n int, line func(i int) string) string {
	path := filepath.Join(b.TempDir(), name)
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for i := range n {
		w.WriteString(line(i) + "\n")
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
	return path
}

// writeSlackOfMany writes n channels of one message as a Slack export.
func writeSlackOfMany(b *testing.B, n int) string {
	path := filepath.Join(b.TempDir(), "many.zip")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	z := zip.NewWriter(f)
	entry := func(name, text string) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	var channels strings.Builder
	for i := range n {
		fmt.Fprintf(&channels, `,{"id":"C%08d","name":"ch-%06d"}`, i, i)
	}
	entry("users.json", `[{"id":"U1","name":"ann"}]`)
	entry("channels.json", "["+channels.String()[1:]+"]")
	for i := range n {
		entry(fmt.Sprintf("ch-%06d/2024-03-01.json", i), fmt.Sprintf(`[{"type":"message","user":"U1","text":%q,"ts":"%d.%06d"}]`,
			fmt.Sprintf(oneMessage, i), 1_709_290_000+i, i))
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		b.Fatal(err)
	}
	return path
}

type importer = func(ctx context.Context, s Sink, path string, o *Options) (Report, error)

// resident returns a figure of /proc/self/status in KiB, 0 where there is none.
func resident(b *testing.B, field string) int {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, field+":"); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	return 0
}

// resetPeak makes VmHWM begin anew (proc(5), clear_refs).
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }
