package media

import (
	"bytes"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
)

// maxText is how many bytes of a text are given; a model's budget of tokens is
// not spent on one log.
const maxText = 32 << 10

// cutText stands behind a text that goes on.
const cutText = "\n[the file goes on; this is its beginning]"

// text makes a document of a file that people can read as text: in UTF-8,
// cleaned and indented like whatever else was said ([assemble.Inlined]), so
// that no line of it is taken for a part of the prompt.
func text(data []byte) (llm.Media, error) {
	s, ok := decode(beginning(data))
	if !ok {
		return llm.Media{}, &Error{Why: whyType}
	}
	cut := len(s) > maxText
	if cut {
		end := maxText
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	s = assemble.Inlined(strings.TrimRight(s, "\r\n"))
	if strings.TrimSpace(s) == "" {
		return llm.Media{}, &Error{Why: whyEmpty}
	}
	if cut {
		s += cutText
	}
	return llm.Media{Type: "text/plain", Data: []byte(s)}, nil
}

// beginning returns as much of a text as could be given, whatever it is
// encoded in, up to the end of a character.
func beginning(data []byte) []byte {
	end := 4 * maxText
	if len(data) <= end {
		return data
	}
	for end > 4*maxText-utf8.UTFMax && !utf8.RuneStart(data[end]) {
		end--
	}
	return data[:end]
}

// decode returns a text in UTF-8. UTF-16 is recognised by its byte order mark; what
// is neither is taken to be Windows-1252, in which old programs write, unless
// it has bytes that no text has.
func decode(data []byte) (string, bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return wide(data[2:], data[0] == 0xfe), true
	case bytes.IndexByte(data, 0) >= 0:
		return "", false
	case utf8.Valid(data):
		return strings.TrimPrefix(string(data), "\uFEFF"), true
	}
	s, err := charmap.Windows1252.NewDecoder().Bytes(data)
	return string(s), err == nil
}

// wide decodes UTF-16.
func wide(data []byte, bigEndian bool) string {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = uint16(data[2*i]) | uint16(data[2*i+1])<<8
		if bigEndian {
			units[i] = units[i]<<8 | units[i]>>8
		}
	}
	return string(utf16.Decode(units))
}
