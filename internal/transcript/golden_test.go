package transcript_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/transcript"
	"github.com/earshot-ai/earshot/tokens"
)

var update = flag.Bool("update", false, "write the goldens in testdata/cases anew")

// TestGoldenCases assembles the input of each case and compares prompt and
// ledger with what the case says. The comment of a case says why it exists.
func TestGoldenCases(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "testdata", "cases", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there are no cases")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			c, err := transcript.Parse(data)
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if c.Comment == "" {
				t.Errorf("%s does not say why it exists", file)
			}
			in := c.Input
			if in.Counter, err = tokens.For(c.Counter); err != nil {
				t.Fatal(err)
			}
			res, err := assemble.Turn(in)
			if err != nil {
				t.Fatal(err)
			}
			prompt, ledger := transcript.Prompt(res), transcript.Rows(res.Ledger)
			if *update {
				c.Prompt, c.Ledger = prompt, ledger
				if err := os.WriteFile(file, transcript.Format(c), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(prompt, strings.TrimRight(c.Prompt, "\n")); d != "" {
				t.Errorf("prompt (-got +want):\n%s", d)
			}
			if d := cmp.Diff(ledger, c.Ledger, same); d != "" {
				t.Errorf("ledger (-got +want):\n%s", d)
			}
		})
	}
}
