package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

func TestNamesAreStoredWithinReach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.store.PutChannel(t.Context(), earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C2", Name: "old", Kind: earshot.KindGroup}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		as, method, path, body string
		status                 int
		holds                  string
	}{
		{"T1", "PUT", "/v1/agents/U9", `{"name":"helper","aliases":["B9"]}`, 200, `"id":"U9","name":"helper","aliases":["B9"],"workspace":"T1"}`},
		{"all", "PUT", "/v1/agents/U9", `{"name":"helper"}`, 400, "workspace is required"},
		{"read", "PUT", "/v1/agents/U9", `{"name":"helper"}`, 403, "read_only"},
		{"tools", "PUT", "/v1/agents/U9", `{"name":"helper"}`, 403, "read_only"},
		{"T2", "PUT", "/v1/agents/U9", `{"name":"helper","workspace":"T1"}`, 404, "not_found"},
		{"T1", "PUT", "/v1/agents/U9", `{"name":""}`, 400, "name must have"},
		{"T1", "PUT", "/v1/agents/U9", `{"name":"x","Name":"y"}`, 400, "unknown field"},
		{"C1", "PUT", "/v1/agents/U8", `{"name":"narrow"}`, 200, `"U8"`},
		{"T2", "GET", "/v1/agents", "", 200, `{"agents":[]}`},
		{"T1", "GET", "/v1/agents", "", 200, `"channel":"C1"`},
		{"T1", "PUT", "/v1/channels/C2", `{"name":"deploys","topic":"go"}`, 200, `{"platform":"slack","workspace":"T1","id":"C2","name":"deploys","kind":"group","topic":"go"}`},
		{"T1", "PUT", "/v1/channels/C5", `{"name":"new"}`, 200, `{"platform":"api","workspace":"T1","id":"C5","name":"new","kind":"channel"}`},
		{"C1", "PUT", "/v1/channels/C2", `{"name":"mine"}`, 404, "not_found"},
		{"C1", "PUT", "/v1/channels/C7", `{"name":"mine"}`, 404, "not_found"},
		{"read", "PUT", "/v1/channels/C1", `{"name":"mine"}`, 403, "read_only"},
		{"T1", "PUT", "/v1/channels/C5", `{"kind":"cave"}`, 400, "kind must be"},
		{"all", "PUT", "/v1/channels/C6", `{"name":"new"}`, 400, "workspace is required"},
		{"T1", "PUT", "/v1/channels", `{"channels":[{"id":"C5","name":"five"},{"id":"C2","name":"two","topic":"t","kind":"dm"}]}`, 200, `{"stored":2}`},
		{"T1", "GET", "/v1/channels/C2", "", 200, `"name":"two","kind":"dm","topic":"t"`},
		{"T1", "PUT", "/v1/channels", `{"channels":[{"id":"C5","name":"no"},{"id":"","name":"two"}]}`, 400, "channels[1].id must have"},
		{"T1", "PUT", "/v1/channels", `{"channels":[{"id":"C5","name":"no"},{"id":"C2","kind":"cave"}]}`, 400, "channels[1].kind must be"},
		{"T1", "PUT", "/v1/channels", `{"channels":[{"id":"C5","name":"no"},{"id":"C2","workspace":"T2"}]}`, 404, "not_found"},
		{"all", "PUT", "/v1/channels", `{"channels":[{"id":"C5","name":"no","workspace":"T1"},{"id":"C66","name":"no"}]}`, 400, "channels[1].workspace is required"},
		{"C1", "PUT", "/v1/channels", `{"channels":[{"id":"C1","name":"no"},{"id":"C5","name":"no"}]}`, 404, "not_found"},
		{"T1", "PUT", "/v1/channels", `{"channels":[]}`, 400, "channels must be"},
		{"T1", "PUT", "/v1/channels", `{"channels":[null]}`, 400, "channels[0] must not be null"},
		{"read", "PUT", "/v1/channels", `{"channels":[{"id":"C1"}]}`, 403, "read_only"},
		{"T1", "GET", "/v1/channels/C5", "", 200, `"name":"five"`},
		{"T1", "PUT", "/v1/authors", `{"authors":[{"id":"U1","name":"Ann","zone":"Europe/Berlin"}]}`, 200, `{"stored":1}`},
		{"C1", "PUT", "/v1/authors", `{"authors":[{"id":"U1","name":"Bob"}]}`, 403, "workspace_key_needed"},
		{"T1", "PUT", "/v1/authors", `{"authors":[]}`, 400, "authors must be"},
		{"T1", "PUT", "/v1/authors", `{"authors":[null]}`, 400, "authors[0]"},
		{"read", "PUT", "/v1/authors", `{"authors":[{"id":"U1","name":"Bob"}]}`, 403, "read_only"},
	} {
		var body any
		if c.body != "" {
			body = c.body
		}
		if status, _, got := w.call(t, c.as, c.method, c.path, body); status != c.status || !strings.Contains(got, c.holds) {
			t.Errorf("%s %s %s %s: %d %s; want %d with %s", c.as, c.method, c.path, c.body, status, got, c.status, c.holds)
		}
	}
	for _, platform := range []earshot.Platform{"slack", "api"} {
		list, err := w.store.Authors(t.Context(), platform, "T1", "U1")
		if err != nil || len(list) != 1 || list[0].Name != "Ann" || list[0].Zone != "Europe/Berlin" {
			t.Errorf("%s: %+v, %v", platform, list, err)
		}
	}
}

// TestNamesHoldWhenAContextIsMade: what PUT /v1/authors or a profile of Slack says holds
// for what was said before too, in prompts and in what tools answer. A turn that was
// made with it can be replayed.
func TestNamesHoldWhenAContextIsMade(t *testing.T) {
	t.Parallel()
	w := newGapWorld(t)
	prompt := func(channel, anchor string) string {
		t.Helper()
		var c gapped
		w.ok(t, "POST", "/v1/context", fields{"channel": channel, "anchor": anchor, "agent": "BOT"}, &c)
		text := c.Prompt.Messages[len(c.Prompt.Messages)-1].Text
		_, _, answer := w.call(t, "C1", "POST", "/v1/tools/channel_context", `{"intent":"said","authors":["Anna"]}`)
		return text + answer
	}
	has := func(text string, want ...string) {
		t.Helper()
		for _, x := range want {
			if !strings.Contains(text, x) {
				t.Errorf("%q is not in %s", x, text)
			}
		}
	}
	w.tellAll(t, saidAt("C1", "m1", "2026-03-02T09:00:00Z", fields{"author": fields{"id": "U1"}}), saidAt("C1", "m2", "2026-03-02T09:10:00Z", fields{"author": fields{"id": "U2", "name": "Ben"}}))
	has(prompt("C1", "m2"), "09:00 U1: said m1", "09:10 Ben: said m2")
	w.tellAll(t, saidAt("C1", "m3", "2026-03-02T09:20:00Z", fields{"author": fields{"id": "U2", "name": "Benno"}})) // the platform's word, until somebody says otherwise
	has(prompt("C1", "m3"), "09:10 Benno: said m2", "09:20 Benno: said m3")
	w.ok(t, "PUT", "/v1/authors", fields{"authors": []any{fields{"id": "U1", "name": "Anna"}, fields{"id": "U2", "name": "Builder", "kind": "bot"}}}, nil)
	got := prompt("C1", "m3")
	has(got, "09:00 Anna: said m1", "09:10 Builder (bot): said m2", `"display_name":"Anna"`)
	if strings.Contains(got, "unknown_authors") {
		t.Errorf("tools do not know her: %s", got)
	}

	slack := func(body fields) string { return w.ok(t, "POST", "/v1/events?platform=slack", body, nil) }
	profile := func(name, ts string) fields {
		return fields{"type": "event_callback", "team_id": "T1", "event_id": "E" + ts, "event": fields{"type": "user_change", "event_ts": ts, "user": fields{"id": "U3", "team_id": "T1", "name": "x", "profile": fields{"display_name": name}}}}
	}
	slack(slackSaid("C9", "1772442060.000100", fields{"user": "U3"}))
	has(slack(profile("Carol", "1772442070.000000")), `"change":"updated"`)
	has(slack(profile("Caroline", "1772442065.000000")), `"change":"updated"`) // late
	has(prompt("C9", "1772442060.000100"), "09:01 Carol: said")
	has(slack(fields{"type": "event_callback", "team_id": "T1", "event_id": "E9", "event": fields{"type": "channel_rename", "event_ts": "1772442080.000000", "channel": fields{"id": "C9", "name": "renamed"}}}), `"change":"updated"`)
	has(prompt("C9", "1772442060.000100"), "+ name: #renamed")
	w.ok(t, "POST", "/v1/history", fields{"platform": "slack", "channel": "C9", "page": fields{"ok": true, "has_more": false, "messages": []any{fields{"type": "message", "user": "U1", "ts": "1772442000.000100", "text": "ask <@U3>"}}}}, nil)
	has(w.ok(t, "GET", "/v1/channels/C9/messages", nil, nil), "ask <@U3|Carol>")
	for as, want := range map[string]string{"C1": `"change":"ignored"`, "T2": "not_found", "read": "read_only"} {
		if _, _, got := w.call(t, as, "POST", "/v1/events?platform=slack", profile("Eve", "1772442090.000000")); !strings.Contains(got, want) {
			t.Errorf("%s: %s", as, got)
		}
	}
	has(prompt("C9", "1772442060.000100"), "09:01 Carol: said")

	var opened struct {
		Turn struct{ ID int }
		Hash string
	}
	w.ok(t, "POST", "/v1/context", fields{"channel": "C1", "anchor": "m3", "agent": "BOT", "open": true}, &opened)
	turn := fmt.Sprint("/v1/turns/", opened.Turn.ID)
	w.ok(t, "POST", turn+"/commit", fields{"reply": fields{"text": "yes"}}, nil)
	made := w.ok(t, "GET", turn+"?prompt=true", nil, nil)
	has(made, "09:00 Anna: said m1")
	if strings.Contains(made, "changed since") {
		t.Errorf("the turn cannot be made again: %s", made)
	}
}

// TestThePeopleMentionedHaveNames: whom a message mentions goes by the name that
// PUT /v1/authors told, who wrote nothing too. It is the name in this workspace, and
// nobody else's name comes with it. The turn can be made again, until the name changes.
func TestThePeopleMentionedHaveNames(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(t, "PUT", "/v1/agents/BOT", fields{"name": "helper"}, nil)
	put := func(as, id, name string) {
		t.Helper()
		if status, _, got := w.call(t, as, "PUT", "/v1/authors", fmt.Sprintf(`{"authors":[{"id":%q,"name":%q}]}`, id, name)); status != 200 {
			t.Fatalf("%d %s", status, got)
		}
	}
	w.tellAll(t,
		saidAt("C1", "m1", "2026-03-02T09:00:00Z", fields{"author": fields{"id": "U1", "name": "Ann"}, "text": "ask <@U9>, <@U8|eight> or <@U7>"}),
		saidAt("C1", "m2", "2026-03-02T09:10:00Z", fields{"author": fields{"id": "U2", "name": "Ben"}, "text": "who, <@BOT>?"}))
	open := func() (text string, turn int) {
		t.Helper()
		var c struct {
			Turn   struct{ ID int }
			Prompt struct{ Messages []struct{ Text string } }
		}
		w.ok(t, "POST", "/v1/context", fields{"channel": "C1", "anchor": "m2", "agent": "BOT", "open": true, "again": true}, &c)
		return c.Prompt.Messages[len(c.Prompt.Messages)-1].Text, c.Turn.ID
	}
	if got, _ := open(); !strings.Contains(got, "09:00 Ann: ask @U9, @eight or @U7\n") {
		t.Errorf("before anybody told: %s", got)
	}
	put("T1", "U9", "Ben") // as somebody who speaks here is called
	put("T1", "U8", "Dana")
	put("T1", "U6", "Finn")
	put("T2", "U7", "Gwen")
	got, turn := open()
	if !strings.Contains(got, "09:00 Ann: ask @Ben (2), @Dana or @U7\n") || !strings.Contains(got, "09:10 Ben: who") {
		t.Errorf("got %s", got)
	}
	if strings.Contains(got, "Finn") {
		t.Errorf("somebody whom nobody mentioned is named: %s", got)
	}
	fixed := access.Principal{ID: "turn", Kind: access.Capability, ReadOnly: true, Reach: w.gate["C1"].Reach}
	fixed.Fixed = &access.CapabilityScope{Scope: earshot.Scope{Platform: "api", Workspace: "T1", Channel: "C1"}, At: earshot.Position{Time: 1_772_442_600_000_000, ID: "m2"}}
	fixed.Fixed.Conversation = earshot.ConversationID{Agent: "BOT", Scope: fixed.Fixed.Scope, Name: "m2"}
	w.gate["turn"] = fixed
	if _, _, got := w.call(t, "turn", "POST", "/v1/tools/channel_context", `{"intent":"ask"}`); !strings.Contains(got, "ask @Ben (2), @Dana or @U7") {
		t.Errorf("the tools of the turn: %s", got)
	}
	at := fmt.Sprint("/v1/turns/", turn)
	w.ok(t, "POST", at+"/commit", fields{"reply": fields{"text": "Ben (2)"}}, nil)
	made := func() string { return w.ok(t, "GET", at+"?prompt=true", nil, nil) }
	put("T1", "U7", "Gus") // who was not known when the turn was made
	if got := made(); !strings.Contains(got, "ask @Ben (2), @Dana or @U7") || strings.Contains(got, "changed since") {
		t.Errorf("the turn is not made again as it was: %s", got)
	}
	w.erased(t, "/v1/authors/U8")
	if got := made(); strings.Contains(got, "Dana") {
		t.Errorf("who was erased has a name: %s", got)
	}
}

func TestAnUnknownAgentIsRefusedWithTheCallToMake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tellAll(t, saidAt("C1", "m1", "2026-03-02T09:00:00Z", nil))
	for _, c := range []struct{ path, body, want string }{
		{"/v1/context", `{"channel":"C1","anchor":"m1"}`, "agent is needed"},
		{"/v1/context", `{"channel":"C1","anchor":"m1","agent":"WHO"}`, "agent is not known here"},
		{"/api/chat/conversations", `{"title":"x","client_type":"web","agent_id":"WHO"}`, "agent_id is not known here"},
		{"/api/chat/conversations", `{"title":"x","client_type":"web","agent_id":"WHO","metadata":{"channel_id":"C1"}}`, "agent_id is not known here"},
	} {
		status, _, got := w.call(t, "T1", "POST", c.path, c.body)
		if status != 400 || !strings.Contains(got, c.want) || !strings.Contains(got, "PUT /v1/agents/{id}") || !strings.Contains(got, "unknown_agent") {
			t.Errorf("%s %s: %d %s", c.path, c.body, status, got)
		}
	}
	w.ok(t, "PUT", "/v1/agents/WHO", fields{"name": "helper"}, nil)
	if status, _, got := w.call(t, "T1", "POST", "/api/chat/conversations", `{"title":"x","client_type":"web","agent_id":"WHO"}`); status != 201 {
		t.Errorf("%d %s", status, got)
	}
}
