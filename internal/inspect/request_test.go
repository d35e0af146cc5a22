package inspect_test

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/transcript"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tokens"
)

// sends has two requests for every turn: one that is proven, and one that is not.
func sends(o *inspect.Options) {
	o.Requests = func(_ context.Context, q earshot.QueuedTurn) iter.Seq2[bot.SentRequest, error] {
		return func(yield func(bot.SentRequest, error) bool) {
			body := unrulyBody()
			if yield(bot.SentRequest{N: 1, Provider: "openai", Sent: &llm.SentBody{Model: "gpt-x", Path: "/chat/completions", Bytes: len(body), SHA256: "5eed"}, Body: body}, nil) {
				yield(bot.SentRequest{N: 3, Provider: "openai", Why: "the store does not have \"a.png\" any more as it was sent"}, nil)
			}
		}
	}
}

// unrulyBody is a body as adapters write it, without escapes for HTML.
func unrulyBody() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(map[string]any{"messages": []string{unruly}}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func TestARequestIsShownAsItWasSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sends)
	_, turn := busy(t, w, 2)
	body := w.page(t, turn+"/steps/1/request")
	for _, want := range []string{"These are the bytes that were sent", "gpt-x", "POST …/chat/completions", "5eed", turn + "/steps/1/request.json", `\u202e`} {
		if !strings.Contains(body, want) {
			t.Errorf("the page lacks %q: %s", want, body)
		}
	}
	if strings.Contains(body, "<script>alert") || strings.Contains(body, "<img src=x") || strings.Contains(body, "\u202e") {
		t.Errorf("the page has markup of a message: %s", body)
	}
	want := unrulyBody()
	status, raw := w.do(t, browser(t), "GET", turn+"/steps/1/request.json", nil, "Authorization", "Bearer "+token)
	if status != http.StatusOK || raw != string(want) {
		t.Errorf("raw: %d %s", status, raw)
	}
	if body := w.page(t, turn+"/steps/3/request"); !strings.Contains(body, "cannot be shown") || !strings.Contains(body, "a.png") {
		t.Errorf("what cannot be shown: %s", body)
	}
	if status, raw := w.do(t, browser(t), "GET", turn+"/steps/3/request.json", nil, "Authorization", "Bearer "+token); status != http.StatusGone || !strings.Contains(raw, "a.png") {
		t.Errorf("raw, of what cannot be shown: %d %s", status, raw)
	}
	for _, path := range []string{turn + "/steps/2/request", turn + "/steps/x/request", "/turns/999/steps/1/request", "/turns/x/steps/1/request.json"} {
		if status, _ := w.do(t, browser(t), "GET", path, nil, "Authorization", "Bearer "+token); status != http.StatusNotFound {
			t.Errorf("%s: %d", path, status)
		}
	}
}

func TestRequestsAndCasesOfOtherChannelsDoNotExist(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sends)
	_, turn := busy(t, w, 2)
	stranger := w.key(t, access.KeySpec{Name: "stranger", Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"hr"}})
	for _, path := range []string{"/steps/1/request", "/steps/1/request.json", "/case.txt", "/case.txt?redact=1"} {
		status, body := w.do(t, browser(t), "GET", turn+path, nil, "Authorization", "Bearer "+stranger)
		if status != http.StatusNotFound || strings.Contains(body, "staging") || strings.Contains(body, "script>alert") {
			t.Errorf("%s: %d %s", path, status, body)
		}
	}
}

func TestATurnIsSavedAsACase(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	_, turn := busy(t, w, 3)
	for _, c := range []struct {
		query, has, lacks string
	}{
		{"", "what happened in the night", "Redacted"},
		{"?redact=0", "what happened in the night", "Redacted"},
		{"?redact=1", "Redacted. All ", "night"},
	} {
		body := w.page(t, turn+"/case.txt"+c.query)
		if !strings.Contains(body, c.has) || strings.Contains(body, c.lacks) {
			t.Errorf("%s: %s", c.query, body)
		}
		read, err := transcript.Parse([]byte(body))
		if err != nil {
			t.Fatal(err)
		}
		if read.Input.Counter, err = tokens.For(read.Counter); err != nil {
			t.Fatal(err)
		}
		res, err := assemble.Turn(read.Input)
		if err != nil || transcript.Prompt(res) != read.Prompt {
			t.Errorf("%s: the case gives another prompt than it says, %v", c.query, err)
		}
	}
	m := earshot.Message{ID: "m1", Time: march(2, 9) + 3*60e6, Deleted: true}
	if _, err := w.store.Record(t.Context(), placeOf("ops"), m); err != nil {
		t.Fatal(err)
	}
	if status, body := w.do(t, browser(t), "GET", turn+"/case.txt", nil, "Authorization", "Bearer "+token); status != http.StatusGone || !strings.Contains(body, "cannot be a case") {
		t.Errorf("after a deletion: %d %s", status, body)
	}
}
