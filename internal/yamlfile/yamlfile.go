// Package yamlfile reads YAML that people write: policies and configuration.
// [Read] and [Check] refuse documents that could exhaust memory, before the parser
// reads them: the parser's memory grows with the square of the nesting, and an
// alias can expand to a gigabyte.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
)

// The bounds of a document.
const (
	MaxBytes = 256 << 10
	MaxDepth = 32 // of brackets, and of lists begun on one line
)

// ErrUnsafe is returned for a document beyond the bounds.
var ErrUnsafe = errors.New("is no document that a person would write")

// Read returns the content of a file that passes Check.
func Read(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if err := Check(data); err != nil {
		return nil, fmt.Errorf("%s %w", path, err)
	}
	return data, nil
}

// alias finds an anchor or an alias where a value or a key may begin. A - or ? without white
// space behind it begins neither: inc-* is a text.
var alias = regexp.MustCompile(`(?m)(?:^|[:,\[{]|[-?][ \t])[ \t]*[&*][^\s&*]`)

// Check returns an error that wraps ErrUnsafe and says what is wrong and where, or
// nil.
func Check(data []byte) error {
	if len(data) > MaxBytes {
		return fmt.Errorf("%w: it has more than %d KiB", ErrUnsafe, MaxBytes>>10)
	}
	for i, line := range bytes.Split(data, []byte("\n")) {
		at := i + 1
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
			continue
		}
		if n := bytes.Count(line, []byte("[")) + bytes.Count(line, []byte("{")); n > MaxDepth {
			return fmt.Errorf("%w: line %d opens %d brackets", ErrUnsafe, at, n)
		}
		if n := bytes.Count(line, []byte("- ")) + bytes.Count(line, []byte("? ")); n > MaxDepth {
			return fmt.Errorf("%w: line %d begins %d lists", ErrUnsafe, at, n)
		}
		if alias.Match(line) {
			return fmt.Errorf("%w: line %d has an anchor or an alias; write the value out", ErrUnsafe, at)
		}
	}
	depth := 0
	for _, c := range data {
		switch c {
		case '[', '{':
			if depth++; depth > MaxDepth {
				return fmt.Errorf("%w: its brackets are nested more than %d deep", ErrUnsafe, MaxDepth)
			}
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return nil
}
