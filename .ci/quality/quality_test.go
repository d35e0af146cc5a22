package main

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// The pages hold what figures.json says, so nobody has written a figure by hand.
func TestThePagesAreMadeOfTheFigures(t *testing.T) {
	t.Chdir("../..")
	f, err := readFigures(figuresFile)
	if err != nil {
		t.Fatal(err)
	}
	for path, blocks := range f.pages() {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			again, err := replaceBlock(string(raw), b)
			if err != nil {
				t.Error(err)
			} else if again != string(raw) {
				t.Errorf("%s: %s is not what figures.json says; go run ./.ci/quality -write", path, b.name)
			}
		}
	}
}

func TestReplaceBlock(t *testing.T) {
	page := "head\n<!-- begin: x -->\nold\n<!-- end: x -->\ntail\n"
	got, err := replaceBlock(page, block{"x", "new\n\n"})
	if want := "head\n<!-- begin: x -->\nnew\n<!-- end: x -->\ntail\n"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	for _, broken := range []string{"no mark\n", "<!-- begin: x -->\nopen\n", "<!-- end: x -->\n<!-- begin: x -->\n"} {
		if _, err := replaceBlock(broken, block{"x", ""}); err == nil {
			t.Errorf("%q: no error", broken)
		}
	}
}

func TestLogLinesAreWhatATestHasLogged(t *testing.T) {
	out := "=== RUN   TestAblation\n    ablation_test.go:12: without  R@10\n        names    61.0\n        \n        dates    62.0\n" +
		"    ablation_test.go:40: done\n--- PASS: TestAblation (1.2s)\nPASS\nok  \tx\t1.3s\n"
	if got, want := logLines(out), []string{"without  R@10", "names    61.0", "dates    62.0", "done"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTablesSayBeforeAndNow(t *testing.T) {
	set := func(at10 float64) []retrieval {
		return []retrieval{{Set: "questions", Overall: group{Name: "all", Queries: 120, At10: at10, Hit10: at10}}}
	}
	f := figures{Before: measures{Retrieval: set(0.453)}, Now: measures{Retrieval: set(0.7125)}}
	for _, c := range []struct{ name, got, want string }{
		{"the table of search", f.retrieval(), "| **all** | 120 | 45.3 → **71.2** |"},
		{"the summary", f.summary(), "| questions (120): evidence among the first ten hits | 45.3 | **71.2** | ≥ 70.0 |"},
		{"what was not measured", f.context(), notYet},
		{"a set that was not measured before", figures{Now: f.Now}.retrieval(), "| **all** | 120 | – → **71.2** |"},
		{"thousands", thousands(-1234567) + " " + thousands(123) + " " + thousands(-123), "-1,234,567 123 -123"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s is\n%s\nwant in it\n%s", c.name, c.got, c.want)
		}
	}
}
