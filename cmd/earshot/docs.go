package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/docs"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/site"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type docsCmd struct {
	Page   string `arg:"" optional:"" placeholder:"PAGE" help:"A page by its name, such as http; without one all are listed."`
	Serve  bool   `help:"Serve the pages to a browser."`
	Listen string `placeholder:"ADDR" default:"127.0.0.1:7302" help:"Where to serve them (default: 127.0.0.1:7302)."`
	Write  string `placeholder:"FOLDER" help:"Write the pages as a site for a web server." type:"path"`
}

// pageJSON is a page as --json lists it.
type pageJSON struct {
	Name    string `json:"name"`
	Title   string `json:"title"`
	About   string `json:"about"`
	Section string `json:"section"`
}

func (c *docsCmd) Run(ctx context.Context, a *app) error {
	s, err := site.Build(docs.Files(), site.Options{Version: buildVersion()})
	if err != nil {
		return err
	}
	switch {
	case c.Write != "":
		if err := s.Write(c.Write); err != nil {
			return err
		}
		a.printf("wrote %s; index.html leads to version %s\n", plain.Line(c.Write, 200), s.Version)
		return nil
	case c.Serve:
		return c.serve(ctx, a, s)
	case c.Page == "":
		return listPages(a, s)
	}
	p, ok := s.Page(c.Page)
	if !ok {
		return usagef("there is no page %q; earshot docs lists them", c.Page)
	}
	if a.json {
		return a.writeJSON(map[string]string{"name": pageName(p), "title": p.Title, "markdown": string(p.Markdown)})
	}
	_, err = a.raw.Write(p.Markdown)
	return err
}

// pageName is what a page is called on the command line.
func pageName(p *site.Page) string {
	return strings.TrimSuffix(strings.TrimPrefix(p.File, "docs/"), ".md")
}

func listPages(a *app, s *site.Site) error {
	list := []pageJSON{}
	width := 0
	for _, section := range s.Sections {
		for _, p := range section.Pages {
			list = append(list, pageJSON{pageName(p), p.Title, p.About, section.Title})
			width = max(width, len(pageName(p)))
		}
	}
	if a.json {
		return a.writeJSON(list)
	}
	for i, p := range list {
		if i == 0 || p.Section != list[i-1].Section {
			a.printf("%s%s\n", map[bool]string{true: "\n"}[i > 0], terminal.Strong(p.Section))
		}
		a.printf("  %-*s  %s\n", width, p.Name, terminal.CutWidth(p.Title+terminal.Faint(": "+p.About), a.width-width-4))
	}
	return nil
}

// serve serves the pages until ctx ends.
func (c *docsCmd) serve(ctx context.Context, a *app, s *site.Site) error {
	h, err := s.Handler()
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", c.Listen, err)
	}
	url := "http://" + l.Addr().String() + "/"
	if a.json {
		err = a.writeJSON(map[string]string{"url": url})
	} else {
		a.printf("the documentation is on %s\n", url)
	}
	if err != nil {
		return err
	}
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() }) // it ends either way
	defer stop()
	if err := srv.Serve(l); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}
