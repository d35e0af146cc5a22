package inspect_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
)

// agent answers in these tests.
const agent = earshot.AgentID("UBOT")

// An exchange is a question, and what became of it.
type exchange struct {
	channel earshot.ChannelID
	name    string // of the conversation; "": the question's id
	id      earshot.MessageID
	thread  earshot.MessageID
	by, ask string
	at      earshot.Time
	model   string
	usage   []earshot.Usage // of each call
	turn    earshot.Turn    // what is committed besides answer and usage
	began   earshot.Beginning
	epoch   int
	failed  string // why it failed
	files   []earshot.File
}

// answered records a question and its turn.
func (w world) answered(t *testing.T, x exchange) earshot.TurnID {
	t.Helper()
	ctx := t.Context()
	at := earshot.Scope{Platform: earshot.Local, Workspace: "local", Channel: x.channel}
	if x.name == "" {
		x.name = string(x.id)
	}
	of := earshot.ConversationID{Agent: agent, Scope: at, Name: x.name}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	m := earshot.Message{ID: x.id, Time: x.at, Thread: x.thread, Author: earshot.Author{ID: earshot.AuthorID(x.by), Name: x.by, Kind: earshot.Human}, Text: x.ask, Files: x.files}
	got, err := w.store.Accept(ctx, at, earshot.Event{Received: x.at, Message: m}, &of)
	must(err)
	l, _, err := w.store.Claim(ctx, agent, "test", x.at, time.Minute)
	must(err)
	stored, err := w.store.Conversation(ctx, of)
	must(err)
	must(w.store.Begin(ctx, l, got.Turn, earshot.Prompt{From: stored.Epoch, Epoch: x.epoch, Hash: strconv.Itoa(int(got.Turn)), Began: x.began, Input: []byte("{}")}))
	sum := earshot.Usage{}
	for n, u := range x.usage {
		data, err := json.Marshal(llm.Response{Stop: llm.StopEnd, Usage: u, Provider: "test", Model: x.model})
		must(err)
		must(w.store.AddStep(ctx, l, got.Turn, earshot.Step{N: n, Kind: "answer", Data: data, Time: x.at}))
		sum.Input, sum.Output, sum.CacheRead, sum.CacheWrite = sum.Input+u.Input, sum.Output+u.Output, sum.CacheRead+u.CacheRead, sum.CacheWrite+u.CacheWrite
	}
	if x.failed != "" {
		must(w.store.Finish(ctx, l, got.Turn, earshot.TurnFailed, x.failed, nil))
	} else {
		c := x.turn
		c.Answer, c.Usage, c.Epoch, c.Time = earshot.Answer{Anchor: x.id, Replies: []earshot.MessageID{x.id + "-reply"}}, sum, x.epoch, x.at
		must(w.store.Finish(ctx, l, got.Turn, earshot.TurnDone, "", &c))
	}
	must(w.store.Release(ctx, l, 0))
	return got.Turn
}

// march is a time of March 2026.
func march(day, hour int) earshot.Time {
	return earshot.TimeOf(time.Date(2026, 3, day, hour, 0, 0, 0, time.UTC))
}

// page returns a page, which must be there.
func (w world) page(t *testing.T, path string) string {
	t.Helper()
	return w.pageFor(t, path, token)
}

// pageFor returns a page for somebody with a token or a key.
func (w world) pageFor(t *testing.T, path, bearer string) string {
	t.Helper()
	status, body := w.do(t, browser(t), "GET", path, nil, "Authorization", "Bearer "+bearer)
	if status != 200 {
		t.Fatalf("GET %s: %d %s", path, status, body)
	}
	return body
}

// jsonOf reads a page's JSON.
func jsonOf[T any](t *testing.T, w world, path string) T {
	t.Helper()
	var out T
	if err := json.Unmarshal([]byte(w.page(t, path)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}
