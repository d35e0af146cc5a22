package chats_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/internal/eval/chats/chatstest"
)

func write(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f.jsonl")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestMessagesAreRead(t *testing.T) {
	t.Parallel()
	list, err := chats.Messages(write(t,
		`{"conversation":"a","id":7,"ts":1100480520.0407,"author":"ann","author_is_bot":true,"text":"hi","thread_id":null,"reply_to":6,"files":[{"name":"x.png","alt":null}]}`,
		``,
		`{"conversation":"a","id":"8","ts":1100480521,"author":"ben","text":"<b>","thread_id":"7"}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 2 || list[0].ID != "7" || list[0].ReplyTo != "6" || list[0].Time.TS() != "1100480520.040700" || !list[0].Bot || list[0].Files[0].Name != "x.png" {
		t.Errorf("got %+v", list)
	}
	if m := list[1].Stored(); m.Thread != "7" || m.Author.Name != "ben" || m.Author.Kind != earshot.Human {
		t.Errorf("stored: %+v", m)
	}
}

func TestWhatNobodyWroteIsThePlatforms(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m    chats.Message
		want earshot.AuthorKind
	}{
		{chats.Message{Author: "ann", Text: "ben has joined us"}, earshot.Human},
		{chats.Message{Author: "ann", Text: "<@U0ANN> has joined the channel"}, earshot.System},
		{chats.Message{Text: "=== ben is away"}, earshot.System},
		{chats.Message{Author: "crane-bot", Bot: true, Text: "up"}, earshot.Bot},
	} {
		if got := c.m.Kind(); got != c.want || c.m.Stored().Author.Kind != c.want {
			t.Errorf("%+v: %s, want %s", c.m, got, c.want)
		}
	}
}

func TestARootIsNoReplyToItself(t *testing.T) {
	t.Parallel()
	m := chats.Message{ID: "7", Thread: "7", ReplyTo: "6", Author: "ann", Text: "a crane"}
	if got := m.Terms(3, []string{"crane"}); got.Thread != "" || got.ReplyTo != "6" || got.System || got.Seq != 3 || got.Name != "ann" || got.Author != "ann" {
		t.Errorf("got %+v", got)
	}
	m.Thread = "5"
	if got := m.Terms(3, nil); got.Thread != "5" {
		t.Errorf("got %+v", got)
	}
}

func TestABadLineIsNamed(t *testing.T) {
	t.Parallel()
	for _, line := range []string{`{`, `{"conversation":"a","ts":1}`, `{"conversation":"a","id":"1"}`, `{"conversation":"a","id":"1","ts":"soon"}`} {
		_, err := chats.Messages(write(t, `{"conversation":"a","id":"1","ts":1}`, line))
		if err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: %v", line, err)
		}
	}
}

func TestQueriesKeepTheirLines(t *testing.T) {
	t.Parallel()
	list, err := chats.Queries(write(t, ``, `{"conversation":"a","query":"who?","at_ts":5,"gold_ids":[1,"2"],"category":"who","source":"x","asker":"ann"}`))
	if err != nil {
		t.Fatal(err)
	}
	if q := list[0]; q.Number != 1 || !slices.Equal(q.Gold, []earshot.MessageID{"1", "2"}) || q.At != 5_000_000 || q.Source != "x" || q.Author() != (earshot.Author{ID: "ann", Name: "ann", Kind: earshot.Human}) {
		t.Errorf("got %+v", q)
	}
}

func TestTheSharedDataIsRead(t *testing.T) {
	t.Parallel()
	dir := chatstest.Folder(t)
	messages, err := chats.Messages(filepath.Join(dir, "haskelljp-slack.messages.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	questions, err := chats.Queries(filepath.Join(dir, "questions.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	links, err := chats.Links(filepath.Join(dir, "irc-dev.links.jsonl.gz"))
	if err != nil {
		t.Fatal(err)
	}
	if len(messages) != 10432 || len(questions) != 120 || len(links) < 1000 {
		t.Errorf("%d messages, %d questions, %d links", len(messages), len(questions), len(links))
	}
	for _, c := range chats.Conversations(messages) {
		if !slices.IsSortedFunc(c.Messages, func(a, b chats.Message) int { return int(a.Time - b.Time) }) {
			t.Errorf("%s is not in order", c.Name)
		}
	}
}
