package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTheFrameworks runs the code of docs/clients.md with the frameworks that it is for, and
// compiles what a user may write with their types.
func TestTheFrameworks(t *testing.T) {
	t.Parallel()
	node, dir := newNode(t), t.TempDir()
	install(t, dir, "@ai-sdk", "@chat-adapter", "@langchain", "@mastra", "ai", "chat", "zod")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "frameworks"))); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(module, "docs", "clients.md"), filepath.Join(dir, "clients.md"))
	write(t, filepath.Join(dir, "package.json"), `{"type":"module"}`)
	car := newSidecar(t)
	for name, args := range map[string][]string{
		"running":  {"--test", "--test-reporter=spec", "frameworks.test.mjs", "chat.test.mjs"},
		"compiled": {peer(t, "typescript", "bin", "tsc"), "-p", "."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(node, args...) //nolint:gosec // the test's own
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "EARSHOT_URL="+car.url, "EARSHOT_KEY="+car.key(t, "--name", name, "--workspace", "T1"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
