package archive

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/testdata"
)

func TestHostileNames(t *testing.T) {
	t.Parallel()
	const evil = `[{"type":"message","user":"U1","text":"evil","ts":"1704103200.000100"}]`
	files := map[string]string{
		"channels.json": team["channels.json"], "deploys/2024-01-01.json": `[{"type":"message","user":"U1","text":"fine","ts":"1704103201.000100"}]`,
	}
	for _, name := range []string{"../2024-01-01.json", "/deploys/2024-01-03.json", "deploys/../../x/2024-01-01.json", `deploys\2024-01-04.json`, "C:/2024-01-05.json", "a\x00b/2024-01-01.json", "deploys//2024-01-06.json", "./deploys/2024-01-07.json"} {
		files[name] = evil
	}
	got, err := ImportSlack(t.Context(), open(t, "memory:"), zipOf(t, files), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Messages.New != 1 || got.SkippedCount() != 8 || got.Skipped[0].Reason != unsafeName {
		t.Errorf("got %+v, want 1 message and 8 unsafe names", got)
	}
}

func TestLinksDoNotLeaveTheFolder(t *testing.T) {
	t.Parallel()
	outside := written(t, "2024-01-02.json", []byte(`[{"type":"message","user":"U1","text":"outside","ts":"1704103200.000100"}]`))
	dir := folderOf(t, map[string]string{"channels.json": team["channels.json"], "deploys/2024-01-01.json": `[{"type":"message","user":"U1","text":"fine","ts":"1704103201.000100"}]`})
	if err := os.Symlink(outside, filepath.Join(dir, "deploys", "2024-01-02.json")); err != nil {
		t.Skip("this system has no links:", err)
	}
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "linked")); err != nil {
		t.Fatal(err)
	}
	got, err := ImportSlack(t.Context(), open(t, "memory:"), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Messages.New != 1 || len(got.Skipped) != 1 || got.Skipped[0].Reason != leaves || got.Skipped[0].Count != 2 {
		t.Errorf("got %+v, want 1 message and 2 links skipped", got)
	}
}

func TestBombs(t *testing.T) {
	t.Parallel()
	bomb := "[" + strings.Repeat(" ", 24<<20) + "]"
	lines := neutral + strings.Repeat(" ", 24<<20)
	for name, tt := range map[string]struct {
		run  func(s earshot.Store) error
		says string
	}{
		"a file that unpacks to 1,000 times its size": {func(s earshot.Store) error {
			_, err := ImportSlack(t.Context(), s, zipOf(t, map[string]string{"channels.json": "[]", "deploys/2024-01-01.json": bomb}), nil)
			return err
		}, "--max-ratio"},
		"an archive that unpacks to too much": {func(s earshot.Store) error {
			_, err := ImportSlack(t.Context(), s, zipOf(t, map[string]string{"channels.json": "[]", "deploys/2024-01-01.json": bomb}), &Options{MaxBytes: 1 << 20, MaxRatio: 1e6})
			return err
		}, "--max-bytes"},
		"gzipped lines": {func(s earshot.Store) error {
			_, err := ImportJSONL(t.Context(), s, written(t, "x.jsonl.gz", []byte(gz(t, lines))), nil)
			return err
		}, "--max-ratio"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := tt.run(open(t, "memory:")); !errors.Is(err, ErrBomb) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want ErrBomb that names %s", err, tt.says)
			}
		})
	}
}

func TestOneDamagedFileCostsItself(t *testing.T) {
	t.Parallel()
	p := zipOf(t, team)
	raw, err := os.ReadFile(p)
	if err != nil {
		t.Fatal(err)
	}
	z, err := zip.OpenReader(p)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		if f.Name == "deploys/2024-01-02.json" {
			at, err := f.DataOffset()
			if err != nil {
				t.Fatal(err)
			}
			raw[at+20] ^= 0xff
		}
	}
	got, err := ImportSlack(t.Context(), open(t, "memory:"), written(t, "x.zip", raw), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Messages.New < 7 || got.SkippedCount() == 0 {
		t.Errorf("got %+v, want the other files' messages, and the file counted", got)
	}
}

// The JSON suite as days of an export and as lines: whatever is broken is
// counted, nothing crashes, and the message beside it is stored.
func TestJSONSuite(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(testData(t), "spec", "json-suite", "*.json"))
	if err != nil || len(paths) < 300 {
		t.Fatalf("found %d cases, %v", len(paths), err)
	}
	s := open(t, "memory:")
	files := map[string]string{"channels.json": team["channels.json"]}
	for i, p := range paths {
		raw, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files[fmt.Sprintf("suite/%04d-01-01.json", i)] = string(raw)
		files[fmt.Sprintf("suite/%04d-01-02.json", i)] = fmt.Sprintf(`[%s,{"ts":"17041%05d.000100","user":"U1","text":%s}]`, raw, i, raw)
		files[fmt.Sprintf("good/%04d-01-01.json", i)] = fmt.Sprintf(`[{"ts":"17041%05d.000100","user":"U1","text":"good"}]`, i)
		line := fmt.Sprintf(`{"conversation":"c","id":"a%d","ts":1,"author":"a","text":"x"}`+"\n%s\n"+`{"conversation":"c","id":"b%d","ts":1,"author":"a","text":%s}`+"\n", i, raw, i, raw)
		got, err := ImportJSONL(t.Context(), s, written(t, "x.jsonl", []byte(line)), nil)
		if err != nil || got.Messages.New < 1 {
			t.Errorf("%s as lines: %d messages, %v", filepath.Base(p), got.Messages.New, err)
		}
	}
	got, err := ImportSlack(t.Context(), s, zipOf(t, files), &Options{Workspace: "T1"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Messages.New < len(paths) || got.SkippedCount() < len(paths) {
		t.Errorf("got %+v", got)
	}
	good := whole(t, s, earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "good"})
	if len(good) != len(paths) {
		t.Errorf("%d of %d good files were stored", len(good), len(paths))
	}
}

// Memory does not grow with the archive.
func TestALargeExportNeedsLittleMemory(t *testing.T) {
	if testing.Short() || raceEnabled {
		t.Skip("64 MB are imported only without -short and -race")
	}
	const days, perDay, size = 32, 1000, 2000
	p := filepath.Join(t.TempDir(), "large.zip")
	f, err := os.Create(p)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestSpeed) })
	for d := range days {
		w, err := z.Create(fmt.Sprintf("deploys/%04d-01-01.json", 2000+d))
		if err != nil {
			t.Fatal(err)
		}
		writeDay(t, w, d, perDay, size)
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	var s discard
	runtime.GC()
	var before, m runtime.MemStats
	runtime.ReadMemStats(&before)
	highest := uint64(0)
	got, err := ImportSlack(t.Context(), &s, p, &Options{Workspace: "T1", Progress: func(Progress) {
		runtime.ReadMemStats(&m)
		highest = max(highest, m.HeapAlloc)
	}})
	if err != nil {
		t.Fatal(err)
	}
	if got.Bytes < 60<<20 || got.Messages.New != days*perDay {
		t.Errorf("read %d MB and %d messages", got.Bytes>>20, got.Messages.New)
	}
	if grown := int64(highest) - int64(before.HeapAlloc); grown > 20<<20 {
		t.Errorf("the heap grew by %d MB, want at most 20", grown>>20)
	} else {
		t.Logf("%d MB in %s: the heap grew by %d MB", got.Bytes>>20, got.Duration, grown>>20)
	}
}

func writeDay(t *testing.T, w io.Writer, day, count, size int) {
	t.Helper()
	var b bytes.Buffer
	for i := range count {
		fmt.Fprintf(&b, `,{"type":"message","user":"U%d","ts":"17%03d%05d.000100","text":"`, i%40, day, i)
		for b.Len() < (i+1)*size-4 {
			b.Write(append(strconv.AppendInt(b.AvailableBuffer(), int64(b.Len()*2654435761), 16), ' '))
		}
		b.WriteString(`"}`)
	}
	b.Bytes()[0] = '['
	b.WriteByte(']')
	if _, err := b.WriteTo(w); err != nil {
		t.Fatal(err)
	}
}

// discard is a store that keeps nothing: what remains is the import's own
// memory.
type discard struct{ earshot.Store }

func (discard) PutChannel(context.Context, earshot.Channel) error { return nil }
func (discard) PutAuthors(context.Context, earshot.Platform, earshot.WorkspaceID, ...earshot.Author) error {
	return nil
}
func (discard) Record(_ context.Context, _ earshot.Scope, list ...earshot.Message) ([]earshot.RecordResult, error) {
	out := make([]earshot.RecordResult, len(list))
	for i, m := range list {
		out[i] = earshot.RecordResult{ID: m.ID, Change: earshot.New}
	}
	return out, nil
}

// The bundled workspace imports whole.
func TestBundledWorkspace(t *testing.T) {
	t.Parallel()
	fsys, err := fs.Sub(testdata.Workspace, "workspace")
	if err != nil {
		t.Fatal(err)
	}
	a := open(t, "memory:")
	got, err := ImportSlackFS(t.Context(), a, fsys, "workspace", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", got)
	if got.Messages.New < 600 || got.Channels < 8 || got.Threads == 0 || got.Files == 0 || got.Messages.Deleted == 0 {
		t.Errorf("got %+v, want the whole workspace", got)
	}
	if len(got.Partly) != 0 || slices.ContainsFunc(got.Skipped, func(s Skip) bool { return s.Reason == broken || s.Reason == noMessage }) {
		t.Errorf("skipped %+v, partly %+v", got.Skipped, got.Partly)
	}
	b := open(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	if _, err := ImportSlack(t.Context(), b, filepath.Join("..", "testdata", "workspace"), &Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
	if exported(t, a) != exported(t, b) {
		t.Error("the two stores, and one worker or several, give different bytes")
	}
}
