//go:build unix && !linux

package mcpclient

import (
	"os/exec"
	"syscall"
)

// ownGroup puts a command into a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
