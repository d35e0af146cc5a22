package inspect_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// opinion stores what somebody thinks of a turn.
func (w world) opinion(t *testing.T, id earshot.TurnID, by earshot.AuthorID, good bool, reason string) {
	t.Helper()
	if err := w.store.PutFeedback(t.Context(), earshot.Feedback{Turn: id, Author: by, Good: good, Reason: reason, Time: march(5, 9)}); err != nil {
		t.Fatal(err)
	}
}

func TestTurnsAreFoundByWhatPeopleThink(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	var ids []earshot.TurnID
	for i := range 12 {
		ids = append(ids, w.ask(t, i+1, asking{in: "ops", by: "Sam", text: "so?", state: earshot.TurnDone}))
	}
	w.opinion(t, ids[2], "UAnn", true, "")
	w.opinion(t, ids[5], "UAnn", false, "it is down")
	w.opinion(t, ids[5], "UBen", true, "")
	w.opinion(t, ids[5], "UCat", true, "")
	for i := range 250 { // more than are read at a time
		w.opinion(t, ids[9], earshot.AuthorID(fmt.Sprint("U", i)), false, "")
	}
	for query, want := range map[string][]earshot.TurnID{
		"?feedback=good": {ids[5], ids[2]}, "?feedback=bad": {ids[9], ids[5]}, "?feedback=any": {ids[9], ids[5], ids[2]},
		"?feedback=bad&channel=ops": {ids[9], ids[5]}, "?feedback=good&channel=hr": nil,
	} {
		var d struct {
			Turns []struct {
				ID        earshot.TurnID
				Good, Bad int
			}
		}
		if err := json.Unmarshal([]byte(w.page(t, "/turns.json"+query)), &d); err != nil {
			t.Fatal(err)
		}
		var got []earshot.TurnID
		for _, x := range d.Turns {
			got = append(got, x.ID)
			if x.ID == ids[5] && (x.Good != 2 || x.Bad != 1) || x.ID == ids[9] && x.Bad != 250 {
				t.Errorf("%s: of turn %d %d think well and %d do not", query, x.ID, x.Good, x.Bad)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", query, got, want)
		}
	}
	if page := w.page(t, "/turns"); !strings.Contains(page, "2 people found the answer good") || !strings.Contains(page, "1 person found the answer bad") {
		t.Error("the list does not say what people think")
	}
	said := w.answered(t, exchange{channel: "ops", name: "q", id: "q", by: "Sam", ask: "so?", at: march(6, 9)})
	w.opinion(t, said, "UAnn", false, "it is down")
	w.opinion(t, said, "UBen", true, "")
	page := w.page(t, turnAt(said))
	if !strings.Contains(page, "What people think") || !strings.Contains(page, "it is down") || !strings.Contains(page, "UBen") {
		t.Error("the page of the turn does not say what people think")
	}
	if status, _ := w.do(t, still(), "GET", "/turns?feedback=so-so", nil, "Authorization", "Bearer "+token); status != http.StatusBadRequest {
		t.Errorf("another opinion: %d", status)
	}
}

func TestWhatPeopleThinkStaysText(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	id := w.answered(t, exchange{channel: "ops", name: "q", id: "q", by: "Sam", ask: "so?", at: march(6, 9)})
	w.opinion(t, id, "<img src=x onerror=alert(1)>", false, "</div><script>alert(1)</script>\u202e")
	if page := w.page(t, turnAt(id)); strings.Contains(page, "<script>alert") || strings.Contains(page, "<img src=x") || strings.Contains(page, "\u202e") {
		t.Errorf("what somebody thinks is markup: %s", page)
	}
}
