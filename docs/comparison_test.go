package docs_test

import (
	"os"
	"strings"
	"testing"
)

// Each ✔ that comparison.md gives Earshot has a row in the table of proofs, which
// names tests of the repository; and no proof is of anything else.
func TestEveryCheckOfTheComparisonIsProved(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("comparison.md")
	if err != nil {
		t.Fatal(err)
	}
	claims, proofs, found := strings.Cut(string(page), "## The proof of ours")
	if !found {
		t.Fatal("comparison.md has no proofs")
	}
	proofs, _, _ = strings.Cut(proofs, "\n## ")
	claimed := map[string]bool{}
	for _, row := range rows(claims) {
		if strings.HasPrefix(row[1], "✔") {
			claimed[row[0]] = true
		}
	}
	if len(claimed) < 8 {
		t.Errorf("only %d rows have a ✔ of ours", len(claimed))
	}
	exist := declaredTests(t)
	for _, row := range rows(proofs)[1:] {
		named := testName.FindAllStringSubmatch(row[1], -1)
		if !claimed[row[0]] || len(named) == 0 {
			t.Errorf("%q: claimed is %t, and %d tests are named", row[0], claimed[row[0]], len(named))
		}
		delete(claimed, row[0])
		for _, m := range named {
			if !exist[m[1]] {
				t.Errorf("%q: %s is named and does not exist", row[0], m[1])
			}
		}
	}
	for what := range claimed {
		t.Errorf("%q has a ✔ and no proof", what)
	}
}

// rows returns the cells of a page's tables, without the lines below the heads.
func rows(page string) [][]string {
	var out [][]string
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		out = append(out, cells)
	}
	return out
}
