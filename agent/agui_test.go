package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/agent"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/secret"
)

// runs is an agent behind AG-UI that answers with f.
func runs(t *testing.T, o agent.Options, f http.HandlerFunc) *agent.AGUI {
	t.Helper()
	web := httptest.NewServer(f)
	t.Cleanup(web.Close)
	o.URL, o.Key = web.URL+"/run?secret="+canary, secret.New(canary)
	a, err := agent.NewAGUI(o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// emits answers with the events of a run.
func emits(w http.ResponseWriter, list ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range list {
		fmt.Fprintf(w, "data: %s\n\n", e)
		w.(http.Flusher).Flush()
	}
}

func wrote(message, delta string) string {
	return fmt.Sprintf(`{"type":"TEXT_MESSAGE_CONTENT","messageId":%q,"delta":%q}`, message, delta)
}

const (
	runStarted  = `{"type":"RUN_STARTED","threadId":"c","runId":"k"}`
	runFinished = `{"type":"RUN_FINISHED","threadId":"c","runId":"k"}`
)

func TestWhatARunIsStartedWith(t *testing.T) {
	t.Parallel()
	message := func(id, role string, content any) any {
		return map[string]any{"id": strings.Repeat("c", 32) + "-" + id, "role": role, "content": content}
	}
	newest := message("2", "user", []any{
		map[string]any{"type": "image", "id": "f1", "metadata": map[string]any{"filename": "a.png"}, "source": map[string]any{"type": "data", "value": "cG5n", "mimeType": "image/png"}},
		map[string]any{"type": "text", "text": "and this?"},
	})
	all := []any{message("instructions", "system", "Be brief."), message("0", "user", "what broke?"), message("1", "assistant", "The importer."), newest}
	for name, c := range map[string]struct {
		theirs bool
		begins bool
		want   []any
	}{"ours": {false, false, all}, "theirs": {true, false, []any{newest}}, "theirs, at the beginning": {true, true, []any{all[0], all[1], newest}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := runs(t, agent.Options{Theirs: c.theirs}, func(w http.ResponseWriter, r *http.Request) {
				data, _ := io.ReadAll(r.Body)
				var got struct {
					ThreadID, RunID, ProtocolVersion string
					State                            any
					Messages, Tools, Resume          []any
					Context                          []struct{ Description, Value string }
					ForwardedProps                   struct{ Earshot map[string]any }
				}
				if err := json.Unmarshal(data, &got); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(got.Messages, c.want); diff != "" {
					t.Errorf("-got +want\n%s", diff)
				}
				if got.ThreadID != strings.Repeat("c", 32) || got.RunID != strings.Repeat("k", 32) || r.Header.Get("Idempotency-Key") != got.RunID || got.Tools == nil || got.Resume != nil || got.State == nil {
					t.Errorf("run with %s", data)
				}
				if len(got.Context) != 2 || !strings.Contains(got.Context[0].Value, `"name":"Ann"`) || !strings.Contains(got.Context[1].Value, `"channel":"C1"`) || got.ForwardedProps.Earshot["mcp"].(map[string]any)["token"] != "a token" {
					t.Errorf("run with %s", data)
				}
				if strings.Count(string(data), "a token") != 1 {
					t.Error("the token stands where agents may show it to a model")
				}
				if r.Header.Get("Authorization") != "Bearer "+canary {
					t.Errorf("run with %v", r.Header)
				}
				emits(w, runStarted, wrote("m", "fine"), runFinished)
			})
			r := turn()
			if c.begins {
				r.Turn.New = 0
			}
			if got, err := a.Generate(t.Context(), r, nil); err != nil || got.Text() != "fine" {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

func TestHowARunEnds(t *testing.T) {
	t.Parallel()
	long := `{"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":[{"id":"i","message":"` + strings.Repeat("x", 20<<10) + `"}]}}`
	many := `{"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":[` + strings.TrimSuffix(strings.Repeat(`{"id":"i"},`, 9), ",") + `]}}`
	for name, c := range map[string]struct {
		events []string
		want   string // the text
		stream []llm.Event
		says   string // of an error
		retry  bool
	}{
		"with text and steps": {events: []string{
			runStarted, `{"type":"STEP_STARTED","stepName":"look\nup"}`, `{"type":"TOOL_CALL_START","toolCallId":"t","toolCallName":"search"}`, `{"type":"TOOL_CALL_ARGS","toolCallId":"t","delta":"{}"}`,
			`{"type":"STATE_DELTA","delta":[{"op":"add","path":"/x","value":1}]}`, `{"type":"TEXT_MESSAGE_START","messageId":"m","role":"assistant"}`, wrote("m", "It "), wrote("m", "runs."), `{"type":"TOOL_CALL_START","toolCallId":"u","toolCallName":"late"}`, runFinished,
		}, want: "It runs.", stream: []llm.Event{{Status: "look up"}, {Status: "search"}, {Text: "It "}, {Text: "runs."}}},
		"with two messages": {events: []string{wrote("m", "I look."), wrote("n", "It runs."), runFinished}, want: "I look.\n\nIt runs."},
		"with chunks":       {events: []string{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","delta":"It "}`, `{"type":"TEXT_MESSAGE_CHUNK","delta":"runs."}`, runFinished}, want: "It runs."},
		"with words of others": {events: []string{
			`{"type":"TEXT_MESSAGE_START","messageId":"m","role":"user"}`, wrote("m", "no"), `{"type":"TEXT_MESSAGE_CHUNK","messageId":"n","subagentRunId":"s","delta":"no"}`, wrote("n", "no"), wrote("o", "yes"), runFinished,
		}, want: "yes"},
		"with a snapshot": {events: []string{
			`{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user","content":[{"type":"text"}]},{"role":"assistant","content":"old"},{"role":"user","content":"q"},{"role":"assistant","content":"It runs."}]}`, runFinished,
		}, want: "It runs."},
		"with text and a snapshot": {events: []string{wrote("m", "It runs."), `{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"assistant","content":"It runs."}]}`, runFinished}, want: "It runs."},
		"with a mere word":         {events: []string{wrote("m", "It runs."), `{"type":"RUN_FINISHED","outcome":"success"}`}, want: "It runs."},
		"with no outcome":          {events: []string{wrote("m", "It runs."), `{"type":"RUN_FINISHED","outcome":7}`}, says: "no JSON of the protocol"},
		"with nothing":             {events: []string{runFinished}},
		"with an error":            {events: []string{wrote("m", "It "), `{"type":"RUN_ERROR","message":"the disk\nis full","code":"DISK"}`}, says: "DISK: the disk is full"},
		"with one that passes":     {events: []string{`{"type":"RUN_ERROR","message":"busy","code":"503"}`}, says: "busy", retry: true},
		"cancelled":                {events: []string{`{"type":"RUN_FINISHED","outcome":{"type":"cancelled"}}`}, says: "cancelled"},
		"never":                    {events: []string{runStarted, wrote("m", "It ru")}, says: "broke off", retry: true},
		"with no JSON":             {events: []string{`{"type":`}, says: "no JSON of the protocol"},
		"with another type":        {events: []string{`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":{"x":1}}`}, says: "no JSON of the protocol"},
		"with no question":         {events: []string{`{"type":"RUN_FINISHED","outcome":{"type":"interrupt"}}`}, says: "does not say to what"},
		"with a long question":     {events: []string{long}, says: "too long"},
		"with many questions":      {events: []string{many}, says: "too much at once"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stream []llm.Event
			a := runs(t, agent.Options{}, func(w http.ResponseWriter, _ *http.Request) { emits(w, c.events...) })
			got, err := a.Generate(t.Context(), turn(), func(e llm.Event) { stream = append(stream, e) })
			var e *llm.Error
			if c.says != "" {
				if !errors.As(err, &e) || !strings.Contains(err.Error(), c.says) || e.Retryable != c.retry || strings.Contains(err.Error(), canary) {
					t.Errorf("got %v", err)
				}
				return
			}
			if text, _ := heard(stream); err != nil || got.Text() != c.want || text != c.want || got.Stop != llm.StopEnd {
				t.Errorf("got %+v, %v, streamed %q", got, err, text)
			}
			if diff := cmp.Diff(stream, c.stream); c.stream != nil && diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}

func TestWhatARunHasUsed(t *testing.T) {
	t.Parallel()
	a := runs(t, agent.Options{}, func(w http.ResponseWriter, _ *http.Request) {
		emits(w, `{"type":"RUN_FINISHED","usage":[{"model":"m1","inputTokens":9,"outputTokens":2,"cachedInputTokens":3,"cacheWriteInputTokens":1},{"model":"m2","inputTokens":1,"outputTokens":-7}]}`)
	})
	got, err := a.Generate(t.Context(), turn(), nil)
	if want := (earshot.Usage{Input: 6, Output: 2, CacheRead: 3, CacheWrite: 1}); err != nil || got.Usage != want || got.Model != "m1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// An agent that floods is cut off, one that answers something else is refused, and neither is
// asked again.
func TestAnswersThatAreNoRun(t *testing.T) {
	t.Parallel()
	for says, f := range map[string]http.HandlerFunc{
		"longer than 16 MiB": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, "data: "+wrote("m", strings.Repeat("x", 1<<20))+"\n\n"); err != nil {
					return
				}
			}
		},
		"did not answer with events": func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"status 422":                 func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnprocessableEntity) },
	} {
		_, err := runs(t, agent.Options{}, f).Generate(t.Context(), turn(), nil)
		var e *llm.Error
		if !errors.As(err, &e) || e.Retryable || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want %q", err, says)
		}
	}
}

// The person is asked for each interrupt of a run, and the agent is asked once, with all answers
// as their schemas have them.
func TestAnInterruptedRunGoesOnWithAllAnswers(t *testing.T) {
	t.Parallel()
	var inputs []map[string]any
	a := runs(t, agent.Options{Theirs: true}, func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		if inputs = append(inputs, in); len(inputs) > 1 {
			emits(w, wrote("m", "done"), runFinished)
			return
		}
		emits(w, wrote("m", "Hm."), strings.ReplaceAll(`{"type":"RUN_FINISHED","usage":[{"outputTokens":4}],"outcome":{"type":"interrupt","interrupts":[
			{"id":"a","reason":"tool_call","message":"May I?","responseSchema":{"type":"object","properties":{"approved":{"type":"boolean"}}}},
			{"id":"b","reason":"how many","responseSchema":{"type":"integer"}},
			{"id":"c","reason":"x","message":"Which?","responseSchema":{"type":"string","enum":["p","q"]}},
			{"id":"d","reason":"x","responseSchema":[1]},{"id":"e","reason":"x","message":"Sure?","responseSchema":{"type":"boolean"}}]}}`, "\n", ""))
	})
	r := turn()
	got, err := a.Generate(t.Context(), r, nil)
	var asked []string
	for i, says := range []string{"Yes", "3", "q", "", "perhaps"} {
		if err != nil || len(got.Calls()) != 1 || (got.Usage.Output > 0) != (i == 0) {
			t.Fatalf("question %d: %+v, %v", i, got, err)
		}
		call := got.Calls()[0]
		asked = append(asked, call.Args)
		answer := llm.Result{Call: call.ID, Name: "ask", Parts: []llm.Part{llm.Text(`{"answer":"` + says + `"}`)}}
		if says == "" {
			answer.Failed, answer.Parts = true, []llm.Part{llm.Text(`{"error":"nobody answered in time"}`)}
		}
		r = r.Append(got, llm.Results(answer))
		next := *r.Turn
		next.Key = strings.Repeat(string(rune('l'+i)), 32)
		r.Turn = &next
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
		got, err = a.Generate(t.Context(), r, nil)
	}
	if err != nil || got.Text() != "done" || len(inputs) != 2 {
		t.Fatalf("got %+v, %v after %d requests", got, err, len(inputs))
	}
	if diff := cmp.Diff(asked, []string{`{"question":"May I?","options":["Yes","No"]}`, `{"question":"how many"}`, `{"question":"Which?","options":["p","q"]}`, `{"question":"x"}`, `{"question":"Sure?","options":["Yes","No"]}`}); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	want := []any{
		map[string]any{"interruptId": "a", "status": "resolved", "payload": map[string]any{"approved": true}},
		map[string]any{"interruptId": "b", "status": "resolved", "payload": 3.0},
		map[string]any{"interruptId": "c", "status": "resolved", "payload": "q"},
		map[string]any{"interruptId": "d", "status": "cancelled"},
		map[string]any{"interruptId": "e", "status": "resolved", "payload": false},
	}
	if diff := cmp.Diff(inputs[1]["resume"], any(want)); diff != "" || len(inputs[1]["messages"].([]any)) != 0 || inputs[1]["threadId"] != inputs[0]["threadId"] {
		t.Errorf("%v -got +want\n%s", inputs[1], diff)
	}
}

func FuzzAGUIStream(f *testing.F) {
	for _, seed := range [][]string{
		{runStarted, wrote("m", "It "), wrote("n", "runs."), runFinished},
		{`{"type":"TEXT_MESSAGE_CHUNK","messageId":"m","role":"tool","delta":"x"}`, `{"type":"RUN_FINISHED","outcome":{"type":"interrupt","interrupts":[{"id":"a","reason":"r","responseSchema":{"properties":{"x":{"type":"boolean"}}}}]}}`},
		{`{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"assistant","content":"x"}]}`, `{"type":"RUN_ERROR","code":"503"}`},
	} {
		f.Add(strings.Join(seed, "\n"))
	}
	var stream string
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { emits(w, strings.Split(stream, "\n")...) }))
	f.Cleanup(web.Close)
	a, err := agent.NewAGUI(agent.Options{URL: web.URL})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in string) {
		stream = in
		var events []llm.Event
		got, err := a.Generate(t.Context(), turn(), func(e llm.Event) { events = append(events, e) })
		if err != nil {
			return
		}
		if text, _ := heard(events); text != got.Text() || len(text) > 3*len(in) {
			t.Errorf("got %q, streamed %q", got.Text(), text)
		}
		if (len(got.Calls()) == 1) != (got.Stop == llm.StopCalls) {
			t.Errorf("got %+v", got)
		}
		next := turn().Append(got, llm.Results(llm.Result{Call: "q_" + turn().Turn.Key, Name: "ask", Parts: []llm.Part{llm.Text("x")}}))
		if got.Stop == llm.StopCalls && next.Check() != nil {
			t.Errorf("cannot go on: %v", next.Check())
		}
	})
}
