package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of a message from a client.
const (
	maxMessage = 1 << 20 // bytes
	maxDepth   = 64      // objects and arrays in one another
)

// The refusals of a message, for people.
var (
	errSyntax = errors.New("the message is not one JSON object in which each name stands once")
	errDepth  = errors.New("the message has more than 64 objects and arrays in one another")
	errLength = errors.New("the message is longer than 1 MiB")
)

// check refuses a message that the SDK would read more loosely than we do: it takes
// the last of two equal names, and arrays of messages, each of which would count once
// for the rates. Names of the wrong case it does not take.
func check(message []byte) error {
	d := jsontext.NewDecoder(bytes.NewReader(message), jsontext.AllowInvalidUTF8(true))
	if d.PeekKind() != '{' {
		return errSyntax
	}
	for {
		_, err := d.ReadToken()
		switch {
		case err != nil:
			return errSyntax
		case d.StackDepth() > maxDepth:
			return errDepth
		case d.StackDepth() == 0:
			if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
				return errSyntax
			}
			return nil
		}
	}
}

// failure answers a message that check refuses, under its id.
func failure(message []byte, err error) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + idOf(message) + `,"error":{"code":-32600,"message":"` + err.Error() + `"}}` + "\n")
}

// idOf returns the id of a request as JSON: null where it has none, or more than one.
func idOf(message []byte) string {
	d := jsontext.NewDecoder(bytes.NewReader(message), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil || len(message) > maxMessage {
		return "null"
	}
	found := "null"
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		isID := err == nil && name.String() == "id"
		value, err := d.ReadValue()
		switch {
		case err != nil, isID && found != "null":
			return "null"
		case isID && len(value) < 256 && (value.Kind() == '"' || value.Kind() == '0'):
			found = string(value)
		}
	}
	return found
}

// A lines is the standard input and output of a server: the lines that the client
// sends, without those that check refuses, which are answered here.
type lines struct {
	in *bufio.Reader

	mu  sync.Mutex // guards out
	out io.Writer

	rest []byte // of a line that was not read to its end; Read's alone
}

func newLines(in io.Reader, out io.Writer) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), out: out}
}

// Read implements [io.Reader].
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			err = check(line)
		}
		switch {
		case errors.Is(err, errSyntax), errors.Is(err, errDepth), errors.Is(err, errLength):
			if _, err := l.Write(failure(line, err)); err != nil {
				return 0, err
			}
			continue
		case err != nil:
			return 0, err
		}
		l.rest = line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// line returns the next line with its end. A longer one than a message may be is
// skipped.
func (l *lines) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxMessage; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errLength
		case errors.Is(err, io.EOF) && len(line) > 0:
			return append(line, '\n'), nil
		}
		return line, err
	}
}

// Write implements [io.Writer]: one line at a time.
func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.out.Write(p)
}

// Close implements [io.Closer]. The streams are the process's own.
func (*lines) Close() error { return nil }
