package archive

import (
	"bufio"
	"errors"
	"io"
)

// Reasons for leaving out a record or the rest of a file.
const (
	broken    = "broken JSON"
	truncated = "the file ends within a record"
	tooLarge  = "larger than 1 MiB"
	noMessage = "no message, or without a usable ts"
	notAList  = "not a list of messages"
	restLost  = "the rest of the file could not be read"
	unread    = "the file could not be read"
)

// maxRecord bounds one record, in bytes.
const maxRecord = 1 << 20

// errBroken says that the text is no JSON at this point; errEnd that a file
// ended too early. Both cost the record at hand.
var (
	errBroken = errors.New(broken)
	errEnd    = errors.New(truncated)
)

// A splitter cuts a stream of JSON into records without building them: it
// knows strings and brackets and leaves the rest to who decodes a record. So
// its memory is one record, its cost is linear, depth costs nothing, and one
// broken record does not take the rest of the file along.
type splitter struct {
	in     *bufio.Reader
	err    error  // a failure of reading, other than the end
	line   int    // of the byte read last, from 1
	indent int    // white space at the start of the line; -1 behind anything else
	before int    // indent before the byte read last
	stack  []byte // open brackets of the record at hand
	skip   func(reason string, line int)
}

// readAhead is how much of a file is read at once.
const readAhead = 64 << 10

func newSplitter(r io.Reader, skip func(reason string, line int)) *splitter {
	s := &splitter{in: bufio.NewReaderSize(r, readAhead), line: 1, skip: skip}
	if b, _ := s.in.Peek(3); string(b) == "\ufeff" {
		_, _ = s.in.Discard(3)
	}
	return s
}

func (s *splitter) next() (byte, error) {
	c, err := s.in.ReadByte()
	if err != nil {
		if err != io.EOF {
			s.err = err
		}
		return 0, errEnd
	}
	s.before = s.indent
	switch c {
	case '\n':
		s.line++
		s.indent = 0
	case ' ', '\t', '\r':
		if s.indent >= 0 {
			s.indent++
		}
	default:
		s.indent = -1
	}
	return c, nil
}

// unread undoes one next of a byte that is not white space.
func (s *splitter) unread() {
	_ = s.in.UnreadByte()
	s.indent = s.before
}

// token returns the next byte that is not white space.
func (s *splitter) token() (byte, error) {
	for {
		c, err := s.next()
		if err != nil || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c, err
		}
	}
}

// A buffer collects a record up to maxRecord.
type buffer struct {
	bytes []byte
	over  bool // it is longer than that, and cut
}

func (b *buffer) reset() { b.bytes, b.over = b.bytes[:0], false }

func (b *buffer) add(c byte) {
	if len(b.bytes) >= maxRecord {
		b.over = true
		return
	}
	b.bytes = append(b.bytes, c)
}

// array reads the elements of an array whose bracket is read already. element
// gets each one's first byte. An element that is broken is skipped where the
// layout shows the start of the next one; else the rest of the array is lost.
func (s *splitter) array(element func(first byte, line int) error) error {
	for {
		c, err := s.token()
		if err != nil {
			s.lose(truncated, s.line)
			return err
		}
		switch c {
		case ']':
			return nil
		case ',':
			continue
		}
		line, indent := s.line, s.before
		err = element(c, line)
		if err != errBroken {
			if err == errEnd {
				s.lose(truncated, line)
			}
			if err != nil {
				return err
			}
			continue
		}
		s.skip(broken, line)
		if !s.resume(indent) {
			s.lose(restLost, s.line)
			return errEnd
		}
	}
}

// lose counts what is lost at the end of a file, unless reading it failed:
// that is told once, by who opened it.
func (s *splitter) lose(reason string, line int) {
	if s.err == nil {
		s.skip(reason, line)
	}
}

// resume looks for the next element after a broken one: a line that begins
// with a brace at the same indent, or the array's end further left.
func (s *splitter) resume(indent int) bool {
	if indent < 0 {
		return false
	}
	for {
		c, err := s.next()
		if err != nil {
			return false
		}
		first := s.before >= 0 && s.indent < 0
		if first && (c == '{' && s.before == indent || c == ']' && s.before < indent) {
			s.unread()
			return true
		}
	}
}

// value reads one value whose first byte is read already.
func (s *splitter) value(c byte, b *buffer) error {
	switch c {
	case '{', '[':
		return s.composite(c, b)
	case '"':
		b.add(c)
		return s.string(b)
	case '}', ']', ',', ':':
		return errBroken
	}
	for {
		b.add(c)
		var err error
		if c, err = s.next(); err != nil {
			if s.err == nil {
				return nil // a bare scalar may end a file
			}
			return err
		}
		switch c {
		case ',', ']', '}', ':', '"', '{', '[':
			s.unread()
			return nil
		case ' ', '\t', '\r', '\n':
			return nil
		}
	}
}

// string reads the rest of a string. A raw line break ends it: JSON has none.
func (s *splitter) string(b *buffer) error {
	for {
		c, err := s.next()
		if err != nil {
			return err
		}
		if c == '\n' {
			return errBroken
		}
		b.add(c)
		switch c {
		case '"':
			return nil
		case '\\':
			if c, err = s.next(); err != nil {
				return err
			}
			if c == '\n' {
				return errBroken
			}
			b.add(c)
		}
	}
}

// maxNesting is how deep brackets are matched; what lies deeper is only
// counted, and who decodes the record refuses it.
const maxNesting = 10_000

// composite reads an object or array to its last bracket. A bracket of the
// wrong kind, or one where a name must stand, shows that one is missing; then
// what follows may be the next record already, and is left to be read again.
func (s *splitter) composite(c byte, b *buffer) error {
	b.add(c)
	s.stack = append(s.stack[:0], c)
	name := c == '{' // a name must come next
	for depth := 1; depth > 0; {
		c, err := s.next()
		if err != nil {
			return err
		}
		inObject := depth <= maxNesting && s.stack[depth-1] == '{'
		switch c {
		case '"':
			b.add(c)
			if err := s.string(b); err != nil {
				return err
			}
			name = false
			continue
		case ',':
			name = inObject
		case '{', '[':
			if name {
				s.unread()
				return errBroken
			}
			if depth++; depth <= maxNesting {
				s.stack = append(s.stack[:depth-1], c)
			}
			name = c == '{'
		case '}', ']':
			if depth <= maxNesting && inObject != (c == '}') {
				s.unread()
				return errBroken
			}
			depth--
			name = false
		}
		b.add(c)
	}
	return nil
}

// object reads an object whose brace is read already, into b, but for the
// arrays that hole claims: the elements of those are handed on one by one, so
// that an object may be of any size. hole gets the name and what was read of
// the object so far.
func (s *splitter) object(b *buffer, hole func(name string, sofar []byte) func(first byte, line int) error) error {
	b.add('{')
	empty := true
	for {
		c, err := s.token()
		if err != nil {
			return err
		}
		switch c {
		case '}':
			b.add('}')
			return nil
		case ',':
			continue
		case '"':
		default:
			s.unread()
			return errBroken
		}
		key := buffer{}
		key.add(c)
		if err := s.string(&key); err != nil {
			return err
		}
		if c, err = s.token(); err != nil {
			return err
		} else if c != ':' {
			return errBroken
		}
		if c, err = s.token(); err != nil {
			return err
		}
		if c == '}' || c == ',' {
			// No value: who decodes the record will refuse it, and its
			// end is still known.
			s.unread()
			c = ' '
		}
		if c == '[' && len(key.bytes) >= 2 {
			if element := hole(string(key.bytes[1:len(key.bytes)-1]), b.bytes); element != nil {
				if err := s.array(element); err != nil {
					return err
				}
				continue
			}
		}
		if !empty {
			b.add(',')
		}
		empty = false
		b.over = b.over || key.over
		for _, k := range key.bytes {
			b.add(k)
		}
		b.add(':')
		if c == ' ' {
			continue
		}
		if err := s.value(c, b); err != nil {
			return err
		}
	}
}
