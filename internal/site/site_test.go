package site_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/earshot-ai/earshot/docs"
	"github.com/earshot-ai/earshot/internal/site"
)

var (
	address = regexp.MustCompile(` (?:href|src|srcset)="([^"]+)"`)
	anchor  = regexp.MustCompile(` id="([^"]+)"`)
)

// Every address of every page leads to a file of the site, to a heading that the file has,
// or to a file of the repository: of what the program carries, and of the whole repository.
func TestEveryAddressLeadsSomewhere(t *testing.T) {
	t.Parallel()
	for name, build := range map[string]func() (*site.Site, error){
		"what the program carries": func() (*site.Site, error) { return site.Build(docs.Files(), site.Options{}) },
		"the whole repository":     func() (*site.Site, error) { return site.Build(os.DirFS("../.."), site.Options{}) },
	} {
		s, err := build()
		if err != nil {
			t.Fatal(err)
		}
		files, err := s.Files()
		if err != nil {
			t.Fatal(err)
		}
		ids := map[string]bool{}
		for file, text := range files {
			for _, id := range anchor.FindAllStringSubmatch(string(text), -1) {
				if at := file + "#" + id[1]; strings.HasSuffix(file, ".html") {
					if ids[at] {
						t.Errorf("%s: %s has two of id %s", name, file, id[1])
					}
					ids[at] = true
				}
			}
		}
		seen := 0
		for file, text := range files {
			if !strings.HasSuffix(file, ".html") {
				continue
			}
			for _, a := range address.FindAllStringSubmatch(string(text), -1) {
				to, id, _ := strings.Cut(a[1], "#")
				if in, ok := strings.CutPrefix(to, "https://github.com/earshot-ai/earshot/"); ok {
					if _, inside, _ := strings.Cut(in, "/main/"); inside != "" {
						if _, err := os.Stat(filepath.Join("../..", inside)); err != nil {
							t.Errorf("%s: %s leads to %s, which is not in the repository", name, file, a[1])
						}
						if _, isPage := files[inside]; isPage {
							t.Errorf("%s: %s leads to the repository for %s, which the site has", name, file, inside)
						}
					}
					continue
				}
				if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
					continue
				}
				seen++
				target := file
				if to != "" {
					target = path.Join(path.Dir(file), to)
				}
				if _, ok := files[target]; !ok {
					t.Errorf("%s: %s leads to %s, which is not there", name, file, a[1])
				} else if id != "" && strings.HasSuffix(target, ".html") && !ids[target+"#"+id] {
					t.Errorf("%s: %s leads to %s, which has no such heading", name, file, a[1])
				}
			}
		}
		if seen < 1000 {
			t.Errorf("%s: only %d addresses were looked at", name, seen)
		}
	}
}

// small is a repository of two pages.
func small(t *testing.T) *site.Site {
	t.Helper()
	s, err := site.Build(fstest.MapFS{
		"llms.txt":    {Data: []byte("# Name\n\n> What it is.\n\n## First\n\n- [One](docs/one.md): about `one`\n- [Gone](docs/gone.md): not here\n\n## Empty\n\n- [Gone](gone.md): neither\n\n## Last\n\n- [Two](two.md): about two\n")},
		"docs/one.md": {Data: []byte("# One\n\nSee [two](../two.md#a-part-of-two), [code](../x/y.go) and ![a picture](p.svg).\n\n| a | b |\n|---|---|\n| <b>c</b> | d |\n\n    $ run --this\n    it ran\n")},
		"docs/p.svg":  {Data: []byte("<svg/>")},
		"x/y.go":      {Data: []byte("package y")},
		"two.md":      {Data: []byte("# Two\n\nText.\n\n## A part of `two`\n\nHere is *more*.\n")},
	}, site.Options{Version: "1.2.0"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPagesKnowOneAnother(t *testing.T) {
	t.Parallel()
	s := small(t)
	if len(s.Sections) != 2 || s.Title != "Name" || s.Summary != "What it is." {
		t.Errorf("the contents are %+v", s.Sections)
	}
	files, err := s.Files()
	if err != nil {
		t.Fatal(err)
	}
	one := string(files["docs/one.html"])
	for _, want := range []string{
		`href="../two.html#a-part-of-two"`, `href="https://github.com/earshot-ai/earshot/blob/main/x/y.go"`, `src="../docs/p.svg"`, `<title>One · Name</title>`,
		`href="../docs/one.html" aria-current="page"`, `href="../docs/one.md"`,
	} {
		if !strings.Contains(one, want) {
			t.Errorf("the page lacks %s:\n%s", want, one)
		}
	}
	var found []struct {
		URL   string
		About string
		Parts []site.Part
	}
	if err := json.Unmarshal(files["search.json"], &found); err != nil || len(found) != 2 {
		t.Fatalf("search.json: %v, %s", err, files["search.json"])
	}
	if p := found[1].Parts; found[1].URL != "two.html" || len(p) != 2 || p[1] != (site.Part{Anchor: "a-part-of-two", Heading: "A part of two", Text: "Here is more."}) {
		t.Errorf("to be searched: %+v", found[1])
	}
	if p := found[0]; p.About != "about one" || !strings.Contains(p.Parts[0].Text, "$ run --this it ran") || !strings.Contains(p.Parts[0].Text, "a b") {
		t.Errorf("to be searched: %+v", p)
	}
	for _, name := range []string{"one", "docs/one.md", "/docs/one.html"} {
		if p, ok := s.Page(name); !ok || p.File != "docs/one.md" {
			t.Errorf("there is no page %s", name)
		}
	}
}

// A folder keeps the versions beside each other, and leads to the one written last.
func TestVersionsLieBesideEachOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := small(t)
	if err := s.Write(dir); err != nil {
		t.Fatal(err)
	}
	s.Version = "1.10.0"
	if err := s.Write(dir); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"versions.json": `["1.10.0","1.2.0"]`, "index.html": `url=1.10.0/`, "1.2.0/docs/p.svg": "<svg/>", "1.10.0/two.md": "# Two"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %s", name, err, text)
		}
	}
}

func TestTheHandlerServesPagesAlone(t *testing.T) {
	t.Parallel()
	h, err := small(t).Handler()
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]struct {
		status int
		kind   string
	}{
		"/": {200, "text/html"}, "/docs/one.html": {200, "text/html"}, "/two.md": {200, "text/markdown"}, "/site.css": {200, "text/css"}, "/x/y.go": {404, "text/plain"}, "/../site.go": {404, "text/plain"},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, url, nil))
		if w.Code != want.status || !strings.HasPrefix(w.Header().Get("Content-Type"), want.kind) {
			t.Errorf("%s: %d, %s", url, w.Code, w.Header().Get("Content-Type"))
		}
	}
}
