package chats_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/eval/chats"
)

// folder writes files of messages, each with one message in each of its
// conversations, and returns their folder.
func folder(t *testing.T, files map[string][]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, conversations := range files {
		var b strings.Builder
		for _, c := range conversations {
			fmt.Fprintf(&b, `{"conversation":%q,"id":"1","ts":5,"author":"ann","text":"of %s"}`+"\n", c, name)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestQueriesFindTheirConversation(t *testing.T) {
	t.Parallel()
	two := map[string][]string{"a.messages.jsonl": {"talk", "harbour"}, "b.messages.jsonl": {"talk"}, "notes.txt": {"talk"}}
	for _, c := range []struct {
		name    string
		files   map[string][]string
		only    string // of the folder's files
		queries []chats.Query
		file    string
		tasks   string // source, conversation, numbers
		left    int
		fails   string
	}{
		{"by the source that they name, in the order of time", two, "", []chats.Query{
			{Number: 0, Conversation: "talk", Source: "b", At: 9}, {Number: 1, Conversation: "talk", Source: "a"},
			{Number: 2, Conversation: "talk", Source: "b", At: 7}}, "q.jsonl", "a talk [1] b talk [2 0]", 0, ""},
		{"by the one file that has the conversation", two, "", []chats.Query{{Conversation: "harbour"}}, "q.jsonl", "a harbour [0]", 0, ""},
		{"by the name of their own file", two, "", []chats.Query{{Conversation: "talk"}}, "x/b.queries.jsonl.gz", "b talk [0]", 0, ""},
		{"by the only file, whatever they name", two, "a.messages.jsonl", []chats.Query{{Conversation: "talk", Source: "elsewhere"}}, "q.jsonl", "a talk [0]", 0, ""},
		{"those of other sources are left out", two, "a.messages.jsonl", []chats.Query{{Conversation: "talk", Source: "b"}, {Number: 1, Conversation: "talk", Source: "a"}},
			"q.jsonl", "a talk [1]", 1, ""},
		{"an unknown conversation is left out", two, "", []chats.Query{{Conversation: "lost", Source: "a"}, {Number: 1, Conversation: "talk", Source: "a"}}, "q.jsonl", "a talk [1]", 1, ""},
		{"two files with the conversation are too many", two, "", []chats.Query{{Conversation: "talk"}}, "q.jsonl", "", 0, `stands in a and in b; give one of them, or say "source"`},
		{"nothing to ask", two, "", []chats.Query{{Conversation: "lost"}}, "q.jsonl", "", 1, "no query's conversation is among the messages"},
		{"no queries", two, "", nil, "q.jsonl", "", 0, "has no queries"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, err := chats.OpenSources(filepath.Join(folder(t, c.files), c.only))
			if err != nil {
				t.Fatal(err)
			}
			tasks, left, err := s.Tasks(c.file, c.queries, nil)
			if c.fails != "" {
				if !errors.Is(err, chats.ErrSource) || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("got %v, want %q", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, task := range tasks {
				var numbers []int
				for _, q := range task.Queries {
					numbers = append(numbers, q.Number)
				}
				got = append(got, fmt.Sprint(task.Source, " ", task.Conversation.Name, " ", numbers))
				if m := task.Conversation.Messages; len(m) != 1 || m[0].Text != "of "+task.Source+".messages.jsonl" {
					t.Errorf("%s: other messages: %+v", task.Source, m)
				}
			}
			if strings.Join(got, " ") != c.tasks || len(left) != c.left {
				t.Errorf("got %v and %d left, want %s and %d", got, len(left), c.tasks, c.left)
			}
		})
	}
}

func TestSourcesThatCannotBeToldApart(t *testing.T) {
	t.Parallel()
	one, other := folder(t, map[string][]string{"a.messages.jsonl": {"x"}}), folder(t, map[string][]string{"a.jsonl": {"x"}})
	if _, err := chats.OpenSources(one, filepath.Join(other, "a.jsonl")); !errors.Is(err, chats.ErrSource) {
		t.Errorf("two files of one name: %v", err)
	}
	if _, err := chats.OpenSources(other); !errors.Is(err, chats.ErrSource) || !strings.Contains(err.Error(), "name a file") {
		t.Errorf("a folder without messages: %v", err)
	}
	if _, err := chats.OpenSources(filepath.Join(one, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such path: %v", err)
	}
}
