package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// A small export of a made-up team, in Slack's official layout.
var team = map[string]string{
	"users.json": `[{"id":"U1","team_id":"T1","name":"alice","profile":{"display_name":"Alice"}},
		{"id":"U2","team_id":"T1","name":"bob","real_name":"Bob B"},
		{"id":"U3","team_id":"T9","name":"guest"},
		{"id":"U4","team_id":"T1","name":"ci","is_bot":true,"profile":{"bot_id":"B4"}}]`,
	"channels.json":         `[{"id":"C1","name":"deploys","topic":{"value":"releases"},"purpose":{"value":"ship"}},{"id":"C2","name":"empty"}]`,
	"groups.json":           `[{"id":"G1","name":"secret"}]`,
	"mpims.json":            `[{"id":"G2","name":"mpdm-alice--bob--guest-1"}]`,
	"dms.json":              `[{"id":"D1","members":["U2","U1"]}]`,
	"integration_logs.json": `[{"user_id":"U1"}]`,
	"canvases.json":         `[]`,
	"deploys/2024-01-01.json": `[
    {"type":"message","user":"U1","text":"1.4 is out","ts":"1704103200.000100","thread_ts":"1704103200.000100","reply_count":2,"team":"T1"},
    {"type":"message","user":"U2","text":"<@U1> thanks","ts":"1704103260.000100","thread_ts":"1704103200.000100","edited":{"user":"U2","ts":"1704103300.000000"}},
    {"type":"message","subtype":"bot_message","bot_id":"B4","text":"","blocks":[{"type":"section","text":{"type":"mrkdwn","text":"build *green*"}}],"ts":"1704103270.000100"},
    {"type":"message","subtype":"tombstone","user":"USLACKBOT","text":"This message was deleted.","ts":"1704103280.000100"},
    {"type":"message","subtype":"channel_join","user":"U3","text":"<@U3> has joined the channel","ts":"1704103290.000100"}
]`,
	"deploys/2024-01-02.json": `[
    {"type":"message","user":"U1","text":"log","ts":"1704189600.000100","files":[{"id":"F1","name":"a.log","mimetype":"text/plain","size":9}],"reactions":[{"name":"eyes","count":1,"users":["U2"]}]},
    {"type":"message","subtype":"thread_broadcast","user":"U1","text":"done","ts":"1704189700.000100","thread_ts":"1704103200.000100"}
]`,
	"secret/2024-01-02.json":                   `[{"type":"message","user":"U2","text":"psst","ts":"1704189800.000100"}]`,
	"mpdm-alice--bob--guest-1/2024-01-02.json": `[{"type":"message","user":"U2","text":"lunch?","ts":"1704189801.000100"}]`,
	"D1/2024-01-02.json":                       `[{"type":"message","user":"U1","text":"hi bob","ts":"1704189802.000100"}]`,
	"deploys/attachments/F1-a.log":             `not a message`,
	"__uploads/F1/2024-01-01.json":             `[{"type":"message","user":"U1","text":"an uploaded file","ts":"1.000100"}]`,
}

// zipOf writes files as a zip archive and returns its path.
func zipOf(t testing.TB, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(files[name])); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return written(t, "export.zip", b.Bytes())
}

// folderOf writes files below a new folder and returns it.
func folderOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func written(t testing.TB, name string, b []byte) string {
	t.Helper()
	p := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(p, b, 0o644); err != nil {
		t.Fatal(err)
	}
	return p
}

func open(t testing.TB, spec string) earshot.Store {
	t.Helper()
	s, err := store.Open(context.Background(), spec, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// exported returns all of a store as the bytes of its export.
func exported(t testing.TB, s earshot.Store) string {
	t.Helper()
	var b bytes.Buffer
	if err := Export(t.Context(), s, &b, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func whole(t testing.TB, s earshot.Store, scope earshot.Scope) []earshot.Message {
	t.Helper()
	list, err := s.Since(t.Context(), scope, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestSlackExport(t *testing.T) {
	t.Parallel()
	packed := map[string]string{}
	for name, text := range team {
		packed["acme export/"+name] = text
	}
	for name, make := range map[string]func() string{
		"a zip file":                func() string { return zipOf(t, team) },
		"a folder":                  func() string { return folderOf(t, team) },
		"a zip file with a top one": func() string { return zipOf(t, packed) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "memory:")
			p := make()
			got, err := ImportSlack(t.Context(), s, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := Report{
				Format: "slack export", Workspace: "T1", Channels: 5, Authors: 5, Threads: 1, Files: 1,
				Messages: Counts{New: 9, Deleted: 1},
			}
			if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(Report{}, "Bytes", "Duration")); diff != "" {
				t.Errorf("report (-want +got):\n%s", diff)
			}
			channels, err := s.Channels(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, c := range channels {
				names = append(names, fmt.Sprintf("%s %s %s %d", c.ID, c.Kind, c.Name, c.Messages))
			}
			slices.Sort(names)
			wantNames := []string{"C1 channel deploys 6", "C2 channel empty 0", "D1 dm Alice, Bob B 1", "G1 group secret 1", "G2 group mpdm-alice--bob--guest-1 1"}
			if diff := cmp.Diff(wantNames, names); diff != "" {
				t.Errorf("channels (-want +got):\n%s", diff)
			}
			scope := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
			var texts []string
			for _, m := range whole(t, s, scope) {
				texts = append(texts, fmt.Sprintf("%s %s/%s %q >%s deleted=%v", m.ID, m.Author.Name, m.Author.Kind, m.Text, m.Root(), m.Deleted))
			}
			if diff := cmp.Diff([]string{
				`1704103200.000100 Alice/human "1.4 is out" > deleted=false`,
				`1704103260.000100 Bob B/human "<@U1|Alice> thanks" >1704103200.000100 deleted=false`,
				`1704103270.000100 ci/bot "build *green*" > deleted=false`,
				`1704103280.000100 / "" > deleted=true`,
				`1704103290.000100 guest/system "<@U3|guest> has joined the channel" > deleted=false`,
				`1704189600.000100 Alice/human "log" > deleted=false`,
				`1704189700.000100 Alice/human "done" >1704103200.000100 deleted=false`,
			}, texts); diff != "" {
				t.Errorf("messages (-want +got):\n%s", diff)
			}

			before := exported(t, s)
			again, err := ImportSlack(t.Context(), s, p, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want := (Counts{Unchanged: 10}); again.Messages != want {
				t.Errorf("a second import: got %+v, want %+v", again.Messages, want)
			}
			if after := exported(t, s); after != before {
				t.Errorf("a second import changed the store:\n%s", cmp.Diff(before, after))
			}
		})
	}
}

func TestOverlappingExports(t *testing.T) {
	t.Parallel()
	s := open(t, "memory:")
	if _, err := ImportSlack(t.Context(), s, zipOf(t, team), nil); err != nil {
		t.Fatal(err)
	}
	later := maps.Clone(team)
	later["deploys/2024-01-02.json"] = `[{"type":"message","user":"U1","text":"log (fixed)","ts":"1704189600.000100","edited":{"ts":"1704190000.000000"}},
		{"type":"message","user":"U1","text":"new","ts":"1704199600.000100"}]`
	got, err := ImportSlack(t.Context(), s, folderOf(t, later), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Counts{New: 1, Edited: 1, Unchanged: 8}); got.Messages != want {
		t.Errorf("got %+v, want %+v", got.Messages, want)
	}
	older, err := ImportSlack(t.Context(), s, zipOf(t, team), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := (Counts{Unchanged: 10}); older.Messages != want {
		t.Errorf("the older export again: got %+v, want %+v", older.Messages, want)
	}
}

func TestSlackdump(t *testing.T) {
	t.Parallel()
	const dumped = `{"channel_id":"C1","name":"deploys","messages":[
  {"type":"message","user":"U1","text":"root","ts":"1704103200.000100","thread_ts":"1704103200.000100","slackdump_thread_replies":[
    {"type":"message","user":"U2","text":"one","ts":"1704103201.000100","thread_ts":"1704103200.000100"},
    {"type":"message","user":"U1","text":"two","ts":"1704103202.000100","thread_ts":"1704103200.000100"}]},
  {"type":"message","user":"U2","text":"alone","ts":"1704103203.000100","team":"T7"}]}`
	chunks := `{"t":5,"id":"C1","ci":{"id":"C1","name":"deploys"}}
{"t":0,"id":"C1","n":2,"m":[{"type":"message","user":"U1","text":"root","ts":"1704103200.000100","thread_ts":"1704103200.000100"},{"type":"message","user":"U2","text":"alone","ts":"1704103203.000100"}]}
{"t":1,"id":"C1","r":"1704103200.000100","p":{"ts":"1704103200.000100"},"m":[{"type":"message","user":"U2","text":"one","ts":"1704103201.000100","thread_ts":"1704103200.000100"},{"type":"message","user":"U1","text":"two","ts":"1704103202.000100","thread_ts":"1704103200.000100"}]}
`
	for name, tt := range map[string]struct {
		path      string
		workspace earshot.WorkspaceID
	}{
		"a dump in a folder":         {folderOf(t, map[string]string{"C1ABC.json": dumped, "users.json": team["users.json"], "C1ABC/F1-a.log": "x"}), "T1"},
		"a single file":              {written(t, "C1ABC.json", []byte(dumped)), "T7"},
		"a recording in gzip chunks": {folderOf(t, map[string]string{"C1ABC.json.gz": gz(t, strings.ReplaceAll(chunks, "C1", "C1ABC")), "workspace.json.gz": gz(t, `{"t":6,"w":{"team_id":"T5"}}`), "users.json.gz": gz(t, `{"t":3,"u":`+team["users.json"]+`}`)}), "T5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "memory:")
			got, err := ImportSlack(t.Context(), s, tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Messages != (Counts{New: 4}) || got.Threads != 1 || got.Workspace != tt.workspace || got.SkippedCount() != 0 {
				t.Errorf("got %+v, want 4 new messages in one thread of %s", got, tt.workspace)
			}
			scope := earshot.Scope{Platform: earshot.Slack, Workspace: tt.workspace, Channel: "C1ABC"}
			thread, err := s.Newest(t.Context(), scope, earshot.ThreadOf("1704103200.000100"), earshot.Position{}, 10)
			if err != nil || len(thread) != 3 {
				t.Errorf("the thread: got %d messages, %v; want 3", len(thread), err)
			}
		})
	}
}

func TestBrokenRecordsAreCountedAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	const good = `{"type":"message","user":"U1","text":"fine","ts":"1704103200.000100"}`
	const other = `{"type":"message","user":"U1","text":"fine too","ts":"1704103201.000100"}`
	for name, tt := range map[string]struct {
		day    string
		stored int
		reason string
	}{
		"a value that is missing":             {"[" + good + `,{"ts":},` + other + "]", 2, broken},
		"a message without a ts":              {"[" + good + `,{"text":"x"},` + other + "]", 2, noMessage},
		"something that is no object":         {"[" + good + `,7,"x",null,` + other + "]", 2, noMessage},
		"an open string in an indented file":  {"[\n    " + good + ",\n    {\n        \"ts\": \"1704103202.000100\",\n        \"text\": \"open\n    },\n    " + other + "\n]", 2, broken},
		"a missing brace in an indented file": {"[\n    " + good + ",\n    {\n        \"ts\": \"1704103202.000100\",\n        \"x\": {\n    },\n    " + other + "\n]", 2, broken},
		"an open string on one line":          {"[" + good + `,{"text":"open}]`, 1, truncated},
		"a file that ends too early":          {"[" + good + "," + other[:30], 1, truncated},
		"a record that is too large":          {"[" + good + `,{"ts":"1.5","text":"` + strings.Repeat("x", 2<<20) + `"},` + other + "]", 2, tooLarge},
		"a record that is nested too deep":    {"[" + good + `,` + strings.Repeat(`{"a":`, 20000) + "1" + strings.Repeat("}", 20000) + `,` + other + "]", 2, broken},
		"an object instead of a list":         {`{"ok":false}`, 0, notAList},
		"an empty file":                       {"", 0, notAList},
		"a page of HTML":                      {"<html>", 0, notAList},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, "memory:")
			files := map[string]string{"users.json": team["users.json"], "channels.json": team["channels.json"], "deploys/2024-01-01.json": tt.day,
				"deploys/2024-01-02.json": `[{"type":"message","user":"U1","text":"the next day","ts":"1704189600.000100"}]`}
			got, err := ImportSlack(t.Context(), s, zipOf(t, files), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got.Messages.New != tt.stored+1 {
				t.Errorf("stored %d, want %d; skipped %+v", got.Messages.New, tt.stored+1, got.Skipped)
			}
			if !slices.ContainsFunc(got.Skipped, func(s Skip) bool { return s.Reason == tt.reason && s.Places[0].File == "deploys/2024-01-01.json" }) {
				t.Errorf("skipped %+v, want the reason %q", got.Skipped, tt.reason)
			}
		})
	}
}

func TestWhatIsNoExport(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		path func() string
		says string
	}{
		"an empty folder":      {t.TempDir, "users.json"},
		"a zip of other files": {func() string { return zipOf(t, map[string]string{"a.txt": "x"}) }, "users.json"},
		"a text file":          {func() string { return written(t, "notes.txt", []byte("hello")) }, "users.json"},
		"a broken zip":         {func() string { return written(t, "x.zip", []byte("PK\x03\x04 nothing")) }, "zip"},
		"slackdump's database": {func() string { return folderOf(t, map[string]string{"slackdump.sqlite": "x"}) }, "slackdump convert"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := ImportSlack(t.Context(), open(t, "memory:"), tt.path(), nil)
			if !errors.Is(err, ErrFormat) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("got %v, want ErrFormat that says %q", err, tt.says)
			}
		})
	}
}

func TestAnImportGoesOnAfterAnInterruption(t *testing.T) {
	t.Parallel()
	files := maps.Clone(team)
	for d := range 20 {
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, `,{"type":"message","user":"U1","text":"message %d of day %d","ts":"17050%02d%03d.000100"}`, i, d, d, i)
		}
		files[fmt.Sprintf("deploys/2024-02-%02d.json", d+1)] = "[" + b.String()[1:] + "]"
	}
	p := zipOf(t, files)
	s := open(t, "sqlite:"+filepath.Join(t.TempDir(), "x.db"))
	ctx, cancel := context.WithCancel(t.Context())
	first, err := ImportSlack(ctx, s, p, &Options{Progress: func(p Progress) {
		if p.Messages > 1000 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) || first.Messages.New == 0 || first.Messages.New >= 4009 {
		t.Fatalf("interrupted: got %v after %d messages", err, first.Messages.New)
	}
	second, err := ImportSlack(t.Context(), s, p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if second.Messages.Total() != 4010 || second.Messages.New >= 4009 || second.Messages.Unchanged == 0 {
		t.Errorf("the second run: got %+v", second.Messages)
	}
	straight := open(t, "memory:")
	if _, err := ImportSlack(t.Context(), straight, p, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(exported(t, straight), exported(t, s)); diff != "" {
		t.Errorf("interrupted and gone on differs from straight through (-straight +interrupted):\n%.2000s", diff)
	}
}
