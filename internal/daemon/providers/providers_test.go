package providers_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/secret"
)

// A provider with an API of its own is a package and its row; one that speaks another's
// API is a row alone, over that one's package. A package without its row, and a row in
// which something is missing, are found here.
func TestEachPackageBelowModelHasItsRow(t *testing.T) {
	t.Parallel()
	const folder = "../../../model"
	found := 0
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		sources, _ := filepath.Glob(filepath.Join(folder, e.Name(), "*.go"))
		for _, file := range sources {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(src), "\nconst Provider = ") {
				if _, ok := providers.Of(e.Name()); !ok {
					t.Errorf("package %s has no row", e.Name())
				}
				found++
			}
		}
	}
	if found < 3 {
		t.Errorf("only %d packages were found", found)
	}
}

func TestARowIsWhole(t *testing.T) {
	t.Parallel()
	for _, p := range providers.All {
		if p.Name == "" || p.Model == "" || p.Key == "" || p.KeyDoc == "" || p.URL == "" || p.URLDoc == "" {
			t.Errorf("a field of the row %q is empty", p.Name)
		}
		m, err := p.New(model.Options{Model: p.Model, APIKey: secret.New("k")})
		if err != nil || m == nil {
			t.Errorf("%s: New makes %v, %v", p.Name, m, err)
		}
		if _, err := p.New(model.Options{Model: p.Model}); err == nil || !strings.Contains(err.Error(), p.Key+" is not set") {
			t.Errorf("%s: without its key New says %v, want that %s is not set", p.Name, err, p.Key)
		}
		if body := p.Body(llm.SentBody{Model: p.Model}, llm.Request{Messages: []llm.Message{{Role: "user", Parts: []llm.Part{llm.Text("Hello")}}}}); !strings.Contains(string(body), "Hello") {
			t.Errorf("%s: the body of a request is %s", p.Name, body)
		}
		if n := p.FileTokens(p.Model, model.File{Type: "image/png", Width: 1000, Height: 1000, Bytes: 100_000}); n <= 0 {
			t.Errorf("%s: a picture of a megapixel costs %d tokens", p.Name, n)
		}
	}
}
