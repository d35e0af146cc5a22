package archive

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// FuzzSlackDay reads hostile bytes as a day of an export, a dump and a
// recording: it never crashes, what is stored is storable, and a second import
// changes nothing.
func FuzzSlackDay(f *testing.F) {
	for name, text := range team {
		if strings.HasPrefix(name, "deploys/2") {
			f.Add([]byte(text))
		}
	}
	f.Add([]byte(`{"messages":[{"ts":"1.5","text":"a","slackdump_thread_replies":[{"ts":"2.5","thread_ts":"1.5"}]}],"name":"x"}`))
	f.Add([]byte(`{"t":0,"id":"C1","m":[{"ts":"1.5","text":"a"}]}` + "\n" + `{"t":1,"m":[]}`))
	f.Add([]byte("[\n  {\n    \"ts\": \"1.5\"\n  {\n  },\n  {\"ts\": \"1.5\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := t.TempDir()
		for name, b := range map[string][]byte{"channels.json": []byte(`[{"id":"C1","name":"deploys"}]`), "deploys/2024-01-01.json": raw, "C2AB.json": raw, "C3AB.json.gz": []byte(gz(t, string(raw)))} {
			p := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(p, b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		twice(t, func(s earshot.Store) (Report, error) { return ImportSlack(t.Context(), s, dir, nil) })
	})
}

// FuzzDiscordFile reads hostile bytes as a whole file of DiscordChatExporter and as
// its messages, with the same promises.
func FuzzDiscordFile(f *testing.F) {
	for _, text := range home() {
		f.Add([]byte(text))
		if _, list, ok := strings.Cut(text, `"messages": [`); ok {
			f.Add([]byte(list))
		}
	}
	f.Add([]byte(`{"id":"1477953611366400000","reactions":[{"emoji":{"name":"x"},"count":2,"users":[{"id":1},{]},{}]},{"id":"2"`))
	f.Add([]byte(`{"id":"1477953611366400000","type":"21","content":"x","reference":{"messageId":"1477955121315840001"}}]}`))
	head := `{"guild":{"id":"600000000000000001"},"channel":{"id":"1477955121315840001","type":"GuildPublicThread","categoryId":"8","category":"c","name":"n"},"messages":[`
	f.Fuzz(func(t *testing.T, raw []byte) {
		dir := folderOf(t, map[string]string{"a.json": string(raw), "b.json": head + string(raw)})
		twice(t, func(s earshot.Store) (Report, error) { return ImportDiscord(t.Context(), s, []string{dir}, nil) })
	})
}

// FuzzJSONL does the same for lines, neutral and Earshot's own.
func FuzzJSONL(f *testing.F) {
	f.Add([]byte(neutral))
	f.Add([]byte(`{"earshot":"export","version":1}
{"type":"channel","platform":"slack","workspace":"T1","id":"C1","name":"x","kind":"channel"}
{"type":"author","platform":"slack","workspace":"T1","id":"U1","name":"Alice","kind":"human"}
{"type":"coverage","platform":"slack","workspace":"T1","channel":"C1","from":"2024-01-01T00:00:00Z","state":"missing"}
{"type":"message","platform":"slack","workspace":"T1","channel":"C1","id":"1.5","time":"2024-01-01T00:00:00.5Z","author":{"id":"U1","name":"Alice","kind":"human"},"text":"b","edited":"2024-01-01T01:00:00Z","revisions":[{"author":{"id":"U1","name":"Alice","kind":"human"},"text":"a"}]}
{"type":"message","platform":"slack","workspace":"T1","channel":"C1","id":"2.5","time":"2024-01-01T00:00:00.5Z","deleted":true}
`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		p := written(t, "x.jsonl", raw)
		twice(t, func(s earshot.Store) (Report, error) { return ImportJSONL(t.Context(), s, p, nil) })
	})
}

func twice(t *testing.T, run func(earshot.Store) (Report, error)) {
	t.Helper()
	s, err := store.Open(context.Background(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	first, err := run(s)
	if err != nil {
		return // a clear error is an answer
	}
	before := exported(t, s)
	if !utf8.ValidString(before) || strings.Contains(before, `\u0000`) {
		t.Errorf("what is stored is not storable: %q", before)
	}
	second, err := run(s)
	if err != nil {
		t.Fatalf("a second import: %v", err)
	}
	if after := exported(t, s); after != before {
		t.Errorf("a second import changed the store:\n%s\n%s", before, after)
	}
	if first.Messages.Total() != second.Messages.Total() || first.SkippedCount() != second.SkippedCount() {
		t.Errorf("a second import counts differently: %+v, %+v", first, second)
	}
}
