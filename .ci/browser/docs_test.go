package main

import (
	"net/http/httptest"
	"os"
	"testing"

	"github.com/earshot-ai/earshot/internal/site"
)

// docsSite serves the documentation of this checkout.
func docsSite(t *testing.T) string {
	t.Helper()
	s, err := site.Build(os.DirFS(module), site.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := s.Handler()
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv.URL
}

// People read the documentation with a keyboard, in the dark, and on a telephone.
func TestTheDocumentationIsRead(t *testing.T) {
	t.Parallel()
	needs(t)
	url := docsSite(t)
	t.Run("axe", func(t *testing.T) {
		t.Parallel()
		// Those with the widest tables, with pictures, and with most code.
		play(t, "axe.mjs", map[string]any{"url": url, "most": 6, "seeds": []string{"/", "/README.html", "/docs/configuration.html", "/docs/quality.html", "/docs/http.html", "/docs/inspector.html"}})
	})
	t.Run("by hand", func(t *testing.T) {
		t.Parallel()
		play(t, "docs.mjs", map[string]any{"url": url})
	})
}
