package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot/internal/sidecar/mcp/mcptest"
	"github.com/earshot-ai/earshot/store"
)

// The MCP inspector starts the program as a desktop client does, and lists and uses
// everything that it offers on standard input and output.
func TestTheInspectorUsesEverythingOnStandardStreams(t *testing.T) {
	t.Parallel()
	inspector := mcptest.Start(t)
	program, err := exec.LookPath("earshot") // TestMain puts this test's binary there
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "team.db")
	st, err := store.Open(t.Context(), "sqlite:"+file, nil)
	if err != nil {
		t.Fatal(err)
	}
	mcptest.Fill(t, st)
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, flags string
		args        map[string][]string
		tools       []string
		resources   int
		foreign     string
	}{
		{"one channel", " --channel C1 --workspace T1", mcptest.ChannelArgs(), []string{"channel_context", "channel_messages", "conversation_search"}, 2, mcptest.Canary(mcptest.Support)},
		{"a workspace", " --workspace T1", mcptest.DeskArgs(), []string{"explain_turn", "get_context", "list_channels", "search"}, 4, mcptest.Canary(mcptest.Elsewhere)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			// The inspector takes the options of the server for its own, so a script has them.
			script := filepath.Join(t.TempDir(), "client")
			if err := os.WriteFile(script, []byte("#!/bin/sh\nexec '"+program+"' mcp --stdio --db '"+file+"'"+c.flags+"\n"), 0o700); err != nil { //nolint:gosec // a script has to be executable
				t.Fatal(err)
			}
			offer, said := inspector.Everything(t, []string{script, "--transport", "stdio"}, c.args)
			mcptest.Check(t, offer, said, c.tools, c.resources, c.foreign)
		})
	}
}
