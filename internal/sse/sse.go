// Package sse reads server-sent events, the form in which all three providers
// stream an answer.
//
//	events := sse.NewReader(response.Body)
//	for {
//		event, err := events.Next()
//		if err == io.EOF {
//			break
//		}
//		…
//	}
//
// The format is that of https://html.spec.whatwg.org/multipage/server-sent-events.html,
// with one exception: an event that the end of the input cuts off before its
// empty line is returned, because some servers leave that line out. Whether an
// answer is complete is for its reader to say, by what the events hold.
package sse

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"
)

// An Event is one server-sent event.
type Event struct {
	// Name is the event's type, of its last line "event: …"; empty where there
	// is none.
	Name string
	// Data are the event's lines "data: …", joined by line breaks. It is never
	// empty, since an event without data is none, and it is valid UTF-8: other
	// bytes are replaced by U+FFFD.
	Data []byte
}

// A Reader reads events. It buffers one event at a time; the length of an event
// is bounded only by the input. It is not safe for concurrent use.
type Reader struct {
	in      *bufio.Reader
	started bool // a byte-order mark can no longer come
	skipLF  bool // the last line ended in \r: a \n that follows belongs to it
}

// NewReader returns a reader of the events in in.
func NewReader(in io.Reader) *Reader { return &Reader{in: bufio.NewReader(in)} }

// Next returns the next event. At the end of the input the error is io.EOF. An
// error of the input is returned as it is, and the event that it cut off is
// dropped.
func (r *Reader) Next() (Event, error) {
	var e Event
	hasData := false
	for {
		line, err := r.line()
		if err != nil && err != io.EOF {
			return Event{}, err
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.Name = string(value)
		case "data":
			if hasData {
				e.Data = append(e.Data, '\n')
			}
			hasData = true
			e.Data = append(e.Data, value...)
		}
		if len(line) > 0 && err == nil {
			continue // a comment and an unknown field too
		}
		if len(e.Data) > 0 {
			if !utf8.Valid(e.Data) {
				e.Data = bytes.ToValidUTF8(e.Data, []byte("\uFFFD"))
			}
			return e, nil
		}
		if err != nil {
			return Event{}, err
		}
		e, hasData = Event{}, false
	}
}

// line returns the next line without its end, which is \n, \r\n or \r. The error
// comes with what was read of an unfinished line.
func (r *Reader) line() ([]byte, error) {
	if !r.started {
		r.started = true
		if mark, _ := r.in.Peek(3); string(mark) == "\ufeff" {
			_, _ = r.in.Discard(3)
		}
	}
	var line []byte
	for {
		if _, err := r.in.Peek(1); err != nil {
			return line, err
		}
		chunk, _ := r.in.Peek(r.in.Buffered())
		if r.skipLF {
			r.skipLF = false
			if chunk[0] == '\n' {
				_, _ = r.in.Discard(1)
				continue
			}
		}
		end := bytes.IndexAny(chunk, "\r\n")
		if end < 0 {
			line = append(line, chunk...)
			_, _ = r.in.Discard(len(chunk))
			continue
		}
		line = append(line, chunk[:end]...)
		r.skipLF = chunk[end] == '\r'
		_, _ = r.in.Discard(end + 1)
		return line, nil
	}
}
