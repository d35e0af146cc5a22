package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// keys are the keys that the stories of both clients use, in a workspace T1: one for
// all of it, one that may only read, one for a channel, and one for another workspace.
func (s *sidecar) keys(t *testing.T) []string {
	t.Helper()
	return []string{
		"EARSHOT_URL=" + s.url,
		"EARSHOT_KEY=" + s.key(t, "--name", "story", "--workspace", "T1"),
		"EARSHOT_KEY_READ_ONLY=" + s.key(t, "--name", "reader", "--workspace", "T1", "--read-only"),
		"EARSHOT_KEY_CHANNEL=" + s.key(t, "--name", "channel", "--workspace", "T1", "--channel", "C1"),
		"EARSHOT_KEY_FOREIGN=" + s.key(t, "--name", "foreign", "--workspace", "T2"),
	}
}

func TestThePythonClient(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(pythonWith(t, "httpx"), "-m", "unittest", "discover", "--start-directory", "tests", "--top-level-directory", ".")
	cmd.Dir = filepath.Join(module, "clients", "python")
	cmd.Env = append(append(os.Environ(), newSidecar(t).keys(t)...), "PYTHONDONTWRITEBYTECODE=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestThePythonClientIsTyped(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(pythonWith(t, "httpx, mypy"), "-m", "mypy", "--cache-dir=/dev/null", "earshot") // strict, as pyproject.toml says
	cmd.Dir = filepath.Join(module, "clients", "python")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestTheTypeScriptClient(t *testing.T) {
	t.Parallel()
	node, dir := program(t, "node"), typescriptClient(t)
	tests, err := filepath.Glob(filepath.Join(module, "clients", "typescript", "test", "*.test.mjs"))
	if err != nil || len(tests) == 0 {
		t.Fatal("there are no tests", err)
	}
	work := t.TempDir()
	if err := os.Symlink(filepath.Join(dir, "dist"), filepath.Join(work, "dist")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "README.md"} {
		copyFile(t, filepath.Join(module, "clients", "typescript", name), filepath.Join(work, name))
	}
	args := []string{"--test", "--test-reporter=spec"}
	for _, name := range tests {
		copyFile(t, name, filepath.Join(work, "test", filepath.Base(name)))
		args = append(args, filepath.Join("test", filepath.Base(name)))
	}
	cmd := exec.Command(node, args...) //nolint:gosec // the client's tests
	cmd.Dir, cmd.Env = work, append(os.Environ(), newSidecar(t).keys(t)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
