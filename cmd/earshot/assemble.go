package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
)

type assembleCmd struct {
	Transcript bool   `help:"Read a case in the readable text form instead, as earshot context --transcript prints it."`
	File       string `arg:"" optional:"" help:"What to read (default: standard input)." type:"path"`
}

func (c *assembleCmd) Help() string {
	return `Reads one Input, the JSON of docs/policies.md, and writes its Result as one line of JSON. It needs no
database and no network: the same input gives the same bytes everywhere.

Exit status 2: the input cannot be used (the message names the field). Exit status 1: anchor, thread root
and instructions alone are over the budget's limit.`
}

func (c *assembleCmd) Run(a *app) error {
	raw, err := c.read(a)
	if err != nil {
		return err
	}
	in, err := c.decode(raw)
	if err != nil && !c.Transcript && bytes.Contains(raw, []byte("-- given --")) {
		return usagef("%s; this is a case in text form: read it with --transcript", err)
	}
	if err != nil {
		return &usageError{text: err.Error()}
	}
	res, err := assemble.Turn(in)
	if err != nil {
		return err
	}
	out, err := contract.Encode(res)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.raw, "%s\n", out)
	return err
}

func (c *assembleCmd) read(a *app) ([]byte, error) {
	if c.File == "" || c.File == "-" {
		return io.ReadAll(a.in)
	}
	raw, err := os.ReadFile(c.File)
	if err != nil {
		return nil, &usageError{text: err.Error()}
	}
	return raw, nil
}
