package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A static copy of the demo's page needs no process: every link leads to a file beside it,
// and the first page to the prompt of its question.
func TestACopyOfTheDemosPageNeedsNoProcess(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "demo")
	var out, problems bytes.Buffer
	if code := run(t.Context(), []string{"earshot", "demo", "--export", dir}, []string{"HOME=" + t.TempDir()}, strings.NewReader(""), &out, &problems); code != exitOK {
		t.Fatal(problems.String())
	}
	pages, err := filepath.Glob(filepath.Join(dir, "*.html"))
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages, %v: %s", len(pages), err, out.String())
	}
	links := 0
	for _, path := range pages {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, attribute := range []string{` href="`, ` src="`} {
			for _, part := range strings.Split(string(text), attribute)[1:] {
				to, _, _ := strings.Cut(part, `"`)
				if to, _, _ = strings.Cut(to, "#"); to == "" || strings.Contains(to, "://") {
					continue
				}
				links++
				if _, err := os.Stat(filepath.Join(dir, to)); err != nil {
					t.Errorf("%s leads to %s, which is not there", filepath.Base(path), to)
				}
			}
		}
		for _, process := range []string{"<form", "htmx.js", "hx-get", "data-live", "data-stream"} {
			if strings.Contains(string(text), process) {
				t.Errorf("%s has %s", filepath.Base(path), process)
			}
		}
	}
	first, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil {
		t.Fatal(err)
	}
	_, at, _ := strings.Cut(string(first), `href="context-`)
	name, _, _ := strings.Cut(at, `"`)
	prompt, err := os.ReadFile(filepath.Join(dir, "context-"+name))
	if err != nil || !strings.Contains(string(prompt), "import-2 back at 14:48") || links < 500 {
		t.Errorf("the first page leads to %q (%v); %d links were looked at", name, err, links)
	}
}
