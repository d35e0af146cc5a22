package api_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAContextHasItsSources: who asks for them has each message that the prompt shows,
// also one that an earlier turn showed, as people cite it.
func TestAContextHasItsSources(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	long := strings.Repeat("and on ", 100)
	w.tell(t, said(0, "Alice", "<@U-Bob>, the cable is "+long), said(1, "Bob", "no"), said(2, "Alice", "<@U0BOT> why?"))
	type source struct {
		ID, Section, Time, Thread, Text string
		Author                          struct{ ID, Name, Kind string }
	}
	ask := func(anchor string, more fields) (out struct {
		Turn    struct{ ID int }
		Sources []source
		Ledger  []struct{ ID string }
	}) {
		t.Helper()
		body := fields{"channel": "C1", "anchor": anchor, "agent": "U0BOT", "open": true, "sources": true}
		maps.Copy(body, more)
		w.ok(t, "POST", "/v1/context", body, &out)
		return out
	}
	first := ask("m2", nil)
	alice := struct{ ID, Name, Kind string }{"U-Alice", "Alice", "human"}
	bob := struct{ ID, Name, Kind string }{"U-Bob", "Bob", "human"}
	want := []source{
		{"m0", "thread", "2026-03-02T09:00:00Z", "", "@Bob, the cable is " + long[:181] + "…", alice},
		{"m1", "thread", "2026-03-02T09:01:00Z", "m0", "no", bob},
		{"m2", "anchor", "2026-03-02T09:02:00Z", "m0", "@earshot why?", alice},
	}
	if d := cmp.Diff(first.Sources, want); d != "" {
		t.Errorf("(-got +want):\n%s", d)
	}
	w.ok(t, "POST", fmt.Sprint("/v1/turns/", first.Turn.ID, "/commit"), fields{"reply": fields{"text": "it is blue"}}, nil)
	w.tell(t, said(3, "Bob", "<@U0BOT> and now?"))
	second := ask("m3", fields{"ledger": false})
	var ids []string
	for _, s := range second.Sources {
		ids = append(ids, s.ID+" "+s.Section)
	}
	if d := cmp.Diff(ids, []string{"m0 ", "m1 ", "m2 ", "m3 anchor"}); d != "" || second.Ledger != nil {
		t.Errorf("of the second turn (-got +want):\n%s\n%v", d, second.Ledger)
	}
	if got := ask("m3", fields{"sources": false, "again": true}); got.Sources != nil {
		t.Errorf("nobody asked for %v", got.Sources)
	}
}
