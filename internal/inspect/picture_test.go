package inspect

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/internal/inspect/picture"
)

var updatePictures = flag.Bool("update-pictures", false, "write static/css/picture.css anew")

func TestTheRulesOfPicturesAreServed(t *testing.T) {
	t.Parallel()
	const path = "static/css/picture.css"
	if *updatePictures {
		if err := os.WriteFile(path, []byte(picture.Rules()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), picture.Rules()); diff != "" {
		t.Errorf("%s is not what package picture needs (-got +want; -update-pictures writes it):\n%s", path, diff)
	}
}

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
