package earshot_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A tree is the non-test source of a module: for each folder, relative to the
// module's root ("." itself), its parsed files.
type tree struct {
	module string
	fset   *token.FileSet
	files  map[string][]*ast.File
}

// parseTree reads every .go file below fsys that is part of the module and no
// test. Build tags are ignored: a rule holds on every platform.
func parseTree(fsys fs.FS, module string) (*tree, error) {
	t := &tree{module: module, fset: token.NewFileSet(), files: map[string][]*ast.File{}}
	err := fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name == "." {
				return nil
			}
			base := path.Base(name)
			if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
				return fs.SkipDir
			}
			if _, err := fs.Stat(fsys, path.Join(name, "go.mod")); err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		src, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		f, err := parser.ParseFile(t.fset, name, src, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		t.files[dir] = append(t.files[dir], f)
		return nil
	})
	return t, err
}

// dirs returns the folders in order.
func (t *tree) dirs() []string {
	var dirs []string
	for d := range t.files {
		dirs = append(dirs, d)
	}
	slices.Sort(dirs)
	return dirs
}

// local returns the folder of an import path of this module.
func (t *tree) local(importPath string) (dir string, ok bool) {
	if importPath == t.module {
		return ".", true
	}
	return strings.CutPrefix(importPath, t.module+"/")
}

// at writes where a node stands.
func (t *tree) at(n ast.Node) string {
	p := t.fset.Position(n.Pos())
	return fmt.Sprintf("%s:%d", p.Filename, p.Line)
}

// importPath returns the path that spec names.
func importPath(spec *ast.ImportSpec) string {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return spec.Path.Value
	}
	return p
}

// importName returns the name by which a file speaks of an import. The last
// element of the path is the package's name throughout this module and in the
// standard library packages that the rules speak of.
func importName(spec *ast.ImportSpec) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	return path.Base(importPath(spec))
}

// check returns everything in t that breaks the rules, one line each, sorted.
func (a architecture) check(t *tree) []string {
	var found []string
	for _, dir := range t.dirs() {
		if _, ok := a.level(dir); !ok {
			found = append(found, fmt.Sprintf("%s: has no level: add a line to the table, and say why it is there", dir))
		}
		for _, f := range t.files[dir] {
			found = append(found, a.checkImports(t, dir, f)...)
			if a.isPure(dir) {
				found = append(found, a.checkPure(t, f)...)
			}
			if f.Name.Name != "main" && !isInternal(dir) {
				found = append(found, checkSignatures(t, f)...)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// checkImports applies the levels and the rules to one file's imports.
func (a architecture) checkImports(t *tree, dir string, f *ast.File) []string {
	var found []string
	for _, spec := range f.Imports {
		to := importPath(spec)
		bad := func(format string, args ...any) {
			found = append(found, fmt.Sprintf("%s: %s imports %s: %s", t.at(spec), dir, to, fmt.Sprintf(format, args...)))
		}
		target, ours := t.local(to)
		if ours {
			from, ok1 := a.level(dir)
			down, ok2 := a.level(target)
			if ok1 && ok2 && down >= from {
				bad("imports point down only, and this is level %d to level %d", from, down)
			}
			if a.isPure(dir) && !a.isPure(target) {
				bad("a pure package builds on pure packages only")
			}
		} else {
			target = to
		}
		for _, r := range a.rules {
			if r.breaks(dir, target, ours) {
				bad("%s", r.why)
			}
		}
	}
	return found
}

// checkPure looks for what a pure package must not have in it.
func (a architecture) checkPure(t *tree, f *ast.File) []string {
	var found []string
	banned := map[string]map[string]string{} // by the import's name in this file, then the member's
	for _, spec := range f.Imports {
		p := importPath(spec)
		for _, b := range a.impure {
			if (p == b.path || strings.HasPrefix(p, b.path+"/")) && !slices.Contains(b.except, p) {
				found = append(found, fmt.Sprintf("%s: imports %s: %s", t.at(spec), p, b.why))
			}
		}
		if members, ok := a.impureMembers[p]; ok {
			if importName(spec) == "." {
				found = append(found, fmt.Sprintf("%s: imports %s with a dot, which hides what is used of it", t.at(spec), p))
			}
			banned[importName(spec)] = members
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = append(found, t.at(n)+": starts a goroutine: a pure package has none")
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok {
				if why := banned[x.Name][n.Sel.Name]; why != "" {
					found = append(found, fmt.Sprintf("%s: uses %s.%s: %s", t.at(n), x.Name, n.Sel.Name, why))
				}
			}
		}
		return true
	})
	return found
}

// checkSignatures looks for internal types in what a public package exports:
// functions, methods of exported types, fields, embedded types, interface
// methods, variables and constants. Nobody outside could write down such a type.
func checkSignatures(t *tree, f *ast.File) []string {
	internal := map[string]string{}
	for _, spec := range f.Imports {
		if p := importPath(spec); isInternal(p) {
			if _, ours := t.local(p); ours {
				internal[importName(spec)] = p
			}
		}
	}
	if len(internal) == 0 {
		return nil
	}
	var found []string
	look := func(name string, n ast.Node) {
		if n == nil {
			return
		}
		ast.Inspect(n, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncLit, *ast.BlockStmt:
				return false
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.Ident); ok && internal[x.Name] != "" {
					found = append(found, fmt.Sprintf("%s: exported %s names the internal type %s.%s", t.at(n), name, x.Name, n.Sel.Name))
				}
			}
			return true
		})
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || receiverExported(d.Recv)) {
				look(d.Name.Name, d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						look(s.Name.Name, withoutHidden(s.Type))
						if s.TypeParams != nil {
							look(s.Name.Name, s.TypeParams)
						}
					}
				case *ast.ValueSpec:
					if slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
						if s.Type != nil {
							look(s.Names[0].Name, s.Type)
						}
						for _, v := range s.Values {
							if s.Type == nil && d.Tok == token.VAR {
								look(s.Names[0].Name, v)
							}
						}
					}
				}
			}
		}
	}
	return found
}

// withoutHidden returns a struct or interface type without what only its own
// package can name, and any other type as it is.
func withoutHidden(e ast.Expr) ast.Expr {
	shown := func(l *ast.FieldList) *ast.FieldList {
		out := &ast.FieldList{}
		for _, f := range l.List {
			if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
				out.List = append(out.List, f)
			}
		}
		return out
	}
	switch e := e.(type) {
	case *ast.StructType:
		return &ast.StructType{Struct: e.Struct, Fields: shown(e.Fields)}
	case *ast.InterfaceType:
		return &ast.InterfaceType{Interface: e.Interface, Methods: shown(e.Methods)}
	}
	return e
}

// receiverExported reports whether a method belongs to an exported type.
func receiverExported(recv *ast.FieldList) bool {
	e := recv.List[0].Type
	for {
		switch x := e.(type) {
		case *ast.StarExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.IndexListExpr:
			e = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

// isInternal reports whether a folder or import path cannot be imported from
// outside the module.
func isInternal(p string) bool {
	return slices.Contains(strings.Split(p, "/"), "internal")
}

// matches reports whether a folder or import path fits a pattern: itself, or
// with /... at its end also everything below; * stands for one element.
func matches(pattern, p string) bool {
	want, below := strings.CutSuffix(pattern, "/...")
	ws, ps := strings.Split(want, "/"), strings.Split(p, "/")
	if len(ps) < len(ws) || !below && len(ps) != len(ws) {
		return false
	}
	for i, w := range ws {
		if ok, err := path.Match(w, ps[i]); err != nil || !ok {
			return false
		}
	}
	return true
}

// level returns the level of a folder: the line of the table that names it
// most closely.
func (a architecture) level(dir string) (int, bool) {
	var fit []level
	for _, l := range a.levels {
		if matches(l.pkg, dir) {
			fit = append(fit, l)
		}
	}
	if len(fit) == 0 {
		return 0, false
	}
	best := slices.MaxFunc(fit, func(x, y level) int { return cmp.Compare(len(x.pkg), len(y.pkg)) })
	return best.level, true
}

// isPure reports whether a folder is one of the pure packages.
func (a architecture) isPure(dir string) bool {
	return slices.ContainsFunc(a.pure, func(p string) bool { return matches(p, dir) })
}

// breaks reports whether an import falls under the rule.
func (r rule) breaks(from, to string, ours bool) bool {
	if !matches(r.from, from) || slices.ContainsFunc(r.exceptFrom, func(p string) bool { return matches(p, from) }) {
		return false
	}
	if r.thirdParty {
		return !ours && strings.Contains(strings.Split(to, "/")[0], ".") &&
			!slices.ContainsFunc(r.except, func(p string) bool { return matches(p, to) })
	}
	if !matches(r.to, to) || slices.ContainsFunc(r.except, func(p string) bool { return matches(p, to) }) {
		return false
	}
	return !r.siblings || from != to
}
