package api

import (
	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot/tools"
)

// addTools adds the routes of the tools of one channel, and capabilities.
func (s *server) addTools(a huma.API) {}

// A toolInfo describes a tool to a model.
type toolInfo struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	InputSchema schemaJSON `json:"input_schema"`
}

// A schemaJSON is a JSON Schema.
type schemaJSON struct{ jsontext.Value }

// Schema implements [huma.SchemaProvider].
func (schemaJSON) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true, Description: "the JSON Schema of the tool's arguments"}
}

func toolInfos() []toolInfo {
	var out []toolInfo
	for _, t := range tools.Tools() {
		out = append(out, toolInfo{t.Name, t.Description, schemaJSON{jsontext.Value(t.Schema)}})
	}
	return out
}
