package archive

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
)

// Both forms bring metadata, bounded as at the other doors; a line whose metadata cannot
// be kept is skipped.
func TestMetadataOfMessagesAreImported(t *testing.T) {
	t.Parallel()
	const some = `"metadata":{"ticket":"T-1","list":[1.50,null,{"b":"\u00e9"}],"gone":null}`
	many := `"metadata":{"a":"` + strings.Repeat("v", 16<<10) + `"}`
	for name, c := range map[string]struct {
		lines []string
		scope earshot.Scope
		want  []Skip
	}{
		"neutral": {
			[]string{
				`{"conversation":"C","id":"1","ts":1,"author":"ann","text":"x",` + some + `}`, `{"conversation":"C","id":"2","ts":2,"author":"ann","text":"",` + some + `}`,
				`{"conversation":"C","id":"3","ts":3,"author":"ann","text":"x",` + many + `}`, `{"conversation":"C","id":"4","ts":4,"author":"ann","text":"x","metadata":[]}`,
			},
			earshot.Scope{Platform: "local", Workspace: "lines", Channel: "C"},
			[]Skip{{Reason: "a field of the wrong kind: metadata", Count: 1}, {Reason: "no usable metadata", Count: 1}},
		},
		"export": {
			[]string{
				`{"earshot":"export","version":1}`,
				`{"type":"message","platform":"p","workspace":"w","channel":"C","id":"1","time":"2026-03-02T09:00:00Z","author":{"id":"U1"},"text":"x",` + some + `,"edited":"2026-03-02T09:01:00Z","revisions":[{"author":{"id":"U1"},"text":"w"}]}`,
				`{"type":"message","platform":"p","workspace":"w","channel":"C","id":"2","time":"2026-03-02T09:00:00Z","author":{"id":"U1"},"text":"",` + some + `}`,
				`{"type":"message","platform":"p","workspace":"w","channel":"C","id":"3","time":"2026-03-02T09:00:00Z","author":{"id":"U1"},"text":"x","metadata":{"A":1}}`,
			},
			earshot.Scope{Platform: "p", Workspace: "w", Channel: "C"},
			[]Skip{{Reason: "no usable message: metadata: a key, a value or their size", Count: 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := open(t, "memory:")
			r, err := ImportJSONL(t.Context(), st, written(t, "lines.jsonl", []byte(strings.Join(c.lines, "\n"))), nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Skipped {
				r.Skipped[i].Places = nil
			}
			if diff := cmp.Diff(c.want, r.Skipped); diff != "" {
				t.Errorf("skipped (-want +got):\n%s", diff)
			}
			want := map[string]string{"ticket": "T-1", "list": `json:[1.50,null,{"b":"é"}]`}
			for _, id := range []earshot.MessageID{"1", "2"} {
				m, err := st.Message(t.Context(), c.scope, id)
				if diff := cmp.Diff(want, m.Metadata); diff != "" || err != nil {
					t.Errorf("%s: %v (-want +got):\n%s", id, err, diff)
				}
			}
		})
	}
}
