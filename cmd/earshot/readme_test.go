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

// The README and docs/desk.md show commands on the bundled workspace and parts of
// what they print: … stands for lines, and at the end of a line for its rest. Each
// part is printed, in this order.
func TestThePagesShowWhatTheProgramPrints(t *testing.T) {
	t.Parallel()
	for path, least := range map[string]int{"../../README.md": 3, "../../docs/desk.md": 4} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			page, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if commands := checkPage(t, string(page)); commands < least {
				t.Errorf("the page shows %d commands, want %d or more", commands, least)
			}
		})
	}
}

// checkPage runs the commands that a page shows, compares what they print, and
// returns how many there are.
func checkPage(t *testing.T, page string) (commands int) {
	t.Helper()
	env := []string{"EARSHOT_DB=" + filepath.Join(t.TempDir(), "readme.db"), "COLUMNS=92"}
	var command string
	var printed []string
	for line := range strings.Lines(page) {
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
	return commands
}
