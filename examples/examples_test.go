// Package examples_test checks what is said about the examples: how long they
// are, and that the README shows one of them.
package examples_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func lines(t *testing.T, name string) []string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
}

func TestTheExamplesAreShort(t *testing.T) {
	t.Parallel()
	for name, most := range map[string]int{"assemble": 40, "bot": 60, "toolbox": 60} {
		if n := len(lines(t, name+"/main.go")); n > most {
			t.Errorf("%s has %d lines, want at most %d", name, n, most)
		}
	}
}

func TestTheTableHasEveryExample(t *testing.T) {
	t.Parallel()
	page := strings.Join(lines(t, "README.md"), "\n")
	programs, err := filepath.Glob("*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if len(programs) < 5 {
		t.Fatalf("only %d examples: %v", len(programs), programs)
	}
	for _, p := range programs {
		row := fmt.Sprintf("| `go run ./%s` |", filepath.Dir(p))
		length := fmt.Sprintf("| %d |\n", len(lines(t, p)))
		_, rest, found := strings.Cut(page, row)
		if !found || !strings.HasPrefix(rest[strings.LastIndex(rest[:strings.Index(rest, "\n")], " | ")+1:], length) {
			t.Errorf("README.md has no row that begins with %q and ends with %q", row, length)
		}
	}
}
