package inspect

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/inspect/picture"
)

// A saved picture has the colours of the page that it was saved from.
func TestSavedPicturesHaveThePagesColours(t *testing.T) {
	t.Parallel()
	css, err := os.ReadFile("static/css/00-base.css")
	if err != nil {
		t.Fatal(err)
	}
	properties := regexp.MustCompile(`(--[a-z0-9-]+): (#[0-9a-f]+);`)
	before, after, ok := strings.Cut(string(css), "prefers-color-scheme: dark")
	if !ok {
		t.Fatal("the page has one colour scheme")
	}
	after, _, _ = strings.Cut(after, "\n* {")
	light, dark := picture.Colours()
	for scheme, c := range map[string]struct {
		css  string
		want map[string]string
	}{"light": {before, light}, "dark": {after, dark}} {
		page := map[string]string{}
		for _, m := range properties.FindAllStringSubmatch(c.css, -1) {
			page[m[1]] = m[2]
		}
		for name, want := range c.want {
			if page[name] != want {
				t.Errorf("%s: %s is %q in the page and %q in files", scheme, name, page[name], want)
			}
		}
	}
}
