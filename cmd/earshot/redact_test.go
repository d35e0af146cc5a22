package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/transcript"
	"github.com/earshot-ai/earshot/tokens"
)

// TestRedactedContextsOfTheBundledWorkspace redacts contexts of real talk at several
// budgets, and bounds how far verdicts and tokens may move: docs/desk.md has the
// figures.
func TestRedactedContextsOfTheBundledWorkspace(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "demo.db")
	earshot := func(args ...string) []byte {
		t.Helper()
		var out, problems bytes.Buffer
		if code := run(t.Context(), append([]string{"earshot", "--db", db}, args...), []string{"HOME=" + t.TempDir()}, strings.NewReader(""), &out, &problems); code != exitOK {
			t.Fatalf("%s: %s", args, problems.String())
		}
		return out.Bytes()
	}
	earshot("demo")
	var found struct{ Hits []struct{ ID string } }
	if err := json.Unmarshal(earshot("search", "deploys", "import workers", "--json", "-n", "6"), &found); err != nil {
		t.Fatal(err)
	}
	rows, alike, was, is := 0, 0, 0, 0
	for _, h := range found.Hits {
		for _, policy := range []string{"standard", "delta", "window"} {
			for _, budget := range []string{"300", "1000", "8000"} {
				c, err := transcript.Parse(earshot("context", "deploys", h.ID, "--transcript", "--policy", policy, "--budget", budget))
				if err != nil {
					t.Fatal(err)
				}
				if c.Input.Counter, err = tokens.For(c.Counter); err != nil {
					t.Fatal(err)
				}
				before, err := assemble.Turn(c.Input)
				if err != nil {
					t.Fatal(err)
				}
				after, err := assemble.Turn(transcript.Redact(c.Input))
				if err != nil || len(after.Ledger) != len(before.Ledger) {
					t.Fatalf("%s of %s: %d rows, %v", policy, h.ID, len(after.Ledger), err)
				}
				was, is = was+before.Tokens.Total, is+after.Tokens.Total
				for i, row := range before.Ledger {
					if rows++; after.Ledger[i].Verdict == row.Verdict {
						alike++
					}
				}
			}
		}
	}
	t.Logf("%d of %d verdicts are alike; %d tokens, they were %d", alike, rows, is, was)
	if rows < 1000 || alike*100 < rows*97 || is*100 > was*103 || is*100 < was*97 {
		t.Errorf("%d of %d verdicts are alike; %d tokens, they were %d", alike, rows, is, was)
	}
}
