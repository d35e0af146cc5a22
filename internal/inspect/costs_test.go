package inspect_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// spentWorld has three turns of March, in two channels, one of them failed.
func spentWorld(t *testing.T) world {
	w := newWorld(t, func(o *inspect.Options) {
		o.Now = func() time.Time { return march(20, 12).UTC() }
		o.Cost = func(model string, u earshot.Usage) (float64, bool) { return float64(u.Output) / 1000, model == "big" }
	})
	w.answered(t, exchange{channel: "ops", id: "q1", by: "Ana", ask: "one", at: march(3, 9), model: "big", usage: []earshot.Usage{{Input: 100, Output: 10, CacheWrite: 300}, {Input: 20, Output: 5, CacheRead: 300}}})
	w.answered(t, exchange{channel: "ops", id: "q2", by: "Ben", ask: "two", at: march(3, 10), model: "small", usage: []earshot.Usage{{Input: 50, Output: 7}}, failed: "no answer"})
	w.answered(t, exchange{channel: "hr", id: "q3", by: "Ana", ask: "three", at: march(5, 9), model: "big", usage: []earshot.Usage{{Input: 80, Output: 20, CacheRead: 20}}})
	return w
}

type costsJSON struct {
	Rows    []explain.Row `json:"rows"`
	Total   explain.Row   `json:"total"`
	Stopped string        `json:"stopped"`
}

func TestCostsAreSummed(t *testing.T) {
	t.Parallel()
	w := spentWorld(t)
	row := func(r explain.Row) string {
		return fmt.Sprintf("%s: %d turns, %d calls, %d read, %d from the cache, %d written, %d answered, %s, %s", r.Key, r.Turns, r.Calls, r.Input, r.Read, r.Write, r.Output, r.Money(), r.Percent())
	}
	for by, want := range map[string][]string{
		"day":     {"2026-03-03: 2 turns, 3 calls, 170 read, 300 from the cache, 300 written, 22 answered, 0.0220+, 39 %", "2026-03-05: 1 turns, 1 calls, 80 read, 20 from the cache, 0 written, 20 answered, 0.0200, 20 %"},
		"channel": {"#hr: 1 turns, 1 calls, 80 read, 20 from the cache, 0 written, 20 answered, 0.0200, 20 %", "#ops: 2 turns, 3 calls, 170 read, 300 from the cache, 300 written, 22 answered, 0.0220+, 39 %"},
		"person":  {"Ana: 2 turns, 3 calls, 200 read, 320 from the cache, 300 written, 35 answered, 0.0350, 39 %", "Ben: 1 turns, 1 calls, 50 read, 0 from the cache, 0 written, 7 answered, 0.0070+, 0 %"},
		"model":   {"big: 2 turns, 3 calls, 200 read, 320 from the cache, 300 written, 35 answered, 0.0350, 39 %", "small: 1 turns, 1 calls, 50 read, 0 from the cache, 0 written, 7 answered, 0.0070+, 0 %"},
	} {
		got := jsonOf[costsJSON](t, w, "/costs.json?by="+by)
		var rows []string
		for _, r := range got.Rows {
			rows = append(rows, row(r))
		}
		if diff := cmp.Diff(rows, want); diff != "" {
			t.Errorf("by %s: -got +want\n%s", by, diff)
		}
		if got.Total.Turns != 3 || got.Total.Calls != 4 || got.Stopped != "" {
			t.Errorf("by %s the total is %+v, stopped at %q", by, got.Total, got.Stopped)
		}
		for _, name := range []string{"tokens", "cost"} {
			svg := w.page(t, "/costs/"+name+".svg?by="+by)
			if !strings.HasPrefix(svg, "<?xml") || !strings.Contains(svg, "2026-03-05: ") {
				t.Errorf("by %s, %s.svg: %s", by, name, svg)
			}
		}
	}
}

func TestCostsAreOfTheDaysAndChannelsThatAreAskedFor(t *testing.T) {
	t.Parallel()
	w := spentWorld(t)
	for query, turns := range map[string]int{
		"": 3, "?from=2026-03-04": 1, "?to=2026-03-03": 2, "?from=2026-03-03&to=2026-03-05": 3, "?channel=hr": 1, "?channel=hr&to=2026-03-04": 0, "?from=2026-03-06": 0,
	} {
		if got := jsonOf[costsJSON](t, w, "/costs.json"+query); got.Total.Turns != turns {
			t.Errorf("/costs%s has %d turns, want %d", query, got.Total.Turns, turns)
		}
	}
	for _, query := range []string{"by=colour", "from=yesterday", "from=2026-03-09&to=2026-03-01", "from=2020-01-01&to=2026-01-01"} {
		if status, body := w.do(t, browser(t), "GET", "/costs?"+query, nil, "Authorization", "Bearer "+token); status != http.StatusBadRequest {
			t.Errorf("/costs?%s: %d %s", query, status, body)
		}
	}
	if body := w.page(t, "/costs?from=2026-03-06"); !strings.Contains(body, "No model was asked in these days") || !strings.Contains(body, "2026-03-05 09:00") {
		t.Errorf("days without turns do not say where turns are: %s", body)
	}
}

func TestCostsOfAChannelThatAViewerDoesNotSeeAreNotTold(t *testing.T) {
	t.Parallel()
	w := spentWorld(t)
	key := w.key(t, access.KeySpec{Name: "ops", Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"ops"}, ReadOnly: true})
	if body := w.pageFor(t, "/costs.json?by=channel", key); strings.Contains(body, "hr") || !strings.Contains(body, `"turns": 2`) {
		t.Errorf("a key of #ops sees %s", body)
	}
	if status, body := w.do(t, browser(t), "GET", "/costs.json?channel=hr", nil, "Authorization", "Bearer "+key); status != http.StatusNotFound {
		t.Errorf("a key of #ops asks for #hr: %d %s", status, body)
	}
}

func TestCostsWithoutATurnSayWhatWouldBringOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if body := w.page(t, "/costs"); !strings.Contains(body, "No model was asked yet") || strings.Contains(body, "<svg") {
		t.Errorf("%s", body)
	}
}
