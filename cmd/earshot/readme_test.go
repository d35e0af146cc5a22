package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	for _, c := range commandsOf(page) {
		line, ok := strings.CutPrefix(c.line, "earshot ")
		if !ok {
			continue
		}
		commands++
		args := append([]string{"earshot"}, strings.Fields(strings.ReplaceAll(line, "testdata/workspace", "../../testdata/workspace"))...)
		var out, problems bytes.Buffer
		if code := run(t.Context(), args, env, strings.NewReader(""), &out, &problems); code != 0 {
			t.Fatalf("earshot %s: exit status %d: %s", line, code, &problems)
		}
		if missing := c.missing(out.String()); missing != "" {
			t.Errorf("earshot %s does not print, here: %s", line, missing)
		}
	}
	return commands
}

// A shownCommand is a command that a page shows, and lines that it prints, in this order.
type shownCommand struct {
	line  string
	shows []string
}

// commandsOf returns the commands of a page.
func commandsOf(page string) (list []shownCommand) {
	open := false // what follows is printed by the last command
	for line := range strings.Lines(page) {
		line, indented := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    ")
		if c, ok := strings.CutPrefix(line, "$ "); ok && indented {
			c, _, _ = strings.Cut(c, "  #")
			list, open = append(list, shownCommand{line: c}), true
			continue
		}
		if !indented && line != "" {
			open = false
		}
		if open && line != "" && line != "…" {
			list[len(list)-1].shows = append(list[len(list)-1].shows, line)
		}
	}
	return list
}

// missing returns the first line that is not printed after those before it; "" where all
// are. An ellipsis stands for any text.
func (c shownCommand) missing(printed string) string {
	rest := strings.Split(printed, "\n")
	for _, line := range c.shows {
		want := regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(comparable(line)), "…", ".*") + "$")
		i := slices.IndexFunc(rest, func(p string) bool { return want.MatchString(comparable(p)) })
		if i < 0 {
			return line
		}
		rest = rest[i+1:]
	}
	return ""
}
