package main

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot/internal/terminal"
)

// answer reads one line of the input. It returns when ctx ends, too: a terminal's
// input is read until Enter, whatever Ctrl-C says. The end of the input is an empty line.
// unchanged says in the error what has not happened.
func (a *app) answer(ctx context.Context, unchanged string) (string, error) {
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() {
		// Byte by byte, since what follows the line is for whoever reads next.
		var text []byte
		for b := make([]byte, 1); ; {
			n, err := a.in.Read(b)
			if errors.Is(err, io.EOF) || n == 1 && b[0] == '\n' {
				err = nil
			} else if n == 1 {
				text = append(text, b[0])
				continue
			} else if err == nil {
				continue
			}
			read <- line{strings.TrimSpace(string(text)), err}
			return
		}
	}()
	select {
	case l := <-read:
		return l.text, l.err
	case <-ctx.Done():
		a.printf("\n")
		return "", &interruptedError{"interrupted; " + unchanged}
	}
}

// pick asks which of several lines is meant; an empty answer is the one at preset.
func (a *app) pick(ctx context.Context, question string, lines []string, preset int, unchanged string) (int, error) {
	a.printf("%s\n", terminal.Strong(question))
	for i, line := range lines {
		a.printf("  %d  %s\n", i+1, terminal.CutWidth(line, a.width-5))
	}
	for {
		a.printf("1–%d [%d]: ", len(lines), preset+1)
		answer, err := a.answer(ctx, unchanged)
		if err != nil {
			return 0, err
		}
		if answer == "" {
			return preset, nil
		}
		if n, err := strconv.Atoi(answer); err == nil && n >= 1 && n <= len(lines) {
			return n - 1, nil
		}
	}
}
