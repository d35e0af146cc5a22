package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/charmbracelet/x/ansi"
)

// terminalOf returns the two ends of a pseudo-terminal.
func terminalOf(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("NOT TESTED: there is no pseudo-terminal: %v", err)
		}
		t.Skipf("NOT TESTED: there is no pseudo-terminal: %v", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	var number, unlocked int32
	for request, value := range map[uintptr]*int32{syscall.TIOCGPTN: &number, syscall.TIOCSPTLCK: &unlocked} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, person.Fd(), request, uintptr(unsafe.Pointer(value))); errno != 0 { //nolint:gosec // as the call wants it
			t.Fatal(errno)
		}
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return person, program
}

// Somebody at a terminal is asked, and types a yes, or a no and why.
func TestSomebodyAtATerminalAnswersTheDemo(t *testing.T) {
	binary := program(t)
	for _, x := range []struct {
		typed string
		want  string
	}{
		{"Yes\n", `guest agreed to exactly these arguments.*create_issue begins.*2 issues before, 3 now`},
		{"no, not on a Friday\n", `said no: .not on a Friday.*I have not opened an issue.*guest said no: not on a Friday.*2 issues before, 2 now`},
	} {
		t.Run(strings.TrimSpace(x.typed), func(t *testing.T) {
			t.Parallel()
			person, tty := terminalOf(t)
			cmd := exec.CommandContext(t.Context(), binary, "demo", "--tools")
			cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "EARSHOT_DB=", "NO_COLOR=1")
			cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_ = tty.Close()
			said, answers := "", []string{"perhaps\n", x.typed}
			in := bufio.NewReader(person)
			for {
				b, err := in.ReadByte()
				if err != nil { // EIO: the program has ended
					break
				}
				said += string(b)
				if len(answers) > 0 && strings.HasSuffix(said, "yes, or no and why: ") {
					if _, err := person.WriteString(answers[0]); err != nil {
						t.Fatal(err)
					}
					said, answers = said+" ", answers[1:]
				}
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v:\n%s", err, said)
			}
			if said = ansi.Strip(said); !regexp.MustCompile(`(?s)` + x.want).MatchString(said) {
				t.Errorf("it does not say %s:\n%s", x.want, said)
			}
		})
	}
}
