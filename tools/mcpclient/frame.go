package mcpclient

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// mostDepth is how deep the JSON of a message may be nested. A parser that descends with
// the text could exhaust the stack, which nothing can recover from.
const mostDepth = 200

// errUnsound is of a message that is not handed on.
var errUnsound = errors.New("the server's message is no JSON of a bounded depth")

// sound returns an error for what is no JSON or is nested too deeply.
func sound(data []byte) error {
	depth, quoted := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > mostDepth {
				return errUnsound
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	if !json.Valid(data) {
		return errUnsound
	}
	return nil
}

// Codes of errors that this package puts in the place of a server's answer.
const (
	codeTooLarge = -32871 // the call ran, and its answer was not read
	codeBroken   = -32872 // nobody knows
)

// standIn returns an answer in the place of one that cannot be handed on.
func standIn(id json.RawMessage, code int, text string) []byte {
	out, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}}) // all of it is JSON
	return out
}

func tooLarge(id json.RawMessage, most int) []byte {
	return standIn(id, codeTooLarge, fmt.Sprintf("the answer of the tool is larger than %d bytes and was not read", most))
}

func unread(id json.RawMessage) []byte {
	return standIn(id, codeBroken, "the answer of the server broke off or could not be read")
}

// A bodyReader reads a body of JSON whole at its first read, of most bytes at the most,
// and then returns it, or an answer that stands in. It returns no error but io.EOF: the
// SDK ends its session with one.
type bodyReader struct {
	body io.ReadCloser
	id   json.RawMessage // of the request
	most int
	text *bytes.Reader
}

func (r *bodyReader) Read(p []byte) (int, error) {
	if r.text == nil {
		data, err := io.ReadAll(io.LimitReader(r.body, int64(r.most)+1))
		switch {
		case err != nil:
			data = unread(r.id)
		case len(data) > r.most:
			data = tooLarge(r.id, r.most)
		case sound(data) != nil:
			data = unread(r.id)
		default:
			if _, err := jsonrpc.DecodeMessage(data); err != nil {
				data = unread(r.id)
			}
		}
		r.text = bytes.NewReader(data)
	}
	return r.text.Read(p)
}

func (r *bodyReader) Close() error { return r.body.Close() }

// An eventReader hands on the events of a stream of server-sent events whose data is a
// message. Of an event that is too large it hands on an answer that says so, where the
// stream answers a request, and ends; others it leaves out.
type eventReader struct {
	body io.ReadCloser
	in   *bufio.Reader
	id   json.RawMessage // of the request; nil: the stream answers none
	most int
	out  bytes.Buffer // of whole events
	err  error        // once out is empty
}

func newEventReader(body io.ReadCloser, id json.RawMessage, most int) *eventReader {
	return &eventReader{body: body, in: bufio.NewReader(body), id: id, most: most}
}

func (r *eventReader) Read(p []byte) (int, error) {
	for r.out.Len() == 0 && r.err == nil {
		r.err = r.event()
	}
	if r.out.Len() == 0 {
		return 0, r.err
	}
	n, _ := r.out.Read(p) // it is not empty
	return n, nil
}

func (r *eventReader) Close() error { return r.body.Close() }

// event reads the lines of one event, and writes it if it is to be handed on.
func (r *eventReader) event() error {
	var head, data bytes.Buffer
	for {
		line, err := boundedLine(r.in, r.most-head.Len()-data.Len())
		if errors.Is(err, errLong) {
			if r.id == nil {
				if err := skipLine(r.in); err != nil {
					return err
				}
				head.Reset()
				data.Reset()
				data.WriteString("-") // no JSON, so that the rest of the event goes too
				continue
			}
			fmt.Fprintf(&r.out, "data: %s\n\n", tooLarge(r.id, r.most))
			return io.EOF
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			if data.Len() > 0 || head.Len() > 0 {
				r.hand(head.Bytes(), data.Bytes())
			}
			return err // nil but at the end
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		switch string(field) {
		case "data":
			if data.Len() > 0 {
				data.WriteByte(' ') // JSON has no line breaks within texts
			}
			data.Write(bytes.TrimSpace(value))
		case "id", "retry", "event":
			fmt.Fprintf(&head, "%s:%s\n", field, value)
		}
		if err != nil {
			r.hand(head.Bytes(), data.Bytes())
			return err
		}
	}
}

// hand writes an event to out, without its data where that is no message.
func (r *eventReader) hand(head, data []byte) {
	if len(data) > 0 && sound(data) == nil {
		if _, err := jsonrpc.DecodeMessage(data); err == nil {
			r.out.Write(head)
			fmt.Fprintf(&r.out, "data: %s\n\n", data)
			return
		}
	}
	if len(head) > 0 {
		r.out.Write(head)
		r.out.WriteByte('\n')
	}
}

// errLong is of a line that is longer than it may be.
var errLong = errors.New("a line is too long")

// boundedLine reads a line with its end, or returns errLong after most bytes of it, which
// it returns too.
func boundedLine(in *bufio.Reader, most int) ([]byte, error) {
	var line []byte
	for {
		piece, err := in.ReadSlice('\n')
		if len(line)+len(piece) > most {
			return append(line, piece...), errLong
		}
		line = append(line, piece...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// skipLine reads to the end of a line. It may stand at one already, when the line's last
// piece was read by boundedLine.
func skipLine(in *bufio.Reader) error {
	for {
		if _, err := in.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// A lineReader hands on the lines of a child's output that are messages.
type lineReader struct {
	from io.ReadCloser
	in   *bufio.Reader
	most int
	odd  func(line []byte) // is told of what is no message
	out  *bytes.Reader
}

func newLineReader(from io.ReadCloser, most int, odd func([]byte)) *lineReader {
	return &lineReader{from: from, in: bufio.NewReaderSize(from, 64<<10), most: most, odd: odd, out: bytes.NewReader(nil)}
}

func (r *lineReader) Read(p []byte) (int, error) {
	for r.out.Len() == 0 {
		line, err := boundedLine(r.in, r.most)
		if errors.Is(err, errLong) {
			id := idOf(line)
			var last []byte
			if line[len(line)-1] != '\n' {
				if last, err = lastOf(r.in, 256); err != nil {
					return 0, err
				}
			}
			if id == nil {
				id = idAtEnd(last)
			}
			if id == nil {
				return 0, errLong // whose answer it is is not known: the connection ends
			}
			r.out = bytes.NewReader(append(tooLarge(id, r.most), '\n'))
			break
		}
		trimmed := bytes.TrimSpace(line)
		switch {
		case len(trimmed) == 0:
		case (trimmed[0] == '{' || trimmed[0] == '[') && sound(trimmed) == nil:
			r.out = bytes.NewReader(append(trimmed, '\n'))
		default:
			r.odd(trimmed)
		}
		if err != nil && r.out.Len() == 0 {
			return 0, err
		}
	}
	return r.out.Read(p)
}

func (r *lineReader) Close() error { return r.from.Close() }

// lastOf reads to the end of a line and returns its last bytes, most at the most.
func lastOf(in *bufio.Reader, most int) ([]byte, error) {
	var last []byte
	for {
		piece, err := in.ReadSlice('\n')
		last = append(last, piece...)
		last = last[max(0, len(last)-most):]
		if !errors.Is(err, bufio.ErrBufferFull) {
			return last, err
		}
	}
}

// idOf returns the id of an answer whose beginning is given, where it stands before the
// result.
func idOf(head []byte) json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(head))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	for {
		key, err := d.Token()
		if err != nil || key == "result" || key == "error" || key == "params" {
			return nil
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil
		}
		if key == "id" {
			return value
		}
	}
}

var endsWithID = regexp.MustCompile(`"id"\s*:\s*("[^"\\]*"|-?\d+)\s*\}\s*$`)

// idAtEnd returns the id of an answer whose end is given.
func idAtEnd(end []byte) json.RawMessage {
	if m := endsWithID.FindSubmatch(end); m != nil {
		return bytes.Clone(m[1])
	}
	return nil
}
