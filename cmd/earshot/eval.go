package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// evalCmd runs earshot-eval, which is a program of its own: measuring is no part of
// what is shipped.
type evalCmd struct {
	Args []string `arg:"" optional:""`
}

func (c *evalCmd) Run(ctx context.Context, a *app) error {
	program, err := evalProgram()
	if err != nil {
		return err
	}
	args := c.Args
	if a.json {
		args = append([]string{"--json"}, args...)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = a.environ, a.in, a.raw, a.log
	err = cmd.Run()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.Exited() {
		return &statusError{err: errNothing, status: exit.ExitCode()} // it has said why
	}
	return err
}

// evalProgram returns where earshot-eval is: beside this program, else on the PATH.
func evalProgram() (string, error) {
	const name = "earshot-eval"
	places := []string{name}
	if self, err := os.Executable(); err == nil {
		places = []string{filepath.Join(filepath.Dir(self), name), name}
	}
	for _, place := range places {
		if found, err := exec.LookPath(place); err == nil {
			return found, nil
		}
	}
	return "", usagef("measures are made by a program of their own, %s, which is neither beside this one nor on the PATH; go install github.com/earshot-ai/earshot/cmd/%s", name, name)
}
