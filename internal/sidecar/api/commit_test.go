package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
)

// inThread is the conversation of the thread below m0.
var inThread = earshot.ConversationID{Agent: "U0BOT", Scope: ops.Scope(), Name: "m0"}

// opened opens a turn for a message.
func (w *world) opened(t testing.TB, anchor string) contextJSON {
	t.Helper()
	return w.opens(t, object{"channel": "C1", "anchor": anchor, "agent": "U0BOT", "open": true})
}

// opensAlso opens a turn for a message that somebody may be answering.
func (w *world) opensAlso(t testing.TB, anchor string) contextJSON {
	t.Helper()
	return w.opens(t, object{"channel": "C1", "anchor": anchor, "agent": "U0BOT", "open": true, "again": true})
}

func (w *world) opens(t testing.TB, body object) contextJSON {
	t.Helper()
	status, c := w.context(t, "C1", body)
	if status != http.StatusOK || c.Turn == nil {
		t.Fatalf("open for %v: %d %+v", body["anchor"], status, c)
	}
	return c
}

// A committedJSON is the answer to a commit, or a problem.
type committedJSON struct {
	Turn     int64
	Number   int
	Anchor   string
	Replies  []string
	Repeated bool
	Code     string
	Reason   string
	Detail   string
	Context  *contextJSON
	Reply    *struct {
		Text  string
		IDs   []string
		Usage struct{ Input, Output int }
	}
}

// commit commits a turn.
func (w *world) commit(t testing.TB, as string, turn int64, body any) (int, committedJSON) {
	t.Helper()
	status, _, text := w.call(t, as, http.MethodPost, fmt.Sprintf("/v1/turns/%d/commit", turn), body)
	var c committedJSON
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		t.Errorf("%d %s: %v", status, text, err)
	}
	return status, c
}

func says(text string, ids ...string) object {
	return object{"reply": object{"text": text, "ids": ids}, "usage": object{"input": 100, "output": 7}}
}

// state is what a commit moves.
func (w *world) state(t testing.TB) (earshot.Conversation, []earshot.Turn) {
	t.Helper()
	c, err := w.store.Conversation(t.Context(), inThread)
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		t.Fatal(err)
	}
	turns, err := w.store.Turns(t.Context(), inThread, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c, turns
}

func TestACommitMovesTheConversationOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "staging is down"), said(1, "Bob", "<@U0BOT> why?"))
	c := w.opened(t, "m1")
	if stored, turns := w.state(t); stored.Cursor != 0 || len(turns) != 0 {
		t.Errorf("opening moved the conversation: %+v, %d turns", stored, len(turns))
	}
	status, first := w.commit(t, "C1", c.Turn.ID, object{
		"reply": object{"text": "The disk is full.", "ids": []string{"r1"}}, "usage": object{"input": 100, "output": 7, "cache_read": 3}, "metadata": object{"mood": "calm"},
	})
	if status != http.StatusOK || first.Repeated || first.Number != 0 || len(first.Replies) != 1 || first.Replies[0] != "r1" {
		t.Fatalf("got %d %+v", status, first)
	}
	for _, body := range []any{
		object{"reply": object{"text": "The disk is full.", "ids": []string{"r1"}}, "usage": object{"input": 100, "output": 7, "cache_read": 3}},
		object{"reply": object{"text": "The disk is full."}},
	} {
		status, again := w.commit(t, "T1", c.Turn.ID, body)
		if status != http.StatusOK || !again.Repeated || again.Number != 0 || len(again.Replies) != 1 || again.Replies[0] != "r1" {
			t.Errorf("again: got %d %+v", status, again)
		}
	}
	stored, turns := w.state(t)
	if len(turns) != 1 || turns[0].Usage != (earshot.Usage{Input: 100, Output: 7, CacheRead: 3}) || turns[0].Hash != c.Hash || turns[0].Policy != "standard" {
		t.Errorf("stored turns: %+v", turns)
	}
	anchor := said(1, "", "")
	if stored.Cursor == 0 || stored.Metadata["mood"] != "calm" || stored.Metadata["last_processed_ts"] != anchor.Time.TS() {
		t.Errorf("stored conversation: %+v", stored)
	}
	m, err := w.store.Message(t.Context(), ops.Scope(), "r1")
	if err != nil || m.Text != "The disk is full." || m.Thread != "m0" || m.Author.ID != "U0BOT" || m.Author.Kind != earshot.Bot || m.Time <= anchor.Time {
		t.Errorf("the reply is stored as %+v, %v", m, err)
	}
	// The next prompt goes on with the first one's.
	w.tell(t, said(2, "Bob", "<@U0BOT> thanks, and now?"))
	next := w.opened(t, "m2")
	if n := len(next.Prompt.Messages); n != 3 || next.Prompt.System != c.Prompt.System || next.Prompt.Messages[0] != c.Prompt.Messages[0] || next.Prompt.Messages[1].Text != "The disk is full." {
		t.Errorf("the next prompt is %+v", next.Prompt)
	}
}

func TestOfManyOpenTurnsOneIsCommitted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "staging is down"), said(1, "Bob", "<@U0BOT> why?"), said(2, "Bob", "<@U0BOT> since when?"))
	const n = 100
	open := make([]contextJSON, n)
	for i := range open {
		open[i] = w.opensAlso(t, []string{"m1", "m2"}[i%2])
	}
	results := make([]committedJSON, n)
	statuses := make([]int, n)
	var wait sync.WaitGroup
	for i := range open {
		wait.Go(func() {
			statuses[i], results[i] = w.commit(t, "C1", open[i].Turn.ID, says("an answer", fmt.Sprint("r", i)))
		})
	}
	wait.Wait()
	won := -1
	for i, status := range statuses {
		switch {
		case status == http.StatusOK && won < 0:
			won = i
		case status != http.StatusConflict:
			t.Errorf("commit %d: %d %+v", i, status, results[i])
		}
	}
	if _, turns := w.state(t); won < 0 || len(turns) != 1 || string(turns[0].Answer.Replies[0]) != fmt.Sprint("r", won) {
		t.Fatalf("commit %d won, stored are %+v", won, turns)
	}
	for i, r := range results {
		answered := i%2 == won%2
		switch {
		case i == won:
		case r.Code != "conflict" || (r.Reason == "answered") != answered || r.Context == nil || (r.Context.Turn == nil) != answered:
			t.Errorf("commit %d: %+v", i, r)
		case !answered && (len(r.Context.Prompt.Messages) != 3 || r.Context.Prompt.Messages[1].Text != "an answer"):
			t.Errorf("commit %d gets the context %+v", i, r.Context)
		}
	}
	// The context that came with the conflict can be committed.
	for i, r := range results {
		if r.Context != nil && r.Context.Turn != nil {
			if status, c := w.commit(t, "C1", r.Context.Turn.ID, says("another answer", fmt.Sprint("s", i))); status != http.StatusOK || c.Number != 1 {
				t.Errorf("got %d %+v", status, c)
			}
			break
		}
	}
}

func TestTheSameCommitManyTimesAtOnceIsOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "<@U0BOT> why?"))
	c := w.opened(t, "m0")
	var wait sync.WaitGroup
	var first atomic.Int64
	for range 100 {
		wait.Go(func() {
			status, got := w.commit(t, "C1", c.Turn.ID, says("an answer", "r0"))
			if status != http.StatusOK || got.Number != 0 {
				t.Errorf("got %d %+v", status, got)
			}
			if !got.Repeated {
				first.Add(1)
			}
		})
	}
	wait.Wait()
	if n := first.Load(); n != 1 {
		t.Errorf("%d commits say that they were the first", n)
	}
	_, turns := w.state(t)
	list, err := w.store.ByID(t.Context(), ops.Scope(), ids("r", 100)...)
	if err != nil || len(turns) != 1 || len(list) != 1 || list[0].ID != turns[0].Answer.Replies[0] {
		t.Errorf("%d turns, %d replies, %v", len(turns), len(list), err)
	}
}

// ids returns prefix0 to prefix n-1.
func ids(prefix string, n int) []earshot.MessageID {
	var out []earshot.MessageID
	for i := range n {
		out = append(out, earshot.MessageID(fmt.Sprint(prefix, i)))
	}
	return out
}

func TestAnOpenTurnExpires(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "<@U0BOT> why?"))
	c, late := w.opened(t, "m0"), w.opensAlso(t, "m0")
	expires, err := time.Parse(time.RFC3339, c.Turn.Expires)
	if left := time.Until(expires); err != nil || left < 14*time.Minute || left > 15*time.Minute {
		t.Errorf("expires %s, %v", c.Turn.Expires, err)
	}
	if status, _ := w.commit(t, "C1", c.Turn.ID, says("in time")); status != http.StatusOK {
		t.Errorf("in time: %d", status)
	}
	w.clock.forward(16 * time.Minute)
	if status, got := w.commit(t, "C1", late.Turn.ID, says("too late")); status != http.StatusGone || got.Code != "expired" {
		t.Errorf("too late: %d %+v", status, got)
	}
	if status, got := w.commit(t, "C1", c.Turn.ID, says("in time")); status != http.StatusOK || !got.Repeated {
		t.Errorf("what was committed in time, later: %d %+v", status, got)
	}
}

func TestAnAbortMovesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "<@U0BOT> why?"))
	c := w.opened(t, "m0")
	abort := fmt.Sprintf("/v1/turns/%d/abort", c.Turn.ID)
	for range 2 {
		if status, _, body := w.call(t, "C1", http.MethodPost, abort, nil); status != http.StatusOK || !strings.Contains(body, `"state":"aborted"`) {
			t.Errorf("got %d %s", status, body)
		}
	}
	if status, got := w.commit(t, "C1", c.Turn.ID, says("an answer", "r1")); status != http.StatusGone {
		t.Errorf("commit: %d %+v", status, got)
	}
	stored, turns := w.state(t)
	list, err := w.store.ByID(t.Context(), ops.Scope(), "r1")
	if stored.Cursor != 0 || len(stored.Metadata) != 0 || len(turns) != 0 || len(list) != 0 || err != nil {
		t.Errorf("got %+v, %d turns, %d replies, %v", stored, len(turns), len(list), err)
	}
	again := w.opened(t, "m0")
	if again.Hash != c.Hash {
		t.Error("the context is another one")
	}
	if status, _ := w.commit(t, "C1", again.Turn.ID, says("an answer", "r1")); status != http.StatusOK {
		t.Errorf("a new turn: %d", status)
	}
	if status, _, body := w.call(t, "C1", http.MethodPost, fmt.Sprintf("/v1/turns/%d/abort", again.Turn.ID), nil); status != http.StatusOK || !strings.Contains(body, `"state":"committed"`) {
		t.Errorf("abort of what is committed: %d %s", status, body)
	}
}

func TestWhatIsDeletedWhileATurnIsOpenIsNotCommitted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, gone, reason string
		anew               bool
	}{
		{"a message that the prompt shows", "m0", "changed", true},
		{"the question", "m1", "deleted", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.tell(t, said(0, "Alice", "the password is marzipan"), said(1, "Bob", "<@U0BOT> why?"))
			status, open := w.context(t, "C1", object{"channel": "C1", "anchor": "m1", "agent": "U0BOT", "open": true, "instructions": "Be brief.", "policy": object{"name": "mine", "first": []object{{"section": "thread"}, {"section": "anchor"}}}})
			if status != http.StatusOK {
				t.Fatalf("%d %+v", status, open)
			}
			w.tell(t, earshot.Message{ID: earshot.MessageID(c.gone), Deleted: true})
			status, got := w.commit(t, "C1", open.Turn.ID, says("because", "r1"))
			if status != http.StatusConflict || got.Code != "conflict" || got.Reason != c.reason || (got.Context != nil) != c.anew {
				t.Fatalf("got %d %+v", status, got)
			}
			if _, turns := w.state(t); len(turns) != 0 {
				t.Errorf("%d turns", len(turns))
			}
			if !c.anew {
				return
			}
			// The context anew is made as the first was, without what is gone.
			text := got.Context.Prompt.Messages[0].Text
			if !strings.Contains(got.Context.Prompt.System, "Be brief.") || strings.Contains(text, "marzipan") || !strings.Contains(text, "why?") || got.Context.Turn == nil {
				t.Errorf("anew: %+v", got.Context)
			}
			if status, got := w.commit(t, "C1", got.Context.Turn.ID, says("because", "r1")); status != http.StatusOK {
				t.Errorf("anew: %d %+v", status, got)
			}
		})
	}
}

func TestOpenTurnsOfOthersDoNotExist(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "<@U0BOT> why?"))
	c := w.opened(t, "m0")
	for _, end := range []string{"commit", "abort"} {
		body := any(says("an answer"))
		if end == "abort" {
			body = nil
		}
		_, _, want := w.call(t, "T2", http.MethodPost, "/v1/turns/999999/"+end, body)
		for name, path := range map[string]string{"foreign": fmt.Sprint(c.Turn.ID), "no number": "x", "far too large": "99999999999999999999", "negative": "-1"} {
			if status, _, got := w.call(t, "T2", http.MethodPost, "/v1/turns/"+path+"/"+end, body); status != http.StatusNotFound || got != want {
				t.Errorf("%s of a turn that is %s: %d %s, want %s", end, name, status, got, want)
			}
		}
		for as, code := range map[string]string{"read": "read_only", "tools": "tools_only"} {
			if status, _, got := w.call(t, as, http.MethodPost, fmt.Sprintf("/v1/turns/%d/%s", c.Turn.ID, end), body); status != http.StatusForbidden || !strings.Contains(got, code) {
				t.Errorf("%s as %s: %d %s", end, as, status, got)
			}
		}
	}
	if status, _ := w.commit(t, "all", c.Turn.ID, says("an answer")); status != http.StatusOK {
		t.Errorf("another caller that reaches the channel: %d", status)
	}
}

func TestARepliesBodyIsReadStrictly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "<@U0BOT> why?"))
	path := fmt.Sprintf("/v1/turns/%d/commit", w.opened(t, "m0").Turn.ID)
	call := object{"role": "assistant", "calls": []object{{"id": "c1", "name": "channel_context", "args": `{"intent":"x"}`}}}
	for name, c := range map[string]struct {
		body  any
		holds string
	}{
		"no reply":               {object{}, "reply is required"},
		"an empty reply":         {object{"reply": object{}}, "reply.text is required"},
		"several ids":            {says("x", "r1", "r2"), "reply.ids are several"},
		"an id twice":            {object{"reply": object{"text": "x", "parts": []object{{"id": "r1", "text": "x"}, {"id": "r1", "text": "y"}}}}, "must be different"},
		"two words":              {object{"reply": object{"text": "x", "parts": []object{{"id": "r 1", "text": "x"}}}}, "must be words"},
		"an empty id":            {says("x", ""), "reply.ids"},
		"a wrong time":           {object{"reply": object{"text": "x", "ids": []string{"r1"}, "time": "noon"}}, "reply.time"},
		"ids and parts":          {object{"reply": object{"text": "x", "ids": []string{"r1"}, "parts": []object{{"id": "r2", "text": "x"}}}}, "reply.ids"},
		"negative usage":         {object{"reply": object{"text": "x"}, "usage": object{"input": -1}}, "usage.input"},
		"an unanswered call":     {object{"reply": object{"text": "x"}, "entries": []object{call}}, "entries must be calls"},
		"an answer to nothing":   {object{"reply": object{"text": "x"}, "entries": []object{{"role": "tool", "call": "c9", "text": "{}"}}}, "entries must be calls"},
		"a question":             {object{"reply": object{"text": "x"}, "entries": []object{{"role": "user", "text": "{}"}}}, "entries are calls"},
		"a wrong entry":          {object{"reply": object{"text": "x"}, "entries": []object{{"role": "tool", "text": "{}"}}}, "entries[0].call"},
		"reserved metadata":      {object{"reply": object{"text": "x"}, "metadata": object{"last_processed_ts": "1.0"}}, "metadata.last_processed_ts"},
		"a wrong key":            {object{"reply": object{"text": "x"}, "metadata": object{"a.b": "1"}}, "metadata has a key"},
		"a list in metadata":     {object{"reply": object{"text": "x"}, "metadata": object{"a": []int{1}}}, "metadata.a"},
		"an unknown field":       {`{"reply":{"text":"x","Ids":["r1"]}}`, "reply.Ids unknown field"},
		"a field twice":          {`{"reply":{"text":"x"},"reply":{"text":"y"}}`, "reply stands twice"},
		"a reply that is a text": {`{"reply":"x"}`, "reply"},
	} {
		if status, _, body := w.call(t, "C1", http.MethodPost, path, c.body); status != http.StatusBadRequest || !strings.Contains(body, c.holds) {
			t.Errorf("%s: got %d %s, want 400 with %s", name, status, body, c.holds)
		}
	}
	if status, _, body := w.call(t, "C1", http.MethodPost, path, object{"reply": object{"text": "xy", "parts": []object{{"id": "r1", "text": "x", "time": "2026-03-02T10:00:00Z"}, {"id": "r2", "text": "y"}}}}); status != http.StatusOK {
		t.Fatalf("parts: %d %s", status, body)
	}
	list, err := w.store.ByID(t.Context(), ops.Scope(), "r1", "r2")
	if err != nil || len(list) != 2 || list[0].Time.String() != "2026-03-02T10:00:00Z" || list[1].Text != "y" || list[1].Time != list[0].Time+1 {
		t.Errorf("stored %+v, %v", list, err)
	}
}

func TestWhatToolsAnsweredStaysInTheSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.store.Record(t.Context(), ops.Scope(), earshot.Message{ID: "old", Time: 1, Author: earshot.Author{ID: "U-Bob", Name: "Bob", Kind: earshot.Human}, Text: "the cable is blue"}); err != nil {
		t.Fatal(err)
	}
	w.tell(t, said(0, "Alice", "<@U0BOT> which cable?"))
	c := w.opened(t, "m0")
	answer := `{"messages":[{"message_id":"old","text":"the cable is blue"}]}`
	status, got := w.commit(t, "C1", c.Turn.ID, object{"reply": object{"text": "Blue.", "ids": []string{"r1"}}, "entries": []object{
		{"role": "assistant", "text": "Let me look.", "calls": []object{{"id": "c1", "name": "channel_messages", "args": `{"message_ids":["old"]}`}}},
		{"role": "tool", "call": "c1", "text": answer},
	}})
	if status != http.StatusOK {
		t.Fatalf("got %d %+v", status, got)
	}
	w.tell(t, said(1, "Alice", "<@U0BOT> sure?"))
	if next := w.opened(t, "m1"); len(next.Prompt.Messages) != 5 || next.Prompt.Messages[2].Text != answer || next.Prompt.Messages[3].Text != "Blue." {
		t.Errorf("the next prompt: %+v", next.Prompt.Messages)
	}
	// What a tool has shown is erased with its message.
	w.tell(t, earshot.Message{ID: "old", Deleted: true})
	if next := w.opensAlso(t, "m1"); len(next.Prompt.Messages) != 1 || strings.Contains(next.Prompt.Messages[0].Text, "blue") {
		t.Errorf("after the deletion: %+v", next.Prompt.Messages)
	}
}

func TestAQuestionWithoutContextLeavesOnlyItsAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "staging is down"), said(1, "Bob", "<@U0BOT> 🚫 what is 6 times 7?"))
	c := w.opened(t, "m1")
	if strings.Contains(c.Prompt.Messages[0].Text, "staging") {
		t.Fatalf("the prompt has context: %+v", c.Prompt)
	}
	if status, got := w.commit(t, "C1", c.Turn.ID, says("42", "r1")); status != http.StatusOK {
		t.Fatalf("got %d %+v", status, got)
	}
	stored, turns := w.state(t)
	session, err := w.store.Session(t.Context(), inThread)
	if len(turns) != 1 || len(session) != 0 || stored.Cursor != 0 || err != nil {
		t.Errorf("got %+v, %d turns, %d entries, %v", stored, len(turns), len(session), err)
	}
}
