// Command packages prints the folders of the module's concurrent packages, one a
// line: those that start goroutines, lock, or use atomics, channels or servers,
// in their code or in their tests. Only these run under the race detector: in
// all others nothing runs beside anything else but parallel tests, and what
// those share is fixed before they start.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

func main() {
	folders, err := concurrent(os.DirFS("."))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, f := range folders {
		fmt.Println("./" + f)
	}
}

// concurrent returns the folders of the concurrent packages in tree, sorted.
// Nested modules, testdata and the folders that the go tool ignores are left out.
func concurrent(tree fs.FS) ([]string, error) {
	found := map[string]bool{}
	err := fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name == "." {
				return nil
			}
			base := path.Base(name)
			if _, err := fs.Stat(tree, path.Join(name, "go.mod")); err == nil || base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go" || found[path.Dir(name)]:
			return nil
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if sharesMemory(file) {
			found[path.Dir(name)] = true
		}
		return nil
	})
	return slices.Sorted(maps.Keys(found)), err
}

// sharesMemory reports whether a file has a go statement, a call of a method Go,
// a channel or a select, or imports a package of locks, atomics or servers.
func sharesMemory(file *ast.File) bool {
	for _, i := range file.Imports {
		switch p, _ := strconv.Unquote(i.Path.Value); p {
		case "sync", "sync/atomic", "testing/synctest", "net", "net/http", "net/http/httptest", "golang.org/x/sync/errgroup", "golang.org/x/sync/singleflight":
			return true
		}
	}
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt, *ast.ChanType, *ast.SelectStmt:
			found = true
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				found = true
			}
		}
		return !found
	})
	return found
}
