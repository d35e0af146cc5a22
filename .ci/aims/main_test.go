package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A benchmark that has moved would be measured as nothing.
func TestEveryBenchmarkIsInItsFolder(t *testing.T) {
	t.Parallel()
	for _, a := range aims {
		files, err := filepath.Glob(filepath.Join("../..", a.pkg, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(a.bench, "/")
		found := false
		for _, f := range files {
			source, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(source), "func "+name+"(b *testing.B)")
		}
		if !found {
			t.Errorf("%s has no %s", a.pkg, name)
		}
	}
}
