package mcpclient_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/tools/mcpclient"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// peer returns Node and the program of a server that nobody here wrote, from .ci/peers.
func peer(t *testing.T, name string) (node, program string) {
	t.Helper()
	lack := func(what string) {
		t.Helper()
		if os.Getenv("CI") == "true" {
			t.Fatalf("NOT TESTED against %s: %s", name, what)
		}
		t.Skipf("NOT TESTED against %s: %s", name, what)
	}
	node, err := exec.LookPath("node")
	if err != nil {
		lack("node is not installed")
	}
	program, err = filepath.Abs(filepath.Join("..", "..", ".ci", "peers", "node_modules", "@modelcontextprotocol", name, "dist", "index.js"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		lack("it is not installed: run `npm ci` in .ci/peers")
	}
	return node, program
}

// everythingOverHTTP starts server-everything over HTTP, and returns its URL.
func everythingOverHTTP(t *testing.T) string {
	t.Helper()
	node, program := peer(t, "server-everything")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background()) // t.Context ends before the cleanup that waits
	cmd := exec.CommandContext(ctx, node, program, "streamableHttp")
	cmd.Env = append(os.Environ(), "PORT="+port)
	out, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready, drained := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() {
		stop()
		<-drained
		_ = cmd.Wait() // it was killed, and says so
	})
	go func() {
		defer close(drained)
		lines := bufio.NewScanner(out)
		for said := false; lines.Scan(); {
			if !said && strings.Contains(lines.Text(), "listening on port") {
				said = true
				close(ready)
			}
		}
	}()
	select {
	case <-ready:
	case <-drained:
		t.Fatal("server-everything ended before it listened")
	}
	return "http://127.0.0.1:" + port + "/mcp"
}

// everything runs a test against server-everything, over standard input and HTTP.
func everything(t *testing.T, f func(t *testing.T, c *mcpclient.Client)) {
	t.Helper()
	t.Parallel()
	for _, over := range []string{"stdio", "http"} {
		t.Run(over, func(t *testing.T) {
			t.Parallel()
			node, program := peer(t, "server-everything")
			s := mcpclient.Server{Name: "srv", Command: node, Args: []string{program, "stdio"}}
			if over == "http" {
				s = mcpclient.Server{Name: "srv", URL: everythingOverHTTP(t)}
			}
			c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{s}})
			f(t, c)
		})
	}
}

func TestServerEverything(t *testing.T) {
	everything(t, func(t *testing.T, c *mcpclient.Client) {
		all := names(t, c, here)
		for _, want := range []string{"srv__echo", "srv__get-annotated-message", "srv__get-sum", "srv__get-tiny-image", "srv__trigger-long-running-operation"} {
			if !slices.Contains(all, want) {
				t.Errorf("%s is not among %v", want, all)
			}
		}
		if told := firstOf(t, c).Description; !strings.HasPrefix(told, "What the server says about all of its tools: # Everything Server") {
			t.Errorf("instructions: got %q", told)
		}
		for _, one := range []struct{ tool, args, want string }{
			{"echo", `{"message":"hello"}`, "hello"},
			{"get-sum", `{"a":2,"b":3}`, "5"},
			{"get-tiny-image", `{}`, "<image image/png"},
			{"get-structured-content", `{"location":"Chicago"}`, "temperature"},
			{"get-resource-links", `{"count":2}`, "link: "},
			{"get-resource-reference", `{"resourceType":"Text","resourceId":1}`, "resource: "},
		} {
			if r, err := call(t, c, one.tool, one.args); err != nil || r.Failed || !strings.Contains(written(r), one.want) {
				t.Errorf("%s: got %s, %v, want %s in it", one.tool, written(r), err, one.want)
			}
		}
		if r, err := call(t, c, "get-sum", `{"a":"x"}`); err != nil || !r.Failed {
			t.Errorf("wrong arguments: got %v, %v", r, err)
		}
		var progress []string
		r, err := c.Call(t.Context(), here, toolbox.Call{ID: "p", Name: "srv__trigger-long-running-operation", Args: `{"duration":1,"steps":3}`, Progress: func(s string) { progress = append(progress, s) }})
		if err != nil || r.Failed || len(progress) == 0 {
			t.Errorf("a long call: got %s, %v, progress %v", written(r), err, progress)
		}
	})
}

func TestServerFilesystem(t *testing.T) {
	t.Parallel()
	node, program := peer(t, "server-filesystem")
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "a.txt"), []byte("what is in it"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := start(t, mcpclient.Options{Servers: []mcpclient.Server{{Name: "srv", Command: node, Args: []string{program, folder}}}})
	list, err := c.Tools(t.Context(), here)
	if err != nil {
		t.Fatal(err)
	}
	effects := map[string]string{}
	for _, one := range list {
		effects[one.Name] = fmt.Sprintf("%s %v %v", one.Effect, one.Idempotent, one.Approve)
	}
	if effects["srv__read_text_file"] != "reads false false" || effects["srv__write_file"] != "writes true true" {
		t.Errorf("got %v", effects)
	}
	path := func(name string) string { return fmt.Sprintf(`{"path":%q}`, filepath.Join(folder, name)) }
	if r, err := call(t, c, "read_text_file", path("a.txt")); err != nil || r.Failed || !strings.Contains(written(r), "what is in it") {
		t.Errorf("got %s, %v", written(r), err)
	}
	if r, err := call(t, c, "read_text_file", `{"path":"/etc/passwd"}`); err != nil || !r.Failed {
		t.Errorf("outside of its folder: got %s, %v", written(r), err)
	}
	if r, err := call(t, c, "write_file", fmt.Sprintf(`{"path":%q,"content":"new"}`, filepath.Join(folder, "b.txt"))); err != nil || r.Failed {
		t.Errorf("got %s, %v", written(r), err)
	}
	if got, err := os.ReadFile(filepath.Join(folder, "b.txt")); err != nil || string(got) != "new" {
		t.Errorf("got %q, %v", got, err)
	}
}
