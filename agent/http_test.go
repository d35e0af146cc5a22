package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/agent"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/secret"
)

const canary = "canary-key-1234567890"

// serve runs an agent that answers with f.
func serve(t *testing.T, o agent.Options, f http.HandlerFunc) *agent.HTTP {
	t.Helper()
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	o.URL, o.Key = web.URL+"/turn?secret="+canary, secret.New(canary)
	a, err := agent.NewHTTP(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// events answers with a stream.
func events(w http.ResponseWriter, lines ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, l := range lines {
		name, data, _ := strings.Cut(l, " ")
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", name, data)
		w.(http.Flusher).Flush()
	}
}

func question(text string) llm.Message {
	return llm.Message{Role: earshot.User, Parts: []llm.Part{llm.Text(text)}}
}

// turn is the request of a second turn, with a file.
func turn() llm.Request {
	with := question("and this?")
	with.Parts = append([]llm.Part{llm.Image(llm.Media{ID: "f1", Name: "a.png", Type: "image/png", Data: []byte("png")})}, with.Parts...)
	return llm.Request{
		System: "Be brief.", MaxTokens: 100,
		Messages: []llm.Message{question("what broke?"), {Role: earshot.Assistant, Parts: []llm.Part{llm.Text("The importer.")}}, with},
		Turn: &llm.Turn{
			Key: strings.Repeat("k", 32), ID: 7, Conversation: strings.Repeat("c", 32), New: 2, Thread: "m1",
			Asker:   earshot.Author{ID: "U1", Name: "Ann", Zone: "Europe/Berlin", Standing: earshot.External, Kind: earshot.Human},
			Channel: earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "ops", Kind: earshot.KindChannel},
			Access:  &llm.Access{URL: "http://here/mcp", Token: "a token", Expires: 1_773_000_000_000_000},
		},
	}
}

func TestWhatAnAgentIsSent(t *testing.T) {
	t.Parallel()
	text := func(role, s string) any {
		return map[string]any{"role": role, "parts": []any{map[string]any{"type": "text", "text": s}}}
	}
	newest := map[string]any{"role": "user", "parts": []any{
		map[string]any{"type": "file", "id": "f1", "name": "a.png", "media_type": "image/png", "data": "cG5n"}, map[string]any{"type": "text", "text": "and this?"}}}
	for _, theirs := range []bool{false, true} {
		t.Run(fmt.Sprintf("theirs %v", theirs), func(t *testing.T) {
			t.Parallel()
			want := map[string]any{
				"version": 1.0, "key": strings.Repeat("k", 32), "turn": 7.0, "conversation": strings.Repeat("c", 32), "instructions": "Be brief.", "new": 2.0,
				"asker":    map[string]any{"id": "U1", "name": "Ann", "zone": "Europe/Berlin", "standing": "external", "kind": "human"},
				"place":    map[string]any{"platform": "slack", "workspace": "T1", "channel": "C1", "name": "ops", "kind": "channel", "thread": "m1"},
				"mcp":      map[string]any{"url": "http://here/mcp", "token": "a token", "expires": "2026-03-08T20:00:00Z"},
				"messages": []any{text("user", "what broke?"), text("assistant", "The importer."), newest},
			}
			if theirs {
				want["messages"] = []any{newest} // new still tells that the conversation goes on
			}
			a := serve(t, agent.Options{Theirs: theirs}, func(w http.ResponseWriter, r *http.Request) {
				var got map[string]any
				if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(got, want); diff != "" {
					t.Errorf("-got +want\n%s", diff)
				}
				if r.Method != http.MethodPost || r.Header.Get("Idempotency-Key") != strings.Repeat("k", 32) || r.Header.Get("Authorization") != "Bearer "+canary {
					t.Errorf("%s with %v", r.Method, r.Header)
				}
				events(w, `text {"text":"fine"}`, `done {}`)
			})
			if got, err := a.Generate(t.Context(), turn(), nil); err != nil || got.Text() != "fine" {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestHowAnAgentAnswers(t *testing.T) {
	t.Parallel()
	usage := earshot.Usage{Input: 9, Output: 2, CacheRead: 1}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   llm.Response
		stream []llm.Event
	}{
		"as a stream": {func(w http.ResponseWriter, _ *http.Request) {
			events(w, `status {"text":"looking\ninto it"}`, `text {"text":"It "}`, `other {"x":1}`, `text {"text":"runs."}`, `status {"text":"late"}`, `usage {"model":"m\u001b[31m1\n","input":9,"output":2,"cache_read":1,"cache_write":-4}`, `done {}`)
		}, llm.Response{Parts: []llm.Part{llm.Text("It runs.")}, Stop: llm.StopEnd, Usage: usage, Provider: "agent", Model: "m[31m1"},
			[]llm.Event{{Status: "looking into it"}, {Text: "It "}, {Text: "runs."}}},
		"as JSON": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			fmt.Fprint(w, `{"text":"It runs.","usage":{"input":9,"output":2,"cache_read":1}}`)
		}, llm.Response{Parts: []llm.Part{llm.Text("It runs.")}, Stop: llm.StopEnd, Usage: usage, Provider: "agent", Model: "agent"}, []llm.Event{{Text: "It runs."}}},
		"with nothing": {func(w http.ResponseWriter, _ *http.Request) { events(w, `done {}`) }, llm.Response{Stop: llm.StopEnd, Provider: "agent", Model: "agent"}, nil},
		"with a question": {func(w http.ResponseWriter, _ *http.Request) {
			events(w, `text {"text":"Hm."}`, `question {"question":"Which one?","options":["a","b"],"state":{"task":"t-1"}}`)
		}, llm.Response{Parts: []llm.Part{llm.Text("Hm."), {
			Kind: llm.KindCall, Call: &llm.Call{ID: "q_" + strings.Repeat("k", 32), Name: "ask", Args: `{"question":"Which one?","options":["a","b"]}`},
			Opaque: &llm.Opaque{Provider: "agent", JSON: `{"task":"t-1"}`},
		}}, Stop: llm.StopCalls, Provider: "agent", Model: "agent"}, []llm.Event{{Text: "Hm."}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stream []llm.Event
			got, err := serve(t, agent.Options{}, c.answer).Generate(t.Context(), turn(), func(e llm.Event) { stream = append(stream, e) })
			if diff := cmp.Diff(got, c.want); err != nil || diff != "" {
				t.Errorf("%v -got +want\n%s", err, diff)
			}
			if diff := cmp.Diff(stream, c.stream); diff != "" {
				t.Errorf("streamed -got +want\n%s", diff)
			}
		})
	}
}

// The answer to a question goes back with what the agent gave along.
func TestAnAnswerGoesBackToTheAgent(t *testing.T) {
	t.Parallel()
	asked := 0
	a := serve(t, agent.Options{Theirs: true}, func(w http.ResponseWriter, r *http.Request) {
		var got struct {
			Answer   any
			Messages []any
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		if len(got.Messages) != 1 {
			t.Errorf("it is sent %d messages, which are more than what is new", len(got.Messages))
		}
		if asked++; asked == 1 {
			events(w, `question {"question":"Which one?","state":{"task":"t-1"}}`)
			return
		}
		want := map[string]any{"question": "q_" + strings.Repeat("k", 32), "text": "production", "given": true, "state": map[string]any{"task": "t-1"}}
		if asked == 3 {
			want["given"], want["text"] = false, ""
		}
		if diff := cmp.Diff(got.Answer, any(want)); diff != "" {
			t.Errorf("-got +want\n%s", diff)
		}
		events(w, `text {"text":"done"}`, `done {}`)
	})
	r := turn()
	first, err := a.Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, result := range []llm.Result{
		{Parts: []llm.Part{llm.Text(`{"answer":"production"}`)}},
		{Parts: []llm.Part{llm.Text(`{"error":"nobody answered in time"}`)}, Failed: true},
	} {
		result.Call, result.Name = first.Calls()[0].ID, "ask"
		next := r.Append(first, llm.Results(result))
		if err := next.Check(); err != nil {
			t.Fatal(err)
		}
		if got, err := a.Generate(t.Context(), next, nil); err != nil || got.Text() != "done" {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestHowAnAgentFails(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the key went along to another server: %v", r.Header)
	}))
	t.Cleanup(elsewhere.Close)
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		retry  bool
		wait   time.Duration
		says   string
	}{
		"busy": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "3")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"message":"I am\nfull"}`)
		}, true, 3 * time.Second, "I am full"},
		"at work on it": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusConflict) }, true, 0, "status 409"},
		"refuses":       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }, false, 0, "status 400"},
		"sends it elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, false, 0, "status 307"},
		"breaks off": {func(w http.ResponseWriter, _ *http.Request) { events(w, `text {"text":"It ru"}`) }, true, 0, "broke off"},
		"closes":     {func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) }, true, 0, "cannot be reached"},
		"says so": {func(w http.ResponseWriter, _ *http.Request) {
			events(w, `error {"message":"no quota","retry":true,"retry_after":2}`)
		}, true, 2 * time.Second, "no quota"},
		"says so for good": {func(w http.ResponseWriter, _ *http.Request) { events(w, `error {"message":"no such team"}`) }, false, 0, "no such team"},
		"is no JSON":       {func(w http.ResponseWriter, _ *http.Request) { events(w, `text {"text":`) }, false, 0, "no JSON of the protocol"},
		"is a page":        {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, false, 0, "neither with events nor with JSON"},
		"floods": {func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, "data: "+strings.Repeat("x", 1<<20)+"\n"); err != nil {
					return
				}
			}
		}, false, 0, "longer than 16 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := serve(t, agent.Options{}, c.answer).Generate(t.Context(), turn(), nil)
			var e *llm.Error
			if !errors.As(err, &e) || e.Retryable != c.retry || e.RetryAfter != c.wait || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, %+v", err, e)
			}
			if err != nil && (strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "127.0.0.1")) {
				t.Errorf("the error tells where, or the key: %v", err)
			}
		})
	}
}

// A turn that is stopped ends the request, which the agent sees.
func TestAnAgentIsStopped(t *testing.T) {
	t.Parallel()
	began, ended := make(chan struct{}), make(chan struct{})
	a := serve(t, agent.Options{}, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		events(w, `text {"text":"It "}`)
		close(began)
		<-r.Context().Done()
		close(ended)
	})
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-began
		stop()
	}()
	if _, err := a.Generate(ctx, turn(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	<-ended
}

func TestAnAgentNeedsAnAddress(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"", "localhost:9000", "ftp://x/", "http://", "http://a b/" + canary} {
		if _, err := agent.NewHTTP(agent.Options{URL: url}); !errors.Is(err, agent.ErrOptions) || strings.Contains(err.Error(), canary) {
			t.Errorf("%q: got %v", url, err)
		}
	}
}
