package earshot_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// stable are the packages whose exported names keep their meaning within a major
// version: what a program brings to Earshot, and what it takes from it. All others
// that can be imported say that they are unstable.
var stable = []string{
	".", "archive", "assemble", "bot", "history", "llm", "model", "model/anthropic", "model/gemini", "model/openai",
	"platform/discord", "platform/slack", "search", "secret", "store", "tokens", "tools",
}

// A package that can be imported is one that is kept, or says that it is not: who
// imports it knows from its page what to expect.
func TestEachPublicPackageSaysWhetherItIsKept(t *testing.T) {
	t.Parallel()
	var seen []string
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if base := path.Base(name); name != "." && (strings.HasPrefix(base, ".") || slices.Contains([]string{"internal", "testdata", "cmd", "examples", "clients"}, base)) {
			return fs.SkipDir
		}
		text, is := packageDoc(t, name)
		if !is {
			return nil
		}
		seen = append(seen, name)
		says := strings.Contains(text, "\nUnstable: what this package exports may change with any version.")
		if kept := slices.Contains(stable, name); kept == says {
			t.Errorf("package %s: kept is %t, and its doc says unstable: %t; name it in stable, or say so in its doc", name, kept, says)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stable {
		if !slices.Contains(seen, name) {
			t.Errorf("there is no package %s", name)
		}
	}
}

// packageDoc returns the doc of the package in a folder; is is false where there is
// none.
func packageDoc(t *testing.T, folder string) (text string, is bool) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var files []*ast.File
	fset := token.NewFileSet()
	for _, e := range entries {
		if path.Ext(e.Name()) != ".go" || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		f, err := parser.ParseFile(fset, path.Join(folder, e.Name()), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return "", false
	}
	p, err := doc.NewFromFiles(fset, files, "example.com/"+folder)
	if err != nil {
		t.Fatal(err)
	}
	return p.Doc, true
}
