package rule

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/earshot-ai/earshot"
)

// Forms returns the byte sequences as which a store may hold a text: the text
// itself, with the entities of Slack's messages, and each of these in a JSON string
// or in a JSON string within another. Writers of JSON differ in what they escape;
// these are Go's two ways, and those of the platforms that write ASCII only. The
// error is [earshot.ErrInvalid] for an empty text.
func Forms(s string) ([][]byte, error) {
	if s == "" {
		return nil, fmt.Errorf("%w: there is no text to look for", earshot.ErrInvalid)
	}
	forms := []string{s, Text(s), strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(s)}
	for from := 0; from < 2; from++ { // a JSON string, and one within it
		for _, f := range slices.Clone(forms) {
			ascii := asciiJSON(f)
			forms = append(forms, goJSON(f, true), goJSON(f, false), ascii, strings.ReplaceAll(ascii, "/", `\/`), strings.ReplaceAll(goJSON(f, false), "/", `\/`))
		}
	}
	out := make([][]byte, 0, len(forms))
	slices.Sort(forms)
	for _, f := range slices.Compact(forms) {
		out = append(out, []byte(f))
	}
	return out, nil
}

// goJSON returns s as encoding/json writes it, without the quotes.
func goJSON(s string, html bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(html)
	_ = enc.Encode(s) // a string and a buffer: it cannot fail
	return strings.TrimSuffix(strings.TrimPrefix(b.String(), `"`), "\"\n")
}

// asciiJSON returns s as Slack writes it: what is not ASCII as \u00e9.
func asciiJSON(s string) string {
	var b strings.Builder
	for _, r := range goJSON(s, false) {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// Core returns the longest stretch of letters and digits that all forms have, which
// no writer escapes; it is empty where they have none.
func Core(forms [][]byte) []byte {
	plain := func(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' }
	var core []byte
	for i := 0; i < len(forms[0]); i++ {
		j := i
		for j < len(forms[0]) && plain(forms[0][j]) {
			j++
		}
		stretch := forms[0][i:j]
		if len(stretch) > len(core) && !slices.ContainsFunc(forms, func(f []byte) bool { return !bytes.Contains(f, stretch) }) {
			core = stretch
		}
		i = j
	}
	return core
}
