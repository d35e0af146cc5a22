package mcpclient_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A child that ignores the end of its input ends with a process that is killed.
func TestAChildEndsWithAProcessThatIsKilled(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "pid")
	parent := exec.CommandContext(t.Context(), program)
	parent.Env = append(os.Environ(), childVariable+"=parent", "PID_FILE="+file)
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	until := func(what string, ok func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("not within a minute: %s", what)
			}
		}
	}
	var pid []byte
	until("the child is there", func() bool {
		pid, err = os.ReadFile(file)
		return err == nil
	})
	status := "/proc/" + string(pid) + "/stat"
	if _, err := os.Stat(status); err != nil {
		t.Fatal(err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed, and says so
	until("the child has ended", func() bool {
		text, err := os.ReadFile(status)
		after := text[bytes.LastIndexByte(text, ')')+1:]
		return err != nil || strings.HasPrefix(string(after), " Z") // nobody may wait for it here
	})
}
