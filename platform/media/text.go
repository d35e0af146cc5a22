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

// maxText bounds the bytes of a text, so that one log does not use up the budget.
const maxText = 32 << 10

// cutText follows a text that was cut.
const cutText = "\n[the file goes on; this is its beginning]"

// convertText converts a text file into a document in UTF-8, cleaned and indented as messages
// are ([assemble.InlineText]), so that no line of it can be taken for a part of the
// prompt.
func convertText(data []byte) (llm.Media, error) {
	s, ok := decodeText(textBeginning(data))
	if !ok {
		return llm.Media{}, &Error{Why: whyType}
	}
	return inlineText(s, false)
}

// inlineText returns a text as a document; cut says that it is a beginning.
func inlineText(s string, cut bool) (llm.Media, error) {
	if len(s) > maxText {
		cut = true
		end := maxText
		for end > 0 && !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	s = assemble.InlineText(strings.TrimRight(s, "\r\n"))
	if strings.TrimSpace(s) == "" {
		return llm.Media{}, &Error{Why: whyEmpty}
	}
	if cut {
		s += cutText
	}
	return llm.Media{Type: "text/plain", Data: []byte(s)}, nil
}

// textBeginning returns the first bytes of a text, enough for maxText in any encoding, and
// ends at the end of a character.
func textBeginning(data []byte) []byte {
	end := 4 * maxText
	if len(data) <= end {
		return data
	}
	for end > 4*maxText-utf8.UTFMax && !utf8.RuneStart(data[end]) {
		end--
	}
	return data[:end]
}

// decodeText returns a text in UTF-8. It recognises UTF-16 by its byte order mark. Anything
// else counts as Windows-1252, which old programs write, unless it has bytes that no
// text has.
func decodeText(data []byte) (string, bool) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		return decodeUTF16(data[2:], data[0] == 0xfe), true
	case bytes.IndexByte(data, 0) >= 0:
		return "", false
	case utf8.Valid(data):
		return strings.TrimPrefix(string(data), "\uFEFF"), true
	}
	s, err := charmap.Windows1252.NewDecoder().Bytes(data)
	return string(s), err == nil
}

// decodeUTF16 decodes UTF-16 in a byte order.
func decodeUTF16(data []byte, bigEndian bool) string {
	units := make([]uint16, len(data)/2)
	for i := range units {
		units[i] = uint16(data[2*i]) | uint16(data[2*i+1])<<8
		if bigEndian {
			units[i] = units[i]<<8 | units[i]>>8
		}
	}
	return string(utf16.Decode(units))
}
