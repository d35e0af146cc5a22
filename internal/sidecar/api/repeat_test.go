package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/earshot-ai/earshot"
)

// TestOfFortyRepliesToOneTurnOneIsStoredAndTheOthersAreTold commits one turn at once with
// forty texts, also where nothing keeps the text.
func TestOfFortyRepliesToOneTurnOneIsStoredAndTheOthersAreTold(t *testing.T) {
	t.Parallel()
	for _, policy := range []string{"standard", "thread"} {
		for _, posted := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, posted %v", policy, posted), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.tell(t, said(0, "Alice", "<@U0BOT> why?"))
				status, c := w.context(t, "C1", object{"channel": "C1", "anchor": "m0", "agent": "U0BOT", "open": true, "policy": policy})
				if status != http.StatusOK || c.Turn == nil {
					t.Fatalf("open: %d", status)
				}
				var wait sync.WaitGroup
				var stored atomic.Int64
				for i := range 40 {
					wait.Go(func() {
						reply := object{"text": fmt.Sprint("answer ", i)}
						if posted {
							reply["ids"] = []string{"r0"}
						}
						switch status, got := w.commit(t, "C1", c.Turn.ID, object{"reply": reply}); {
						case status == http.StatusOK && !got.Repeated:
							stored.Add(1)
						case status != http.StatusConflict || got.Reason != "other_reply" || got.Code != "other_reply" || got.Reply == nil || fmt.Sprint(got.Turn) != fmt.Sprint(c.Turn.ID):
							t.Errorf("got %d %+v", status, got)
						case posted && (!strings.HasPrefix(got.Reply.Text, "answer ") || !slices.Equal(got.Reply.IDs, []string{"r0"})):
							t.Errorf("what is stored is told as %+v", got.Reply)
						}
					})
				}
				wait.Wait()
				if n := stored.Load(); n != 1 {
					t.Errorf("%d replies are stored", n)
				}
			})
		}
	}
}

func TestARepeatOfACommitSaysTheSameOrIsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "<@U0BOT> why?"))
	c := w.opened(t, "m0")
	parts := func(texts ...string) []object {
		var out []object
		for i, text := range texts {
			out = append(out, object{"id": fmt.Sprint("r", i), "text": text})
		}
		return out
	}
	usage := object{"input": 100, "output": 7}
	first := object{"reply": object{"text": "one two", "parts": parts("one", "two")}, "usage": usage}
	if status, got := w.commit(t, "C1", c.Turn.ID, first); status != http.StatusOK || got.Repeated {
		t.Fatalf("got %d %+v", status, got)
	}
	for name, x := range map[string]struct {
		body any
		same bool
	}{
		"the same":       {first, true},
		"without usage":  {object{"reply": first["reply"]}, true},
		"another text":   {object{"reply": object{"text": "one three", "parts": parts("one", "two")}, "usage": usage}, false},
		"another part":   {object{"reply": object{"text": "one two", "parts": parts("one", "three")}, "usage": usage}, false},
		"another id":     {object{"reply": object{"text": "one two", "parts": []object{{"id": "r0", "text": "one"}, {"id": "r7", "text": "two"}}}, "usage": usage}, false},
		"another usage":  {object{"reply": first["reply"], "usage": object{"input": 101, "output": 7}}, false},
		"no text at all": {object{"reply": object{"text": ""}}, false},
	} {
		status, got := w.commit(t, "T1", c.Turn.ID, x.body)
		switch {
		case x.same && (status != http.StatusOK || !got.Repeated || !slices.Equal(got.Replies, []string{"r0", "r1"})):
			t.Errorf("%s: %d %+v", name, status, got)
		case !x.same && (status != http.StatusConflict || got.Reason != "other_reply" || got.Reply == nil || got.Reply.Text != "one two" || got.Reply.Usage.Input != 100 || got.Context != nil):
			t.Errorf("%s: %d %+v", name, status, got)
		}
	}
	if _, turns := w.state(t); len(turns) != 1 || turns[0].Usage.Input != 100 {
		t.Errorf("stored: %+v", turns)
	}
}

// TestAnotherTextForAStoredMessageIsAConflict tells events again as honest clients and
// importers do, and as one does that has given an id twice.
func TestAnotherTextForAStoredMessageIsAConflict(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	edit := func(text string) string {
		return fmt.Sprintf(`{"type":"edit","channel":{"id":"C1"},"message":{"id":"m1","time":"2026-03-01T10:00:00Z","edited":"2026-03-01T10:05:00Z","author":{"id":"U1"},"text":%q}}`, text)
	}
	for _, step := range []struct {
		name string
		body string
		want []string
		text string
	}{
		{"told, and in the same batch again", batch(saidIn("C1", "m1", "bbb"), saidIn("C1", "m1", "bbb"), saidIn("C1", "m1", "zzz")), []string{"new", "same", "conflict"}, "bbb"},
		{"a greater and a smaller text", batch(saidIn("C1", "m1", "ccc"), saidIn("C1", "m1", "aaa"), saidIn("C1", "m2", "another")), []string{"conflict", "conflict", "new"}, "bbb"},
		{"an edit", batch(edit("edited")), []string{"edited"}, "edited"},
		{"the whole history again", batch(saidIn("C1", "m1", "bbb"), edit("edited"), saidIn("C1", "m2", "another")), []string{"same", "same", "same"}, "edited"},
		{"another text for the edit", batch(edit("not so")), []string{"conflict"}, "edited"},
		{"with the name in a mention, and without", batch(saidIn("C1", "m3", "<@U1> hi"), saidIn("C1", "m3", "<@U1|Ann> hi"), saidIn("C1", "m3", "<@U1> hi")), []string{"new", "updated", "same"}, "edited"},
		{"over several channels", batch(saidIn("C1", "m1", "bbb"), saidIn("C1", "m3", "no"), saidIn("C2", "m3", "no")), []string{"same", "conflict", "new"}, "edited"},
	} {
		status, _, got := w.call(t, "T1", http.MethodPost, "/v1/events", step.body)
		if status != http.StatusOK || !slices.Equal(changes(t, got), step.want) {
			t.Errorf("%s: %d %s, want %v", step.name, status, got, step.want)
		}
		if conflicts := strings.Count(got, `"change":"conflict"`); conflicts != strings.Count(got, "tell it with edited") {
			t.Errorf("%s: not each conflict names the remedy: %s", step.name, got)
		}
		m, err := w.store.Message(t.Context(), earshot.Scope{Platform: "api", Workspace: "T1", Channel: "C1"}, "m1")
		if err != nil || m.Text != step.text {
			t.Errorf("%s: stored is %q, %v", step.name, m.Text, err)
		}
	}
	status, _, got := w.call(t, "T1", http.MethodPost, "/v1/context", `{"channel":"C1","agent":"U0BOT","message":{"id":"m1","time":"2026-03-01T10:00:00Z","author":{"id":"U1"},"edited":"2026-03-01T10:05:00Z","text":"<@U0BOT> something else"}}`)
	if status != http.StatusConflict || !strings.Contains(got, "other_text") {
		t.Errorf("a context for another text: %d %s", status, got)
	}
}
