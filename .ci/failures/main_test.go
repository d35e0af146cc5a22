package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The events come from the go tool itself, of a package that this test writes.
func TestEachFailedTestIsKeptWithItsMessage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.com/m\n\ngo 1.26\n")
	write("a_test.go", `package m

import "testing"

func TestPasses(t *testing.T) {}

func TestFails(t *testing.T) { t.Error("got 1, want 2") }

func TestOuter(t *testing.T) {
	t.Run("inner one", func(t *testing.T) { t.Error("got \"a\", want \"b\"") })
	t.Run("inner two", func(t *testing.T) {})
}
`)
	for _, sub := range []string{"broken", "panics"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write("broken/b_test.go", "package broken\n\nimport \"testing\"\n\nfunc TestB(*testing.T) { undefined() }\n")
	write("panics/p_test.go", "package panics\n\nimport \"testing\"\n\nfunc TestP(t *testing.T) { panic(\"out of cheese\") }\n")
	cmd := exec.CommandContext(t.Context(), "go", "test", "-json", "-vet=off", "./...")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	events, _ := cmd.Output() // it fails, as two of its tests do

	kept := filepath.Join(dir, "kept.jsonl")
	var out bytes.Buffer
	for range 2 {
		out.Reset()
		if err := run("race", kept, bytes.NewReader(events), &out, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
	}
	if !strings.Contains(out.String(), " s  example.com/m\n") {
		t.Errorf("the package is not among the slowest:\n%s", out.String())
	}
	rows, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(rows), "\n"), "\n")
	if got, want := len(lines), 2*4; got != want {
		t.Fatalf("%d rows after two runs, want %d:\n%s", got, want, rows)
	}
	for _, want := range []string{
		`"package":"example.com/m","test":"TestFails",`, `got 1, want 2`,
		`"package":"example.com/m","test":"TestOuter/inner_one",`, `got \"a\", want \"b\"`,
		`"package":"example.com/m/broken","seconds"`, `undefined: undefined`,
		`"package":"example.com/m/panics","test":"TestP",`, `out of cheese`,
		`{"time":"2026-03-02T09:00:00Z","step":"race",`,
	} {
		if !strings.Contains(string(rows), want) {
			t.Errorf("no row has %s:\n%s", want, rows)
		}
	}
}
