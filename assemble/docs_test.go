package assemble_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

var updateDocs = flag.Bool("update.docs", false, "write the prompts into docs/policies.md")

// prompts returns the prompts that docs/policies.md shows, by the words behind
// "prompt" at the start of a block.
func prompts(t *testing.T) map[string]string {
	t.Helper()
	standard := example(deploys(false))
	out := map[string]string{}
	out["standard"], out["standard later"] = twoTurns(t, standard, example(deploys(true)))
	for _, name := range []string{"delta", "thread", "structured", "window", "transcript"} {
		out[name], out[name+" later"] = twoTurns(t, asking(name, stagingDown(false)...), asking(name, stagingDown(true)...))
	}
	return out
}

// stagingDown is a short thread with a channel around it, up to its first
// question, or with later up to its second.
func stagingDown(later bool) []earshot.Message {
	const release, thread = "1", "3"
	list := []earshot.Message{
		said(release, "Dana", "release notes for 1.4?", at("2026-03-02 08:55")),
		said("2", "Carol", "in the wiki", in(release), at("2026-03-02 08:58")),
		said(thread, "Alice", "staging is down", at("2026-03-02 09:02")),
		said("4", "Bob", "the migration hangs\nhere is the log", in(thread), at("2026-03-02 09:03"),
			holds(earshot.File{ID: "F1", Type: "text/plain", Size: 12_000, Name: "migrate.log"})),
		said("5", "CI", "build 812 green", in(thread), at("2026-03-02 09:05")),
		said("6", "Alice", "<@U0BOT> are they running?", in(thread), at("2026-03-02 09:07")),
	}
	if later {
		list = append(list,
			said("7", "earshot", "No: the migration holds a lock.", in(thread), at("2026-03-02 09:08")),
			said("8", "Carol", "I restarted the workers", in(thread), at("2026-03-02 09:20")),
			said("9", "Bob", "<@U0BOT> and now?", in(thread), at("2026-03-02 09:22")))
	}
	return list
}

// twoTurns returns the prompt of a first turn, and what the turn after it adds to
// the session, or without a session its whole prompt.
func twoTurns(t *testing.T, first, later assemble.Input) (one, two string) {
	t.Helper()
	r, err := assemble.Turn(first)
	if err != nil {
		t.Fatal(err)
	}
	reply := len(first.Messages)
	later.Coverage = first.Coverage
	later.Stored, later.Recalled = nil, first.Recalled
	session := 0
	if first.Policy.Session {
		commit(&later.Conversation, first.Anchor, r, later.Messages[reply])
		session = len(later.Conversation.Session)
	} else {
		later.Conversation.Turns = []earshot.Answer{{Anchor: first.Anchor, Replies: []earshot.MessageID{later.Messages[reply].ID}}}
	}
	s, err := assemble.Turn(later)
	if err != nil {
		t.Fatal(err)
	}
	return written(r.Messages), written(s.Messages[session:])
}

// written is a prompt's text, each message below its role where there are
// several, and typed JSON in lines that a page can show.
func written(messages []assemble.Message) string {
	var b strings.Builder
	for _, m := range messages {
		if len(messages) > 1 {
			b.WriteString("(" + string(m.Role) + ")\n")
		}
		b.WriteString(strings.NewReplacer(`,"anchor":{`, ",\n \"anchor\":{", `,"adjacent"`, ",\n \"adjacent\"", `{"message_id"`, "\n  {\"message_id\"",
			`,"thread":`, ",\n \"thread\":", `,"replies"`, ",\n \"replies\"", `,"truncation"`, ",\n \"truncation\"", `,"reactions"`, ",\n   \"reactions\"").Replace(m.Text) + "\n")
	}
	return b.String()
}

// Each block of docs/policies.md that is marked as a prompt is what the assembler
// writes.
func TestTheDocumentedPromptsAreTheAssemblers(t *testing.T) {
	t.Parallel()
	const path = "../docs/policies.md"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	made, used := prompts(t), map[string]bool{}
	got := regexp.MustCompile("(?s)```prompt ([a-z ]+)\n.*?```").ReplaceAllStringFunc(string(doc), func(block string) string {
		name, _, _ := strings.Cut(strings.TrimPrefix(block, "```prompt "), "\n")
		if made[name] == "" {
			t.Errorf("there is no prompt %q", name)
		}
		used[strings.Fields(name)[0]] = true
		return "```prompt " + name + "\n" + made[name] + "```"
	})
	for _, p := range assemble.Policies() {
		if !used[p.Name] {
			t.Errorf("no prompt of policy %s is documented", p.Name)
		}
	}
	if *updateDocs {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(doc), got); diff != "" {
		t.Errorf("run the test with -update.docs: %s", diff)
	}
}
