//go:build unix

package mcpclient

import (
	"os/exec"
	"syscall"
)

// askGroup asks a command and what it started to end.
func askGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) } // they may be gone

// killGroup kills a command and what it started.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
