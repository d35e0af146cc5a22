package docs_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A testName is the name of a test between backticks.
var testName = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")

// declaredTests returns the names of the repository's tests.
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	declared := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	exist := map[string]bool{}
	err := fs.WalkDir(os.DirFS(".."), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile("../" + path)
		for _, m := range declared.FindAllSubmatch(source, -1) {
			exist[string(m[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return exist
}

// TestEveryTestThatIsNamedExists holds that each proof of threats.md is a test
// of the repository.
func TestEveryTestThatIsNamedExists(t *testing.T) {
	t.Parallel()
	exist := declaredTests(t)
	page, err := os.ReadFile("threats.md")
	if err != nil {
		t.Fatal(err)
	}
	named := testName.FindAllSubmatch(page, -1)
	if len(named) < 80 {
		t.Errorf("only %d tests are named", len(named))
	}
	for _, m := range named {
		if !exist[string(m[1])] {
			t.Errorf("%s is named and does not exist", m[1])
		}
	}
}
