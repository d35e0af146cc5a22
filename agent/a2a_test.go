package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/agent"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/secret"
)

// An a2aServer is an agent that answers each call as its test says. Its card is of 1.0 and
// streams, unless the test has another one.
type a2aServer struct {
	t     *testing.T
	card  func(url string) string
	reply func(w http.ResponseWriter, c a2aCall)

	mu    sync.Mutex // guards calls
	calls []a2aCall
}

type a2aCall struct {
	ID     json.RawMessage
	Method string
	Params struct {
		ID      string
		Message map[string]any
		Tenant  string
	}
}

func (s *a2aServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+canary {
		s.t.Errorf("called with %v", r.Header)
	}
	if strings.HasSuffix(r.URL.Path, "/.well-known/agent-card.json") {
		url := "http://" + r.Host
		card := fmt.Sprintf(`{"name":"A","capabilities":{"streaming":true},"supportedInterfaces":[{"url":"%s/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"t"}]}`, url)
		if s.card != nil {
			card = s.card(url)
		}
		fmt.Fprint(w, card)
		return
	}
	var c a2aCall
	if r.URL.Path != "/rpc" || json.NewDecoder(r.Body).Decode(&c) != nil {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	s.mu.Lock()
	s.calls = append(s.calls, c)
	s.mu.Unlock()
	s.reply(w, c)
}

func (s *a2aServer) methods() (list []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.calls {
		list = append(list, c.Method)
	}
	return list
}

// start returns the agent behind the server.
func (s *a2aServer) start(t *testing.T) *agent.A2A {
	t.Helper()
	s.t = t
	web := httptest.NewServer(s)
	t.Cleanup(web.Close)
	a, err := agent.NewA2A(agent.Options{URL: web.URL + "/?secret=" + canary, Key: secret.New(canary)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// results answers a call with a stream of results, which ends or is held.
func results(w http.ResponseWriter, c a2aCall, list ...string) {
	w.Header().Set("Content-Type", "text/event-stream")
	for _, r := range list {
		fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":%s}\n\n", c.ID, r)
		w.(http.Flusher).Flush()
	}
}

// result answers a call with JSON.
func result(w http.ResponseWriter, c a2aCall, r string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, c.ID, r)
}

func fails(w http.ResponseWriter, c a2aCall, code int, message string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`, c.ID, code, message)
}

// Results as 1.0 writes them.
const (
	begun     = `{"task":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_SUBMITTED"}}}`
	completed = `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"}}}`
)

func artifact(id, text string, more bool) string {
	return fmt.Sprintf(`{"artifactUpdate":{"taskId":"t1","contextId":"c1","append":%t,"artifact":{"artifactId":%q,"parts":[{"text":%q}]}}}`, more, id, text)
}

func status(state, text string) string {
	return fmt.Sprintf(`{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_%s","message":{"messageId":"m-%s","role":"ROLE_AGENT","parts":[{"text":%q}]}}}}`, state, state, text)
}

// heard joins the texts of events, after the last Again, and lists the others.
func heard(events []llm.Event) (text string, others []llm.Event) {
	for _, e := range events {
		switch {
		case e.Again:
			text = ""
		case e.Text != "":
			text += e.Text
		default:
			others = append(others, e)
		}
	}
	return text, others
}

func TestHowATaskIsAnswered(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		results []string
		want    string // the text, or what the error says
		fails   bool
		others  []llm.Event
	}{
		"by an artifact in pieces": {results: []string{begun, status("WORKING", "looking"), artifact("a", "It ", false), artifact("a", "runs.", true), completed}, want: "It runs.",
			others: []llm.Event{{Task: "t1"}, {Status: "looking"}}},
		"by two artifacts":                    {results: []string{begun, artifact("a", "One.", false), artifact("b", "Two.", false), artifact("a", " More.", true), completed}, want: "One. More.\n\nTwo."},
		"by an artifact that is written anew": {results: []string{begun, artifact("a", "No.", false), artifact("a", "Yes.", false), completed}, want: "Yes."},
		"by its last words":                   {results: []string{begun, status("COMPLETED", "Done.")}, want: "Done."},
		"by an artifact, whatever it says":    {results: []string{begun, artifact("a", "It runs.", false), status("COMPLETED", "I am done.")}, want: "It runs."},
		"by a message without a task":         {results: []string{`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"Hi."},{"data":{"a":1}},{"url":"http://x/","filename":"f"}]}}`}, want: "Hi.", others: nil},
		"by a task that is whole at once":     {results: []string{`{"task":{"id":"t1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"Fine."}]}]}}`}, want: "Fine."},
		"as 0.3 writes it": {results: []string{
			`{"kind":"task","id":"t1","contextId":"c1","status":{"state":"submitted"}}`,
			`{"kind":"artifact-update","taskId":"t1","artifact":{"artifactId":"a","parts":[{"kind":"text","text":"Old."}]}}`,
			`{"kind":"status-update","taskId":"t1","status":{"state":"completed"},"final":true}`,
		}, want: "Old."},
		"with what nobody knows":      {results: []string{begun, `{"news":{}}`, artifact("a", "Fine.", false), completed}, want: "Fine."},
		"with an error of its":        {results: []string{begun, status("FAILED", "the disk\nis full")}, want: "its task has failed: the disk is full", fails: true},
		"by not taking it":            {results: []string{begun, status("REJECTED", "not mine")}, want: "it does not take the task: not mine", fails: true},
		"by another's stop":           {results: []string{begun, status("CANCELED", "")}, want: "its task was canceled", fails: true},
		"by another task":             {results: []string{begun, strings.ReplaceAll(artifact("a", "x", false), "t1", "t2")}, want: "its answer is of another task", fails: true},
		"by a task with a long name":  {results: []string{strings.ReplaceAll(begun, "t1", strings.Repeat("t", 600))}, want: "the id of its task is too long", fails: true},
		"by what is no JSON of it":    {results: []string{`[1]`}, want: "its answer is no JSON of the protocol", fails: true},
		"by a task that is a number":  {results: []string{`{"task":7}`}, want: "its answer is no JSON of the protocol", fails: true},
		"by a task that has no shape": {results: []string{`{"task":{"id":{}}}`}, want: "its answer is no JSON of the protocol", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &a2aServer{reply: func(w http.ResponseWriter, k a2aCall) { results(w, k, c.results...) }}
			var events []llm.Event
			got, err := s.start(t).Generate(t.Context(), turn(), func(e llm.Event) { events = append(events, e) })
			if c.fails {
				var e *llm.Error
				if !errors.As(err, &e) || e.Message != c.want || e.Retryable || strings.Contains(err.Error(), canary) {
					t.Errorf("got %v, want %s", err, c.want)
				}
				return
			}
			text, others := heard(events)
			if err != nil || got.Text() != c.want || text != c.want {
				t.Errorf("got %q, streamed %q, %v; want %q", got.Text(), text, err, c.want)
			}
			if c.others != nil && !cmp.Equal(others, c.others) {
				t.Errorf("beside the text %+v, want %+v", others, c.others)
			}
			if s.calls[0].Params.Tenant != "t" || s.calls[0].Params.Message["messageId"] != turn().Turn.Key {
				t.Errorf("called with %+v", s.calls[0].Params)
			}
		})
	}
}

// What is no answer of the agent's is an error that says so, without a key or an address.
func TestAnswersThatAreNone(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		reply http.HandlerFunc
		want  string
		again bool
	}{
		"to another request": {func(w http.ResponseWriter, _ *http.Request) { results(w, a2aCall{ID: json.RawMessage(`"77"`)}, begun) }, "its answer is to another request", false},
		"without an id":      {func(w http.ResponseWriter, _ *http.Request) { results(w, a2aCall{ID: json.RawMessage(`null`)}, begun) }, "its answer is to another request", false},
		"an error without an id": {func(w http.ResponseWriter, _ *http.Request) {
			fails(w, a2aCall{ID: json.RawMessage(`null`)}, -32700, "cannot read")
		}, "cannot read", false},
		"an inner error": {func(w http.ResponseWriter, _ *http.Request) {
			fails(w, a2aCall{ID: json.RawMessage(`"1"`)}, -32603, "oops")
		}, "oops", true},
		"no JSON":          {func(w http.ResponseWriter, _ *http.Request) { events(w, "x {") }, "its answer is no JSON-RPC", false},
		"a page":           {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }, "it answered neither with events nor with JSON", false},
		"it is overloaded": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, "", true},
		"another way": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, "", false},
		"nothing": {func(w http.ResponseWriter, _ *http.Request) { events(w) }, "its answer broke off", true},
		"no end": {func(w http.ResponseWriter, _ *http.Request) {
			results(w, a2aCall{ID: json.RawMessage(`"1"`)}, begun)
			for range 20 {
				results(w, a2aCall{ID: json.RawMessage(`"1"`)}, artifact("a", long, true))
			}
		}, "its answer is longer than 16 MiB", false},
		"artifacts without end": {func(w http.ResponseWriter, _ *http.Request) {
			for i := range 2000 {
				results(w, a2aCall{ID: json.RawMessage(`"1"`)}, artifact(fmt.Sprint(i), "x", false))
			}
		}, "its task has too many artifacts", false},
		"an answer that changes without end": {func(w http.ResponseWriter, _ *http.Request) {
			results(w, a2aCall{ID: json.RawMessage(`"1"`)}, artifact("a", long, false), artifact("a", long, true), artifact("a", long, true), artifact("a", long, true))
			for range 2000 {
				results(w, a2aCall{ID: json.RawMessage(`"1"`)}, artifact("b", "x", false))
			}
		}, "its answer changes too often", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &a2aServer{reply: func(w http.ResponseWriter, _ a2aCall) { c.reply(w, httptest.NewRequest(http.MethodPost, "/rpc", nil)) }}
			_, err := s.start(t).Generate(t.Context(), turn(), nil)
			var e *llm.Error
			if !errors.As(err, &e) || e.Message != c.want || e.Retryable != c.again || strings.Contains(err.Error(), canary) || strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("got %v (again %t), want %q (again %t)", err, e != nil && e.Retryable, c.want, c.again)
			}
		})
	}
}

// No card sends the key to another host, and none is read without bounds.
func TestCards(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ card, want string }{
		"of 1.0":           {`{"name":"A","supportedInterfaces":[{"url":"HERE/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, "1.0"},
		"of 0.3":           {`{"name":"A","url":"HERE/rpc","protocolVersion":"0.3.0","capabilities":{"streaming":true}}`, "0.3"},
		"of both":          {`{"url":"HERE/old","protocolVersion":"0.3.0","supportedInterfaces":[{"url":"HERE/old","protocolBinding":"JSONRPC","protocolVersion":"0.3"},{"url":"HERE/rpc","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, "1.0"},
		"more interfaces":  {`{"url":"HERE/grpc","preferredTransport":"GRPC","protocolVersion":"0.3.0","additionalInterfaces":[{"url":"HERE/rpc","transport":"JSONRPC"}]}`, "0.3"},
		"a path alone":     {`{"url":"/rpc","protocolVersion":"0.3.0"}`, "0.3"},
		"none of ours":     {`{"supportedInterfaces":[{"url":"HERE/rpc","protocolBinding":"GRPC","protocolVersion":"1.0"}]}`, "its agent card has no interface of JSON-RPC in version 1.0 or 0.3 of the protocol"},
		"a later version":  {`{"supportedInterfaces":[{"url":"HERE/rpc","protocolBinding":"JSONRPC","protocolVersion":"2.0"}]}`, "its agent card has no interface of JSON-RPC in version 1.0 or 0.3 of the protocol"},
		"another host":     {`{"url":"https://evil.example/rpc?a=b","protocolVersion":"0.3.0"}`, "its agent card sends us on to https://evil.example, which is not the host of agent.url: no key and no question goes there. Set agent.url to that host, if it is the agent's"},
		"another port":     {`{"url":"http://127.0.0.1:1/rpc","protocolVersion":"0.3.0"}`, "its agent card sends us on to http://127.0.0.1:1, which is not the host of agent.url: no key and no question goes there. Set agent.url to that host, if it is the agent's"},
		"no address":       {`{"url":"file:///etc/passwd","protocolVersion":"0.3.0"}`, "the address in its agent card cannot be used"},
		"no card":          {`[]`, "its agent card is no JSON of the protocol"},
		"a card too large": {`{"name":"` + strings.Repeat("x", 2<<20) + `"}`, "its agent card is longer than 1 MiB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &a2aServer{card: func(url string) string { return strings.ReplaceAll(c.card, "HERE", url) }}
			s.reply = func(w http.ResponseWriter, k a2aCall) {
				result(w, k, `{"message":{"parts":[{"text":"Hi."}]},"kind":"message","parts":[{"text":"Hi."}]}`)
			}
			a := s.start(t)
			card, err := a.Card(t.Context())
			if err == nil {
				if got, asked := a.Generate(t.Context(), turn(), nil); card.Version != c.want || asked != nil || got.Text() != "Hi." {
					t.Errorf("version %s, answer %q, %v", card.Version, got.Text(), asked)
				}
				return
			}
			var e *llm.Error
			if !errors.As(err, &e) || e.Message != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// Whoever takes a task up again looks at it, subscribes to it, and looks once more; where the
// agent has lost it, it is asked again.
func TestATaskIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	working := `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}`
	whole := `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"It runs."}]}]}`
	for name, c := range map[string]struct {
		task    string
		replies map[string][]string // by method, in order; of the last again and again. "": the connection ends
		want    []string
	}{
		"that has ended": {"t1", map[string][]string{"GetTask": {whole}}, []string{"GetTask"}},
		"that goes on":   {"t1", map[string][]string{"GetTask": {working, whole}, "SubscribeToTask": {completed}}, []string{"GetTask", "SubscribeToTask", "GetTask"}},
		"that is lost":   {"t1", map[string][]string{"GetTask": {"-32001"}, "SendStreamingMessage": {whole}}, []string{"GetTask", "SendStreamingMessage"}},
		"after a broken answer": {"", map[string][]string{"SendStreamingMessage": {begun}, "GetTask": {working, whole}, "SubscribeToTask": {completed}},
			[]string{"SendStreamingMessage", "GetTask", "SubscribeToTask", "GetTask"}},
		"that cannot be followed":               {"t1", map[string][]string{"GetTask": {working, whole}, "SubscribeToTask": {"-32004"}}, []string{"GetTask", "SubscribeToTask", "GetTask"}},
		"of an agent that is away for a moment": {"t1", map[string][]string{"GetTask": {"", whole}}, []string{"GetTask", "GetTask"}},
		"that is forgotten once it has ended":   {"t1", map[string][]string{"GetTask": {working, "-32001"}, "SubscribeToTask": {artifact("a", "It runs.", false) + "\n" + completed}}, []string{"GetTask", "SubscribeToTask", "GetTask"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := map[string]int{}
			s := &a2aServer{reply: func(w http.ResponseWriter, k a2aCall) {
				list := c.replies[k.Method]
				if len(list) == 0 {
					fails(w, k, -32601, "no such method")
					return
				}
				r := list[min(at[k.Method], len(list)-1)]
				at[k.Method]++
				switch {
				case r == "":
					w.WriteHeader(http.StatusServiceUnavailable)
				case r[0] == '-':
					var code int
					_, _ = fmt.Sscan(r, &code)
					fails(w, k, code, "no")
				case k.Method == "GetTask":
					result(w, k, r)
				case r == whole:
					results(w, k, `{"task":`+r+`}`)
				default:
					results(w, k, strings.Split(r, "\n")...)
				}
			}}
			r := turn()
			r.Turn.Task = c.task
			var events []llm.Event
			got, err := s.start(t).Generate(t.Context(), r, func(e llm.Event) { events = append(events, e) })
			if text, _ := heard(events); err != nil || got.Text() != "It runs." || text != "It runs." {
				t.Errorf("got %q, streamed %q, %v", got.Text(), text, err)
			}
			if diff := cmp.Diff(s.methods(), c.want); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}

// A question of a task's comes back with its answer, to the same task; after a crash it is sent
// only where the task still waits for it.
func TestAQuestionOfATask(t *testing.T) {
	t.Parallel()
	asked := status("INPUT_REQUIRED", "Which one?")
	waits := `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"messageId":"m-INPUT_REQUIRED","parts":[{"text":"Which one?"}]}},"history":[HISTORY]}`
	var history string
	taken := false
	s := &a2aServer{reply: func(w http.ResponseWriter, k a2aCall) {
		task := strings.Replace(waits, "HISTORY", history, 1)
		switch {
		case k.Method == "GetTask" && taken:
			result(w, k, `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED"},"artifacts":[{"artifactId":"a","parts":[{"text":"Production it is."}]}]}`)
		case k.Method == "GetTask":
			result(w, k, task)
		case k.Method == "SubscribeToTask":
			results(w, k, `{"task":`+task+`}`, completed)
			taken = true
		case k.Params.Message["taskId"] == nil:
			results(w, k, begun, asked)
		default: // it begins with the task as it was
			results(w, k, `{"task":`+task+`}`, artifact("a", "Production it is.", false), completed)
		}
	}}
	a := s.start(t)
	r := turn()
	got, err := a.Generate(t.Context(), r, nil)
	if err != nil || got.Stop != llm.StopCalls || len(got.Calls()) != 1 || !strings.Contains(got.Calls()[0].Args, "Which one?") {
		t.Fatalf("got %+v, %v", got, err)
	}
	answer := llm.Results(llm.Result{Call: got.Calls()[0].ID, Name: "ask", Parts: []llm.Part{llm.Text(`{"answer":"production"}`)}})
	next := r.Append(got, answer)
	key := *r.Turn
	key.Key = strings.Repeat("n", 32)
	next.Turn = &key
	for _, c := range []struct {
		name, history, task string
		want                []string
	}{
		{"at once", "", "", []string{"SendStreamingMessage"}},
		{"after a crash, not sent", "", "t1", []string{"GetTask", "SendStreamingMessage"}},
		{"after a crash, sent", `{"messageId":"` + key.Key + `","role":"ROLE_USER"}`, "t1", []string{"GetTask", "SubscribeToTask", "GetTask"}},
	} {
		history, s.calls = c.history, nil
		next.Turn.Task = c.task
		var events []llm.Event
		got, err := a.Generate(t.Context(), next, func(e llm.Event) { events = append(events, e) })
		if err != nil || got.Text() != "Production it is." || events[0].Task != "t1" {
			t.Errorf("%s: got %q, %v with %v", c.name, got.Text(), err, events)
		}
		if diff := cmp.Diff(s.methods(), c.want); diff != "" {
			t.Errorf("%s: -got +want\n%s", c.name, diff)
		}
		for _, k := range s.calls {
			if m := k.Params.Message; m != nil && (m["taskId"] != "t1" || m["contextId"] != "c1" || m["messageId"] != key.Key || fmt.Sprint(m["parts"]) != "[map[text:production]]") {
				t.Errorf("%s: sent %v", c.name, m)
			}
		}
	}
}

// A task is canceled where nobody wants its answer any more, and goes on where only the program
// ends.
func TestATaskIsCanceledWhereNobodyWantsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cause error
		want  []string
	}{
		"stopped":          {fmt.Errorf("stopped: %w", llm.ErrUnwanted), []string{"SendStreamingMessage", "CancelTask"}},
		"the program ends": {context.Canceled, []string{"SendStreamingMessage"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			gone := make(chan struct{})
			s := &a2aServer{reply: func(w http.ResponseWriter, k a2aCall) {
				if k.Method == "CancelTask" {
					result(w, k, `{"id":"`+k.Params.ID+`","status":{"state":"TASK_STATE_CANCELED"}}`)
					return
				}
				results(w, k, begun, artifact("a", "one, two", false))
				<-gone
			}}
			a := s.start(t)
			t.Cleanup(func() { close(gone) }) // before the server closes
			ctx, end := context.WithCancelCause(t.Context())
			_, err := a.Generate(ctx, turn(), func(e llm.Event) {
				if e.Text != "" {
					end(c.cause)
				}
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if diff := cmp.Diff(s.methods(), c.want); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}

// Whatever stream comes, an answer and what was streamed of it are the same, and nothing of it
// is longer than the stream.
func FuzzA2AStream(f *testing.F) {
	for _, seed := range []string{begun + "\n" + artifact("a", "It ", false) + "\n" + artifact("b", "x", true) + "\n" + artifact("a", "runs", false) + "\n" + completed, begun + "\n" + status("AUTH_REQUIRED", "sign in"), `{"kind":"task"}`} {
		f.Add(seed)
	}
	var stream string
	s := &a2aServer{reply: func(w http.ResponseWriter, k a2aCall) {
		if k.Method == "SendStreamingMessage" {
			results(w, k, strings.Split(stream, "\n")...)
		} else {
			fails(w, k, -32001, "lost")
		}
	}}
	web := httptest.NewServer(s)
	f.Cleanup(web.Close)
	a, err := agent.NewA2A(agent.Options{URL: web.URL, Key: secret.New(canary)})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s.t, stream = t, in
		s.calls = nil
		var events []llm.Event
		got, err := a.Generate(t.Context(), turn(), func(e llm.Event) { events = append(events, e) })
		if err != nil {
			return
		}
		if text, _ := heard(events); text != got.Text() || len(text) > 3*len(in) {
			t.Errorf("got %q, streamed %q", got.Text(), text)
		}
	})
}

// A task that is lost in the middle of its answer is asked for again; a sign-in that a task waits
// for is a question.
func TestWhatBecomesOfATaskInTheMiddle(t *testing.T) {
	t.Parallel()
	s := &a2aServer{reply: func(w http.ResponseWriter, k a2aCall) {
		if k.Method == "GetTask" {
			fails(w, k, -32001, "no such task")
			return
		}
		results(w, k, begun, artifact("a", "It ", false))
	}}
	var e *llm.Error
	if _, err := s.start(t).Generate(t.Context(), turn(), nil); !errors.As(err, &e) || !e.Retryable || e.Message != "no such task" {
		t.Errorf("got %v", err)
	}
	s = &a2aServer{reply: func(w http.ResponseWriter, k a2aCall) {
		results(w, k, begun, status("AUTH_REQUIRED", ""))
	}}
	got, err := s.start(t).Generate(t.Context(), turn(), nil)
	if err != nil || len(got.Calls()) != 1 || !strings.Contains(got.Calls()[0].Args, "let in somewhere") {
		t.Errorf("got %+v, %v", got, err)
	}
}
