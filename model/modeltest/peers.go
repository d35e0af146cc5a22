// Package modeltest tests adapters of model providers.
//
// [Run] is one suite for all adapters, against two servers that speak the three
// providers' APIs with their faults: [StartScripted], which needs nothing but Go, and
// [Aimock], which others wrote. [CheckRecordedRequests] compares requests with recorded ones;
// [Streams] and [FuzzStream] play published and mutated streams; [Serve] is a
// server with scripted answers for an adapter's own tests.
//
// aimock comes from npm, as an encoder ([Encoder]) and agents ([Agent]) do: `npm ci` in .ci/peers installs
// them. Without them or without Node their tests are skipped, or fail where CI is "true".
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
	"sync"
	"testing"
	"time"
)

//go:embed fixtures.json
var fixtures []byte

// peers is the folder of programs from npm, relative to the module.
const peers = ".ci/peers"

// patience ends what hangs: how long a program may take to start.
const patience = 3 * time.Minute

// Aimock starts aimock for the time of a test, and returns where it is: a URL
// without a path. It answers by the suite's fixtures, and by more, each of them
// a fixture file's content.
func Aimock(t *testing.T, more ...string) string {
	t.Helper()
	args := []string{filepath.Join(peers, "node_modules", "@copilotkit", "aimock", "dist", "cli.js"), "--host", "127.0.0.1", "--port", "0", "--strict", "--chunk-size", "8"}
	dir := t.TempDir()
	for i, content := range append([]string{string(fixtures)}, more...) {
		file := filepath.Join(dir, fmt.Sprintf("fixtures-%d.json", i))
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--fixtures", file)
	}
	return startPeer(t, regexp.MustCompile(`listening on (http://\S+)`), args...)
}

// Encoder starts an encoder of English, with its weights, for the time of a test, and
// returns the base URL of its API of embeddings. Its vectors have 512 numbers.
func Encoder(t *testing.T) string {
	t.Helper()
	return startPeer(t, regexp.MustCompile(`^(http://\S+)$`), filepath.Join(peers, "encoder.mjs"))
}

// startPeer runs a program of peers for the time of a test: its path in the module, and its
// arguments. It returns what its output has where pattern matches.
func startPeer(t *testing.T, pattern *regexp.Regexp, args ...string) string {
	t.Helper()
	where, _ := runPeer(t, pattern, args...)
	return where
}

// runPeer is startPeer, for a program that may be stopped before.
func runPeer(t *testing.T, pattern *regexp.Regexp, args ...string) (where string, stopped func()) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		lack(t, "node is not installed")
	}
	root := module(t)
	args[0] = filepath.Join(root, args[0])
	for _, needed := range []string{filepath.Join(root, peers, "node_modules"), args[0]} {
		if _, err := os.Stat(needed); err != nil {
			lack(t, "programs are missing: run `npm ci` in .ci/peers")
		}
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
	stopped = sync.OnceFunc(func() {
		stop()
		<-drained
		_ = cmd.Wait() // it was killed, and says so
	})
	t.Cleanup(stopped)
	found := make(chan string, 1)
	go func() {
		defer close(drained)
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if m := pattern.FindStringSubmatch(lines.Text()); m != nil {
				found <- m[1]
				break
			}
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	select {
	case where = <-found:
	case <-drained:
		t.Fatalf("%s ended before it listened", args[0])
	case <-time.After(patience):
		t.Fatalf("%s does not listen after %v", args[0], patience)
	}
	return where, stopped
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
		t.Fatalf("NOT TESTED against what npm has: %s", what)
	}
	t.Skipf("NOT TESTED against what npm has: %s", what)
}
