package llm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// ofSession makes a context of recorded entries, and a question behind them.
func ofSession(entries []earshot.SessionEntry) assemble.Result {
	var r assemble.Result
	for _, e := range entries {
		r.Messages = append(r.Messages, assemble.Message{
			Role: e.Role, Text: e.Text, Sections: []assemble.SectionName{assemble.SessionPart},
			Media: e.Media, Calls: e.Calls, Call: e.Call, Failed: e.Failed, Opaque: e.Opaque,
		})
	}
	r.Messages = append(r.Messages, assemble.Message{Role: earshot.User, Text: "and now?", Sections: []assemble.SectionName{assemble.Anchor}})
	return r
}

func TestWhatWasRecordedBecomesTheSameMessages(t *testing.T) {
	t.Parallel()
	picture := llm.Media{ID: "F1", Name: "a.png", Type: "image/png", Data: []byte{1, 2}}
	log := llm.Media{ID: "F2", Name: "b.log", Type: "text/plain", Data: []byte("  words")}
	scan := llm.Media{ID: "F3", Name: "c.pdf", Type: "application/pdf", Data: []byte{3}}
	user := func(parts ...llm.Part) llm.Message { return llm.Message{Role: earshot.User, Parts: parts} }
	says := func(parts ...llm.Part) llm.Message { return llm.Message{Role: earshot.Assistant, Parts: parts} }
	signed := llm.Calling(llm.Call{ID: "c3", Name: "look", Args: `{"q":1}`})
	signed.Opaque = &llm.Opaque{Provider: "gemini", JSON: `{"functionCall":{"name":"look"},"thoughtSignature":"x"}`}
	for name, messages := range map[string][]llm.Message{
		"texts": {user(llm.Text("q1")), says(llm.Text("a1"))},
		"files, and the line of one that was not given": {
			user(llm.Text("[a.png]"), llm.Image(picture), llm.Text("[x was not attached: it is damaged]"), llm.Document(log), llm.Text("q1")), says(llm.Text("a1")),
		},
		"a file without a text": {user(llm.Image(picture)), says(llm.Text("a1"))},
		"calls and results, one with a file": {
			user(llm.Text("q1")),
			says(llm.Text("let me look"), llm.Calling(llm.Call{ID: "c1", Name: "look", Args: `{broken`}), llm.Calling(llm.Call{ID: "c2", Name: "fetch", Args: `{}`})),
			user(llm.Results(
				llm.Result{Call: "c1", Name: "look", Parts: []llm.Part{llm.Text("no JSON")}, Failed: true},
				llm.Result{Call: "c2", Name: "fetch", Parts: []llm.Part{llm.Text("{}"), llm.Document(scan), llm.Text("[y was attached before]")}})...),
			says(llm.Text("a1")),
		},
		"what providers keep, wherever it stands": {
			user(llm.Text("q1")),
			says(llm.OpaquePart("anthropic", `{"type":"thinking","signature":"s"}`), llm.Text("one"), llm.OpaquePart("anthropic", `{"type":"redacted"}`), llm.Text("two"), signed),
			user(llm.Results(llm.Result{Call: "c3", Name: "look", Parts: []llm.Part{llm.Image(picture)}})...),
			says(llm.Text("a1")),
		},
		"a context that begins with the assistant": {user(llm.Text(llm.Opening)), says(llm.Text("a0")), user(llm.Text("q1")), says(llm.Text("a1"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			entries := llm.Record(messages)
			for _, e := range entries {
				for _, data := range []string{"AQI=", "Aw==", "words"} { // in base64, and as they are
					if strings.Contains(e.Opaque+e.Text, data) {
						t.Errorf("an entry holds the content of a file: %+v", e)
					}
				}
			}
			res := ofSession(entries)
			r, err := llm.FromResult(res, &llm.Options{Media: map[earshot.ArtifactID]llm.Media{
				// A name that the file has now is not the one that it was given with.
				"F1": {Name: "renamed.png", Type: picture.Type, Data: picture.Data}, "F2": log, "F3": scan,
			}})
			if err != nil {
				t.Fatal(err)
			}
			if got := llm.SessionLength(res); got != len(messages) {
				t.Errorf("%d messages are the session's, want %d", got, len(messages))
			}
			for i := range r.Messages {
				r.Messages[i].Cache = false
			}
			if diff := cmp.Diff(r.Messages[:len(r.Messages)-1], messages); diff != "" {
				t.Errorf("-got +want\n%s", diff)
			}
		})
	}
}

// A file that is gone is a line in its place, and the rest of its message stays.
func TestAFileOfTheSessionThatIsGone(t *testing.T) {
	t.Parallel()
	entries := llm.Record([]llm.Message{
		{Role: earshot.User, Parts: []llm.Part{llm.Text("[a.png]"), llm.Image(llm.Media{ID: "F1", Type: "image/png", Data: []byte{1}}), llm.Text("q1")}},
		{Role: earshot.Assistant, Parts: []llm.Part{llm.Text("a1")}},
	})
	r, err := llm.FromResult(ofSession(entries), &llm.Options{Missing: map[earshot.ArtifactID]string{"F1": "[gone]"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.Messages[0].Parts, []llm.Part{llm.Text("[a.png]"), llm.Text("[gone]"), llm.Text("q1")}); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
}

// Entries of another version or an import: what cannot be read is made of the
// rest.
func TestAnEntryWhoseOpaqueIsNoneOfOurs(t *testing.T) {
	t.Parallel()
	entries := []earshot.SessionEntry{
		{Role: earshot.User, Text: "q1", Opaque: "not JSON"},
		{Role: earshot.Assistant, Text: "wait", Calls: []earshot.Call{{ID: "c1", Name: "look", Args: "{}"}}, Opaque: `[{"kind":"text","text":"of another answer"}]`},
		{Role: earshot.ToolRole, Call: "c1", Text: "found"},
		{Role: earshot.Assistant, Text: "a1"},
	}
	r, err := llm.FromResult(ofSession(entries), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []llm.Part{llm.Text("wait"), llm.Calling(llm.Call{ID: "c1", Name: "look", Args: "{}"})}
	if diff := cmp.Diff(r.Messages[1].Parts, want); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
}
