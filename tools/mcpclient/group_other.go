//go:build !unix

package mcpclient

import "os/exec"

func ownGroup(*exec.Cmd)    {}
func askGroup(*exec.Cmd)    {}
func killGroup(c *exec.Cmd) { _ = c.Process.Kill() } // it may be gone
