package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// patience is how long a program may take to say where it listens, and to end.
const patience = 3 * time.Minute

// A Lack is a program that this machine does not have.
type Lack struct{ what string }

func (l Lack) Error() string { return l.what }

// node returns the Node that stands among the peers, or the machine's.
func node(module string) (string, error) {
	peers := filepath.Join(module, ".ci", "peers", "node_modules")
	for _, name := range []string{"playwright-core", "axe-core"} {
		if _, err := os.Stat(filepath.Join(peers, name)); err != nil {
			return "", Lack{name + " is not installed: run `npm ci` in .ci/peers"}
		}
	}
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	path := filepath.Join(peers, "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	if _, err := os.Stat(path); err == nil {
		return filepath.Abs(path)
	}
	path, err := exec.LookPath("node")
	if err != nil {
		return "", Lack{"Node is not installed"}
	}
	return path, nil
}

// chromium returns the browser: CHROMIUM, or the one that is installed.
func chromium() (string, error) {
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path, nil
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", Lack{"Chromium is not installed; CHROMIUM names another browser of its kind"}
}

// build builds the program, or returns EARSHOT_BIN.
func build(ctx context.Context, module, dir string) (string, error) {
	if path := os.Getenv("EARSHOT_BIN"); path != "" {
		return path, nil
	}
	path := filepath.Join(dir, "earshot")
	cmd := exec.CommandContext(ctx, "go", "build", "-o", path, "./cmd/earshot")
	cmd.Dir, cmd.Env = module, append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

// A Running is the program, while it runs.
type Running struct {
	Page  string `json:"inspect"` // the link to the inspector, with the token where there is one
	Front string `json:"address"` // of the local platform's HTTP front; "" without one
	Token string `json:"token"`   // of the front

	cmd   *exec.Cmd
	ended chan struct{}
	mu    sync.Mutex // guards what it has written
	wrote bytes.Buffer
}

// Write implements io.Writer, for what the program logs.
func (r *Running) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wrote.Write(p)
}

// Logged returns what the program has logged.
func (r *Running) Logged() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.wrote.String()
}

// start starts the program with --json and waits until it says where its page is. Its
// settings are the given ones only, so that no key of this machine is used.
func start(ctx context.Context, bin string, environ []string, args ...string) (*Running, error) {
	// The end of ctx does not kill it: [Running.Stop] interrupts it, as a person would.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), bin, append([]string{"--json"}, args...)...)
	r := &Running{cmd: cmd, ended: make(chan struct{})}
	cmd.Env = append([]string{"HOME=" + os.TempDir(), "PATH=" + os.Getenv("PATH"), "TZ=UTC"}, environ...)
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, r
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // how a program ends that is interrupted is its own business
		close(r.ended)
		_ = in.Close() // its error is always nil
	}()
	said := make(chan error, 1)
	go func() {
		said <- json.NewDecoder(out).Decode(r)
		_, _ = io.Copy(io.Discard, out) // the program must never wait for us
	}()
	var err error
	select {
	case err = <-said:
	case <-time.After(patience):
		err = fmt.Errorf("silent for %v", patience)
	}
	if err != nil {
		_ = cmd.Process.Kill() // it may have ended already
		return nil, fmt.Errorf("%s does not say where its page is: %w\n%s", cmd, err, r.Logged())
	}
	return r, nil
}

// Stop interrupts the program and waits until it has ended.
func (r *Running) Stop() error {
	_ = r.cmd.Process.Signal(syscall.SIGINT) // it may have ended already
	select {
	case <-r.ended:
		return nil
	case <-time.After(patience):
		_ = r.cmd.Process.Kill()
		return fmt.Errorf("%s does not end when it is interrupted:\n%s", r.cmd, r.Logged())
	}
}

// A Line is one line of a script's report: the result of a check, or a fact.
type Line struct {
	Check  string `json:"check"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	Fact   string `json:"fact"`
	Value  string `json:"value"`
}

// script runs a script of this folder with what it is given, and calls each with
// every line that it reports.
func script(ctx context.Context, module, name string, given map[string]any, each func(Line)) error {
	run, err := node(module)
	if err != nil {
		return err
	}
	if given["chromium"], err = chromium(); err != nil {
		return err
	}
	arg, err := json.Marshal(given)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, run, filepath.Join(module, ".ci", "browser", name), string(arg))
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<24)
	var odd error
	for lines.Scan() {
		var l Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			odd = errors.Join(odd, fmt.Errorf("%s: %s", name, lines.Text()))
			continue
		}
		each(l)
	}
	if err := errors.Join(lines.Err(), cmd.Wait(), odd); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, complaint.String())
	}
	return nil
}
