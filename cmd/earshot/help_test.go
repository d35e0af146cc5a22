package main

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestEveryCommandHasExamples reads the examples in each command's help, and
// parses them: each names an existing command with its arguments and flags.
func TestEveryCommandHasExamples(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var cmds commands
	parser := newParser(t.Context(), newApp(nil, strings.NewReader(""), &out, &out, &out), &cmds)
	leaves := 0
	for _, n := range parser.Model.Leaves(true) {
		leaves++
		_, list, ok := strings.Cut(n.Detail, "Examples:\n")
		if !ok {
			t.Errorf("the help of earshot %s has no examples", n.Path())
			continue
		}
		own := false
		for line := range strings.Lines(list) {
			if strings.TrimSpace(line) != "" {
				own = parses(t, line, n) || own
			}
		}
		if !own {
			t.Errorf("no example of earshot %s is of that command", n.Path())
		}
	}
	if leaves < 20 {
		t.Errorf("only %d commands were found", leaves)
	}
}

// word is one of a shell's command line, which may stand in double quotes.
var word = regexp.MustCompile(`"[^"]*"|\S+`)

// parses parses a line of examples, and reports whether it has the command n.
func parses(t *testing.T, line string, n *kong.Node) bool {
	t.Helper()
	own := false
	for part := range strings.SplitSeq(line, "|") {
		part, _, _ = strings.Cut(part, " > ")
		words := word.FindAllString(strings.TrimSpace(part), -1)
		if len(words) == 0 || words[0] != "earshot" {
			continue // another program in a pipe
		}
		var args []string
		for _, w := range words[1:] {
			args = append(args, strings.Trim(w, `"`))
		}
		var out bytes.Buffer
		var cmds commands
		got, err := newParser(t.Context(), newApp(nil, strings.NewReader(""), &out, &out, &out), &cmds).Parse(args)
		if err != nil {
			t.Errorf("the example %q cannot be parsed: %v", strings.TrimSpace(line), err)
			continue
		}
		own = own || got.Selected().Path() == n.Path()
	}
	return own
}
