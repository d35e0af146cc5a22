package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readingTime is the column of a table that differs from run to run.
var readingTime = regexp.MustCompile(`\s+[\d.,]+ (ns|µs|ms|s)\s+`)

// gaps are the spaces between the columns of a table; a column is as wide as
// its widest reading time. Spaces before a line's first word are not a gap.
var gaps = regexp.MustCompile(`(\S) {2,}`)

// comparable takes from a line what depends on the width of a terminal and on
// the machine.
func comparable(line string) string {
	line = readingTime.ReplaceAllString(line, "  ")
	return strings.TrimRight(gaps.ReplaceAllString(line, "$1  "), "─ ")
}

// The README shows commands on the bundled workspace and parts of what they
// print: … stands for lines, and at the end of a line for its rest. Each part is
// printed, in this order.
func TestTheReadmeShowsWhatTheProgramPrints(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	env := []string{"EARSHOT_DB=" + filepath.Join(t.TempDir(), "readme.db"), "COLUMNS=92"}
	commands := 0
	var command string
	var printed []string
	for line := range strings.Lines(string(page)) {
		line, indented := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    ")
		if c, ok := strings.CutPrefix(line, "$ earshot "); ok && indented {
			commands++
			command, _, _ = strings.Cut(c, "  #")
			args := append([]string{"earshot"}, strings.Fields(strings.ReplaceAll(command, "testdata/workspace", "../../testdata/workspace"))...)
			var out, problems bytes.Buffer
			if code := run(t.Context(), args, env, strings.NewReader(""), &out, &problems); code != 0 {
				t.Fatalf("earshot %s: exit status %d: %s", command, code, &problems)
			}
			printed = strings.Split(out.String(), "\n")
			continue
		}
		if !indented && line != "" || strings.HasPrefix(line, "$") {
			command = ""
		}
		if line = comparable(line); command == "" || line == "" || line == "…" {
			continue
		}
		start, cut := strings.CutSuffix(line, "…")
		found := false
		for i, p := range printed {
			p = comparable(p)
			if found = p == line || cut && strings.HasPrefix(p, strings.TrimRight(start, " ")); found {
				printed = printed[i+1:]
				break
			}
		}
		if !found {
			t.Errorf("earshot %s does not print, here: %s", command, line)
		}
	}
	if commands < 4 {
		t.Errorf("the README shows %d commands, want 4 or more", commands)
	}
}
