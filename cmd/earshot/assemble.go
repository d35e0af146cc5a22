package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/transcript"
	"github.com/earshot-ai/earshot/tokens"
)

type assembleCmd struct {
	Transcript bool   `help:"Read a case as text, as earshot context --transcript prints it."`
	File       string `arg:"" optional:"" help:"The file to read (default: standard input)." type:"path"`
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
	_, err = a.raw.Write(out)
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

// decode reads an Input from JSON, or from a case in text form.
func (c *assembleCmd) decode(raw []byte) (assemble.Input, error) {
	if !c.Transcript {
		return contract.Decode(raw)
	}
	read, err := transcript.Parse(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")))
	if err != nil {
		return assemble.Input{}, err
	}
	if read.Input.Counter, err = tokens.For(cmp.Or(read.Counter, "o200k")); err != nil {
		return assemble.Input{}, fmt.Errorf("counter: %w", err)
	}
	return read.Input, nil
}
