package archive

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// What a probe refuses, the import refuses with the same words.
func TestAProbeTellsWhatAnImportWouldRefuse(t *testing.T) {
	t.Parallel()
	cut := func(name string, b []byte) string { return written(t, name, b[:len(b)-30]) }
	zipped, err := os.ReadFile(zipOf(t, team))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		slack bool
		path  string
		opts  Options
		is    error
		says  string
	}{
		"an export that is not there":      {true, filepath.Join(t.TempDir(), "no.zip"), Options{}, fs.ErrNotExist, "no such file"},
		"lines that are not there":         {false, filepath.Join(t.TempDir(), "no.jsonl"), Options{}, fs.ErrNotExist, "no such file"},
		"lines as an export":               {true, written(t, "x.jsonl", []byte(neutral)), Options{}, ErrFormat, "earshot import jsonl"},
		"gzipped lines as an export":       {true, written(t, "x.jsonl.gz", []byte(gz(t, neutral))), Options{}, ErrFormat, "earshot import jsonl"},
		"a zip as lines":                   {false, zipOf(t, team), Options{}, ErrFormat, "earshot import slack"},
		"a folder as lines":                {false, folderOf(t, team), Options{}, ErrFormat, "earshot import slack"},
		"a zip that is cut short":          {true, cut("x.zip", zipped), Options{}, ErrFormat, "cut short or damaged; fetch it again"},
		"a gzip file cut in its head":      {false, written(t, "x.jsonl.gz", []byte(gz(t, neutral))[:6]), Options{}, ErrFormat, "cut short; fetch it again"},
		"a workspace with a slash":         {true, folderOf(t, team), Options{Workspace: "a/b"}, ErrWorkspace, `"a/b"`},
		"a workspace with a control":       {false, written(t, "x.jsonl", []byte(neutral)), Options{Workspace: "a\x1b[2J"}, ErrWorkspace, `\x1b`},
		"a workspace that is far too long": {true, folderOf(t, team), Options{Workspace: earshot.WorkspaceID(strings.Repeat("w", 600))}, ErrWorkspace, "500 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "memory:")
			var probed, imported error
			if tt.slack {
				probed = ProbeSlack(tt.path, &tt.opts)
				_, imported = ImportSlack(t.Context(), s, tt.path, &tt.opts)
			} else {
				probed = ProbeJSONL(t.Context(), tt.path, &tt.opts)
				_, imported = ImportJSONL(t.Context(), s, tt.path, &tt.opts)
			}
			for what, err := range map[string]error{"the probe": probed, "the import": imported} {
				if !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("%s: got %v, want %v that says %q", what, err, tt.is, tt.says)
				}
			}
		})
	}
	if err := errors.Join(ProbeSlack(zipOf(t, team), nil), ProbeJSONL(t.Context(), written(t, "x.jsonl", []byte(neutral)), nil)); err != nil {
		t.Errorf("what can be imported: got %v", err)
	}
}

func TestAnExportThatMayNotBeReadIsCalledThat(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("the superuser may read every file")
	}
	p := zipOf(t, team)
	if err := os.Chmod(p, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := ImportSlack(t.Context(), open(t, "memory:"), p, nil); !errors.Is(err, fs.ErrPermission) || errors.Is(err, ErrFormat) {
		t.Errorf("got %v, want that permission is denied", err)
	}
}

func TestLinesOver1MiBAreCountedWhereverTheyStand(t *testing.T) {
	t.Parallel()
	const good = `{"conversation":"c","id":"1","ts":1,"author":"a","text":"good"}`
	long := `{"conversation":"c","id":"2","ts":2,"author":"a","text":"` + strings.Repeat("x", maxRecord) + `"}`
	for name, lines := range map[string][]string{"the first": {long, good}, "the second": {good, long}} {
		got, err := ImportJSONL(t.Context(), open(t, "memory:"), written(t, "x.jsonl", []byte(strings.Join(lines, "\n"))), nil)
		if err != nil || got.Messages.New != 1 || got.SkippedCount() != 1 || got.Skipped[0].Reason != tooLarge {
			t.Errorf("%s: got %+v, %v, want one message and one skip", name, got, err)
		}
	}
	if _, err := ImportJSONL(t.Context(), open(t, "memory:"), written(t, "x.jsonl", []byte(long)), nil); !errors.Is(err, ErrFormat) {
		t.Errorf("alone: got %v, want ErrFormat", err)
	}
	export := `{"earshot":"export","version":1}
{"type":"message","platform":"p","workspace":"w","channel":"c","id":"1","time":"2024-01-01T00:00:00Z","author":{"id":"a","name":"a","kind":"human"},"text":"` + strings.Repeat("x", maxRecord+1) + `"}
{"type":"message","platform":"p","workspace":"w","channel":"c","id":"2","time":"2024-01-01T00:00:00Z","author":{"id":"a","name":"a","kind":"human"},"text":"good"}
`
	got, err := ImportJSONL(t.Context(), open(t, "memory:"), written(t, "x.jsonl", []byte(export)), nil)
	if err != nil || got.Messages.New != 1 || got.SkippedCount() != 1 || got.Skipped[0].Reason != tooLarge {
		t.Errorf("an export: got %+v, %v, want one message and one skip", got, err)
	}
}

func TestLinesThatAreCutShortSayWhatToDo(t *testing.T) {
	t.Parallel()
	b := []byte(gz(t, strings.Repeat(neutral, 50)))
	_, err := ImportJSONL(t.Context(), open(t, "memory:"), written(t, "x.jsonl.gz", b[:len(b)-9]), nil)
	if err == nil || !strings.Contains(err.Error(), "cut short; fetch it again") {
		t.Errorf("got %v, want that the file is cut short", err)
	}
}

func TestADayThatIsNotInTheCalendarIsCounted(t *testing.T) {
	t.Parallel()
	const one = `[{"type":"message","user":"U1","text":"x","ts":"1704103200.000100"}]`
	got, err := ImportSlack(t.Context(), open(t, "memory:"), zipOf(t, map[string]string{
		"channels.json": team["channels.json"], "deploys/2026-01-01.json": one, "deploys/2026-13-45.json": one}), nil)
	want := Place{File: "deploys/2026-13-45.json"}
	i := slices.IndexFunc(got.Skipped, func(s Skip) bool { return s.Reason == noDay })
	if err != nil || got.Messages.New != 1 || i < 0 || got.Skipped[i].Places[0] != want {
		t.Errorf("got %+v, %v, want one message and %+v skipped", got, err, want)
	}
}
