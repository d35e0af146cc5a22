package main

import (
	"bytes"
	"fmt"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/transcript"
	"github.com/earshot-ai/earshot/tokens"
)

// writeTranscript prints a prompt's case: what it was made of, and what came
// of it.
func writeTranscript(a *app, p prompt) error {
	c := transcript.Case{
		Comment: fmt.Sprintf("policy %s, message %s", p.policy.Name, p.input.Anchor),
		Input:   p.input, Counter: p.input.Counter.Name(),
		Prompt: transcript.Prompt(p.result), Ledger: transcript.Rows(p.result.Ledger),
	}
	c.Input.Counter = nil
	_, err := a.raw.Write(transcript.Format(c))
	return err
}

// decode reads an Input from the contract's JSON, or a case from its text form.
func (c *assembleCmd) decode(raw []byte) (assemble.Input, error) {
	if !c.Transcript {
		return contract.Decode(raw)
	}
	read, err := transcript.Parse(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")))
	if err != nil {
		return assemble.Input{}, err
	}
	spec := read.Counter
	if spec == "" {
		spec = "o200k"
	}
	if read.Input.Counter, err = tokens.For(spec); err != nil {
		return assemble.Input{}, fmt.Errorf("counter: %w", err)
	}
	return read.Input, nil
}
