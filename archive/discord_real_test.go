package archive

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

// A realMessage is a line of the shared Discord talk.
type realMessage struct {
	Conversation string                  `json:"conversation"`
	ID           string                  `json:"id"`
	Author       string                  `json:"author"`
	Bot          bool                    `json:"author_is_bot"`
	Text         string                  `json:"text"`
	ReplyTo      *string                 `json:"reply_to"`
	Files        []struct{ Name string } `json:"files"`
}

// Real talk, written as DiscordChatExporter would, comes back whole: every message
// once, threads and replies as told, whatever the files are called.
func TestRealDiscordTalkComesBackWhole(t *testing.T) {
	if raceEnabled {
		t.Skip("real chats run without -race")
	}
	t.Parallel()
	conversations := realDiscord(t)
	files, want := asExport(t, conversations)
	s := open(t, "memory:")
	got, err := ImportDiscord(t.Context(), s, []string{folderOf(t, files)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Messages != (Counts{New: len(want)}) || got.SkippedCount() != 0 || len(got.Partly) != 0 {
		t.Errorf("got %+v, want %d new messages and nothing skipped", got, len(want))
	}
	channels, err := s.Channels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for _, c := range channels {
		for _, m := range whole(t, s, c.Scope()) {
			if seen[string(m.ID)] != "" {
				t.Errorf("message %s stands twice", m.ID)
			}
			seen[string(m.ID)] = fmt.Sprint(c.ID, m.Root(), m.ReplyTo, len(m.Files), m.Author.ID)
		}
	}
	if diff := cmp.Diff(seen, want); diff != "" {
		t.Errorf("%.2000s", diff)
	}
	before := sequences(t, s)
	again, err := ImportDiscord(t.Context(), s, []string{zipOf(t, turned(files))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if again.Messages != (Counts{Unchanged: len(want)}) || sequences(t, s) != before {
		t.Errorf("a second import, as a zip with other names: %+v", again.Messages)
	}
	t.Logf("%d messages in %d files, %.0f a second", len(want), len(files), float64(len(want))/got.Duration.Seconds())
}

// realDiscord reads the shared talk, by conversation.
func realDiscord(t testing.TB) map[string][]realMessage {
	t.Helper()
	f, err := os.Open(filepath.Join(testData(t), "meshcore-discord.messages.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]realMessage{}
	in := bufio.NewScanner(z)
	in.Buffer(nil, 16<<20)
	for in.Scan() {
		var m realMessage
		if err := json.Unmarshal(in.Bytes(), &m); err != nil {
			t.Fatal(err)
		}
		out[m.Conversation] = append(out[m.Conversation], m)
	}
	if err := in.Err(); err != nil || len(out) < 100 {
		t.Fatalf("%d conversations, %v", len(out), err)
	}
	return out
}

// asExport writes conversations as files, and what is to be stored of each message.
// "channel--thread" is a thread, whose first message has its id as a forum post's has.
// Conversations of more than 500 messages are written in two parts.
func asExport(t testing.TB, conversations map[string][]realMessage) (files, want map[string]string) {
	t.Helper()
	files, want = map[string]string{}, map[string]string{}
	channels := map[string]string{}
	id := func(name string) string {
		if channels[name] == "" {
			channels[name] = strconv.Itoa(800000000000000000 + len(channels))
		}
		return channels[name]
	}
	for _, name := range slices.Sorted(maps.Keys(conversations)) {
		list := conversations[name]
		parent, _, isThread := strings.Cut(name, "--")
		own, kind, parentID, channel := id(parent), "GuildTextChat", "500000000000000001", id(parent)
		if isThread {
			own, kind, parentID = list[0].ID, "GuildPublicThread", id(parent)
		}
		var out []map[string]any
		for _, m := range list {
			more, reply := map[string]any{}, ""
			if m.ReplyTo != nil {
				more, reply = replyTo(own, *m.ReplyTo), *m.ReplyTo
			}
			var attached []any
			for i, f := range m.Files {
				attached = append(attached, map[string]any{"id": m.ID + strconv.Itoa(i%10), "fileName": f.Name, "fileSizeBytes": 1})
			}
			more["attachments"] = attached
			x := said(m.ID, m.Author, m.Text, more)
			a := x["author"].(map[string]any)
			a["name"], a["nickname"], a["isBot"] = "u"+m.Author, "U"+m.Author, m.Bot
			a["discriminator"] = "0001"
			out = append(out, x)
			root := ""
			if isThread && m.ID != own {
				root = own
			}
			want[m.ID] = fmt.Sprint(earshot.ChannelID(channel), earshot.MessageID(root), earshot.MessageID(reply), len(m.Files), earshot.AuthorID(m.Author))
		}
		file := fmt.Sprintf("Server - %s [%s]", strings.Map(plainName, name), own)
		if half := len(out) / 2; len(out) > 500 {
			files[file+" [part 2].json"] = exportOf(own, kind, name, parentID, parent, out[half:]...)
			out = out[:half]
		}
		files[file+".json"] = exportOf(own, kind, name, parentID, parent, out...)
	}
	return files, want
}

func plainName(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
		return r
	}
	return '_'
}
