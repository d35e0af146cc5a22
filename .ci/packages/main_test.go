package main

import (
	"go/ast"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestConcurrentPackagesAreFound(t *testing.T) {
	t.Parallel()
	file := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	tree := fstest.MapFS{
		"root.go":                 file("package root; import \"sync\""),
		"pure/a.go":               file("package pure; import (\"time\"; \"strings\"); func f(t time.Time) {}"),
		"goroutine/a.go":          file("package goroutine; func f() { go f() }"),
		"command/a.go":            file("package main; func f() { go f() }"),
		"atomic/a.go":             file("package atomic; import x \"sync/atomic\""),
		"group/a.go":              file("package group; func f(g group) { g.Go(nil) }"),
		"channel/a.go":            file("package channel; type T struct { done <-chan struct{} }"),
		"wait/a.go":               file("package wait; func f() { select {} }"),
		"tested/a.go":             file("package tested"),
		"tested/a_test.go":        file("package tested_test; import \"net/http/httptest\""),
		"pure/testdata/a.go":      file("not Go"),
		"nested/go.mod":           file("module nested"),
		"nested/a.go":             file("package nested; import \"sync\""),
		".hidden/a.go":            file("package hidden; import \"sync\""),
		"deep/in/the/tree/a.go":   file("package tree; import \"sync\""),
		"deep/in/the/readme.text": file("go f()"),
		"tested/b_test.go":        file("package tested_test; func f() { go f() }"),
	}
	for _, c := range []struct {
		name   string
		shares func(string, *ast.File) bool
		want   []string
	}{
		{"that start goroutines", startsGoroutines, []string{"goroutine", "group"}},
		{"that share memory", sharesMemory, []string{".", "atomic", "channel", "command", "deep/in/the/tree", "goroutine", "group", "tested", "wait"}},
	} {
		got, err := concurrent(tree, c.shares)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("packages %s (-got +want):\n%s", c.name, cmp.Diff(got, c.want))
		}
	}
	if _, err := concurrent(fstest.MapFS{"broken/a.go": file("no package")}, sharesMemory); err == nil {
		t.Error("a file that cannot be read as Go is no error")
	}
}
