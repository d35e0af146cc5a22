package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
	"github.com/earshot-ai/earshot/search"
)

// ok makes a request of a key of T1 that must succeed, and reads its answer into out.
func (w *world) ok(t *testing.T, method, path string, body, out any) string {
	t.Helper()
	status, _, got := w.call(t, "T1", method, path, body)
	if status != http.StatusOK {
		t.Fatalf("%s %s %v: %d %s", method, path, body, status, got)
	}
	if out != nil {
		if err := json.Unmarshal([]byte(got), out); err != nil {
			t.Fatal(err)
		}
	}
	return got
}

// A gapped context is the part of a context that says what is missing.
type gapped struct {
	Prompt struct {
		Messages []struct{ Text string }
	}
	Notes      []struct{ Kind, Text string }
	Capability string
}

// gaps returns the gaps of which the context of a message tells, in the prompt and in
// notes alike.
func (w *world) gaps(t *testing.T, channel, anchor string) []string {
	t.Helper()
	var c gapped
	w.ok(t, http.MethodPost, "/v1/context", fields{"channel": channel, "anchor": anchor, "agent": "BOT"}, &c)
	var out []string
	for _, n := range c.Notes {
		if n.Kind != "gap" && n.Kind != "stale" {
			continue
		}
		text, _, _ := strings.Cut(n.Text, " (")
		if !strings.Contains(c.Prompt.Messages[0].Text, "["+text+"]") {
			t.Errorf("the prompt does not have %q:\n%s", text, c.Prompt.Messages[0].Text)
		}
		out = append(out, text)
	}
	return out
}

func (w *world) wantGaps(t *testing.T, channel, anchor string, want ...string) {
	t.Helper()
	if got := w.gaps(t, channel, anchor); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s %s: gaps %q, want %q", channel, anchor, got, want)
	}
}

// saidAt is a neutral event.
func saidAt(channel, id, at string, more fields) fields {
	m := fields{"id": id, "time": at, "author": fields{"id": "U1", "name": "Ann"}, "text": "said " + id}
	for k, v := range more {
		m[k] = v
	}
	return fields{"type": "message", "channel": channel, "message": m}
}

func (w *world) tellAll(t *testing.T, events ...any) {
	t.Helper()
	w.ok(t, http.MethodPost, "/v1/events", fields{"events": events}, nil)
}

// newGapWorld is a world whose agent is known.
func newGapWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.ok(t, http.MethodPut, "/v1/agents/BOT", fields{"name": "helper"}, nil)
	return w
}

func TestTheTimeBeforeTheFirstEventIsMissing(t *testing.T) {
	t.Parallel()
	w := newGapWorld(t)
	w.tellAll(t, saidAt("C1", "m1", "2026-03-02T09:00:00Z", nil), saidAt("C1", "m2", "2026-03-02T09:05:00Z", nil))
	w.tellAll(t, saidAt("C1", "m3", "2026-03-02T08:00:00Z", nil)) // late, and no word of what else was said then
	const before = "history before 2026-03-02 08:59 UTC could not be loaded"
	w.wantGaps(t, "C1", "m2", before)
	var c gapped
	w.ok(t, http.MethodPost, "/v1/context", fields{"channel": "C1", "anchor": "m2", "agent": "BOT"}, &c)
	if _, _, got := w.call(t, "C1", http.MethodPost, "/v1/tools/channel_context", `{"intent":"said"}`); !strings.Contains(got, `"missing":[{"from":null,"to":"2026-03-02T08:59:59.999999Z","state":"missing"}]`) {
		t.Errorf("channel_context does not say so: %s", got)
	}
	if got := w.ok(t, http.MethodGet, "/v1/channels/C1/coverage", nil, nil); !strings.Contains(got, `"missing":[{"to":"2026-03-02T08:59:59.999999Z","state":"missing","why":"nobody has told what was said before"}]`) {
		t.Errorf("coverage: %s", got)
	}
	// Reading and searching say so as well, of the time that they are about.
	const gap = `"missing":[{"to":"2026-03-02T08:59:59.999999Z","state":"missing","why":"nobody has told what was said before"}]`
	for path, want := range map[string]string{
		"/v1/channels/C1/messages":                                gap,
		"/v1/channels/C1/messages?limit=1":                        `"missing":[]`, // from m2 on
		"/v1/channels/C1/messages?after=2026-03-02T09:00:00Z":     `"missing":[]`,
		"/v1/channels/C1/messages?before=2026-03-02T08:30:00Z":    gap,
		"/v1/channels/C1/search?q=said":                           gap,
		"/v1/channels/C1/search?q=said&from=2026-03-02T09:00:00Z": `"missing":[]`,
		"/v1/channels/C1/search?q=said&to=2026-03-02T08:00:00Z":   gap,
	} {
		if got := w.ok(t, http.MethodGet, path, nil, nil); !strings.Contains(got, want) {
			t.Errorf("%s: %s\nlacks %s", path, got, want)
		}
	}
	// A page that reaches back to somewhere, and then one with the beginning.
	older := func(id, at string) fields { return saidAt("C1", id, at, nil)["message"].(fields) }
	w.ok(t, http.MethodPost, "/v1/history", fields{"channel": "C1", "messages": []any{older("m0", "2026-03-02T07:00:00Z")}}, nil)
	w.wantGaps(t, "C1", "m2", "history before 2026-03-02 06:59 UTC could not be loaded")
	got := w.ok(t, http.MethodPost, "/v1/history", fields{"channel": "C1", "to": "2026-03-02T07:00:00Z", "whole": true, "messages": []any{older("m-1", "2026-03-01T07:00:00Z"), older("m0", "2026-03-02T07:00:00Z")}}, nil)
	if !strings.Contains(got, `"messages":2,"new":1,"known":{"to":"2026-03-02T07:00:00Z"},"missing":[]}`) {
		t.Errorf("history: %s", got)
	}
	w.wantGaps(t, "C1", "m2")
}

func TestWhatIsNoGap(t *testing.T) {
	t.Parallel()
	w := newGapWorld(t)
	w.ok(t, http.MethodPost, "/v1/coverage", fields{"channel": fields{"id": "C2", "name": "new"}, "coverage": []any{fields{"state": "known"}}}, nil)
	now := time.Now().UTC().Format(time.RFC3339Nano)
	w.tellAll(t, saidAt("C2", "m1", now, nil))
	w.wantGaps(t, "C2", "m1")

	w.ok(t, http.MethodPost, "/v1/events?platform=slack", fields{"type": "event_callback", "team_id": "T1", "event_id": "E1", "event": fields{"type": "channel_created", "event_ts": "1772442000.000000", "channel": fields{"id": "C3", "name": "fresh", "is_channel": true}}}, nil)
	w.ok(t, http.MethodPost, "/v1/events?platform=slack", slackSaid("C3", "1772442030.000100", nil), nil)
	w.wantGaps(t, "C3", "1772442030.000100")
	// Of a channel that is made or renamed Slack tells everybody, of what is said there its members only.
	for i, kind := range []string{"channel_created", "channel_rename"} {
		id := fmt.Sprint("C6", i)
		w.ok(t, http.MethodPost, "/v1/events?platform=slack", fields{"type": "event_callback", "team_id": "T1", "event_id": id, "event": fields{"type": kind, "event_ts": "1772438400.000000", "channel": fields{"id": id, "name": "fresh"}}}, nil)
		w.ok(t, http.MethodPost, "/v1/events?platform=slack", slackSaid(id, "1772442060.000100", nil), nil)
		w.wantGaps(t, id, "1772442060.000100", []string{"history between 2026-03-02 08:00 UTC and 2026-03-02 09:01 UTC could not be loaded", "history before 2026-03-02 09:01 UTC could not be loaded"}[i])
	}

	// An export, say: what is stored before the first event is known, what lies between is not.
	imported := earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C4", Kind: earshot.KindChannel}
	if err := w.store.PutChannel(t.Context(), imported); err != nil {
		t.Fatal(err)
	}
	if _, err := w.store.Record(t.Context(), imported.Scope(), earshot.Message{ID: "1772438400.000100", Time: 1772438400000100, Text: "imported", Author: earshot.Author{ID: "U1"}}); err != nil {
		t.Fatal(err)
	}
	w.ok(t, http.MethodPost, "/v1/events?platform=slack", slackSaid("C4", "1772442060.000100", nil), nil)
	w.wantGaps(t, "C4", "1772442060.000100", "history between 2026-03-02 08:00 UTC and 2026-03-02 09:01 UTC could not be loaded")

	// A conversation that a caller has created, in a channel whose past is unknown.
	for _, metadata := range []fields{{}, {"channel_id": "C4", "thread_id": "ticket-7"}, {"channel_id": "C4"}} {
		var made struct {
			Data struct{ Conversation struct{ ID string } }
		}
		_, _, got := w.call(t, "T1", http.MethodPost, "/api/chat/conversations", fields{"title": "x", "client_type": "web", "agent_id": "BOT", "metadata": metadata})
		if err := json.Unmarshal([]byte(got), &made); err != nil {
			t.Fatal(err)
		}
		id := made.Data.Conversation.ID
		status, _, got := w.call(t, "T1", http.MethodPost, "/api/chat/conversations/"+id+"/messages", fields{"role": "user", "content": "hello", "message_id": fmt.Sprint("q", len(metadata))})
		if status != http.StatusCreated {
			t.Fatal(got)
		}
		var c gapped
		w.ok(t, http.MethodPost, "/v1/context", fields{"conversation": id, "anchor": fmt.Sprint("q", len(metadata)), "policy": "delta"}, &c)
		for _, n := range c.Notes {
			if n.Kind == "gap" {
				t.Errorf("%v: %+v", metadata, n)
			}
		}
	}
}

// slackSaid is a delivery of Slack.
func slackSaid(channel, ts string, more fields) fields {
	e := fields{"type": "message", "channel": channel, "user": "U1", "text": "said " + ts, "ts": ts, "event_ts": ts}
	for k, v := range more {
		e[k] = v
	}
	return fields{"type": "event_callback", "team_id": "T1", "event_id": "E" + ts + fmt.Sprint(len(more)), "event": e}
}

func TestAThreadThatIsNotStoredWhole(t *testing.T) {
	t.Parallel()
	w := newGapWorld(t)
	slack := func(body fields) { w.ok(t, http.MethodPost, "/v1/events?platform=slack", body, nil) }
	const root, reply = "1772438400.000100", "1772442060.000100"
	slack(slackSaid("C1", reply, fields{"thread_ts": root}))
	channel, thread := "history before 2026-03-02 09:01 UTC could not be loaded", "history between 2026-03-02 08:00 UTC and 2026-03-02 09:01 UTC could not be loaded"
	w.wantGaps(t, "C1", reply, channel, thread)
	if _, _, got := w.call(t, "C1", http.MethodPost, "/v1/tools/channel_messages", `{"thread_id":"`+root+`"}`); !strings.Contains(got, `"thread_id":"`+root+`","state":"missing"`) {
		t.Errorf("channel_messages does not say so: %s", got)
	}
	// The page of the channel has the root, which tells of more replies than are stored.
	page := func(more bool, messages ...any) fields {
		return fields{"ok": true, "has_more": more, "messages": messages}
	}
	said := func(ts string, more fields) fields {
		m := fields{"type": "message", "user": "U1", "text": "said " + ts, "ts": ts}
		for k, v := range more {
			m[k] = v
		}
		return m
	}
	history := fields{"platform": "slack", "channel": "C1", "page": page(false, said(root, fields{"thread_ts": root, "reply_count": 3, "latest_reply": reply}))}
	var told struct {
		Known   *struct{ From, To string }
		Missing []any
		Next    *struct{ Oldest, Latest string }
	}
	w.ok(t, http.MethodPost, "/v1/history", history, &told)
	if told.Known == nil || told.Known.From != "" || len(told.Missing) != 0 || told.Next != nil {
		t.Errorf("%+v", told)
	}
	w.wantGaps(t, "C1", reply, "history between 2026-03-02 08:00 UTC and 2026-03-02 09:01 UTC could not be loaded")
	// What is said since was not counted there, and does not make it whole.
	const since = "1772442180.000100"
	slack(slackSaid("C1", "1772442120.000100", fields{"thread_ts": root}))
	slack(slackSaid("C1", since, fields{"thread_ts": root}))
	w.wantGaps(t, "C1", since, "history between 2026-03-02 08:00 UTC and 2026-03-02 09:01 UTC could not be loaded")
	if got := w.ok(t, http.MethodGet, "/v1/channels/C1/coverage?thread="+root, nil, nil); !strings.Contains(got, `"missing":[{"thread":"`+root+`"`) {
		t.Errorf("coverage of the thread: %s", got)
	}
	// Its replies come in two pages, each of which says how it goes on.
	replies := func(more bool, oldest string, messages ...any) fields {
		return fields{"platform": "slack", "channel": "C1", "thread": root, "oldest": oldest, "page": page(more, messages...)}
	}
	told.Next = nil
	w.ok(t, http.MethodPost, "/v1/history", replies(true, "", said(root, fields{"thread_ts": root, "reply_count": 3}), said("1772438460.000100", fields{"thread_ts": root})), &told)
	if told.Next == nil || told.Next.Oldest != "1772438460.000100" {
		t.Fatalf("%+v", told)
	}
	w.wantGaps(t, "C1", reply, "history between 2026-03-02 08:01 UTC and 2026-03-02 09:01 UTC could not be loaded")
	w.ok(t, http.MethodPost, "/v1/history", replies(false, told.Next.Oldest, said("1772438520.000100", fields{"thread_ts": root}), said(reply, fields{"thread_ts": root})), nil)
	w.wantGaps(t, "C1", reply)
	if got := w.ok(t, http.MethodPost, "/v1/history", history, nil); !strings.Contains(got, `"new":0`) {
		t.Errorf("told again: %s", got)
	}
	w.wantGaps(t, "C1", reply)
	// A word about the thread, and that it is whole again.
	w.ok(t, http.MethodPost, "/v1/coverage", fields{"channel": "C1", "coverage": []any{fields{"thread": root, "from": "2026-03-02T08:30:00Z", "to": "2026-03-02T08:40:00Z", "state": "stale", "why": "a restart"}}}, nil)
	w.wantGaps(t, "C1", reply, "history between 2026-03-02 08:30 UTC and 2026-03-02 08:40 UTC may be out of date")
	w.ok(t, http.MethodPost, "/v1/coverage", fields{"channel": "C1", "coverage": []any{fields{"thread": root, "state": "known"}}}, nil)
	w.wantGaps(t, "C1", reply)
}

func TestPagesOfSlackOverlapTheirEdges(t *testing.T) {
	t.Parallel()
	w := newGapWorld(t)
	const anchor = "1772442600.000100"
	w.ok(t, http.MethodPost, "/v1/events?platform=slack", slackSaid("C1", anchor, nil), nil)
	page := func(more any, latest string, ts ...string) (known, next string) {
		var list []any
		for _, x := range ts {
			list = append(list, fields{"type": "message", "user": "U1", "text": "said", "ts": x})
		}
		if list == nil {
			list = []any{}
		}
		p := fields{"ok": true, "messages": list}
		if more != nil {
			p["has_more"] = more
		}
		var out struct {
			Known *struct{ From, To string }
			Next  *struct{ Latest string }
		}
		w.ok(t, http.MethodPost, "/v1/history", fields{"platform": "slack", "channel": "C1", "latest": latest, "page": p}, &out)
		if out.Known != nil {
			known = out.Known.From + "…" + out.Known.To
		}
		if out.Next != nil {
			next = out.Next.Latest
		}
		return known, next
	}
	known, next := page(true, anchor, "1772442300.000100", "1772442000.000100")
	if known != "2026-03-02T09:00:00.0001Z…2026-03-02T09:10:00.000099Z" || next != "1772442000.000100" {
		t.Errorf("%s, next %s", known, next)
	}
	w.wantGaps(t, "C1", anchor, "history before 2026-03-02 09:00 UTC could not be loaded")
	if known, next = page(nil, next); known != "" || next != "" { // it does not say whether there is more
		t.Errorf("an empty page that may be cut: %s, next %s", known, next)
	}
	if known, _ = page(nil, "1772442000.000100", "1772441000.000100"); known != "2026-03-02T08:43:20.0001Z…2026-03-02T09:00:00.000099Z" {
		t.Errorf("a page that does not say: %s", known)
	}
	page(false, "1772441000.000100")
	w.wantGaps(t, "C1", anchor)
}

func TestPagesOfDiscord(t *testing.T) {
	t.Parallel()
	w := newGapWorld(t)
	guild := w.gate["T1"]
	guild.Reach.Workspaces = []earshot.WorkspaceID{"600000000000000001"}
	w.gate["T1"] = guild
	at := func(minute int) string {
		return fmt.Sprint((1772442000000 + int64(minute)*60000 - 1420070400000) << 22)
	}
	said := func(channel string, minute int) fields {
		return fields{"id": at(minute), "channel_id": channel, "type": 0, "content": fmt.Sprint("minute ", minute), "author": fields{"id": "77", "username": "mara"}, "timestamp": time.UnixMilli(1772442000000 + int64(minute)*60000).UTC().Format(time.RFC3339)}
	}
	const channel = "700000000000000001"
	w.ok(t, http.MethodPost, "/v1/events?platform=discord", fields{"op": 0, "t": "MESSAGE_CREATE", "s": 1, "d": func() fields { m := said(channel, 60); m["guild_id"] = "600000000000000001"; return m }()}, nil)
	body := fields{"platform": "discord", "workspace": "600000000000000001", "channel": channel, "before": at(60), "limit": 2, "page": []any{said(channel, 50), said(channel, 40)}}
	var out struct {
		Workspace string
		Known     *struct{ From, To string }
		Next      *struct{ Before, After string }
		New       int
	}
	w.ok(t, http.MethodPost, "/v1/history", body, &out)
	if out.New != 2 || out.Next == nil || out.Next.Before != at(40) || out.Known.From != "2026-03-02T09:40:00Z" || out.Workspace != "600000000000000001" {
		t.Errorf("%+v", out)
	}
	out.Next, out.Known = nil, nil
	body["before"], body["limit"], body["page"] = at(40), 100, []any{said(channel, 30)}
	w.ok(t, http.MethodPost, "/v1/history", body, &out)
	if out.Next != nil || out.Known.From != "" {
		t.Errorf("the beginning: %+v", out)
	}
	// A thread, as Discord describes it, read forwards.
	const thread = "800000000000000001"
	body = fields{"platform": "discord", "channel": fields{"id": thread, "type": 11, "parent_id": channel, "name": "a thread"}, "after": "0", "limit": 1, "page": []any{said(thread, 55)}}
	if status, _, got := w.call(t, "T1", http.MethodPost, "/v1/history", body); status != http.StatusBadRequest || !strings.Contains(got, "after must be") {
		t.Errorf("after 0: %d %s", status, got)
	}
	body["after"] = at(50)
	w.ok(t, http.MethodPost, "/v1/history", body, &out)
	m, err := w.store.Message(t.Context(), earshot.Scope{Platform: "discord", Workspace: "600000000000000001", Channel: channel}, earshot.MessageID(at(55)))
	if err != nil || m.Thread != thread || out.Next == nil || out.Next.After != at(55) {
		t.Errorf("%+v, %v, %+v", m, err, out)
	}
}

// TestHistoryThatIsRefusedStoresNothing has clear words for each.
func TestHistoryThatIsRefusedStoresNothing(t *testing.T) {
	t.Parallel()
	w := newGapWorld(t)
	w.tellAll(t, saidAt("C1", "m1", "2026-03-02T09:00:00Z", nil))
	message := `{"id":"m0","time":"2026-03-02T08:00:00Z","author":{"id":"U1"},"text":"x"}`
	page := `{"ok":true,"has_more":false,"messages":[{"ts":"1772442000.000100","user":"U1","text":"x"}]}`
	before := w.ok(t, http.MethodGet, "/v1/channels/C1/messages", nil, nil) + w.ok(t, http.MethodGet, "/v1/channels", nil, nil) + w.ok(t, http.MethodGet, "/v1/channels/C1/coverage", nil, nil)
	for _, c := range []struct{ as, path, body, want string }{
		{"T1", "history", `{}`, "channel is required"},
		{"T1", "history", `{"channel":"C1"}`, "messages is required"},
		{"T1", "history", `{"channel":"C1","page":{}}`, "page needs the platform"},
		{"T1", "history", `{"channel":"C1","messages":[null]}`, "messages[0] must not be null"},
		{"T1", "history", `{"channel":"C1","messages":[` + message + `,{"id":"x","author":{},"text":""}]}`, "messages[1].time"},
		{"T1", "history", `{"channel":"C1","from":"2026-03-02T08:30:00Z","messages":[` + message + `]}`, "messages[0].time lies outside"},
		{"T1", "history", `{"channel":"C1","from":"yesterday","messages":[]}`, "from is not"},
		{"T1", "history", `{"channel":"C1","from":"2026-03-02T08:30:00Z","to":"2026-03-02T08:00:00Z","messages":[]}`, "to lies before from"},
		{"T1", "history", `{"channel":"C1","latest":"1.0","messages":[]}`, "latest belongs to page"},
		{"T1", "history", `{"channel":"C1","thread":"r","messages":[{"id":"m0","time":"2026-03-02T08:00:00Z","author":{"id":"U1"},"text":"x","thread":"q"}]}`, "messages[0].thread is another thread"},
		{"T1", "history", `{"channel":"C1","thread":"r q","messages":[]}`, "thread must"},
		{"T1", "history", `{"channel":"C1","messages":[` + strings.Repeat(message+",", 1000) + message + `]}`, "at most 1000"},
		{"T1", "history", `{"platform":"slack","channel":"C1","page":[]}`, "page is no answer of Slack"},
		{"T1", "history", `{"platform":"slack","channel":"C1","page":{"ok":false,"error":"not_in_channel"}}`, "page is a refusal of Slack"},
		{"T1", "history", `{"platform":"slack","channel":"C1","page":{"ok":true}}`, "page.messages is required"},
		{"T1", "history", `{"platform":"slack","channel":"C1","page":{"ok":true,"messages":[{"ts":"1772442000.000100","user":"U1","text":"x"},7]}}`, "page.messages[1] is no message"},
		{"T1", "history", `{"platform":"slack","channel":"C1","thread":"1772441000.000100","page":` + page + `}`, "page.messages[0].thread_ts is another thread"},
		{"T1", "history", `{"platform":"slack","channel":"not an id","page":` + page + `}`, "channel.id is no channel's id"},
		{"T1", "history", `{"platform":"slack","channel":"C1","from":"1.0","page":` + page + `}`, "from belongs to messages"},
		{"T1", "history", `{"platform":"slack","channel":"C1","before":"1","page":` + page + `}`, "before belongs to a page of Discord"},
		{"T1", "history", `{"platform":"slack","channel":"C1","messages":[],"page":` + page + `}`, "messages and page exclude"},
		{"T1", "history", `{"platform":"discord","channel":"1","page":{}}`, "page must be the list"},
		{"T1", "history", `{"platform":"discord","channel":"1","before":"x","page":[]}`, "before must be the id"},
		{"T1", "history", `{"platform":"discord","channel":"1","before":"900000000000000001","after":"900000000000000001","page":[]}`, "after and before exclude"},
		{"T1", "history", `{"platform":"discord","channel":"1","limit":101,"page":[]}`, "limit must be"},
		{"T1", "history", `{"platform":"discord","channel":"700000000000000001","page":[{"id":"900000000000000001","channel_id":"700000000000000002","content":"x","author":{"id":"1"}}]}`, "page[0].channel_id is another channel"},
		{"T1", "history", `{"platform":"discord","channel":{"id":"x","type":0},"page":[]}`, "channel must be an id"},
		{"T1", "coverage", `{"channel":"C1"}`, "coverage must be 1"},
		{"T1", "coverage", `{"channel":"C1","coverage":[{"state":"gone"}]}`, "coverage[0].state must be"},
		{"T1", "coverage", `{"channel":"C1","coverage":[{"state":"missing","from":"2126-03-02T08:30:00Z"}]}`, "coverage[0].from must be"},
		{"T1", "coverage", `{"channel":"C1","coverage":[{"state":"known"},{"state":"missing","from":"2026-03-02T08:30:00Z","to":"2026-03-02T08:20:00Z"}]}`, "coverage[1].to lies before"},
		{"T1", "coverage", `{"channel":"C1","coverage":[{"state":"known","thread":"a b"}]}`, "thread must"},
		{"read", "history", `{"channel":"C1","messages":[]}`, "read_only"},
		{"tools", "history", `{"channel":"C1","messages":[]}`, "read_only"},
		{"read", "coverage", `{"channel":"C1","coverage":[{"state":"known"}]}`, "read_only"},
		{"C1", "history", `{"channel":"C9","messages":[]}`, "not_found"},
		{"T2", "coverage", `{"channel":{"id":"C1","workspace":"T1"},"coverage":[{"state":"known"}]}`, "not_found"},
	} {
		status, _, got := w.call(t, c.as, http.MethodPost, "/v1/"+c.path, c.body)
		if status < 400 || status > 404 || !strings.Contains(got, c.want) {
			t.Errorf("%s %s %.200s: %d %s; want %s", c.as, c.path, c.body, status, got, c.want)
		}
	}
	if after := w.ok(t, http.MethodGet, "/v1/channels/C1/messages", nil, nil) + w.ok(t, http.MethodGet, "/v1/channels", nil, nil) + w.ok(t, http.MethodGet, "/v1/channels/C1/coverage", nil, nil); after != before {
		t.Errorf("something was stored:\n%s\n%s", before, after)
	}
}

// TestATimeWithoutASidecarIsMissing of channels whose events are told, and of no others.
func TestATimeWithoutASidecarIsMissing(t *testing.T) {
	t.Parallel()
	w := newGapWorld(t)
	service := sidecar.New(w.store, search.New(w.store, nil), w.gate, sidecar.Options{Now: w.clock.now})
	w.server.Config.Handler = api.New(api.Options{Service: service, Reader: explain.New(w.store, search.New(w.store, nil), explain.Options{}), Gate: w.gate, Version: "test"})
	w.ok(t, http.MethodPost, "/v1/coverage", fields{"channel": "C1", "coverage": []any{fields{"state": "known"}}}, nil)
	now := time.Now().UTC()
	minutes := func(n int) time.Time { return now.Add(time.Duration(n) * time.Minute) }
	w.clock.forward(2 * time.Minute)
	w.tellAll(t, saidAt("C1", "m1", minutes(1).Format(time.RFC3339Nano), nil))
	other := earshot.Channel{Platform: "slack", Workspace: "T1", ID: "C2", Kind: earshot.KindChannel}
	if err := w.store.PutChannel(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if err := w.store.PutCoverage(t.Context(), other.Scope(), earshot.Coverage{From: 1, State: earshot.Known}); err != nil { // a bot's own
		t.Fatal(err)
	}
	w.clock.forward(30 * time.Minute)
	if err := service.Missed(t.Context(), earshot.TimeOf(minutes(5)), earshot.TimeOf(minutes(20))); err != nil {
		t.Fatal(err)
	}
	w.tellAll(t, saidAt("C1", "m2", minutes(25).Format(time.RFC3339Nano), fields{"thread": "m1"}))
	gap := fmt.Sprintf("history between %s UTC and %s UTC could not be loaded", minutes(5).Format("2006-01-02 15:04"), minutes(20).Format("2006-01-02 15:04"))
	w.wantGaps(t, "C1", "m2", gap)
	if list, err := w.store.Coverage(t.Context(), other.Scope()); err != nil || len(list) != 1 {
		t.Errorf("a channel that a bot listens to: %+v, %v", list, err)
	}
	w.ok(t, http.MethodPost, "/v1/history", fields{"channel": "C1", "from": minutes(4).Format(time.RFC3339Nano), "to": minutes(21).Format(time.RFC3339Nano), "messages": []any{}}, nil)
	w.wantGaps(t, "C1", "m2")
	// Where nothing tells when the last one ended, the channel's newest message does.
	if err := service.Missed(t.Context(), 0, earshot.TimeOf(minutes(28))); err != nil {
		t.Fatal(err)
	}
	if got := w.ok(t, http.MethodGet, "/v1/channels/C1/coverage", nil, nil); !strings.Contains(got, earshot.TimeOf(minutes(25)).String()[:19]) {
		t.Errorf("coverage: %s", got)
	}
}
