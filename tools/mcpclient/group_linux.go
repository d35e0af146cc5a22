package mcpclient

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a command into a process group of its own, and has the kernel kill it when
// the thread that started it ends.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
