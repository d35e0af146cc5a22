package archive

import (
	"context"
	"io/fs"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/testdata"
)

// A witness is a store that keeps what it is given, besides storing it.
type witness struct {
	earshot.Store
	seen     sync.Mutex // guards what follows
	messages map[earshot.MessageID]earshot.Message
	authors  map[earshot.AuthorID]earshot.Author
}

func newWitness(t *testing.T) *witness {
	return &witness{Store: open(t, "memory:"), messages: map[earshot.MessageID]earshot.Message{}, authors: map[earshot.AuthorID]earshot.Author{}}
}

func (w *witness) Record(ctx context.Context, s earshot.Scope, list ...earshot.Message) ([]earshot.RecordResult, error) {
	w.seen.Lock()
	for _, m := range list {
		w.messages[m.ID] = m
	}
	w.seen.Unlock()
	return w.Store.Record(ctx, s, list...)
}

func (w *witness) PutAuthors(ctx context.Context, p earshot.Platform, id earshot.WorkspaceID, list ...earshot.Author) error {
	w.seen.Lock()
	for _, a := range list {
		w.authors[a.ID] = a
	}
	w.seen.Unlock()
	return w.Store.PutAuthors(ctx, p, id, list...)
}

// The messages of scenes 16, 19 and 20 of docs/workspace.md, and the others that
// quote something.
func TestTheBundledWorkspaceQuotes(t *testing.T) {
	t.Parallel()
	w := importedWorkspace(t)
	forward := func(from, id, name, text string) []earshot.SharedContent {
		at, err := earshot.ParseTime(from)
		if err != nil {
			t.Fatal(err)
		}
		return []earshot.SharedContent{{Kind: earshot.Forward, ID: earshot.AuthorID(id), Author: name, Place: "#support", Time: at, Text: text}}
	}
	preview := func(site, host, text string) []earshot.SharedContent {
		return []earshot.SharedContent{{Kind: earshot.Link, Author: site, Place: host, Text: text}}
	}
	want := map[earshot.MessageID][]earshot.SharedContent{
		"1773153546.001129": forward("1773153370.587099", "U0SAMLI", "Sam Lindqvist", "Name of the berth: `Steg 12\" lang`. Is the inch mark the trouble?"),
		"1775643622.208049": forward("1773912015.904199", "U0SAMOK", "Sam Okafor", "3: i can do a one-off. i'll run the fehnsund list by hand w/ a raised limit (100k) on tuesday night, after the window. just send me the file by then"),
		"1772730725.996719": preview("Sakura Watch", "sakura.example.org", "Cherry blossom forecast 2026\nFirst bloom in Tokyo on 20 March, full bloom on 27 March."),
		"1773912620.888689": preview("Harborlight Docs", "docs.example.com", "Review: bookings unavailable for 37 minutes on 18 March\n"+
			"A report that was started by hand held a transaction open. A migration waited behind it, and everyone waited behind the migration. Cancelling it was not enough, because the job started it again."),
		"1774944918.086379": preview("Harborlight Docs", "docs.example.com", "Runbook: rotating the DNS token\nThree places hold it. Change them in this order: the renewer, the status page's renewer, the purge script."),
	}
	got := map[earshot.MessageID][]earshot.SharedContent{}
	for id, m := range w.messages {
		if len(m.Shared) > 0 {
			got[id] = m.Shared
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("quotes (-want +got):\n%s", diff)
	}
	for id, text := range map[earshot.MessageID]string{
		"1773153546.001129": "For this thread, from <#C0SUPPORT|support>:",
		"1772730725.996719": "Sakura forecast for Tokyo: 24 March. I will send pictures~ <https://sakura.example.org/forecast/2026>",
		// Scene 16: a bot's words stand only in its attachment, and are its own.
		"1773050525.843369": "<https://ci.example.com/builds/809|Build 809 failed on main>\ne2e: berth-map.spec timed out after 120 s\nDuration: 14m 03s\nTests: 1 failed, 2,140 passed\nbuildkeeper",
	} {
		if m := w.messages[id]; m.Text != text {
			t.Errorf("message %s: got %q, want %q", id, m.Text, text)
		}
	}
	for id, m := range w.messages {
		if m.Author.Kind == earshot.Bot && !m.Deleted && m.Text == "" && len(m.Files) == 0 {
			t.Errorf("message %s of %s says nothing", id, m.Author.Name)
		}
	}
}

// What the lists and the roots of an export tell is kept.
func TestTheBundledWorkspaceTellsOfPeopleAndThreads(t *testing.T) {
	t.Parallel()
	w := importedWorkspace(t)
	for _, want := range []earshot.Author{
		{ID: "U0SAMOK", Name: "Sam", FullName: "Sam Okafor", Kind: earshot.Human, Zone: "UTC"},
		{ID: "U0SAMLI", Name: "Sam", FullName: "Sam Lindqvist", Kind: earshot.Human, Zone: "UTC"},
		{ID: "U0KENJI", Name: "Kenji", FullName: "盛田 健二 (Kenji Morita)", Kind: earshot.Human, Zone: "Asia/Tokyo"},
		{ID: "U0EARSHOT", Name: "earshot", Kind: earshot.Bot},
	} {
		if diff := cmp.Diff(want, w.authors[want.ID]); diff != "" {
			t.Errorf("author (-want +got):\n%s", diff)
		}
	}
	if m := w.messages["1773934380.023599"]; m.Author.Name != "Helen" || m.Author.FullName != "Helen Achterberg" || m.Author.Zone != "" {
		t.Errorf("got author %+v", m.Author)
	}
	last, err := earshot.ParseTime("1772731268.538699")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&earshot.Activity{Count: 2, Last: last}, w.messages["1772730725.996719"].Replies); diff != "" {
		t.Errorf("replies (-want +got):\n%s", diff)
	}
	for id, want := range map[earshot.MessageID]earshot.AuthorKind{
		"1773655220.739339": earshot.System, // a rename
		"1775556915.621569": earshot.System, // a topic
		"1772441412.193299": earshot.System, // the agent is added
		"1773832819.592249": earshot.Human,  // a thread_broadcast
		"1773050525.843369": earshot.Bot,
	} {
		if m := w.messages[id]; m.Author.Kind != want {
			t.Errorf("message %s: got author %+v, want kind %s", id, m.Author, want)
		}
	}
}

// An answer of ours in its placeholder's stead is no edit; another bot's update
// is one.
func TestOurAnswersInAnExportAreNotEdited(t *testing.T) {
	t.Parallel()
	const answer = `{"type":"message","user":"U4","bot_id":"B4","text":"because","ts":"1704103300.000100","edited":{"user":"U4","ts":"1704103305.000000"},"metadata":{"event_type":"%s","event_payload":{"key":"p1","whole":true}}}`
	files := map[string]string{"users.json": team["users.json"], "channels.json": team["channels.json"]}
	for event, edited := range map[string]bool{"earshot_post": false, "another_app": true} {
		w := newWitness(t)
		files["deploys/2024-01-01.json"] = "[" + strings.Replace(answer, "%s", event, 1) + "]"
		if _, err := ImportSlack(t.Context(), w, folderOf(t, files), nil); err != nil {
			t.Fatal(err)
		}
		if m := w.messages["1704103300.000100"]; m.Text != "because" || m.Edited.IsZero() == edited {
			t.Errorf("%s: got %q, edited %s", event, m.Text, m.Edited)
		}
	}
}

func importedWorkspace(t *testing.T) *witness {
	t.Helper()
	files, err := fs.Sub(testdata.Workspace, "workspace")
	if err != nil {
		t.Fatal(err)
	}
	w := newWitness(t)
	if _, err := ImportSlackFS(t.Context(), w, files, "harborlight", nil); err != nil {
		t.Fatal(err)
	}
	return w
}
