package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/visible"
)

// ops is a channel with a thread.
var ops = earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C1", Name: "ops", Kind: earshot.KindChannel}

// said returns the nth message of a thread, whose root is message 0.
func said(n int, who, text string) earshot.Message {
	m := earshot.Message{
		ID: earshot.MessageID(fmt.Sprint("m", n)), Time: earshot.Time(1_772_442_000_000_000 + int64(n)*60e6), Text: text,
		Author: earshot.Author{ID: earshot.AuthorID("U-" + who), Name: who, Kind: earshot.Human},
	}
	if n > 0 {
		m.Thread = "m0"
	}
	return m
}

// tell stores the channel ops, an agent that is known in its workspace, and messages.
func (w *world) tell(t testing.TB, list ...earshot.Message) {
	t.Helper()
	if err := w.store.PutChannel(t.Context(), ops); err != nil {
		t.Fatal(err)
	}
	if err := w.store.PutAuthors(t.Context(), ops.Platform, ops.Workspace, earshot.Author{ID: "U0BOT", Name: "earshot", Kind: earshot.Bot}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Record(t.Context(), ops.Scope(), list...); err != nil {
		t.Fatal(err)
	}
}

// A contextJSON is what tests read of an answer of POST /v1/context.
type contextJSON struct {
	Prompt struct {
		System   string
		Messages []struct{ Role, Text string }
	}
	Tokens       struct{ Total int }
	Ledger       []struct{ ID, Verdict string }
	Conversation string
	Capability   string
	Hash         string
	Code         string
	Detail       string
	Turn         *struct {
		ID          int64
		Expires     string
		Key         string
		Interrupted *struct{ ID int64 }
	}
	Tools   []struct{ Name string }
	Context *contextJSON
}

// context makes a context and returns the answer.
func (w *world) context(t testing.TB, as string, body any) (int, contextJSON) {
	t.Helper()
	status, _, text := w.call(t, as, http.MethodPost, "/v1/context", body)
	var c contextJSON
	var into any = &c
	if status == http.StatusConflict { // there turn is an id
		into = &struct{ Code, Detail *string }{&c.Code, &c.Detail}
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	return status, c
}

type object map[string]any

func TestAContextOfAMessageInOneCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "staging is down"), said(1, "Bob", "since noon"), said(2, "Alice", "<@U0BOT> why?"))
	status, c := w.context(t, "C1", object{"channel": "C1", "anchor": "m2", "agent": "U0BOT", "tools": true})
	if status != http.StatusOK || len(c.Prompt.Messages) != 1 {
		t.Fatalf("got %d %+v", status, c)
	}
	if text := c.Prompt.Messages[0].Text; !strings.Contains(text, "Bob: since noon") || !strings.Contains(text, "@earshot why?") {
		t.Errorf("the prompt is %q", text)
	}
	if c.Tokens.Total == 0 || len(c.Ledger) != 3 || !strings.HasPrefix(c.Conversation, "conv_") || c.Capability != "ec_test" || len(c.Tools) != 3 || c.Turn != nil {
		t.Errorf("got %+v", c)
	}
	for name, same := range map[string]object{
		"the channel as an object": {"channel": object{"id": "C1", "workspace": "T1", "platform": "slack"}, "anchor": "m2", "agent": "U0BOT"},
		"the conversation's id":    {"channel": "C1", "anchor": "m2", "agent": "U0BOT", "policy": "standard", "budget": object{"tokens": 8000}, "counter": "o200k"},
	} {
		if status, again := w.context(t, "C1", same); status != http.StatusOK || again.Hash != c.Hash {
			t.Errorf("%s: %d %+v", name, status, again)
		}
	}
	if _, err := w.store.Conversation(t.Context(), earshot.ConversationID{Agent: "U0BOT", Scope: ops.Scope(), Name: "m0"}); err == nil {
		t.Error("a conversation was created")
	}
}

func TestAContextThatCannotBeMade(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "<@U0BOT> "+strings.Repeat("words ", 200)))
	for name, c := range map[string]struct {
		as     string
		body   any
		status int
		holds  string
	}{
		"no channel":           {"C1", object{"anchor": "m0"}, 400, `"channel is required`},
		"no anchor":            {"C1", object{"channel": "C1"}, 400, `"anchor is required`},
		"an unknown agent":     {"C1", object{"channel": "C1", "anchor": "m0", "agent": "U9"}, 400, "unknown_agent"},
		"an unknown policy":    {"C1", object{"channel": "C1", "anchor": "m0", "agent": "U0BOT", "policy": "x"}, 400, "policy unknown policy"},
		"a budget in words":    {"C1", object{"channel": "C1", "anchor": "m0", "agent": "U0BOT", "budget": "4000"}, 400, `budget must be an object, such as {\"tokens\": 4000}`},
		"a time in seconds":    {"C1", object{"channel": "C1", "agent": "U0BOT", "message": object{"id": "m1", "time": 1772442000, "author": object{"id": "U1"}, "text": "x"}}, 400, `message.time must be a string: RFC 3339, such as \"2026-03-02T09:00:00Z\"`},
		"a negative number":    {"C1", object{"channel": "C1", "anchor": "m0", "agent": "U0BOT", "budget": -1}, 400, "budget.tokens must not be negative"},
		"a wrong budget":       {"C1", object{"channel": "C1", "anchor": "m0", "agent": "U0BOT", "budget": object{"tokens": -1}}, 400, "budget.tokens must not be negative"},
		"an unknown field":     {"C1", `{"channel":"C1","Anchor":"m0"}`, 400, "Anchor unknown field"},
		"a field twice":        {"C1", `{"channel":"C1","channel":"C1"}`, 400, "channel stands twice"},
		"text after the body":  {"C1", `{"channel":"C1"} x`, 400, "body"},
		"nothing":              {"C1", ``, 400, "body"},
		"too deep":             {"C1", strings.Repeat("[", 65), 400, "64"},
		"over the limit":       {"C1", object{"channel": "C1", "anchor": "m0", "agent": "U0BOT", "budget": object{"limit": 50}}, 400, `"code":"over_limit"`},
		"a wrong zone":         {"C1", object{"channel": "C1", "anchor": "m0", "agent": "U0BOT", "zone": "Mars"}, 400, "zone"},
		"a wrong asker's zone": {"C1", object{"channel": "C1", "anchor": "m0", "agent": "U0BOT", "asker_zone": "Mars"}, 400, "asker_zone"},
		"a wrong channel":      {"C1", object{"channel": object{"id": "C1", "name": "x"}, "anchor": "m0"}, 400, "channel.name unknown field"},
		"open, read-only":      {"read", object{"channel": "C1", "anchor": "m0", "agent": "U0BOT", "open": true}, 403, `"code":"read_only"`},
		"message, read-only":   {"read", object{"channel": "C1", "message": object{"id": "m1", "time": "2026-03-02T09:00:00Z", "author": object{"id": "U1"}, "text": "x"}}, 403, `"code":"read_only"`},
		"with a capability":    {"tools", object{"channel": "C1", "anchor": "m0"}, 403, `"code":"tools_only"`},
		"an empty list":        {"C1", `[]`, 400, "body"},
	} {
		status, _, body := w.call(t, c.as, http.MethodPost, "/v1/context", c.body)
		if status != c.status || !strings.Contains(body, c.holds) {
			t.Errorf("%s: got %d %s, want %d with %s", name, status, body, c.status, c.holds)
		}
	}
}

func TestABudgetMayBeItsTokensAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "<@U0BOT> why?"))
	body := object{"channel": "C1", "anchor": "m0", "agent": "U0BOT", "budget": object{"tokens": 4000}}
	_, _, want := w.call(t, "C1", http.MethodPost, "/v1/context", body)
	body["budget"] = 4000
	status, _, got := w.call(t, "C1", http.MethodPost, "/v1/context", body)
	if status != http.StatusOK || got != want || !strings.Contains(got, `"budget":4000`) {
		t.Errorf("got %d %s, want %s", status, got, want)
	}
}

func TestWhatIsForeignToAContextDoesNotExist(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "<@U0BOT> why?"), said(1, "Alice", "gone"), earshot.Message{ID: "m1", Deleted: true})
	_, c := w.context(t, "C1", object{"channel": "C1", "anchor": "m0", "agent": "U0BOT"})
	// Each is answered as the same request for what there is nowhere.
	channel, anchor := object{"channel": "C9", "anchor": "m9", "agent": "U0BOT"}, object{"channel": "C1", "anchor": "m9", "agent": "U0BOT"}
	conversation := object{"conversation": visible.ConversationText(earshot.ConversationID{Agent: "U9", Scope: earshot.Scope{Platform: "slack", Workspace: "T9", Channel: "C9"}, Name: "m9"}), "anchor": "m9"}
	for name, call := range map[string]struct {
		as            string
		body, nowhere object
	}{
		"a foreign channel":       {"T2", object{"channel": "C1", "anchor": "m0", "agent": "U0BOT"}, channel},
		"a foreign message":       {"T2", object{"channel": "C1", "anchor": "m9", "agent": "U0BOT"}, channel},
		"a foreign conversation":  {"T2", object{"conversation": c.Conversation, "anchor": "m0"}, conversation},
		"an unknown conversation": {"C1", object{"conversation": "conv_AAAA", "anchor": "m0"}, conversation},
		"one that is not stored":  {"C1", object{"conversation": c.Conversation, "anchor": "m0"}, conversation},
		"a deleted anchor":        {"C1", object{"channel": "C1", "anchor": "m1", "agent": "U0BOT"}, anchor},
	} {
		_, _, want := w.call(t, call.as, http.MethodPost, "/v1/context", call.nowhere)
		if status, _, got := w.call(t, call.as, http.MethodPost, "/v1/context", call.body); status != http.StatusNotFound || got != want {
			t.Errorf("%s: got %d %s, want %s", name, status, got, want)
		}
	}
}

func TestAMessageIsToldAndItsContextMadeInOneCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "staging is down"))
	body := object{"channel": "C1", "agent": "U0BOT", "message": object{
		"id": "m1", "time": "2026-03-02T10:00:00Z", "author": object{"id": "U-Bob", "name": "Bob"}, "text": "<@U0BOT> why?", "thread": "m0",
	}}
	status, c := w.context(t, "C1", body)
	if status != http.StatusOK || !strings.Contains(c.Prompt.Messages[0].Text, "Bob: @earshot why?") || !strings.Contains(c.Prompt.Messages[0].Text, "staging is down") {
		t.Fatalf("got %d %+v", status, c)
	}
	if status, again := w.context(t, "C1", body); status != http.StatusOK || again.Hash != c.Hash {
		t.Errorf("again: %d %+v", status, again)
	}
	if m, err := w.store.Message(t.Context(), ops.Scope(), "m1"); err != nil || m.Text != "<@U0BOT> why?" {
		t.Errorf("stored %+v, %v", m, err)
	}
	body["message"] = object{"id": "m2", "time": "noon", "author": object{"id": "U-Bob"}, "text": "x"}
	if status, c := w.context(t, "C1", body); status != http.StatusBadRequest || !strings.HasPrefix(c.Detail, "message.time ") {
		t.Errorf("a wrong time: %d %s", status, c.Detail)
	}
	body["message"] = object{"id": strings.Repeat("m", 600), "time": "2026-03-02T10:00:00Z", "author": object{"id": "U-Bob"}, "text": "x"}
	if status, c := w.context(t, "C1", body); status != http.StatusBadRequest || !strings.HasPrefix(c.Detail, "message.id ") {
		t.Errorf("a long id: %d %s", status, c.Detail)
	}
	_, _, want := w.call(t, "T2", http.MethodPost, "/v1/context", object{"channel": "C9", "anchor": "m9"})
	body["channel"] = object{"id": "C1", "workspace": "T1", "platform": "slack"}
	body["message"] = object{"id": "m3", "time": "2026-03-02T10:00:00Z", "author": object{"id": "U-Eve"}, "text": "x"}
	if status, _, got := w.call(t, "T2", http.MethodPost, "/v1/context", body); status != http.StatusNotFound || got != want {
		t.Errorf("into a foreign channel: %d %s, want %s", status, got, want)
	}
}

// TestAContextWithoutLedgerAndNextIsTheRest asks for a context of 100 messages whole, and
// without what only some callers read.
func TestAContextWithoutLedgerAndNextIsTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for n := range 100 {
		w.tell(t, said(n, "Alice", fmt.Sprintf("step %d of the migration went through", n)))
	}
	answer := func(more object) (string, map[string]json.RawMessage) {
		t.Helper()
		body := object{"channel": "C1", "anchor": "m99", "agent": "U0BOT"}
		maps.Copy(body, more)
		status, _, text := w.call(t, "C1", http.MethodPost, "/v1/context", body)
		var fields map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &fields); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s: %v", status, text, err)
		}
		delete(fields, "capability") // another one each time
		return text, fields
	}
	all, whole := answer(object{"ledger": true, "next": true})
	few, lean := answer(object{"ledger": false, "next": false})
	t.Logf("%d bytes whole, %d without ledger and next", len(all), len(few))
	if len(whole["ledger"]) == 0 || len(whole["next"]) == 0 || len(few)*2 > len(all) {
		t.Errorf("%d bytes whole, %d without ledger and next", len(all), len(few))
	}
	delete(whole, "ledger")
	delete(whole, "next")
	if diff := cmp.Diff(whole, lean); diff != "" {
		t.Errorf("-whole +lean\n%s", diff)
	}
}

// TestAContextOfTheSidecarHasTheClockOfWhoAsks has somebody ask whose zone the caller
// tells, and somebody whose zone was told before.
func TestAContextOfTheSidecarHasTheClockOfWhoAsks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "<@U0BOT> why?"))
	for _, c := range []struct {
		asks object
		want string
	}{
		{object{}, "[question, Mon 2 Mar 2026, UTC]\n09:00 Alice: "},
		{object{"asker_zone": "Pacific/Auckland"}, "[question, Mon 2 Mar 2026, Pacific/Auckland]\n22:00 Alice: "},
		{object{"zone": "America/Los_Angeles", "asker_zone": "Pacific/Auckland"}, "[question, Mon 2 Mar 2026, Pacific/Auckland; other times are of America/Los_Angeles]\n22:00 Alice: "},
	} {
		c.asks["channel"], c.asks["anchor"], c.asks["agent"] = "C1", "m0", "U0BOT"
		_, got := w.context(t, "C1", c.asks)
		if text := got.Prompt.Messages[len(got.Prompt.Messages)-1].Text; !strings.Contains(text, c.want) {
			t.Errorf("%v: the prompt ends with\n%s\nwant\n%s", c.asks, text, c.want)
		}
	}
}

// TestAContextSaysWhatIsNotThere: the answer names the field, and is the same for what is
// foreign.
func TestAContextSaysWhatIsNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "hi"))
	id := func(of earshot.ConversationID) string { return visible.ConversationText(of) }
	foreign := earshot.ConversationID{Agent: "U0BOT", Scope: earshot.Scope{Platform: "slack", Workspace: "T2", Channel: "C1"}, Name: "m0"}
	mine := foreign
	mine.Scope.Workspace = "T1"
	for name, c := range map[string]struct {
		body   object
		detail string
	}{
		"a channel":                          {object{"channel": "C404", "anchor": "m0"}, "channel is none that you can see"},
		"a message":                          {object{"channel": "C1", "anchor": "m9", "agent": "U0BOT"}, "anchor is no message that you can see in this channel; tell it with POST /v1/events"},
		"a conversation":                     {object{"anchor": "m0", "conversation": id(mine)}, "conversation is none that you can see; leave it out"},
		"what is no id of one":               {object{"anchor": "m0", "conversation": "17"}, "conversation is none that you can see; leave it out"},
		"a foreign one":                      {object{"anchor": "m0", "conversation": id(foreign)}, "conversation is none that you can see; leave it out"},
		"a foreign one with a message to it": {object{"message": saidAt("", "m5", "2026-03-02T09:00:00Z", nil)["message"], "conversation": id(foreign)}, "conversation is none that you can see; leave it out"},
	} {
		status, got := w.context(t, "T1", c.body)
		if status != http.StatusNotFound || got.Code != "not_found" || !strings.HasPrefix(got.Detail, c.detail) || !strings.HasSuffix(got.Detail, "; you reach workspace T1, as GET /v1/me says") {
			t.Errorf("%s: %d %s: %s", name, status, got.Code, got.Detail)
		}
	}
}
