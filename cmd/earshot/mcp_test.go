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
// everything that it offers for a workspace on standard input and output. What is offered
// for one channel it uses over HTTP, in internal/sidecar/mcp.
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
	// The inspector takes the options of the server for its own, so a script has them.
	script := filepath.Join(t.TempDir(), "client")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec '"+program+"' mcp --stdio --db '"+file+"' --workspace T1\n"), 0o700); err != nil { //nolint:gosec // a script has to be executable
		t.Fatal(err)
	}
	offer, said := inspector.Everything(t, []string{script, "--transport", "stdio"}, mcptest.DeskArgs())
	mcptest.Check(t, offer, said, []string{"explain_turn", "get_context", "list_channels", "search"}, 4, mcptest.Canary(mcptest.Elsewhere))
}
