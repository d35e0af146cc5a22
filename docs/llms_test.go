package docs_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "copy llms.txt anew")

// llms.txt, which tells a model where to read (llmstxt.org), has its title, its
// summary and every page of this folder, and each of its links leads to a file.
func TestLLMsTxtHasEveryPage(t *testing.T) {
	t.Parallel()
	index, err := os.ReadFile("../llms.txt")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.SplitN(string(index), "\n", 4); len(lines) < 4 || !strings.HasPrefix(lines[0], "# ") || !strings.HasPrefix(lines[2], "> ") {
		t.Error("llms.txt does not begin with a title and a summary")
	}
	listed := map[string]bool{}
	for _, l := range link.FindAllStringSubmatch(string(index), -1) {
		listed[l[1]] = true
		if _, err := os.Stat(filepath.Join("..", l[1])); err != nil {
			t.Errorf("llms.txt links to %s, which is not there", l[1])
		}
	}
	if *update {
		if err := os.WriteFile("llms.txt", index, 0o644); err != nil { //nolint:gosec // as the pages
			t.Fatal(err)
		}
	}
	if copied, err := os.ReadFile("llms.txt"); err != nil || string(copied) != string(index) {
		t.Errorf("docs/llms.txt, which the program has, is not llms.txt; run go test ./docs -update (%v)", err)
	}
	pages, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(pages) == 0 {
		t.Fatal("no page was found")
	}
	for _, page := range pages {
		if !listed["docs/"+page] {
			t.Errorf("llms.txt does not list docs/%s", page)
		}
	}
}
