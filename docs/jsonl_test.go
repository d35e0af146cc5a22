package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/archive"
	"github.com/earshot-ai/earshot/store"
)

var example = regexp.MustCompile("(?s)<!-- example: (\\w+) -->\n```json\n(.*?)```")

// The examples of jsonl.md are imported whole, as the page says that they are, and
// the example of an export is exported again to the same bytes.
func TestTheExamplesOfJSONLAreImported(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("jsonl.md")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]archive.Report{
		"neutral": {
			Format: "json lines", Workspace: "neutral", Channels: 1, Authors: 3, Threads: 1, Files: 1,
			Messages: archive.Counts{New: 3},
		},
		"export": {
			Format: "earshot export", Channels: 1, Authors: 3, Threads: 1, Files: 1,
			Messages: archive.Counts{New: 3, Edited: 1, Deleted: 1},
		},
	}
	for _, found := range example.FindAllSubmatch(page, -1) {
		name, lines := string(found[1]), string(found[2])
		s, err := store.Open(t.Context(), "memory:", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		file := filepath.Join(t.TempDir(), name+".jsonl")
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := archive.ImportJSONL(t.Context(), s, file, nil)
		if err != nil {
			t.Fatal(err)
		}
		got.Bytes, got.Duration = 0, 0
		if diff := cmp.Diff(want[name], got); diff != "" {
			t.Errorf("the example %s (-want +got):\n%s", name, diff)
		}
		delete(want, name)
		var out strings.Builder
		if err := archive.Export(t.Context(), s, &out, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lines, out.String()); name == "export" && diff != "" {
			t.Errorf("exported again (-want +got):\n%s", diff)
		}
	}
	if len(want) > 0 {
		t.Errorf("jsonl.md has no example %v", want)
	}
}
