package mcp_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"testing"
)

// What docs/mcp.md has for a client's configuration can be pasted.
func TestTheDocumentedConfigurationsAreJSON(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../../../docs/mcp.md")
	must(t, err)
	type server struct {
		Type, Command, URL string
		Args               []string
		Headers            map[string]string
	}
	found := map[string]int{}
	for _, block := range regexp.MustCompile("(?s)```json\n(.*?)```").FindAllSubmatch(doc, -1) {
		var config struct {
			MCPServers, Servers map[string]server
		}
		if err := json.Unmarshal(block[1], &config); err != nil {
			t.Errorf("%v:\n%s", err, block[1])
		}
		for _, list := range []map[string]server{config.MCPServers, config.Servers} {
			for name, s := range list {
				switch {
				case s.Command != "" && len(s.Args) > 3 && slices.Equal(s.Args[:3], []string{"mcp", "--stdio", "--db"}):
					found["stdio"]++
				case s.Type == "http" && s.URL == "http://127.0.0.1:7301/mcp" && s.Headers["Authorization"] != "":
					found["http"]++
				default:
					t.Errorf("%s is neither started nor reached: %+v", name, s)
				}
			}
		}
	}
	if found["stdio"] != 2 || found["http"] != 2 {
		t.Errorf("got %v, want two of each", found)
	}
}
