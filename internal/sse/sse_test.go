package sse_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/internal/sse"
)

// read returns the events of a reader, each as "name|data", and the error that
// is no end.
func read(in io.Reader) (events []string, err error) {
	r := sse.NewReader(in)
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return events, nil
		}
		if err != nil {
			return events, err
		}
		events = append(events, e.Name+"|"+string(e.Data))
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 5<<20)
	for _, c := range []struct {
		name, in string
		want     []string
	}{
		{"nothing", "", nil},
		{"one event", "data: a\n\n", []string{"|a"}},
		{"a name", "event: e\ndata: a\n\ndata: b\n\n", []string{"e|a", "|b"}},
		{"the last name counts", "event: e\nevent: f\ndata: a\n\n", []string{"f|a"}},
		{"lines are joined", "data: a\ndata:\ndata: b\n\n", []string{"|a\n\nb"}},
		{"one space is taken away", "data:a\n\ndata:  b \n\n", []string{"|a", "| b "}},
		{"all ends of lines", "data: a\r\n\r\ndata: b\r\rdata: c\n\ndata: d\r\n\n", []string{"|a", "|b", "|c", "|d"}},
		{"comments and unknown fields", ": keep-alive\n\n:\nid: 1\nretry: 2\nother\ndata: a\n: more\n\n", []string{"|a"}},
		{"an event without data is none", "event: ping\n\nevent: ping\ndata:\n\ndata\n\ndata: a\n\n", []string{"|a"}},
		{"empty lines between", "\n\n\ndata: a\n\n\n\n", []string{"|a"}},
		{"a byte-order mark", "\ufeffdata: a\n\n", []string{"|a"}},
		{"none where the stream goes on", "data: a\n\n\ufeffdata: b\n\n", []string{"|a"}},
		{"the last empty line may be missing", "data: a\n\ndata: b", []string{"|a", "|b"}},
		{"what is no UTF-8", "data: a\xffb\n\n", []string{"|a\uFFFDb"}},
		{"a colon in the data", "data: {\"a\": \"b: c\"}\n\n", []string{`|{"a": "b: c"}`}},
		{"a long event", "data: " + long + "\n\ndata: b\n\n", []string{"|" + long, "|b"}},
		{"a page", "<html>\n<p>data: no\n</html>\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := read(strings.NewReader(c.in))
			if diff := cmp.Diff(got, c.want); diff != "" || err != nil {
				t.Errorf("%v; -got +want\n%.1000s", err, diff)
			}
			if len(c.in) < 1000 {
				if got, err := read(iotest.OneByteReader(strings.NewReader(c.in))); !cmp.Equal(got, c.want) || err != nil {
					t.Errorf("byte by byte: got %q, %v", got, err)
				}
			}
		})
	}
}

func TestAnEventThatBreaksOffIsDropped(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	got, err := read(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	if diff := cmp.Diff(got, []string{"|a"}); diff != "" || !errors.Is(err, broken) {
		t.Errorf("got %q, %v", got, err)
	}
}

// An event is told when its empty line has come, not when the next one begins:
// readers of a stream do not wait for what may be a minute away.
func TestAnEventIsNotHeldBack(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"\n", "\r\n", "\r"} {
		in, out := io.Pipe()
		r := sse.NewReader(in)
		go func() { _, _ = io.WriteString(out, "data: a"+end+end) }()
		if e, err := r.Next(); err != nil || string(e.Data) != "a" {
			t.Errorf("%q: got %q, %v", end, e.Data, err)
		}
		_ = out.Close()
	}
}

// simple reads events by the letter of the specification, with everything in
// memory.
func simple(in string) (events []string) {
	in = strings.TrimPrefix(in, "\ufeff")
	in = strings.ReplaceAll(strings.ReplaceAll(in, "\r\n", "\n"), "\r", "\n")
	name, data := "", ""
	for line := range strings.SplitSeq(in+"\n\n", "\n") {
		field, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case line == "":
			if data = strings.TrimSuffix(data, "\n"); data != "" {
				events = append(events, name+"|"+strings.ToValidUTF8(data, "\uFFFD"))
			}
			name, data = "", ""
		case field == "event":
			name = value
		case field == "data":
			data += value + "\n"
		}
	}
	return events
}

func FuzzReader(f *testing.F) {
	for _, s := range []string{"data: a\n\n", "event: e\r\ndata: a\rdata:b\n\n", "\ufeff: c\n\ndata: \xff", "data\n\ndata:\ndata\n\n", "data: a\r\n\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		want := simple(in)
		for _, r := range []io.Reader{strings.NewReader(in), iotest.OneByteReader(strings.NewReader(in)), iotest.HalfReader(strings.NewReader(in))} {
			if got, err := read(r); !cmp.Equal(got, want) || err != nil {
				t.Fatalf("got %q, %v, want %q", got, err, want)
			}
		}
	})
}
