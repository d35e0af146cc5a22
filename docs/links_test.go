package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} (.+)$`)
	marks   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors returns what GitHub makes of a page's headings.
func anchors(page string) map[string]bool {
	found := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		text := marks.ReplaceAllString(strings.ToLower(h[1]), "")
		found["#"+strings.ReplaceAll(text, " ", "-")] = true
	}
	return found
}

// Every link between the pages leads to a file that exists, and to a heading
// that it has.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	var pages []string
	for _, pattern := range []string{"../*.md", "*.md", "decisions/*.md", "../examples/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	links := 0
	for _, path := range pages {
		page, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range link.FindAllStringSubmatch(string(page), -1) {
			if strings.Contains(l[1], "://") {
				continue
			}
			links++
			target, text := path, page
			if l[1] != "" {
				target = filepath.Join(filepath.Dir(path), l[1])
				info, err := os.Stat(target)
				if err != nil {
					t.Errorf("%s links to %s, which is not there", path, l[1])
					continue
				}
				if l[2] == "" || info.IsDir() {
					continue
				}
				if text, err = os.ReadFile(target); err != nil {
					t.Fatal(err)
				}
			}
			if l[2] != "" && !anchors(string(text))[l[2]] {
				t.Errorf("%s links to %s%s, and %s has no such heading", path, l[1], l[2], target)
			}
		}
	}
	if links < 50 {
		t.Errorf("the check found %d links", links)
	}
}
