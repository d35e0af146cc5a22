package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The tracker that comes with the program, as the client of the official SDK finds it: what
// it offers and says of itself, what its calls answer, and what stands in its file.
func TestTheTrackerServesAClientThatIsNotOurs(t *testing.T) {
	t.Parallel()
	binary, path := program(t), filepath.Join(t.TempDir(), "issues.json")
	connect := func() *mcp.ClientSession {
		s, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).
			Connect(t.Context(), &mcp.CommandTransport{Command: exec.CommandContext(t.Context(), binary, "tracker", path)}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	call := func(s *mcp.ClientSession, name string, args map[string]any) (text string, failed bool) {
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return r.Content[0].(*mcp.TextContent).Text, r.IsError
	}
	s := connect()
	found := map[string]string{}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		found[tool.Name] = map[bool]string{true: "reads", false: "writes"}[tool.Annotations.ReadOnlyHint]
	}
	if diff := cmp.Diff(found, map[string]string{"list_issues": "reads", "create_issue": "writes"}); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if text, failed := call(s, "create_issue", map[string]any{"title": " staging\n is down ", "text": "since noon"}); failed || text != `{"number":3,"text":"since noon","title":"staging is down"}` {
		t.Errorf("made %s, failed %v", text, failed)
	}
	for name, args := range map[string]map[string]any{
		"no title": {}, "an empty one": {"title": " "}, "a long one": {"title": strings.Repeat("x", 201)}, "a long text": {"title": "x", "text": strings.Repeat("x", 4001)}, "a field too many": {"title": "x", "repo": "y"},
	} {
		if text, failed := call(s, "create_issue", args); !failed {
			t.Errorf("%s: made %s", name, text)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	s = connect() // another process over the same file
	if text, failed := call(s, "list_issues", nil); failed || strings.Count(text, `"number"`) != 3 || !strings.Contains(text, `"staging is down"`) {
		t.Errorf("listed %s, failed %v", text, failed)
	}
	if err := os.WriteFile(path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string]map[string]any{"list_issues": nil, "create_issue": {"title": "x"}} {
		if text, failed := call(s, name, args); !failed {
			t.Errorf("over a file that is broken %s answers %s", name, text)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "issues-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
