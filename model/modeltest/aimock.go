// Package modeltest tests adapters of model providers.
//
// [Run] is one suite for all adapters, against two servers that speak the three
// providers' APIs with their faults: [Scripted], which needs nothing but Go, and
// [Aimock], which others wrote. [Recorded] compares requests with recorded ones;
// [Streams] and [FuzzStream] play published and mutated streams; [Serve] is a
// server with scripted answers for an adapter's own tests.
//
// aimock comes from npm: `npm ci` in .ci/peers installs it. Without it or without
// Node its tests are skipped, or fail where CI is "true".
//
// Unstable: what this package exports may change with any version.
package modeltest

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
	"time"
)

//go:embed fixtures.json
var fixtures []byte

// peers is the folder of programs from npm, relative to the module.
const peers = ".ci/peers/node_modules"

// patience bounds how long aimock may take to start.
const patience = 30 * time.Second

var listening = regexp.MustCompile(`listening on (http://\S+)`)

// Aimock starts aimock for the time of a test, and returns where it is: a URL
// without a path. It answers by the suite's fixtures, and by more, each of them
// a fixture file's content.
func Aimock(t *testing.T, more ...string) string {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		lack(t, "node is not installed")
	}
	program := filepath.Join(module(t), peers, "@copilotkit", "aimock", "dist", "cli.js")
	if _, err := os.Stat(program); err != nil {
		lack(t, "aimock is not installed: run `npm ci` in .ci/peers")
	}
	args := []string{program, "--host", "127.0.0.1", "--port", "0", "--strict", "--chunk-size", "8"}
	dir := t.TempDir()
	for i, content := range append([]string{string(fixtures)}, more...) {
		file := filepath.Join(dir, fmt.Sprintf("fixtures-%d.json", i))
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--fixtures", file)
	}
	// Not t.Context(): it ends before the cleanup that waits for the process.
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, node, args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-drained
		_ = cmd.Wait() // it was killed, and says so
	})
	url := make(chan string, 1)
	go func() {
		defer close(drained)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if m := listening.FindStringSubmatch(lines.Text()); m != nil {
				url <- m[1]
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case u := <-url:
		return u
	case <-drained:
		t.Fatal("aimock ended before it listened")
	case <-time.After(patience):
		t.Fatalf("aimock does not listen after %v", patience)
	}
	return ""
}

// module returns the folder of this module: the first one above the test's that
// holds a go.mod.
func module(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("there is no go.mod above the test")
		}
		dir = up
	}
}

// lack skips a test that lacks a program, or fails it where everything must be
// there.
func lack(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("NOT TESTED against aimock: %s", what)
	}
	t.Skipf("NOT TESTED against aimock: %s", what)
}
