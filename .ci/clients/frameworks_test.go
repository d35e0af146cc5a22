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
	node, dir := newNode(t), workshop(t, filepath.Join("testdata", "frameworks"))
	copyFile(t, filepath.Join(module, "docs", "clients.md"), filepath.Join(dir, "clients.md"))
	car := newSidecar(t)
	for name, args := range map[string][]string{
		"running":  {"--test", "--test-reporter=spec", "frameworks.test.mjs"},
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

// workshop is a folder with the files of another one, in which programs have the client and the peers
// as installed packages.
func workshop(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	for _, path := range entries(t, from) {
		copyFile(t, path, filepath.Join(dir, filepath.Base(path)))
	}
	modules := filepath.Join(dir, "node_modules")
	if err := os.MkdirAll(modules, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, path := range entries(t, filepath.Dir(peer(t, "typescript"))) {
		if err := os.Symlink(path, filepath.Join(modules, filepath.Base(path))); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.CopyFS(filepath.Join(modules, "earshot"), os.DirFS(typescriptClient(t))); err != nil {
		t.Fatal(err) // a link would not find the peers
	}
	write(t, filepath.Join(dir, "package.json"), `{"type":"module"}`)
	return dir
}

// entries are the paths of what stands in a folder.
func entries(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("there is nothing in %s: %v", dir, err)
	}
	return paths
}
