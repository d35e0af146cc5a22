// Package docs holds the documentation, for those parts of the program that read or show it.
//
// Unstable: what this package exports may change with any version.
package docs

import (
	"embed"
	"io/fs"
	"strings"
)

// Workspace is workspace.md: who and what is in the bundled workspace, and the
// scenes, which are good questions with the messages that each answer needs. It
// is the only record of them.
//
//go:embed workspace.md
var Workspace string

// pages are this folder. llms.txt is that of the repository's root, which nothing below
// it can embed.
//
//go:embed *.md *.svg openapi.json llms.txt
var pages embed.FS

// Files are the pages with what they show, at their places in the repository: docs/http.md
// and so on, and llms.txt, which lists them.
func Files() fs.FS { return inRepository{} }

type inRepository struct{}

// Open implements [fs.FS].
func (inRepository) Open(name string) (fs.File, error) {
	if name == "llms.txt" {
		return pages.Open(name)
	}
	file, ok := strings.CutPrefix(name, "docs/")
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return pages.Open(file)
}
