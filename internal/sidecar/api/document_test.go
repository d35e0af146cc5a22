package api_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/internal/sidecar/api"
)

// What stands in an embedded struct is only seen by huma if the struct's name is
// exported; else the document lacks it, and a parameter of the path is always empty.
func TestTheDocumentHasEveryParameterAndNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	raw, err := api.Document("test")
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var d struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string } `json:"parameters"`
		} `json:"paths"`
		Components struct {
			Schemas map[string]object `json:"schemas"`
		} `json:"components"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	for path, methods := range d.Paths {
		for method, op := range methods {
			for _, m := range regexp.MustCompile(`\{(\w+)\}`).FindAllStringSubmatch(path, -1) {
				if !slices.Contains(op.Parameters, struct{ Name, In string }{m[1], "path"}) {
					t.Errorf("%s %s has no parameter %s", method, path, m[1])
				}
			}
		}
	}
	for name, fields := range map[string][]string{
		"ContextBody": {"channel", "workspace", "platform"}, "CapabilityBody": {"channel"}, "ConflictProblem": {"code", "status", "context"},
	} {
		for _, f := range fields {
			if d.Components.Schemas[name].Properties[f] == nil {
				t.Errorf("%s has no field %s", name, f)
			}
		}
	}
}

var update = flag.Bool("update", false, "write docs/openapi.json anew")

func TestTheDocumentInDocsIsCurrent(t *testing.T) {
	t.Parallel()
	const file = "../../../docs/openapi.json"
	want, err := api.Document("1")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/openapi.json is not what the routes say (%v); write it anew with: go test ./internal/sidecar/api -run Document -update", err)
	}
}

// Clients are generated from the document.
func TestEveryRouteIsDescribed(t *testing.T) {
	t.Parallel()
	raw, err := api.Document("1")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Paths map[string]map[string]struct {
			OperationID string                     `json:"operationId"`
			Summary     string                     `json:"summary"`
			Tags        []string                   `json:"tags"`
			Responses   map[string]json.RawMessage `json:"responses"`
		} `json:"paths"`
		Components map[string]map[string]json.RawMessage `json:"components"`
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for path, methods := range d.Paths {
		for method, op := range methods {
			if seen[op.OperationID] || op.OperationID == "" || op.Summary == "" || len(op.Tags) != 1 {
				t.Errorf("%s %s: id %q, summary %q, tags %v", method, path, op.OperationID, op.Summary, op.Tags)
			}
			seen[op.OperationID] = true
			for _, status := range []string{"400", "401", "403", "429"} {
				if op.Responses[status] == nil {
					t.Errorf("%s %s says nothing of %s", method, path, status)
				}
			}
		}
	}
	for name := range d.Components["schemas"] {
		if !regexp.MustCompile(`^[A-Za-z0-9]{1,60}$`).MatchString(name) {
			t.Errorf("a schema is called %q", name)
		}
	}
	for _, ref := range regexp.MustCompile(`"#/components/(\w+)/([^"]+)"`).FindAllStringSubmatch(string(raw), -1) {
		if d.Components[ref[1]][ref[2]] == nil {
			t.Errorf("there is no %s", ref[0])
		}
	}
}

func TestTheDocumentSaysWhereToCallAndWhatIsRefused(t *testing.T) {
	t.Parallel()
	raw, err := api.Document("1")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Servers []struct{ URL string }
		Paths   map[string]map[string]struct {
			OperationID string
			Description string
			Parameters  []struct {
				In, Name string
				Schema   struct {
					Type      any
					MinLength int
				}
			}
			Responses map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Servers) != 1 || d.Servers[0].URL != "http://127.0.0.1:7301" {
		t.Errorf("servers: %+v", d.Servers)
	}
	conflicts := []string{"ask-approval", "wait-turn", "put-feedback", "commit-turn", "create-conversation", "decide-approval", "make-context", "post-conversation-message", "put-file", "renew-turn"}
	for path, methods := range d.Paths {
		for method, op := range methods {
			for _, p := range op.Parameters {
				if p.In == "path" && p.Schema.Type == "string" && p.Schema.MinLength != 1 {
					t.Errorf("%s %s: %s may be empty", method, path, p.Name)
				}
			}
			if _, told := op.Responses["409"]; told != slices.Contains(conflicts, op.OperationID) || op.Description == "" {
				t.Errorf("%s %s: 409 is described: %v; description %q", method, path, told, op.Description)
			}
		}
	}
}

// The document's examples, told in order, are a bot's first minute.
func TestTheExamplesWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	raw, err := api.Document("1")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Example json.RawMessage }
			}
		}
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	turn := ""
	for _, c := range []struct{ method, path, at string }{
		{"put", "/v1/agents/{id}", "/v1/agents/U9"}, {"put", "/v1/channels/{channel}", "/v1/channels/C1"}, {"put", "/v1/channels", "/v1/channels"}, {"put", "/v1/authors", "/v1/authors"},
		{"post", "/v1/events", "/v1/events"}, {"post", "/v1/history", "/v1/history"}, {"post", "/v1/coverage", "/v1/coverage"}, {"post", "/v1/context", "/v1/context"}, {"post", "/v1/turns/{id}/commit", "/v1/turns/TURN/commit"},
	} {
		example := d.Paths[c.path][c.method].RequestBody.Content["application/json"].Example
		if example == nil {
			t.Fatalf("%s has no example", c.path)
		}
		status, _, got := w.call(t, "all", strings.ToUpper(c.method), strings.Replace(c.at, "TURN", turn, 1), string(example))
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", c.path, status, got)
		}
		var opened struct{ Turn struct{ ID int64 } }
		if c.path == "/v1/context" {
			if err := json.Unmarshal([]byte(got), &opened); err != nil || !strings.Contains(got, "row 17,204") {
				t.Fatalf("%v: %s", err, got)
			}
			turn = strconv.FormatInt(opened.Turn.ID, 10)
		}
	}
}
