package inspect_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// gappedWorld has messages in #ops on the 2nd, 4th and 6th of March, and gaps.
func gappedWorld(t *testing.T) world {
	w := newWorld(t, nil)
	by := earshot.Author{ID: "ana", Name: "Ana", Kind: earshot.Human}
	if _, err := w.store.Record(t.Context(), ops,
		earshot.Message{ID: "1", Time: 1e6, Deleted: true}, earshot.Message{ID: "m2", Time: march(2, 9), Author: by, Text: "first"},
		earshot.Message{ID: "m4", Time: march(4, 9), Author: by, Text: "Who knows <the importer>?"}, earshot.Message{ID: "r5", Time: march(5, 9), Thread: "m4", Author: by, Text: "I do"}, earshot.Message{ID: "m6", Time: march(6, 9), Author: by, Text: "last"}); err != nil {
		t.Fatal(err)
	}
	if err := w.store.PutCoverage(t.Context(), ops,
		earshot.Coverage{To: march(1, 0), State: earshot.Missing, Why: "not loaded <yet>"},
		earshot.Coverage{From: march(3, 0), To: march(4, 0), State: earshot.Stale, Why: "events may have been missed"},
		earshot.Coverage{From: march(6, 0), State: earshot.Known},
		earshot.Coverage{Thread: "m4", From: march(5, 10), To: march(5, 12), State: earshot.Missing, Why: "429"},
		earshot.Coverage{Thread: "m2", State: earshot.Known}); err != nil {
		t.Fatal(err)
	}
	return w
}

type gapJSON struct{ State, From, To, Thread, Begins, Why, Chat string }

func TestCoverageSaysWhatIsMissingAndWhatIsStale(t *testing.T) {
	t.Parallel()
	w := gappedWorld(t)
	type coverage struct {
		Messages, Missing, Stale int
		First, Last              string
		Gapped                   int `json:"threads_with_gaps"`
		Gaps, Known              []gapJSON
	}
	got := jsonOf[coverage](t, w, "/coverage.json?channel=ops")
	chat := func(id string) string { return "/chat?at=" + id + "&channel=ops&platform=local&workspace=local" }
	want := coverage{
		Messages: 4, Missing: 1, Stale: 1, First: "2026-03-02T09:00:00Z", Last: "2026-03-06T09:00:00Z", Gapped: 1,
		Gaps: []gapJSON{
			{State: "missing", From: "2026-03-05T10:00:00Z", To: "2026-03-05T12:00:00Z", Thread: "m4", Begins: "Who knows <the importer>?", Why: "429", Chat: chat("r5")},
			{State: "stale", From: "2026-03-03T00:00:00Z", To: "2026-03-04T00:00:00Z", Why: "events may have been missed", Chat: chat("m4")},
			{State: "missing", To: "2026-03-01T00:00:00Z", Why: "not loaded <yet>", Chat: chat("m2")},
		},
		Known: []gapJSON{{State: "known", From: "2026-03-06T00:00:00Z"}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	body := w.page(t, "/coverage?channel=ops")
	for _, s := range []string{"everything up to 2026-03-01 00:00", "not loaded &lt;yet&gt;", "thread “Who knows &lt;the importer&gt;?”", "4 messages are stored, with 1 thread, from", "<svg"} {
		if !strings.Contains(body, s) {
			t.Errorf("the page does not say %q", s)
		}
	}
	if svg := w.page(t, "/coverage/coverage.svg?channel=ops"); !strings.Contains(svg, "stale, 2026-03-03 00:00 to 2026-03-04 00:00") || !strings.Contains(svg, "#ops: known, 2026-03-02 09:00 to 2026-03-06 09:00") {
		t.Errorf("the picture: %s", svg)
	}
}

func TestTheMapHasARowForEachChannel(t *testing.T) {
	t.Parallel()
	w := gappedWorld(t)
	for n := range 30 {
		id := earshot.ChannelID("c" + string(rune('a'+n%26)) + string(rune('a'+n/26)))
		if err := w.store.PutChannel(t.Context(), earshot.Channel{Platform: earshot.Local, Workspace: "local", ID: id, Name: string(id), Kind: earshot.KindChannel}); err != nil {
			t.Fatal(err)
		}
	}
	body := w.page(t, "/coverage")
	if !strings.Contains(body, "More channels") || strings.Contains(body, "#ops</bdi>") || !strings.Contains(body, "nothing is stored") {
		t.Errorf("the first page: %s", body)
	}
	body = w.page(t, "/coverage?after=local%7Clocal%7Ccua%7Ccua")
	if strings.Contains(body, "More channels") || !strings.Contains(body, "known but for 1 missing stretch, 1 stale stretch, 1 thread with gaps") || strings.Contains(body, "#caa</bdi>") {
		t.Errorf("the second page: %s", body)
	}
	if status, _ := w.do(t, browser(t), "GET", "/coverage?after=cua", nil, "Authorization", "Bearer "+token); status != http.StatusBadRequest {
		t.Errorf("a cursor that is none is answered with %d", status)
	}
}

func TestCoverageOfAnotherChannelDoesNotExist(t *testing.T) {
	t.Parallel()
	w := gappedWorld(t)
	key := w.key(t, access.KeySpec{Name: "hr", Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"hr"}, ReadOnly: true})
	for _, path := range []string{"/coverage?channel=ops", "/coverage.json?channel=ops", "/coverage/coverage.svg?channel=ops"} {
		if status, body := w.do(t, browser(t), "GET", path, nil, "Authorization", "Bearer "+key); status != http.StatusNotFound || strings.Contains(body, "importer") {
			t.Errorf("GET %s: %d %s", path, status, body)
		}
	}
	if body := w.pageFor(t, "/coverage.json", key); strings.Contains(body, "ops") || !strings.Contains(body, "hr") {
		t.Errorf("a key of #hr sees %s", body)
	}
}

func TestAChannelWithoutMessagesSaysWhatWouldBringThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	if err := w.store.PutChannel(t.Context(), earshot.Channel{Platform: earshot.Local, Workspace: "local", ID: "new", Name: "new", Kind: earshot.KindChannel}); err != nil {
		t.Fatal(err)
	}
	if body := w.page(t, "/coverage?channel=new"); !strings.Contains(body, "Nothing of this channel is stored") || strings.Contains(body, "<svg") {
		t.Errorf("%s", body)
	}
}
