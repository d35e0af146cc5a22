package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync"
	"time"

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
	errForm   = errors.New("the message is not of JSON-RPC 2.0: a method's name, and an id that is text or a whole number of at most 15 digits")
)

// checkMessage refuses a message that the SDK would read more loosely than we do: it takes
// the last of two equal names, and arrays of messages, each of which would count once
// for the rates. Names of the wrong case it does not take.
func checkMessage(message []byte) error {
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
			if e := envelopeOf(message); !e.valid() {
				return errForm
			}
			return nil
		}
	}
}

// An envelope is what a message has around its parameters. The SDK ends the session of
// a standard input with a wrong one, and answers an id of 1.5 under 1.
type envelope struct {
	version, method, id jsontext.Value // nil where they are not there
	answer              bool           // it has a result or an error
}

// envelopeOf returns that of a message that is an object.
func envelopeOf(message []byte) envelope {
	var e envelope
	d := jsontext.NewDecoder(bytes.NewReader(message), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
		return e
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return e
		}
		name := token.String()
		value, err := d.ReadValue()
		if err != nil {
			return e
		}
		switch name {
		case "jsonrpc":
			e.version = value.Clone()
		case "method":
			e.method = value.Clone()
		case "id":
			e.id = value.Clone()
		case "result", "error":
			e.answer = true
		}
	}
	return e
}

// wholeNumber is an id that a double holds exactly.
var wholeNumber = regexp.MustCompile(`^-?[0-9]{1,15}$`)

// valid reports whether it is that of a request, a notification or an answer.
func (e envelope) valid() bool {
	switch {
	case string(e.version) != `"2.0"`:
		return false
	case e.id != nil && e.id.Kind() != '"' && !wholeNumber.Match(e.id):
		return false
	case e.method != nil:
		return e.method.Kind() == '"' && !e.answer
	}
	return e.answer && e.id != nil
}

// failureAnswer answers a message that check refuses, under its id.
func failureAnswer(message []byte, err error) []byte {
	return []byte(`{"jsonrpc":"2.0","id":` + idOf(message) + `,"error":{"code":-32600,"message":"` + err.Error() + `"}}` + "\n")
}

// idOf returns the id of a request as JSON: null where it has none, or more than one.
func idOf(message []byte) string {
	d := jsontext.NewDecoder(bytes.NewReader(message), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	if _, err := d.ReadToken(); err != nil {
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

// stripSDKError returns an answer without what the SDK's own errors quote of the request.
func stripSDKError(answer []byte) []byte {
	for _, text := range []string{"malformed payload", "JSON RPC not handled"} {
		if bytes.HasPrefix(answer, []byte(text)) {
			return []byte(text + "\n")
		}
	}
	head := answer[:min(len(answer), 512)]
	if !bytes.Contains(head, []byte(`"error":{"code":`)) {
		return answer
	}
	switch {
	case bytes.Contains(head, []byte(`"error":{"code":-32601,`)):
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"there is no such method"}}`+"\n", idOf(answer))
	case bytes.Contains(head, []byte(`"message":"handling '`)):
		return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"the parameters are not as the protocol says"}}`+"\n", idOf(answer))
	}
	return answer
}

// A plainWriter writes answers as plain has them.
type plainWriter struct{ http.ResponseWriter }

// Write implements [io.Writer].
func (w plainWriter) Write(p []byte) (int, error) {
	_, err := w.ResponseWriter.Write(stripSDKError(p))
	return len(p), err
}

// Unwrap is for [http.ResponseController].
func (w plainWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// patience bounds how long answers are waited for once the client has sent its last.
const patience = 10 * time.Second

// A lines is the standard input and output of a server: the lines that the client
// sends, without those that check refuses, which are answered here. Its end comes when
// what was asked before it is answered: the SDK gives up on requests at the end.
type lines struct {
	in *bufio.Reader

	mu      sync.Mutex // guards out and pending
	out     io.Writer
	pending int // requests without an answer

	answered chan struct{} // has room for one; filled after an answer
	closed   chan struct{}
	close    sync.Once

	rest []byte // of a line that was not read to its end; Read's alone
}

func newLines(in io.Reader, out io.Writer) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), out: out, answered: make(chan struct{}, 1), closed: make(chan struct{})}
}

// Read implements [io.Reader].
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.line()
		if err == nil && len(bytes.TrimSpace(line)) > 0 {
			err = checkMessage(line)
		}
		switch {
		case errors.Is(err, errSyntax), errors.Is(err, errDepth), errors.Is(err, errLength), errors.Is(err, errForm):
			if err := l.write(failureAnswer(line, err), 0); err != nil {
				return 0, err
			}
			continue
		case errors.Is(err, io.EOF):
			l.finish()
			return 0, err
		case err != nil:
			return 0, err
		}
		if envelopeOf(line).answer {
			continue // to a question that was never asked: this server asks none
		}
		if idOf(line) != "null" {
			l.mu.Lock()
			l.pending++
			l.mu.Unlock()
		}
		l.rest = line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// finish waits until every request is answered, or for patience.
func (l *lines) finish() {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		l.mu.Lock()
		pending := l.pending
		l.mu.Unlock()
		if pending <= 0 {
			return
		}
		select {
		case <-l.answered:
		case <-l.closed:
			return
		case <-late.C:
			return
		}
	}
}

// Write implements [io.Writer]: one message at a time. Those with an id are answers.
func (l *lines) Write(p []byte) (int, error) {
	answers := 0
	if idOf(p) != "null" {
		answers = 1
	}
	if err := l.write(stripSDKError(p), answers); err != nil {
		return 0, err
	}
	select {
	case l.answered <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (l *lines) write(p []byte, answers int) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending -= answers
	_, err := l.out.Write(p)
	return err
}

// Close implements [io.Closer]. The streams are the process's own and stay open.
func (l *lines) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
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
