package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/step"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/store"
)

// named is a committed turn that named two people in an epoch of its own zone.
func named() wholeTurn {
	return wholeTurn{Turn: explain.Turn{Record: explain.Record{Committed: &earshot.Turn{
		Form: "log", Zone: "Europe/Berlin",
		Names: []earshot.SessionName{{ID: "U1", Name: "Sam"}, {ID: "U32", Name: "Sam (2)\x1b[2J"}},
	}}}}
}

func TestATurnTellsItsNamesAndItsZone(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := newApp(nil, strings.NewReader(""), &out, &out, &out)
	w := named()
	w.showNames(a)
	want := "the prompt's times are of Europe/Berlin\nnamed here first: Sam (U1), Sam (2)[2J (U32)\n\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	out.Reset()
	w = wholeTurn{Turn: explain.Turn{Record: explain.Record{Committed: &earshot.Turn{}}}}
	if w.showNames(a); out.Len() > 0 {
		t.Errorf("a turn of which neither is recorded says %q", out.String())
	}
}

func TestATurnsJSONHasItsNamesAndItsZone(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	a := newApp(nil, strings.NewReader(""), &out, &out, &out)
	w := named()
	if err := w.writeJSON(a, nil); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Form, Zone string
		Names      []map[string]string
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := []map[string]string{{"id": "U1", "name": "Sam"}, {"id": "U32", "name": "Sam (2)\x1b[2J"}}
	if got.Form != "log" || got.Zone != "Europe/Berlin" || !cmp.Equal(want, got.Names) {
		t.Errorf("got %+v", got)
	}
}

// begun is the first turn of an epoch, with a summary that its prompt shows in this
// many tokens.
func begun(t *testing.T, why earshot.Beginning, tokens int) wholeTurn {
	t.Helper()
	from, err := earshot.ParseTime("2026-02-12T09:12:00Z")
	if err != nil {
		t.Fatal(err)
	}
	to, err := earshot.ParseTime("2026-03-01T17:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	return wholeTurn{
		row: queuedJSON{Epoch: 2},
		Turn: explain.Turn{Record: explain.Record{
			Queued: earshot.QueuedTurn{Began: why, Epoch: 2},
			Input: &assemble.Input{Conversation: assemble.ConversationState{Summary: &earshot.Summary{
				Text: "They ship on Fridays.", From: from, To: to, Turns: 12, By: earshot.ByDigest,
			}}},
			Prompt: &assemble.Result{Tokens: assemble.Tokens{Sections: map[assemble.SectionName]int{assemble.SummaryPart: tokens}}},
		}},
	}
}

func TestATurnTellsWhyItsEpochBegan(t *testing.T) {
	t.Parallel()
	const summary = "summary of 12 turns, 2026-02-12 09:12 to 2026-03-01 17:00 UTC, by digest"
	for _, c := range []struct {
		why    earshot.Beginning
		tokens int
		want   string
	}{
		{earshot.BeganFull, 9, "epoch 2 begins with this turn: the session was over its budget\n" + summary + "\n"},
		{earshot.BeganDeleted, 0, "epoch 2 begins with this turn: something that the session had read was deleted\n" + summary + "; not shown: the budget had no room for it, or what it covers was deleted\n"},
		{"", 0, ""},
		{"", 9, summary + "\n"}, // a policy without a session
	} {
		var out bytes.Buffer
		w := begun(t, c.why, c.tokens)
		w.showEpoch(newApp(nil, strings.NewReader(""), &out, &out, &out))
		if diff := cmp.Diff(out.String(), c.want); diff != "" {
			t.Errorf("%q, %d (-got +want):\n%s", c.why, c.tokens, diff)
		}
	}
	for _, why := range earshot.Beginnings() {
		if plain.Began(why) == "" {
			t.Errorf("no words for %q", why)
		}
	}
}

func TestATurnsJSONTellsWhyItsEpochBegan(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w := begun(t, earshot.BeganFull, 9)
	w.Steps = []step.Entry{{Answer: &llm.Response{Usage: earshot.Usage{Input: 20, CacheRead: 75, CacheWrite: 5, Output: 3}}}}
	if err := w.writeJSON(newApp(nil, strings.NewReader(""), &out, &out, &out), nil); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Began   string
		Summary summaryJSON
		Spent   struct{ Cached float64 }
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := summaryJSON{From: "2026-02-12T09:12:00Z", To: "2026-03-01T17:00:00Z", Turns: 12, By: "digest", Shown: true}
	if diff := cmp.Diff(got.Summary, want); diff != "" || got.Began != "budget" || got.Spent.Cached != 0.75 {
		t.Errorf("got %+v (-got +want):\n%s", got, diff)
	}
	if s := w.Spent(nil).String(); !strings.Contains(s, "75 from the cache (75 % of all)") {
		t.Errorf("it says %q", s)
	}
}

func TestAMessagesJSONHasWhatItShares(t *testing.T) {
	t.Parallel()
	at, err := earshot.ParseTime("2026-03-01T17:20:00Z")
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(jsonMessage(earshot.Message{
		ID: "m1", Time: at, Author: earshot.Author{ID: "U1", Name: "Dana", FullName: "Dana Frei", Kind: earshot.Human}, Text: "from the vendor",
		Shared: []earshot.SharedContent{
			{Kind: earshot.Forward, ID: "U9", Author: "Erin", Place: "#support", Time: at, Text: "we see it"},
			{Kind: earshot.Link, Place: "example.com"},
		},
		Files:   []earshot.File{{ID: "F1", Name: "a.png", SHA256: "ab12"}},
		Replies: &earshot.Activity{Count: 3, Last: at},
	}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"m1","time":"2026-03-01T17:20:00Z","author":{"id":"U1","name":"Dana","full_name":"Dana Frei","kind":"human"},"text":"from the vendor",` +
		`"replies":{"count":3,"last":"2026-03-01T17:20:00Z"},` +
		`"shared":[{"kind":"forward","id":"U9","author":"Erin","place":"#support","time":"2026-03-01T17:20:00Z","text":"we see it"},{"kind":"link","place":"example.com","text":""}],` +
		`"files":[{"id":"F1","name":"a.png","sha256":"ab12"}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAReplayedPromptHasItsFilesAndCalls(t *testing.T) {
	t.Parallel()
	got, err := json.Marshal(promptOf(assemble.Result{Messages: []assemble.Message{
		{Role: earshot.User, Text: "hi", Media: []earshot.ArtifactID{"F1"}},
		{Role: earshot.Assistant, Calls: []earshot.Call{{ID: "c1", Name: "channel_context", Args: "{}"}}},
		{Role: earshot.ToolRole, Text: "none", Call: "c1", Failed: true},
	}}).Messages)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"role":"user","text":"hi","media":["F1"]},{"role":"assistant","text":"","calls":[{"id":"c1","name":"channel_context","args":"{}"}]},` +
		`{"role":"tool","text":"none","call":"c1","failed":true}]`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAThreadSaysHowManyRepliesAreNotStored(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		stored, told int
		want         string
	}{{0, 0, "no replies"}, {1, 1, "1 reply"}, {2, 1, "2 replies"}, {2, 14, "2 of 14 replies stored"}, {0, 3, "0 of 3 replies stored"}} {
		list := make([]earshot.Message, 1+c.stored)
		list[0].Replies = &earshot.Activity{Count: c.told}
		if got := formatReplies(list); got != c.want {
			t.Errorf("%d of %d: got %q, want %q", c.stored, c.told, got, c.want)
		}
	}
}

func TestATurnTellsOfTheProcessesThatEndedWithIt(t *testing.T) {
	t.Parallel()
	db := filepath.Join(t.TempDir(), "x.db")
	st, err := store.Open(t.Context(), db, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	s := earshot.Scope{Platform: earshot.Local, Workspace: "local", Channel: "general"}
	id := earshot.ConversationID{Agent: "earshot", Scope: s, Name: "m1"}
	e := earshot.Event{Message: earshot.Message{ID: "m1", Time: 1, Author: earshot.Author{ID: "sam", Name: "Sam"}, Text: "hi"}}
	if _, err := st.(earshot.Queue).Accept(t.Context(), s, e, &id); err != nil {
		t.Fatal(err)
	}
	for ends := range 3 {
		if _, _, err := st.(earshot.Queue).Claim(t.Context(), id.Agent, "dead", earshot.Time(1e7*ends), time.Second); err != nil {
			t.Fatal(err)
		}
		_, out, errs := ran(t, nil, "--db", db, "turn", "1")
		want, told := fmt.Sprintf(", claimed once, left by %d processes, epoch 0", ends), ends > 0
		if strings.Contains(out, want) != told || strings.Contains(out, "left by") != told {
			t.Errorf("after %d ends: got %q, %s", ends, out, errs)
		}
		if list := asked[[]queuedJSON](t, db, "turns"); len(list) != 1 || list[0].Ends != ends || list[0].Tries != 1 {
			t.Errorf("after %d ends: got %+v", ends, list)
		}
	}
}
