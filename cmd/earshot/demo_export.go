package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// exportedContexts bounds the contexts of a static copy: those that the pages before lead to
// first.
const exportedContexts = 25

// A pageExport copies pages of the inspector into a folder, so that any web server can show
// them: what can be read of the bundled chat, without what asks a process.
type pageExport struct {
	base  string // of the inspector, without a path
	dir   string
	files map[string]string // the file of each address, relative to dir
	queue []string          // addresses that are to be copied

	contexts int
}

// exportPages copies the page at base and what its links lead to.
func exportPages(ctx context.Context, base, dir string) (pages int, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // pages for everybody
		return 0, err
	}
	x := &pageExport{base: base, dir: dir, files: map[string]string{}}
	x.file("/")
	for len(x.queue) > 0 {
		at := x.queue[0]
		x.queue = x.queue[1:]
		if err := x.copy(ctx, at); err != nil {
			return pages, fmt.Errorf("copy %s: %w", at, err)
		}
		if strings.HasSuffix(x.files[at], ".html") {
			pages++
		}
	}
	return pages, nil
}

// copied are the views that show what was said, and why; the others ask the process
// something, or show an empty list.
var copied = []string{"/", "/chat", "/context", "/coverage"}

// file returns the file of an address, which is copied too; "" for one that is not.
func (x *pageExport) file(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
		return ""
	}
	u.Fragment = ""
	key := u.String()
	if name, ok := x.files[key]; ok {
		return name
	}
	kind := filepath.Ext(u.Path)
	page := slices.Contains(copied, u.Path)
	static := strings.HasPrefix(u.Path, "/static/")
	if !page && !static && kind != ".svg" {
		return ""
	}
	if u.Path == "/chat" { // a channel, wherever in it the link leads
		of := u.Query()
		of.Del("at")
		of.Del("thread")
		u.RawQuery = of.Encode()
		key = u.String()
		if name, ok := x.files[key]; ok {
			return name
		}
	}
	if u.Path == "/context" {
		if x.contexts++; x.contexts > exportedContexts {
			return ""
		}
	}
	name := strings.ReplaceAll(strings.Trim(strings.TrimSuffix(u.Path, kind), "/"), "/", "-")
	switch {
	case u.Path == "/":
		name = "index"
	case u.RawQuery != "" && !static:
		sum := sha256.Sum256([]byte(u.RawQuery))
		name += "-" + hex.EncodeToString(sum[:4])
	}
	if page {
		kind = ".html"
	}
	x.files[key] = name + kind
	x.queue = append(x.queue, key)
	return name + kind
}

var (
	linkInPage = regexp.MustCompile(` (href|src)="(/[^"#]*)(#[^"]*)?"`)
	notStatic  = regexp.MustCompile(`<script src="/static/htmx[^>]*></script>|(?s)<form.*?</form>| (?:hx-[a-z-]+|data-live|data-stream)(?:="[^"]*")?`)
)

// copy writes the file of an address.
func (x *pageExport) copy(ctx context.Context, address string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.base+address, nil)
	if err != nil {
		return err
	}
	a, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer a.Body.Close()
	body, err := io.ReadAll(a.Body)
	if err != nil {
		return err
	}
	if a.StatusCode != http.StatusOK {
		return fmt.Errorf("the inspector answers %s", a.Status)
	}
	if strings.HasSuffix(x.files[address], ".html") {
		body = []byte(x.static(string(body)))
	}
	return os.WriteFile(filepath.Join(x.dir, x.files[address]), body, 0o644) //nolint:gosec // pages for everybody
}

// static is a page without what needs a process: links lead to the files, and one to what is
// not copied leads nowhere.
func (x *pageExport) static(page string) string {
	page = notStatic.ReplaceAllString(page, "")
	return linkInPage.ReplaceAllStringFunc(page, func(s string) string {
		m := linkInPage.FindStringSubmatch(s)
		if file := x.file(html.UnescapeString(m[2])); file != "" {
			return fmt.Sprintf(" %s=%q", m[1], file+m[3])
		}
		return ""
	})
}
