package site

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// static has what every page loads, and the page's frame.
//
//go:embed static
var static embed.FS

var frame = template.Must(template.ParseFS(static, "static/page.html"))

// Files are all files of the site, by their address below its root.
func (s *Site) Files() (map[string][]byte, error) {
	out := map[string][]byte{"llms.txt": s.contents}
	for _, name := range []string{"site.css", "site.js", "theme.js", "icon.svg"} {
		data, err := static.ReadFile("static/" + name)
		if err != nil {
			return nil, err
		}
		out[name] = data
	}
	for file := range s.assets {
		data, err := fs.ReadFile(s.files, file)
		if err != nil {
			return nil, err
		}
		out[file] = data
	}
	var err error
	if out["search.json"], err = s.searchable(); err != nil {
		return nil, err
	}
	if out[index], err = s.framed(nil); err != nil {
		return nil, err
	}
	for _, p := range s.pages {
		out[p.File] = p.Markdown
		if out[p.URL()], err = s.framed(p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// framed is a page as a whole document; nil is that of the contents.
func (s *Site) framed(p *Page) ([]byte, error) {
	var b bytes.Buffer
	view := struct {
		Site *Site
		Page *Page
		Up   string
	}{s, p, ""}
	if p != nil {
		view.Up = up(p.File)
	}
	err := frame.Execute(&b, view)
	return b.Bytes(), err
}

// searchable is what the search of the pages reads.
func (s *Site) searchable() ([]byte, error) {
	type page struct {
		URL   string `json:"url"`
		Title string `json:"title"`
		About string `json:"about"`
		Parts []Part `json:"parts"`
	}
	list := []page{}
	for _, section := range s.Sections {
		for _, p := range section.Pages {
			list = append(list, page{p.URL(), p.Title, p.About, p.Parts})
		}
	}
	return json.Marshal(list)
}

// Write writes the site into a folder of its version below dir, notes in dir which
// versions there are, and makes the address of dir lead to this one.
func (s *Site) Write(dir string) error {
	files, err := s.Files()
	if err != nil {
		return err
	}
	root := filepath.Join(dir, s.Version)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		to := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // pages are for everybody
			return err
		}
		if err := os.WriteFile(to, files[name], 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	return s.writeVersions(dir)
}

// writeVersions lists the versions that lie in dir, this one first.
func (s *Site) writeVersions(dir string) error {
	found, err := filepath.Glob(filepath.Join(dir, "*", "search.json"))
	if err != nil {
		return err
	}
	versions := []string{s.Version}
	for i := len(found) - 1; i >= 0; i-- {
		if v := filepath.Base(filepath.Dir(found[i])); v != s.Version {
			versions = append(versions, v)
		}
	}
	list, err := json.Marshal(versions)
	if err != nil {
		return err
	}
	lead := fmt.Sprintf("<!doctype html>\n<html lang=\"en\">\n<title>%s</title>\n<meta http-equiv=\"refresh\" content=\"0; url=%[2]s/\">\n<a href=\"%[2]s/\">%[1]s</a>\n",
		template.HTMLEscapeString(s.Title), template.URLQueryEscaper(s.Version))
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "versions.json"), list, 0o644), //nolint:gosec // as above
		os.WriteFile(filepath.Join(dir, index), []byte(lead), 0o644),   //nolint:gosec // as above
	)
}

// Handler serves the site.
func (s *Site) Handler() (http.Handler, error) {
	files, err := s.Files()
	if err != nil {
		return nil, err
	}
	files["versions.json"] = []byte("[]")
	made := time.Now()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		if name == "" {
			name = index
		}
		data, ok := files[name]
		if !ok {
			http.Error(w, "there is no such page; see /", http.StatusNotFound)
			return
		}
		if strings.HasSuffix(name, ".md") {
			w.Header().Set("Content-Type", "text/markdown; charset=utf-8")
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		http.ServeContent(w, r, name, made, bytes.NewReader(data))
	}), nil
}
