package mcp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp/mcptest"
)

// The MCP inspector lists and uses everything that is offered over HTTP.
func TestTheInspectorUsesEverythingOverHTTP(t *testing.T) {
	t.Parallel()
	inspector := mcptest.Start(t)
	w := newWorld(t)
	for _, c := range []struct {
		name, token string
		args        map[string][]string
		tools       []string
		resources   int
		foreign     string
	}{
		{"a key of one channel", w.one, mcptest.ChannelArgs(), channelTools, 2, mcptest.Canary(mcptest.Support)},
		{"a key of a workspace", w.team, mcptest.DeskArgs(), deskTools, 4, mcptest.Canary(mcptest.Elsewhere)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			target := []string{w.url + mcp.Path, "--transport", "http", "--header", "Authorization: Bearer " + c.token}
			offer, said := inspector.Everything(t, target, c.args)
			mcptest.Check(t, offer, said, c.tools, c.resources, c.foreign)
			if diff := cmp.Diff(offer.Prompts, prompts); diff != "" {
				t.Errorf("prompts: got -, want +:\n%s", diff)
			}
		})
	}
	t.Run("no key", func(t *testing.T) {
		t.Parallel()
		if out, err := inspector.Run(t, []string{w.url + mcp.Path, "--transport", "http"}, "tools/list"); err == nil {
			t.Errorf("the inspector listed the tools without a key:\n%s", out)
		}
	})
}
