// Package site makes pages that a browser shows from the documentation's Markdown: a
// folder of files for any web server, or a handler.
//
//	s, err := site.Build(docs.Files(), site.Options{Version: "0.1.0"})
//	err = s.Write("public")
//
// Start with [Build]. What is a page, in which order and under which heading, is what
// llms.txt lists. A link to another file of the repository leads to the repository.
package site

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

// Options say what a site is of.
type Options struct {
	Version    string // of the program; "" is devel
	Repository string // where files are that are no pages; "" is Earshot's own
}

// A Site is the documentation as pages.
type Site struct {
	Version  string
	Title    string
	Summary  string
	Sections []Section

	repository string
	files      fs.FS
	contents   []byte // llms.txt
	pages      map[string]*Page
	assets     map[string]bool // further files that pages show
}

// A Section is a heading of the contents, with its pages.
type Section struct {
	Title string
	Pages []*Page
}

// A Page is one Markdown file.
type Page struct {
	File  string // in the repository, such as docs/http.md
	Title string // as the contents have it
	About string // what it is about, in a line

	Markdown []byte
	HTML     template.HTML
	Parts    []Part
}

// A Part is a heading of a page, with the text below it, for search.
type Part struct {
	Anchor  string `json:"anchor"`
	Heading string `json:"heading"`
	Text    string `json:"text"`
}

// URL is the page's address below the site's root.
func (p *Page) URL() string { return address(p.File) }

func address(file string) string { return strings.TrimSuffix(file, ".md") + ".html" }

// index is the page of the contents.
const index = "index.html"

// entry is a page in llms.txt: [title](file): about.
var entry = regexp.MustCompile(`^- \[([^\]]+)\]\(([^)]+\.md)\): (.+)$`)

// Build reads llms.txt and the pages that it lists and that files has; those that files
// does not have are left out, so that a part of the repository will do. The error joins
// every problem.
func Build(files fs.FS, o Options) (*Site, error) {
	if o.Version == "" {
		o.Version = "devel"
	}
	if o.Repository == "" {
		o.Repository = "https://github.com/earshot-ai/earshot"
	}
	s := &Site{Version: o.Version, repository: o.Repository, files: files, pages: map[string]*Page{}, assets: map[string]bool{}}
	var err error
	if s.contents, err = fs.ReadFile(files, "llms.txt"); err != nil {
		return nil, fmt.Errorf("read the contents: %w", err)
	}
	if err := s.list(); err != nil {
		return nil, err
	}
	var problems []error
	for _, section := range s.Sections {
		for _, p := range section.Pages {
			if err := s.render(p); err != nil {
				problems = append(problems, fmt.Errorf("%s: %w", p.File, err))
			}
		}
	}
	return s, errors.Join(problems...)
}

// list reads the contents.
func (s *Site) list() error {
	for line := range bytes.Lines(s.contents) {
		line := strings.TrimSpace(string(line))
		switch {
		case strings.HasPrefix(line, "# "):
			s.Title = line[2:]
		case strings.HasPrefix(line, "> "):
			s.Summary = line[2:]
		case strings.HasPrefix(line, "## "):
			s.Sections = append(s.Sections, Section{Title: line[3:]})
		}
		found := entry.FindStringSubmatch(line)
		if found == nil || len(s.Sections) == 0 {
			continue
		}
		text, err := fs.ReadFile(s.files, found[2])
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		p := &Page{File: found[2], Title: found[1], About: strings.ReplaceAll(found[3], "`", ""), Markdown: text}
		s.pages[p.File] = p
		last := &s.Sections[len(s.Sections)-1]
		last.Pages = append(last.Pages, p)
	}
	for i := len(s.Sections) - 1; i >= 0; i-- {
		if len(s.Sections[i].Pages) == 0 {
			s.Sections = append(s.Sections[:i], s.Sections[i+1:]...)
		}
	}
	if len(s.pages) == 0 {
		return errors.New("llms.txt lists no page that is there")
	}
	return nil
}

// Page returns a page by its file, its name or the address of its HTML: docs/http.md,
// http and docs/http.html are one.
func (s *Site) Page(name string) (*Page, bool) {
	name = strings.TrimSuffix(strings.TrimSuffix(strings.Trim(name, "/"), ".html"), ".md")
	for _, file := range []string{name + ".md", "docs/" + name + ".md"} {
		if p, ok := s.pages[file]; ok {
			return p, true
		}
	}
	return nil, false
}

// resolve returns where a link in a page leads: to another page, to a file that the site
// shows too, or to the repository.
func (s *Site) resolve(p *Page, link string) string {
	target, anchor, _ := strings.Cut(link, "#")
	if target == "" || strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
		return link
	}
	if anchor != "" {
		anchor = "#" + anchor
	}
	file := path.Join(path.Dir(p.File), target)
	if to, ok := s.pages[file]; ok {
		return up(p.File) + to.URL() + anchor
	}
	info, err := fs.Stat(s.files, file)
	switch {
	case file == "llms.txt":
		return up(p.File) + file
	case err == nil && !info.IsDir() && shown[path.Ext(file)]:
		s.assets[file] = true
		return up(p.File) + file
	case err == nil && info.IsDir():
		return s.repository + "/tree/main/" + file + anchor
	}
	return s.repository + "/blob/main/" + file + anchor
}

// shown are the kinds of files that a site has besides pages.
var shown = map[string]bool{".svg": true, ".png": true, ".json": true}

// up leads from a file to the root.
func up(file string) string { return strings.Repeat("../", strings.Count(file, "/")) }
