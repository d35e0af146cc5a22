package inspect_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

type foundPage struct {
	Channel string
	Ignored []string
	Unknown []string
	Problem string
	Hits    []struct {
		ID      string
		Score   float64
		Cover   float64
		Chat    string
		Context string
		Parts   []struct {
			Name  string
			Value float64
			Means string
		}
	}
}

func spoken(t *testing.T) world {
	w := newWorld(t, nil)
	x := newTalk(t, w, "ops")
	x.say("a", "Ann", "the importer is stopped, see importer-2", "")
	x.say("b", "Bob", "lunch?", "")
	x.say("c", "Bob", "who stopped the importer: "+unruly, "")
	x.must(w.store.PutAuthors(t.Context(), earshot.Local, "local", earshot.Author{ID: "UAnn", Name: "Ann", Kind: earshot.Human}, earshot.Author{ID: "UBob", Name: "Bob", Kind: earshot.Human}))
	return w
}

func TestSearchSaysWhyAMessageRanks(t *testing.T) {
	t.Parallel()
	w := spoken(t)
	got := jsonOf[foundPage](t, w, "/search.json?channel=ops&q=who+stopped+the+importer")
	if len(got.Hits) != 2 || got.Channel != "ops" || strings.Join(got.Ignored, " ") != "who the" {
		t.Fatalf("got %+v", got)
	}
	for _, h := range got.Hits {
		sum := 0.0
		for _, p := range h.Parts {
			if sum += p.Value; p.Means == "" {
				t.Errorf("%s is not explained", p.Name)
			}
		}
		if diff := h.Score - sum; diff > 1e-6 || diff < -1e-6 || h.Cover <= 0 || h.Cover > 1 {
			t.Errorf("%s: score %v of parts that sum to %v, cover %v", h.ID, h.Score, sum, h.Cover)
		}
		if !strings.HasPrefix(h.Chat, "/chat?at="+h.ID) || !strings.Contains(h.Context, "message="+h.ID) {
			t.Errorf("links: %s, %s", h.Chat, h.Context)
		}
	}
	body := w.page(t, "/search?channel=ops&q=who+stopped+the+importer")
	for _, want := range []string{"the <mark>importer</mark> is <mark>stopped</mark>, see <mark>importer-2</mark>", "Ignored", "Few messages were said since."} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x") || strings.Contains(body, "\u202e") {
		t.Error("the page has markup of a message")
	}
}

func TestSearchKeepsToPersonDayAndChannel(t *testing.T) {
	t.Parallel()
	w := spoken(t)
	for _, c := range []struct{ query, ids, problem string }{
		{"q=importer", "a c", ""},
		{"q=importer&person=ann", "a", ""},
		{"q=importer&person=@Bob", "c", ""},
		{"q=importer&person=UBob", "c", ""},
		{"person=Ann", "a", ""},
		{"q=importer&person=Zoe", "", "Nobody of this name said"},
		{"q=importer&before=2026-03-02", "a c", ""},
		{"q=importer&before=2026-03-01", "", ""},
		{"q=importer&before=soon", "", "is not a day"},
		{"q=%21%21", "", "no word to look for"},
		{"q=said", "1", ""},
		{"q=zebra", "", ""},
	} {
		got := jsonOf[foundPage](t, w, "/search.json?channel=ops&"+c.query)
		var ids []string
		for _, h := range got.Hits {
			ids = append(ids, h.ID)
		}
		if strings.Join(ids, " ") != c.ids || !strings.Contains(got.Problem, c.problem) || (c.problem == "") != (got.Problem == "") {
			t.Errorf("%s: got %q and %q, want %q and %q", c.query, ids, got.Problem, c.ids, c.problem)
		}
	}
	for path, want := range map[string]string{
		"/search": "Choose a channel.", "/search?channel=ops": "Give one or two words", "/search?channel=ops&q=zebra": "Nothing in #ops matches",
		"/search?channel=ops&q=importer&person=Zoe": `role="alert"`,
	} {
		if body := w.page(t, path); !strings.Contains(body, want) {
			t.Errorf("%s lacks %q", path, want)
		}
	}
	hr := w.key(t, access.KeySpec{Name: "hr", Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"hr"}})
	if status, body := w.do(t, browser(t), "GET", "/search?channel=ops&q=importer", nil, "Authorization", "Bearer "+hr); status != http.StatusNotFound || strings.Contains(body, "importer is") {
		t.Errorf("another channel: %d %s", status, body)
	}
	// The only channel need not be chosen.
	if body := w.pageFor(t, "/search?q=said", hr); !strings.Contains(body, "in hr") {
		t.Errorf("the only channel: %s", body)
	}
}

func TestChannelsWithOneIDAreToldApart(t *testing.T) {
	t.Parallel()
	w := spoken(t)
	other := earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "ops", Name: "ops", Kind: earshot.KindChannel}
	x := newTalk(t, w, "ops")
	x.must(w.store.PutChannel(t.Context(), other))
	_, err := w.store.Record(t.Context(), other.Scope(), earshot.Message{ID: "z", Time: march(3, 9), Author: earshot.Author{ID: "Z", Name: "Zoe"}, Text: "the importer of another team"})
	x.must(err)
	if body := w.page(t, "/search"); !strings.Contains(body, `value="slack|T1|ops"`) || !strings.Contains(body, `value="local|local|ops"`) {
		t.Errorf("the form is %s", body)
	}
	for query, want := range map[string]string{"channel=slack|T1|ops": "z", "channel=ops&platform=slack&workspace=T1": "z", "channel=local|local|ops": "a"} {
		if got := jsonOf[foundPage](t, w, "/search.json?q=importer&"+query); len(got.Hits) == 0 || got.Hits[0].ID != want {
			t.Errorf("%s finds %+v, want %s", query, got.Hits, want)
		}
	}
}
