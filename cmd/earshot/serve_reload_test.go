package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/earshot-ai/earshot/internal/daemon/config"
)

// The signal tells of a closed terminal too: then the bot ends.
func TestAClosedTerminalEndsTheBot(t *testing.T) {
	t.Parallel()
	r := &reloader{asked: make(chan os.Signal, 1), hungUp: func() bool { return true }, load: func() (config.Config, error) {
		t.Error("the configuration is read")
		return config.Config{}, nil
	}}
	r.asked <- syscall.SIGHUP
	ended := false
	r.Run(t.Context(), nil, func() { ended = true })
	if !ended {
		t.Error("it goes on")
	}
}

// A signal has the program read its configuration again; one with a fault stops nothing.
func TestASignalHasTheConfigurationReadAgain(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such signal")
	}
	home := t.TempDir()
	file := filepath.Join(home, "earshot.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("answer: {parallel: 3}\n")
	cmd := exec.CommandContext(t.Context(), program(t), "serve", "--listen", "127.0.0.1:0", "--json", "--policy", "window", "--db", filepath.Join(home, "x.db"), "--config", file)
	cmd.Env = append(os.Environ(), "EARSHOT_MODEL_PROVIDER=offline")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	log, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(log)
	says := func(want ...string) {
		t.Helper()
		for lines.Scan() {
			line := lines.Text()
			if !strings.Contains(line, want[0]) {
				continue
			}
			for _, w := range want {
				if !strings.Contains(line, w) {
					t.Errorf("%s\ndoes not say %q", line, w)
				}
			}
			return
		}
		t.Fatalf("the log ends without %q", want[0])
	}
	hup := func(text string) {
		t.Helper()
		write(text)
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	if hello, err := bufio.NewReader(out).ReadString('{'); err != nil { // it serves
		t.Fatal(hello, err)
	}
	hup("policy: delta\nchannels: [{match: {id: C1}, policy: thread}]\n") // the flag wins over the file
	says("the configuration was taken up", "rules=1")
	says("need a restart", "settings=answer.parallel")
	hup("channels: [{match: {id: C1}, policy: standart}, {match: {id: C1}}]\n")
	says("the configuration is not taken up", "channels[0].policy", "did you mean standard", "channels[1].match: can never be the first")
	hup("answer: {parallel: 3}\n")
	says("the configuration was taken up", "rules=0")
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
