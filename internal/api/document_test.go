package api_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/earshot-ai/earshot/internal/api"
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
