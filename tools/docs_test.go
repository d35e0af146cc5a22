package tools_test

import (
	"context"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools"
)

var update = flag.Bool("update", false, "write the answers into docs/tools.md")

// Each block of docs/tools.md is a call and its answer, as the tools give it.
func TestTheDocumentedAnswersAreTheTools(t *testing.T) {
	const path = "../docs/tools.md"
	doc, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	st := telling(t, open(t), general, talk()...)
	turn := asked(t, st, -10, "<@U0BOT> which port is free?", "Port 8080, Bob said.")
	turn.Number = 3
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), talk()[6].Position(), &tools.Options{
		Identity: self, Known: talk()[3:7], Turns: shelf{conversation: {turn}}, Conversation: conversation,
		Media: func(context.Context, earshot.MessageID, earshot.File) (llm.Media, error) {
			return llm.Media{Type: "text/plain", Data: []byte("panic: lock")}, nil
		},
	})
	blocks := 0
	want := regexp.MustCompile("(?s)```\n(\\w+) ([^\n]*)\n.*?```").ReplaceAllFunc(doc, func(block []byte) []byte {
		blocks++
		tool, args, _ := strings.Cut(strings.SplitN(string(block), "\n", 3)[1], " ")
		answer := strings.NewReplacer(`{"message_id"`, "\n  {\"message_id\"", `"thread_id"`, "\n   \"thread_id\"", `"thread_summary"`, "\n   \"thread_summary\"",
			`"replies"`, "\n \"replies\"", `"truncation"`, "\n \"truncation\"", `"coverage"`, "\n \"coverage\"", `"not_found"`, "\n \"not_found\"",
			`"relevance_signal"`, "\n   \"relevance_signal\"", `"shared"`, "\n   \"shared\"", `{"kind"`, "\n    {\"kind\"").Replace(call(t, set, tool, args).JSON)
		if !json.Valid([]byte(answer)) {
			t.Errorf("%s: %s", args, answer)
		}
		return []byte("```\n" + tool + " " + args + "\n" + answer + "\n```")
	})
	if blocks < len(tools.Tools()) {
		t.Errorf("only %d calls are documented", blocks)
	}
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(doc), string(want)); diff != "" {
		t.Errorf("run the test with -update: %s", diff)
	}
}
