package llm_test

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

var lookUp = llm.Tool{Name: "look_up", Description: "Looks up.", Schema: `{"type":"object","properties":{}}`}

// valid is a request with every kind of part, that passes every check.
func valid() llm.Request {
	return llm.Request{
		System: "guide", Tools: []llm.Tool{lookUp}, MaxTokens: 100, Cache: true,
		Messages: []llm.Message{
			{Role: earshot.User, Parts: []llm.Part{
				llm.Image(llm.Media{ID: "F1", Type: "image/png", Data: []byte{1}}),
				llm.Document(llm.Media{Type: "application/pdf", Data: []byte{2}}),
				llm.Audio(llm.Media{Type: "audio/wav", Data: []byte{3}}),
				llm.Text("Alice: what is this?"),
			}},
			{Role: earshot.Assistant, Parts: []llm.Part{
				llm.OpaquePart("anthropic", `{"type": "thinking", "signature": "=="}`),
				{Kind: llm.KindText, Text: "I look.", Opaque: &llm.Opaque{Provider: "gemini", JSON: `{"thoughtSignature":"x"}`}},
				llm.Calling(llm.Call{ID: "c1", Name: "look_up", Args: `{}`}),
				llm.Calling(llm.Call{ID: "c2", Name: "look_up", Args: `{broken`}),
			}},
			{Role: earshot.User, Cache: true, Parts: llm.Results(
				llm.Result{Call: "c2", Name: "look_up", Failed: true, Parts: []llm.Part{llm.Text("no JSON")}},
				llm.Result{Call: "c1", Name: "look_up", Parts: []llm.Part{llm.Text("a cat"), llm.Image(llm.Media{Type: "image/jpeg", Data: []byte{4}})}},
			)},
		},
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	if err := valid().Check(); err != nil {
		t.Fatalf("a valid request: %v", err)
	}
	for _, c := range []struct {
		name  string
		spoil func(r *llm.Request)
		want  string // in the error
	}{
		{"no bound of the answer", func(r *llm.Request) { r.MaxTokens = 0 }, "max_tokens: must be above 0"},
		{"no messages", func(r *llm.Request) { r.Messages = nil }, "messages: there are none"},
		{"a broken system text", func(r *llm.Request) { r.System = "\xff" }, "system: is not valid UTF-8"},
		{"a message without parts", func(r *llm.Request) { r.Messages[0].Parts = nil }, "messages[0].parts: there are none"},
		{"the assistant speaks first", func(r *llm.Request) { r.Messages = r.Messages[1:] }, "messages[0].role: is \"assistant\""},
		{"the assistant speaks last", func(r *llm.Request) { r.Messages = r.Messages[:2] }, "the last is not the user's"},
		{"the user speaks twice", func(r *llm.Request) { r.Messages[1].Role = earshot.User }, "messages[1].role: is \"user\""},
		{"an empty text", func(r *llm.Request) { r.Messages[0].Parts[3].Text = "" }, "messages[0].parts[3].text: is empty"},
		{"a broken text", func(r *llm.Request) { r.Messages[0].Parts[3].Text = "\xff" }, "not valid UTF-8"},
		{"an unknown kind", func(r *llm.Request) { r.Messages[0].Parts[3].Kind = "video" }, `parts[3].kind: "video" is unknown`},
		{"a field of another kind", func(r *llm.Request) { r.Messages[0].Parts[0].Text = "x" }, "parts[0].text: does not belong to a part of kind image"},
		{"a part without its field", func(r *llm.Request) { r.Messages[0].Parts[0].Media = nil }, "parts[0].media: is missing from a part of kind image"},
		{"an image without content", func(r *llm.Request) { r.Messages[0].Parts[0].Media.Data = nil }, "parts[0].media.data: is empty"},
		{"an image that is a document", func(r *llm.Request) { r.Messages[0].Parts[0].Media.Type = "application/pdf" }, "parts[0].media.type"},
		{"a call by the user", func(r *llm.Request) {
			r.Messages[0].Parts[3] = llm.Calling(llm.Call{ID: "x", Name: "look_up"})
		}, "a call is the assistant's only"},
		{"a call without an id", func(r *llm.Request) { r.Messages[1].Parts[2].Call.ID = "" }, "parts[2].call: has no id"},
		{"two calls with one id", func(r *llm.Request) { r.Messages[1].Parts[3].Call.ID = "c1" }, `"c1" stands twice`},
		{"a call without an answer", func(r *llm.Request) { r.Messages[2].Parts = r.Messages[2].Parts[:1] }, "1 calls of the message before are not answered"},
		{"an answer without a call", func(r *llm.Request) { r.Messages[2].Parts[0].Result.Call = "c9" }, `"c9" is no open call`},
		{"a call answered twice", func(r *llm.Request) { r.Messages[2].Parts[0].Result.Call = "c1" }, `"c1" is no open call`},
		{"an answer of another tool", func(r *llm.Request) { r.Messages[2].Parts[0].Result.Name = "other" }, `is "other", the call is of "look_up"`},
		{"an answer without parts", func(r *llm.Request) { r.Messages[2].Parts[0].Result.Parts = nil }, "result.parts: there are none"},
		{"an answer within an answer", func(r *llm.Request) {
			r.Messages[2].Parts[0].Result.Parts = llm.Results(llm.Result{})
		}, "cannot stand in a result"},
		{"an answer by the assistant", func(r *llm.Request) { r.Messages[1].Parts[0] = r.Messages[2].Parts[0] }, "a result is the user's only"},
		{"an opaque part of the user", func(r *llm.Request) { r.Messages[0].Parts[0] = llm.OpaquePart("x", "{}") }, "an opaque part is the assistant's only"},
		{"an opaque part that is no JSON", func(r *llm.Request) { r.Messages[1].Parts[0].Opaque.JSON = "{" }, "no valid JSON"},
		{"an opaque part of nobody", func(r *llm.Request) { r.Messages[1].Parts[1].Opaque.Provider = "" }, "parts[1].opaque: has no provider"},
		{"too many marks for caching", func(r *llm.Request) {
			for range 2 {
				r.Messages = append(r.Messages, llm.Message{Role: earshot.Assistant, Parts: []llm.Part{llm.Text("a")}, Cache: true},
					llm.Message{Role: earshot.User, Parts: []llm.Part{llm.Text("b")}, Cache: true})
			}
		}, "6 marks for caching"},
		{"a tool with a bad name", func(r *llm.Request) { r.Tools[0].Name = "look up" }, "tools[0].name"},
		{"two tools of one name", func(r *llm.Request) { r.Tools = append(r.Tools, lookUp) }, "tools[1].name: \"look_up\" stands twice"},
		{"a tool without a description", func(r *llm.Request) { r.Tools[0].Description = "" }, "tools[0].description"},
		{"a tool whose schema is no object's", func(r *llm.Request) { r.Tools[0].Schema = `{"type":"array"}` }, "tools[0].schema"},
		{"a tool whose schema is no JSON", func(r *llm.Request) { r.Tools[0].Schema = `type: object` }, "tools[0].schema"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := valid()
			c.spoil(&r)
			err := r.Check()
			if !errors.Is(err, llm.ErrInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestCheckNamesEveryProblem(t *testing.T) {
	t.Parallel()
	r := valid()
	r.MaxTokens, r.System, r.Messages[0].Parts[3].Text = -1, "\xff", ""
	got := strings.Count(r.Check().Error(), llm.ErrInvalid.Error())
	if got != 3 {
		t.Errorf("%d problems, want 3: %v", got, r.Check())
	}
}

// A journal keeps requests and responses as JSON; what is read back is sent
// again, signatures byte for byte.
func TestARequestSurvivesJSON(t *testing.T) {
	t.Parallel()
	want := valid()
	raw, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got llm.Request
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
}

func TestAppendGoesOnAfterCalls(t *testing.T) {
	t.Parallel()
	first := llm.Request{MaxTokens: 9, Cache: true, Tools: []llm.Tool{lookUp}, Messages: []llm.Message{
		{Role: earshot.User, Parts: []llm.Part{llm.Text("a")}, Cache: true},
	}}
	before, _ := json.Marshal(first)
	r := first
	for _, id := range []string{"c1", "c2", "c3", "c4", "c5"} {
		answer := llm.Response{Parts: []llm.Part{llm.Text("I "), llm.Calling(llm.Call{ID: id, Name: "look_up", Args: "{}"}), llm.Text("look.")}}
		if got, want := answer.Text(), "I look."; got != want {
			t.Errorf("Text is %q, want %q", got, want)
		}
		var results []llm.Result
		for _, c := range answer.Calls() {
			results = append(results, llm.Result{Call: c.ID, Name: c.Name, Parts: []llm.Part{llm.Text("said")}})
		}
		next := r.Append(answer, llm.Results(results...))
		if err := next.Check(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(next.Messages[0], r.Messages[0]); diff != "" {
			t.Errorf("the context changed: -got +want\n%s", diff)
		}
		r = next
	}
	var marks []int
	for i, m := range r.Messages {
		if m.Cache {
			marks = append(marks, i)
		}
	}
	if diff := cmp.Diff(marks, []int{0, 10}); diff != "" {
		t.Errorf("marks for caching: -got +want\n%s", diff)
	}
	if after, _ := json.Marshal(first); string(after) != string(before) {
		t.Errorf("Append changed the request it was given: %s", after)
	}
}

func TestFromResult(t *testing.T) {
	t.Parallel()
	user := func(text string, media ...earshot.ArtifactID) assemble.Message {
		return assemble.Message{Role: earshot.User, Text: text, Sections: []assemble.SectionName{assemble.Anchor}, Media: media}
	}
	held := func(role earshot.Role, text string) assemble.Message {
		return assemble.Message{Role: role, Text: text, Sections: []assemble.SectionName{assemble.SessionPart}}
	}
	said := func(role earshot.Role, cache bool, parts ...llm.Part) llm.Message {
		return llm.Message{Role: role, Parts: parts, Cache: cache}
	}
	png := llm.Media{ID: "F1", Type: "image/png", Data: []byte{1}}
	named := llm.Media{ID: "F1", Name: "a.png", Type: "image/png", Data: []byte{1}}
	for _, c := range []struct {
		name   string
		result assemble.Result
		o      *llm.Options
		want   llm.Request
	}{
		{
			"a first turn",
			assemble.Result{System: "guide", Messages: []assemble.Message{user("q")}},
			&llm.Options{Tools: []llm.Tool{lookUp}, MaxTokens: 7},
			llm.Request{System: "guide", Tools: []llm.Tool{lookUp}, MaxTokens: 7, Cache: true, Messages: []llm.Message{
				said(earshot.User, true, llm.Text("q")),
			}},
		},
		{
			"a later turn is marked where the one before ended",
			assemble.Result{System: "guide", Messages: []assemble.Message{held(earshot.User, "q1"), held(earshot.Assistant, "a1"), user("q2")}},
			nil,
			llm.Request{System: "guide", MaxTokens: llm.DefaultMaxTokens, Cache: true, Messages: []llm.Message{
				said(earshot.User, false, llm.Text("q1")), said(earshot.Assistant, true, llm.Text("a1")), said(earshot.User, true, llm.Text("q2")),
			}},
		},
		{
			"files stand before the text",
			assemble.Result{Messages: []assemble.Message{user("q", "F1")}},
			&llm.Options{Media: map[earshot.ArtifactID]llm.Media{"F1": {Type: "image/png", Data: []byte{1}}}},
			llm.Request{MaxTokens: llm.DefaultMaxTokens, Messages: []llm.Message{said(earshot.User, true, llm.Image(png), llm.Text("q"))}},
		},
		{
			"of several files each stands behind its name, and a line in the place of one that is missing",
			assemble.Result{Messages: []assemble.Message{user("q", "F1", "F2")}},
			&llm.Options{Media: map[earshot.ArtifactID]llm.Media{"F1": named}, Missing: map[earshot.ArtifactID]string{"F2": "[b.png was not attached]"}},
			llm.Request{MaxTokens: llm.DefaultMaxTokens, Messages: []llm.Message{
				said(earshot.User, true, llm.Text("[a.png]"), llm.Image(named), llm.Text("[b.png was not attached]"), llm.Text("q")),
			}},
		},
		{
			"a window that stands apart is a part of the question's message",
			assemble.Result{Messages: []assemble.Message{user("w"), user("q")}},
			nil,
			llm.Request{MaxTokens: llm.DefaultMaxTokens, Messages: []llm.Message{said(earshot.User, true, llm.Text("w\n\n"), llm.Text("q"))}},
		},
		{
			"a transcript that begins with the assistant is opened",
			assemble.Result{Messages: []assemble.Message{{Role: earshot.Assistant, Text: "a"}, user("q")}},
			nil,
			llm.Request{MaxTokens: llm.DefaultMaxTokens, Messages: []llm.Message{
				said(earshot.User, false, llm.Text(llm.Opening)), said(earshot.Assistant, false, llm.Text("a")), said(earshot.User, true, llm.Text("q")),
			}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := llm.FromResult(c.result, c.o)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(got, c.want); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}

func TestFromResultRefuses(t *testing.T) {
	t.Parallel()
	attach := assemble.Result{Messages: []assemble.Message{{Role: earshot.User, Text: "q", Media: []earshot.ArtifactID{"F1"}}}}
	for _, c := range []struct {
		name   string
		result assemble.Result
		o      *llm.Options
		want   error
	}{
		{"a file whose content is missing", attach, nil, llm.ErrMedia},
		{"a file that no model reads", attach, &llm.Options{Media: map[earshot.ArtifactID]llm.Media{"F1": {Type: "application/zip", Data: []byte{1}}}}, llm.ErrMedia},
		{"a context without messages", assemble.Result{System: "guide"}, nil, llm.ErrInvalid},
		{"a negative bound", assemble.Result{Messages: []assemble.Message{{Role: earshot.User, Text: "q"}}}, &llm.Options{MaxTokens: -1}, llm.ErrInvalid},
	} {
		if _, err := llm.FromResult(c.result, c.o); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

func TestKindOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mediaType string
		want      llm.Kind
		ok        bool
	}{
		{"image/png", llm.KindImage, true}, {"IMAGE/JPEG; q=1", llm.KindImage, true}, {"image/svg+xml", "", false},
		{"audio/ogg", llm.KindAudio, true}, {"text/csv; charset=utf-8", llm.KindDocument, true},
		{"application/pdf", llm.KindDocument, true}, {"video/mp4", "", false}, {"", "", false},
	} {
		if got, ok := llm.KindOf(c.mediaType); got != c.want || ok != c.ok {
			t.Errorf("KindOf(%q) = %q, %v; want %q, %v", c.mediaType, got, ok, c.want, c.ok)
		}
	}
}

func TestErrorTellsTheFacts(t *testing.T) {
	t.Parallel()
	err := error(&llm.Error{Provider: "anthropic", Model: "m", Status: 529, Code: "overloaded_error", Message: "Overloaded", Retryable: true, RetryAfter: time.Second, Err: io.ErrUnexpectedEOF})
	if got, want := err.Error(), "anthropic m: status 529: overloaded_error: Overloaded: unexpected EOF"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause is not in the chain")
	}
	if got, want := (&llm.Error{Provider: "openai"}).Error(), "openai"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
