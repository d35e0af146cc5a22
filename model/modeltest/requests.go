package modeltest

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/secret"
)

var update = flag.Bool("modeltest.update", false, "record the requests anew")

// CheckRecordedRequests compares what an adapter sends for a table of requests with what is
// recorded in testdata/requests of the adapter's folder. The table is
// [Requests] and those of own, which hold what only this provider keeps.
//
// Bodies are compared as JSON. Besides, each opaque part of the provider's own
// must stand in the body byte for byte.
//
// The recordings were made with the adapters on the providers' own SDKs; see
// docs/decisions/100-model-clients.md.
func CheckRecordedRequests(t *testing.T, a Adapter, answer Answer, own map[string]llm.Request) {
	table := Requests()
	maps.Copy(table, own)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		r := table[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := r.Check(); err != nil {
				t.Fatal(err)
			}
			head, body := a.sent(t, r, answer)
			for _, kept := range keptBy(a.Provider, r) {
				if !*update && !strings.Contains(body, kept) {
					t.Errorf("%s is not in the request:\n%s", kept, body)
				}
			}
			file := filepath.Join("testdata", "requests", strings.ReplaceAll(name, " ", "-")+".http")
			if *update {
				if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(head+"\n"+body+"\n"), 0o644)); err != nil {
					t.Fatal(err)
				}
				return
			}
			recorded, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			wantHead, wantBody, _ := strings.Cut(string(recorded), "\n\n")
			if diff := cmp.Diff(head, wantHead+"\n"); diff != "" {
				t.Errorf("the head: -got +want\n%s", diff)
			}
			if diff := cmp.Diff(decodeJSON(t, body), decodeJSON(t, wantBody)); diff != "" {
				t.Errorf("the body: -got +want\n%s", diff)
			}
		})
	}
}

// sent returns the head and the body of the HTTP request that an adapter makes
// of r.
func (a Adapter) sent(t *testing.T, r llm.Request, answer Answer) (head, body string) {
	t.Helper()
	s := Serve(t, answer)
	w := &recorder{}
	m, err := a.New(model.Options{Model: a.Model, APIKey: secret.New(Key), BaseURL: s.URL + a.Path, HTTPClient: &http.Client{Transport: w}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	head = "POST " + w.url.RequestURI() + "\n"
	for _, name := range []string{"Content-Type", "Anthropic-Version", "X-Api-Key", "X-Goog-Api-Key", "Authorization"} {
		if v := w.header.Get(name); v != "" {
			head += name + ": " + v + "\n"
		}
	}
	return head, s.Requests()[0].Body
}

// A recorder remembers the head of the last request.
type recorder struct {
	url    url.URL
	header http.Header
}

func (w *recorder) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method != http.MethodPost {
		return nil, fmt.Errorf("the method is %s", r.Method)
	}
	w.url, w.header = *r.URL, r.Header.Clone()
	return http.DefaultTransport.RoundTrip(r)
}

// keptBy returns the opaque JSON of a request that belongs to a provider.
func keptBy(provider string, r llm.Request) []string {
	var out []string
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if p.Opaque != nil && p.Opaque.Provider == provider {
				out = append(out, keptPieces(p)...)
			}
		}
	}
	return out
}

// keptPieces returns what of an opaque part must be found in a body: all of it,
// or the values of its fields where a provider puts them into an object of ours.
func keptPieces(p llm.Part) []string {
	if p.Opaque.Provider != "openai" {
		return []string{string(p.Opaque.JSON)}
	}
	var fields map[string]json.RawMessage
	_ = json.Unmarshal([]byte(p.Opaque.JSON), &fields)
	var out []string
	for name, v := range fields {
		out = append(out, fmt.Sprintf("%q:%s", name, v))
	}
	return out
}

func decodeJSON(t *testing.T, data string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(data), &v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

// Requests returns requests by name, with all that a request may hold and no
// provider's own form of it.
func Requests() map[string]llm.Request {
	search := llm.Tool{Name: "search", Description: "Searches for \"x\" & <y>.", Schema: `{ "type": "object", "properties": {"words": {"type": "string", "description": "a\u00e9 < b"}, "most": {"type": "integer", "minimum": 1, "default": 10}}, "required": ["words"], "additionalProperties": false }`}
	now := llm.Tool{Name: "now", Description: "Tells the time.", Schema: `{"type":"object","properties":{}}`}
	user := func(parts ...llm.Part) llm.Message { return llm.Message{Role: earshot.User, Parts: parts} }
	bot := func(parts ...llm.Part) llm.Message { return llm.Message{Role: earshot.Assistant, Parts: parts} }
	cached := func(m llm.Message) llm.Message { m.Cache = true; return m }
	call := func(id, name, args string) llm.Part { return llm.Calling(llm.Call{ID: id, Name: name, Args: args}) }
	picture := llm.Image(llm.Media{ID: "F1", Name: "a [b]\n.png", Type: "image/PNG; x=y", Data: []byte{0, 1, 254, 255}})
	return map[string]llm.Request{
		"one question": {MaxTokens: 1, Messages: []llm.Message{user(llm.Text("q"))}},
		"system tools and marks": {System: "guide", Tools: []llm.Tool{search, now}, MaxTokens: 4096, Cache: true, Messages: []llm.Message{
			user(llm.Text("q1")), cached(bot(llm.Text("a1"))), cached(user(llm.Text("q2"))), bot(llm.Text("a2")), cached(user(llm.Text("first"), llm.Text("second")))}},
		"tools without a system text": {Tools: []llm.Tool{search, now}, MaxTokens: 100, Cache: true, NoCalls: true, Messages: []llm.Message{user(llm.Text("q"))}},
		"no calls without tools":      {System: "guide", MaxTokens: 100, NoCalls: true, Messages: []llm.Message{user(llm.Text("q"))}},
		"difficult texts": {System: "<guide> & \"more\" \u2028 \\ \t", MaxTokens: 100, Messages: []llm.Message{
			user(llm.Text("ünï\u2029 😀 </script> \x01 \x7f a\nb")), bot(llm.Text(" \n ")), user(llm.Text("\t")),
			bot(llm.Text("one "), llm.Text(" "), llm.Text("two")), user(llm.Text("\ufeffq"))}},
		"files": {MaxTokens: 100, Messages: []llm.Message{cached(user(picture,
			llm.Document(llm.Media{Name: "a.pdf", Type: "application/pdf", Data: []byte("%PDF")}), llm.Document(llm.Media{Type: "application/PDF ;v=1", Data: []byte("%PDF")}),
			llm.Document(llm.Media{Name: "a.csv", Type: "text/csv", Data: []byte("a,b\n1,<2>")}), llm.Document(llm.Media{Name: "a.json", Type: "application/json", Data: []byte(`{"a":1}`)}),
			llm.Document(llm.Media{Name: "bad.txt", Type: "text/plain", Data: []byte("x\xff\xfey")}),
			llm.Audio(llm.Media{Name: "v.wav", Type: "audio/x-wav", Data: []byte{3}}), llm.Audio(llm.Media{Name: "v.mp3", Type: "audio/mpeg", Data: []byte{4}}), llm.Audio(llm.Media{Name: "v.ogg", Type: "audio/ogg", Data: []byte{5}}),
		))}},
		"a single file": {MaxTokens: 100, Messages: []llm.Message{user(picture)}},
		"calls and results": {Tools: []llm.Tool{search, now}, MaxTokens: 100, Messages: []llm.Message{
			user(llm.Text("q")),
			bot(llm.Text("I look."), call("c1", "search", `{"words":"x < y","most":3,"list":[1,2.5,null,true]}`), call("c2", "now", ``), call("c3", "search", `{broken`), call("c4", "search", `[1]`), call("c5", "now", `null`)),
			cached(user(llm.Results(
				llm.Result{Call: "c1", Name: "search", Parts: []llm.Part{llm.Text("yes & no"), picture, llm.Text("more")}},
				llm.Result{Call: "c2", Name: "now", Parts: []llm.Part{llm.Text(" ")}},
				llm.Result{Call: "c3", Name: "search", Parts: []llm.Part{llm.Text("no JSON")}, Failed: true},
				llm.Result{Call: "c4", Name: "search", Parts: []llm.Part{llm.Document(llm.Media{Name: "a.pdf", Type: "application/pdf", Data: []byte("%PDF")}), llm.Document(llm.Media{Name: "a.txt", Type: "text/plain", Data: []byte("t")})}},
				llm.Result{Call: "c5", Name: "now", Parts: []llm.Part{llm.Audio(llm.Media{Name: "v.ogg", Type: "audio/ogg", Data: []byte{5}})}})...)),
			bot(call("c6", "now", `{}`)),
			cached(user(append(llm.Results(llm.Result{Call: "c6", Name: "now", Parts: []llm.Part{llm.Text("noon")}}), llm.Text("and?"))...)),
		}},
		"what another provider kept": {Tools: []llm.Tool{now}, MaxTokens: 100, Messages: []llm.Message{
			user(llm.Text("q")),
			bot(llm.OpaquePart("another", `{"type":"thinking"}`), llm.Part{Kind: llm.KindText, Text: "a", Opaque: &llm.Opaque{Provider: "another", JSON: `{"text":"b"}`}}),
			user(llm.Text("q")),
			bot(llm.OpaquePart("another", `{"type":"thinking"}`), llm.Part{Kind: llm.KindCall, Call: &llm.Call{ID: "c1", Name: "now", Args: "{}"}, Opaque: &llm.Opaque{Provider: "another", JSON: `{"x":1}`}}),
			user(llm.Results(llm.Result{Call: "c1", Name: "now", Parts: []llm.Part{llm.Text("noon")}})...),
		}},
	}
}
