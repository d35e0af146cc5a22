package mcp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp/mcptest"
)

// The MCP inspector lists and uses everything that a key of one channel offers over HTTP.
// What is offered for a workspace it uses over standard streams, in cmd/earshot.
func TestTheInspectorUsesEverythingOverHTTP(t *testing.T) {
	t.Parallel()
	inspector := mcptest.Start(t)
	w := newWorld(t)
	t.Run("a key of one channel", func(t *testing.T) {
		t.Parallel()
		target := []string{w.url + mcp.Path, "--transport", "http", "--header", "Authorization: Bearer " + w.one}
		offer, said := inspector.Everything(t, target, mcptest.ChannelArgs())
		mcptest.Check(t, offer, said, channelTools, 2, mcptest.Canary(mcptest.Support))
		if diff := cmp.Diff(offer.Prompts, prompts); diff != "" {
			t.Errorf("prompts: got -, want +:\n%s", diff)
		}
	})
	t.Run("no key", func(t *testing.T) {
		t.Parallel()
		if out, err := inspector.Run(t, []string{w.url + mcp.Path, "--transport", "http"}, "tools/list"); err == nil {
			t.Errorf("the inspector listed the tools without a key:\n%s", out)
		}
	})
}
