package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

const module = "../.."

var folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "earshot-browser-") })

// built is the program, built once.
var built = sync.OnceValues(func() (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	return build(context.Background(), module, dir)
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := folder(); err == nil {
		_ = os.RemoveAll(dir) // what is left of it is temporary
	}
	os.Exit(code)
}

// runs starts the program for the time of a test.
func runs(t *testing.T, environ []string, args ...string) *Running {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	r, err := start(t.Context(), bin, environ, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
		if t.Failed() {
			t.Logf("the program logged:\n%s", r.Logged())
		}
	})
	return r
}

// needs skips a test on a machine without a browser, or fails it where everything
// must be there.
func needs(t *testing.T) {
	t.Helper()
	_, err := node(module)
	_, other := chromium()
	var lack Lack
	if !errors.As(errors.Join(err, other), &lack) {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("NOT TESTED: %v", lack)
	}
	t.Skipf("NOT TESTED: %v", lack)
}

// play runs a script; each of its checks is a part of the test. It returns how many
// there were.
func play(t *testing.T, name string, given map[string]any) int {
	t.Helper()
	if dir := os.Getenv("EARSHOT_TEST_PICTURES"); dir != "" { // where to put what the pages of a failed step look like
		given["failed"] = filepath.Join(dir, name)
	}
	n := 0
	err := script(t.Context(), module, name, given, func(l Line) {
		if l.Fact != "" {
			t.Logf("%s: %s", l.Fact, l.Value)
			return
		}
		n++
		if !l.OK {
			t.Errorf("%s\n    %s", l.Check, strings.ReplaceAll(l.Detail, "\n", "\n    "))
		} else if testing.Verbose() {
			t.Logf("ok: %s (%s)", l.Check, l.Detail)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if n == 0 {
		t.Errorf("%s checked nothing", name)
	}
	return n
}

// What the scripts look for is found on a page that has it.
func TestTheWatchSeesWhatAPageDoesWrong(t *testing.T) {
	t.Parallel()
	needs(t)
	elsewhere := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(elsewhere.Close)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /good", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, `<!doctype html><meta name=viewport content="width=device-width"><p>good`)
	})
	mux.HandleFunc("GET /broken", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "", http.StatusInternalServerError) })
	mux.HandleFunc("GET /bad", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "style-src 'none'")
		fmt.Fprintf(w, `<!doctype html><meta name=viewport content="width=device-width"><img src=/broken><img src=%q>
<b style="color:red">x</b>
<script>__hit("inline"); alert(1); console.error("oh"); document.querySelector("b").insertAdjacentHTML("afterend", "<div class=wide><svg width=900 height=10></svg></div>")</script>
<script>throw new Error("a fault")</script>
<script>onload = () => { const e = document.createElement("i"); e.id = "done"; document.body.append(e) }</script>`, elsewhere.URL+"/x.png")
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	play(t, "faults.mjs", map[string]any{"url": s.URL})
}

// command runs a command of the program to its end, and returns what it printed.
func command(t *testing.T, args ...string) string {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), bin, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("earshot %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), errs.String())
	}
	return strings.TrimSpace(out.String())
}
