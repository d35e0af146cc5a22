// Command packages prints the folders of the module's concurrent packages, one a
// line: those whose own code starts goroutines, other than commands. The detector of
// races watches all code of a program, so their tests watch what they call too. With
// -all it prints also commands, and those whose code or tests lock, or use atomics,
// channels or servers; in all others nothing runs beside anything else but parallel
// tests, and what those share is fixed before they start.
package main

import (
	"flag"
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
	all := flag.Bool("all", false, "also the packages that start no goroutines, and share memory")
	flag.Parse()
	shares := startsGoroutines
	if *all {
		shares = sharesMemory
	}
	folders, err := concurrent(os.DirFS("."), shares)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, f := range folders {
		fmt.Println("./" + f)
	}
}

// concurrent returns the folders of the packages in tree with a file of which shares
// says so, sorted. Nested modules, testdata and the folders that the go tool ignores
// are left out.
func concurrent(tree fs.FS, shares func(name string, f *ast.File) bool) ([]string, error) {
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
		if shares(name, file) {
			found[path.Dir(name)] = true
		}
		return nil
	})
	return slices.Sorted(maps.Keys(found)), err
}

// startsGoroutines reports whether a file of the package's own code has a go statement
// or a call of a method Go. Commands are left out: what they run is in packages.
func startsGoroutines(name string, file *ast.File) bool {
	return file.Name.Name != "main" && !strings.HasSuffix(name, "_test.go") && has(file, starts)
}

// sharesMemory reports whether a file has a go statement, a call of a method Go, a
// channel or a select, or imports a package of locks, atomics or servers.
func sharesMemory(_ string, file *ast.File) bool {
	for _, i := range file.Imports {
		switch p, _ := strconv.Unquote(i.Path.Value); p {
		case "sync", "sync/atomic", "testing/synctest", "net", "net/http", "net/http/httptest", "golang.org/x/sync/errgroup", "golang.org/x/sync/singleflight":
			return true
		}
	}
	return has(file, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.ChanType, *ast.SelectStmt:
			return true
		}
		return starts(n)
	})
}

// starts reports whether a node starts a goroutine.
func starts(n ast.Node) bool {
	if c, ok := n.(*ast.CallExpr); ok {
		s, ok := c.Fun.(*ast.SelectorExpr)
		return ok && s.Sel.Name == "Go"
	}
	_, ok := n.(*ast.GoStmt)
	return ok
}

// has reports whether a file has a node of which is says so.
func has(file *ast.File, is func(ast.Node) bool) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		found = found || is(n)
		return !found
	})
	return found
}
