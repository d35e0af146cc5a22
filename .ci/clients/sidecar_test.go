package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

const (
	module   = "../.."
	patience = 5 * time.Minute // when a program hangs, at its start or its end
)

// lack skips a test that lacks a program, or fails it where everything must be
// there.
func lack(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("NOT TESTED: %s", what)
	}
	t.Skipf("NOT TESTED: %s", what)
}

// program returns where a program is.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		lack(t, name+" is not installed")
	}
	return path
}

// pythonWith returns Debian's own Python, for which Debian has packages of modules.
func pythonWith(t *testing.T, modules string) string {
	t.Helper()
	const python = "/usr/bin/python3"
	if out, err := exec.Command(python, "-c", "import "+modules).CombinedOutput(); err != nil { //nolint:gosec // the test's own
		lack(t, fmt.Sprintf("%s with %s: %v %s", python, modules, err, out))
	}
	return python
}

// pythonPath is where a bot finds the client, and doubles of what cannot be had here.
func pythonPath(t *testing.T) string {
	t.Helper()
	client, err := filepath.Abs(filepath.Join(module, "clients", "python"))
	if err != nil {
		t.Fatal(err)
	}
	doubles, err := filepath.Abs(filepath.Join("testdata", "doubles"))
	if err != nil {
		t.Fatal(err)
	}
	return "PYTHONPATH=" + client + ":" + doubles
}

// peer returns a path within what `npm ci` in .ci/peers installs.
func peer(t *testing.T, elements ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(append([]string{module, ".ci", "peers", "node_modules"}, elements...)...))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		lack(t, elements[0]+" is not installed: run `npm ci` in .ci/peers")
	}
	return path
}

// newNode returns the Node that stands among the peers, where there is one for this
// machine: Bolt's own dependencies need a newer one than many machines have.
func newNode(t *testing.T) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	path, err := filepath.Abs(filepath.Join(module, ".ci", "peers", "node_modules", "node-"+runtime.GOOS+"-"+arch, "bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		return program(t, "node")
	}
	return path
}

// built is the program under test: EARSHOT_BIN, or one that is built once.
var built = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("EARSHOT_BIN"); path != "" {
		return path, nil
	}
	dir, err := scratch("bin")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "earshot")
	cmd := exec.Command("go", "build", "-o", path, "./cmd/earshot")
	cmd.Dir, cmd.Env = module, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// made is the folder of what the tests build, which TestMain removes.
var made = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "earshot-clients") })

// scratch makes a folder for something that is built once.
func scratch(name string) (string, error) {
	dir, err := made()
	if err != nil {
		return "", err
	}
	dir = filepath.Join(dir, name)
	return dir, os.MkdirAll(dir, 0o700)
}

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := made(); err == nil {
		_ = os.RemoveAll(dir) // what is left of it is temporary
	}
	os.Exit(code)
}

// A sidecar is the program with a store of its own.
type sidecar struct {
	url string
	db  string
	bin string
}

// newSidecar starts a sidecar for the time of a test.
func newSidecar(t *testing.T) *sidecar {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	s := &sidecar{db: filepath.Join(t.TempDir(), "earshot.db"), bin: bin}
	p := start(t, exec.Command(bin, "--json", "sidecar", "--db", s.db, "--listen", "127.0.0.1:0"))
	var ready struct {
		URL string `json:"url"`
	}
	if err := json.NewDecoder(p.stdout).Decode(&ready); err != nil {
		t.Fatalf("the sidecar does not say where it is: %v\n%s", err, p.stderr())
	}
	s.url = ready.URL
	go func() { _, _ = io.Copy(io.Discard, p.stdout) }()
	return s
}

// key makes a key.
func (s *sidecar) key(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.Command(s.bin, append([]string{"key", "create", "--db", s.db}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("key create: %v\n%s", err, errs.String())
	}
	return strings.TrimSpace(out.String())
}

// A running is a program that runs for the time of a test.
type running struct {
	stdout *bufio.Reader
	mu     sync.Mutex // guards what it has written
	wrote  bytes.Buffer
}

// Write implements io.Writer, for standard error.
func (r *running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wrote.Write(p)
}

func (r *running) stderr() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wrote.String()
}

// start starts a program; it is interrupted when the test ends.
func start(t *testing.T, cmd *exec.Cmd) *running {
	t.Helper()
	r := &running{}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.stdout, cmd.Stderr = bufio.NewReader(out), r
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended already
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended: // how a program ends that is interrupted is its own business
		case <-time.After(patience):
			_ = cmd.Process.Kill()
			t.Errorf("%s does not end when it is interrupted", filepath.Base(cmd.Path))
		}
		if t.Failed() {
			t.Logf("%s:\n%s", cmd, r.stderr())
		}
	})
	return r
}

// waitFor waits until a program says something on standard output, and lets it
// write on.
func (r *running) waitFor(t *testing.T, text string) string {
	t.Helper()
	found := make(chan string, 1)
	go func() {
		defer close(found)
		for {
			line, err := r.stdout.ReadString('\n')
			if strings.Contains(line, text) {
				found <- strings.TrimSpace(line)
				_, _ = io.Copy(io.Discard, r.stdout)
				return
			}
			if err != nil {
				return
			}
		}
	}()
	select {
	case line, ok := <-found:
		if ok {
			return line
		}
		t.Fatalf("the program ended before it said %q:\n%s", text, r.stderr())
	case <-time.After(patience):
		t.Fatalf("the program does not say %q within %v:\n%s", text, patience, r.stderr())
	}
	return ""
}
