package adapter_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/model/internal/adapter"
	"github.com/earshot-ai/earshot/secret"
)

const key = "sk-canary-0123456789"

// exchanged sends a request to a handler, and returns the events' data and the
// error that the exchange makes of a fault.
func exchanged(t *testing.T, h http.HandlerFunc, body string, f adapter.Fault) (posted bool, events []string, said string, err *llm.Error) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	x := adapter.NewExchange("p", model.Options{Model: "m", APIKey: secret.New(key), BaseURL: s.URL})
	defer x.Close()
	posted = x.Post(t.Context(), adapter.URL(s.URL, "v1/x"), http.Header{"X-Api-Key": {key}}, []byte(body))
	if posted {
		for e := range x.Events() {
			events = append(events, string(e.Data))
		}
	}
	if !errors.As(x.Error(t.Context(), f), &err) {
		t.Fatal("the error is no *llm.Error")
	}
	if strings.Contains(err.Error(), key) || strings.Contains(err.Error(), s.URL) {
		t.Errorf("it tells the key or the URL: %v", err)
	}
	return posted, events, string(x.Said()), err
}

func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	posted, events, _, _ := exchanged(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		for name, want := range map[string]string{
			"Accept": "text/event-stream", "Content-Type": "application/json", "User-Agent": "earshot", "X-Api-Key": key,
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if got := r.Method + " " + r.URL.String() + " " + string(body); got != `POST /v1/x {"a":1}` {
			t.Errorf("got %s", got)
		}
		_, _ = fmt.Fprint(w, "data: a\n\ndata: b\n\n")
	}, `{"a":1}`, adapter.Fault{})
	if !posted || strings.Join(events, " ") != "a b" {
		t.Errorf("got %v, %q", posted, events)
	}
}

func TestURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ base, path, want string }{
		{"https://api.example", "v1/messages", "https://api.example/v1/messages"},
		{"https://api.example/", "v1/messages", "https://api.example/v1/messages"},
		{"http://gate.example:8080/to/claude/?tenant=a", "v1/messages", "http://gate.example:8080/to/claude/v1/messages?tenant=a"},
	} {
		if got := adapter.URL(c.base, c.path).String(); got != c.want {
			t.Errorf("%s: got %s, want %s", c.base, got, c.want)
		}
	}
}

func TestFaults(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	large := answer(200, "data: "+strings.Repeat("x", 64<<20)+"\n\n")
	for _, c := range []struct {
		name    string
		handler http.HandlerFunc
		body    string
		fault   adapter.Fault
		posted  bool
		said    string
		want    llm.Error
	}{
		{"an error's body is kept", answer(400, `{"no":1}`), `{}`, adapter.Fault{Code: "c", Message: "bad  " + key}, false, `{"no":1}`,
			llm.Error{Status: 400, Code: "c", Message: "bad ***"}},
		{"and so is what stands in place of events", answer(200, `{"error":1}`), `{}`, adapter.Fault{}, true, `{"error":1}`,
			llm.Error{Message: "the answer broke off", Retryable: true}},
		{"an answer that is too long is not asked for again", large, `{}`, adapter.Fault{}, true, "",
			llm.Error{Message: "the answer broke off: the answer is longer than 64 MiB"}},
		{"a request that is no JSON is not sent", answer(200, ""), `{"schema":oops}`, adapter.Fault{}, false, "",
			llm.Error{Message: "it was not sent: a schema or a kept part in it is no JSON"}},
		{"no repetition helps", answer(429, ""), `{}`, adapter.Fault{Final: true}, false, "", llm.Error{Status: 429, Message: "Too Many Requests"}},
		{"an answer that cannot be read", answer(200, "data: {\n\n"), `{}`, adapter.Fault{Err: errors.New("a brace is open")}, true, "",
			llm.Error{Message: "the answer cannot be read: a brace is open", Retryable: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			posted, _, said, got := exchanged(t, c.handler, c.body, c.fault)
			if c.name == "an answer that is too long is not asked for again" {
				said = "" // its beginning
			}
			if posted != c.posted || said != c.said {
				t.Errorf("posted %v and said %.100q, want %v and %q", posted, said, c.posted, c.said)
			}
			if invalid := strings.HasPrefix(c.want.Message, "it was not sent"); errors.Is(got, llm.ErrInvalid) != invalid {
				t.Errorf("ErrInvalid is in the chain: %v", !invalid)
			}
			if got.Status != c.want.Status || got.Code != c.want.Code || got.Message != c.want.Message || got.Retryable != c.want.Retryable {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// A redirect would take the key along.
func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("it was followed") }))
	defer elsewhere.Close()
	posted, _, _, err := exchanged(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere.URL, http.StatusPermanentRedirect)
	}, `{}`, adapter.Fault{})
	if posted || err.Status != 308 || err.Retryable {
		t.Errorf("got %v, %+v", posted, err)
	}
}

func TestACallerThatHasGivenUp(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	x := adapter.NewExchange("p", model.Options{Model: "m"})
	defer x.Close()
	if x.Post(ctx, adapter.URL("http://127.0.0.1:1"), http.Header{}, []byte(`{}`)) {
		t.Error("it was posted")
	}
	var e *llm.Error
	if err := x.Error(ctx, adapter.Fault{Message: "no"}); !errors.Is(err, context.Canceled) || !errors.As(err, &e) || e.Retryable {
		t.Errorf("got %v", err)
	}
}
