package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// marked is a part of a page that `.ci/run quality` writes.
var marked = regexp.MustCompile(`(?s)<!-- begin: ([a-z]+) -->\n(.*?)<!-- end: ([a-z]+) -->\n`)

// blocks returns the marked parts of a page by their names.
func blocks(t *testing.T, path string) map[string]string {
	t.Helper()
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, m := range marked.FindAllStringSubmatch(string(page), -1) {
		if m[1] != m[3] {
			t.Errorf("%s: the mark that begins %s is followed by one that ends %s", path, m[1], m[3])
		}
		if _, twice := out[m[1]]; twice {
			t.Errorf("%s has two parts %s", path, m[1])
		}
		out[m[1]] = m[2]
	}
	if marks := strings.Count(string(page), "<!-- begin: ") + strings.Count(string(page), "<!-- end: "); marks != 2*len(out) {
		t.Errorf("%s has %d marks and %d parts", path, marks, len(out))
	}
	return out
}

// What `.ci/run quality` has measured stands in docs/quality.md between marks, and
// the README's three figures are among them.
func TestTheReadmesFiguresAreThoseOfTheQualityPage(t *testing.T) {
	t.Parallel()
	readme, page := blocks(t, "../../README.md"), blocks(t, "../../docs/quality.md")
	for _, name := range []string{"figures", "retrieval", "ablation", "speed", "context", "scenes", "chatter", "links", "cost"} {
		if strings.TrimSpace(page[name]) == "" {
			t.Errorf("docs/quality.md has nothing between the marks of %s", name)
		}
	}
	everything := ""
	for _, text := range page {
		everything += text
	}
	bold := regexp.MustCompile(`\*\*([^*]+)\*\*`)
	shown := bold.FindAllStringSubmatch(readme["headline"], -1)
	if len(shown) < 3 {
		t.Errorf("the README has %d figures, want three:\n%s", len(shown), readme["headline"])
	}
	for _, v := range shown {
		if !strings.Contains(everything, v[1]) {
			t.Errorf("docs/quality.md does not have the README's %s", v[1])
		}
	}
	// The figures are of the tables below them: each that is printed bold stands
	// there too, but for those of the cost, which are rounded.
	tables := ""
	for name, text := range page {
		if name != "figures" {
			tables += text
		}
	}
	for row := range strings.Lines(page["figures"]) {
		for _, v := range regexp.MustCompile(`\*\*([^*]+)\*\*`).FindAllStringSubmatch(row, -1) {
			if !strings.Contains(tables, v[1]) && !strings.Contains(row, "million") && !strings.Contains(row, "MB") {
				t.Errorf("no table has %s, of: %s", v[1], row)
			}
		}
	}
	if !strings.Contains(page["cost"], "](quality-cost.svg)") {
		t.Error("docs/quality.md does not show the chart of the cost")
	}
	chart, err := os.ReadFile("../../docs/quality-cost.svg")
	if err != nil || !strings.Contains(string(chart), "<svg ") || strings.Contains(string(chart), "<script") {
		t.Errorf("docs/quality-cost.svg is no picture: %v", err)
	}
}
