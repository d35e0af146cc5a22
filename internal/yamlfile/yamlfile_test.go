package yamlfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/yamlfile"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		safe       bool
	}{
		{"a policy is taken", "name: x\nfirst:\n  - section: guide\n  - {section: anchor}\n", true},
		{"a JSON policy is taken", `{"name":"x","first":[{"section":"guide"},{"section":"anchor"}]}`, true},
		{"a bullet and an emphasis in a text are taken", "note: 'a & b * c'\n# *emphasis*\n", true},
		{"a pattern of names is taken", "a: [inc-*, 'x?*y']\nb: \"inc-*\"\n", true},
		{"an alias in a list is refused", "-\t*a\n", false},
		{"deep brackets on one line are refused", strings.Repeat("[", 100_000), false},
		{"deep brackets over many lines are refused", strings.Repeat("[\n", 100_000), false},
		{"lists begun on one line are refused", strings.Repeat("- ", 10_000) + "x", false},
		{"an anchor is refused", "a: &a [x, x]\nb: [*a, *a]\n", false},
		{"a file of many megabytes is refused", strings.Repeat("a: b\n", 1_000_000), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "x.yaml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := yamlfile.Read(path); (err == nil) != c.safe || err != nil && !errors.Is(err, yamlfile.ErrUnsafe) {
				t.Errorf("got %v, want safe %v", err, c.safe)
			}
		})
	}
}
