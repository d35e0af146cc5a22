package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
)

// TestTheFirstHourIsAsThePageSays sends what docs/http.md shows of the first hour, in its
// order, and is told what stands there.
func TestTheFirstHourIsAsThePageSays(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(page), "```text\n> ")
	script, _, _ = strings.Cut(script, "\n```")
	w := newWorld(t)
	steps := strings.Split(script, "\n> ")
	for _, step := range steps {
		asked, want, _ := strings.Cut(step, "\n< ")
		method, rest, _ := strings.Cut(asked, " ")
		path, body, _ := strings.Cut(rest, " ")
		var sent any
		if body != "" {
			sent = body
		}
		status, _, raw := w.call(t, "T1", method, path, sent)
		var problem struct{ Detail string }
		if err := json.Unmarshal([]byte(raw), &problem); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(fmt.Sprint(status, " ", problem.Detail)); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", asked, got, want)
		}
	}
	if len(steps) < 8 {
		t.Errorf("the page has only %d steps", len(steps))
	}
}
