package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sidecarFor runs a sidecar over a database until the test ends, and returns where
// it is and a key for the workspace T1.
func sidecarFor(t *testing.T) (url, key string) {
	t.Helper()
	db := filepath.Join(t.TempDir(), "page.db")
	var made, problems strings.Builder
	if code := run(t.Context(), []string{"earshot", "key", "create", "--db", db, "--name", "bot", "--workspace", "T1"}, nil, strings.NewReader(""), &made, &problems); code != 0 {
		t.Fatalf("key create: status %d: %s", code, &problems)
	}
	ctx, stop := context.WithCancel(t.Context())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"earshot", "sidecar", "--json", "--db", db, "--listen", "127.0.0.1:0"}, nil, strings.NewReader(""), write, io.Discard)
		_ = write.Close()
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("the sidecar ended with status %d", code)
		}
	})
	var about struct {
		URL    string `json:"url"`
		HasKey bool   `json:"has_key"`
	}
	if err := json.NewDecoder(read).Decode(&about); err != nil || !about.HasKey {
		t.Fatalf("the sidecar says %+v, %v", about, err)
	}
	return about.URL, strings.TrimSpace(made.String())
}

// TestTheHTTPPageWorks runs the shell and Python code of docs/http.md, in its order,
// against a sidecar.
func TestTheHTTPPageWorks(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "curl", "python3"} {
		if _, err := exec.LookPath(tool); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is not installed", tool)
			}
			t.Skipf("NOT TESTED: %s is not installed, so the page's code is not run", tool)
		}
	}
	page, err := os.ReadFile("../../docs/http.md")
	if err != nil {
		t.Fatal(err)
	}
	url, key := sidecarFor(t)
	ran := map[string]int{}
	for _, block := range strings.Split(string(page), "\n```")[1:] {
		kind, code, _ := strings.Cut(block, "\n")
		var args []string
		switch kind {
		case "sh":
			args = []string{"bash", "-euo", "pipefail", "-c", code}
		case "python":
			args = []string{"python3", "-c", code}
		default:
			continue
		}
		ran[kind]++
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "EARSHOT_URL="+url, "EARSHOT_KEY="+key, "no_proxy=*", "NO_PROXY=*")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s\n%s", err, code, out)
		}
	}
	if ran["sh"] < 5 || ran["python"] < 2 {
		t.Errorf("the page has %v blocks of code that can be run", ran)
	}
}
