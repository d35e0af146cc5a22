package archive

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// split returns the elements of an array as the splitter cuts them.
func split(raw []byte) (elements []string, skipped []string) {
	s := newSplitter(iotest.OneByteReader(bytes.NewReader(raw)), func(reason string, _ int) { skipped = append(skipped, reason) })
	if c, err := s.token(); err != nil || c != '[' {
		return nil, []string{notAList}
	}
	_ = s.array(func(c byte, _ int) error {
		b := buffer{}
		if err := s.value(c, &b); err != nil {
			return err
		}
		elements = append(elements, string(b.bytes))
		return nil
	})
	return elements, skipped
}

// FuzzSplitter holds the splitter to what a full decoder says: of a valid
// array it finds exactly the elements, of anything else it makes no more bytes
// than there are.
func FuzzSplitter(f *testing.F) {
	for _, s := range []string{`[]`, `[{"a":"}]\"{["},[1,[2]],"x,]",7,null,true]`, "[\n  {\"a\": 1},\n  {\"a\n  {\"b\": 2}\n]", `[{"a":[}],{}]`, "\ufeff[1]", `[1 2]`, `[{}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, skipped := split(raw)
		var want []json.RawMessage
		trimmed := bytes.TrimPrefix(raw, []byte("\ufeff"))
		if json.Unmarshal(trimmed, &want) == nil && bytes.HasPrefix(bytes.TrimLeft(trimmed, " \t\r\n"), []byte("[")) {
			var texts []string
			for _, w := range want {
				texts = append(texts, string(w))
			}
			if diff := cmp.Diff(texts, got); diff != "" || skipped != nil {
				t.Errorf("of %q (-want +got):\n%s\nskipped %q", raw, diff, skipped)
			}
		}
		if n := len(strings.Join(got, "")); n > len(raw) {
			t.Errorf("%d bytes of elements from %d", n, len(raw))
		}
	})
}

func TestSplitterObject(t *testing.T) {
	t.Parallel()
	const in = `{"a":1,"m":[{"x":"]"},2],"b":[1],"c":}`
	var elements, sofar []string
	s := newSplitter(strings.NewReader(in), func(reason string, _ int) { t.Errorf("skipped: %s", reason) })
	if _, err := s.token(); err != nil {
		t.Fatal(err)
	}
	rest := buffer{}
	err := s.object(&rest, func(name string, head []byte) func(byte, int) error {
		if name != "m" {
			return nil
		}
		sofar = append(sofar, string(head))
		return func(c byte, _ int) error {
			b := buffer{}
			err := s.value(c, &b)
			elements = append(elements, string(b.bytes))
			return err
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{`{"x":"]"}`, "2"}, elements); diff != "" {
		t.Errorf("elements (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`{"a":1`}, sofar); diff != "" {
		t.Errorf("the object so far (-want +got):\n%s", diff)
	}
	if want := `{"a":1,"b":[1],"c":}`; string(rest.bytes) != want {
		t.Errorf("the rest: got %s, want %s", rest.bytes, want)
	}
}
