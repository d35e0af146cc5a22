package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A shell is a bash that runs one command after another.
type shell struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

// newShell starts a shell in a folder, in which earshot is the built program. Nothing that
// it started outlives the test.
func newShell(t *testing.T, folder string) shell {
	t.Helper()
	binary := program(t)
	cmd := exec.CommandContext(t.Context(), "bash", "--norc")
	cmd.Dir, cmd.Env = folder, []string{"PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH"), "HOME=" + folder, "COLUMNS=120", "LANG=C.UTF-8", "TMPDIR=" + t.TempDir()}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := shell{t, in, bufio.NewReader(out)}
	t.Cleanup(func() {
		_, _ = io.WriteString(in, "kill $(jobs -p) 2>/dev/null; wait\n")
		_ = in.Close()
		_ = cmd.Wait()
	})
	return s
}

// run runs a command and returns what it prints to its standard output.
func (s shell) run(command string) string {
	s.t.Helper()
	const mark = "-- that is all --"
	if _, err := fmt.Fprintf(s.in, "%s\necho; echo '%s'\n", command, mark); err != nil {
		s.t.Fatal(err)
	}
	var printed strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("%s: %v after %s", command, err, &printed)
		}
		if strings.TrimSpace(line) == mark {
			return printed.String()
		}
		printed.WriteString(line)
	}
}

// The tutorial of docs/tools-of-your-own.md works as it stands there, on another port: a
// command that does nothing is run until it prints what the page shows, as who follows the
// page would.
func TestTheTutorialOfToolsWorks(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/tools-of-your-own.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "## From zero to a Slack bot with two MCP servers\n")
	section, _, _ = strings.Cut(section, "\n## ")
	file := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(section)
	commands := commandsOf(section)
	if file == nil || len(commands) < 15 {
		t.Fatalf("the page has no file, or only %d commands", len(commands))
	}
	free, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "earshot.yaml"), []byte(file[1]), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newShell(t, folder)
	acts := regexp.MustCompile(`/simulate/(say|click)|&$|^kill`)
	for _, c := range commands {
		line := strings.ReplaceAll(c.line, "127.0.0.1:8090", address)
		for i := range c.shows {
			c.shows[i] = strings.ReplaceAll(c.shows[i], "127.0.0.1:8090", address)
		}
		for until := time.Now().Add(hang); ; time.Sleep(100 * time.Millisecond) {
			printed := s.run(line)
			missing := c.missing(printed)
			if missing == "" {
				break
			}
			if acts.MatchString(line) || time.Now().After(until) {
				log, _ := os.ReadFile(filepath.Join(folder, "bot.txt"))
				t.Fatalf("%s does not print %s, but\n%s\nthe bot has said:\n%s", line, missing, printed, log)
			}
		}
	}
}
