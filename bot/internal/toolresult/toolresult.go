// Package toolresult writes what tools of one's own answered, as a model is given it: one
// JSON value in one line, cleaned as chat is and bounded. No line of it can be taken for one
// of the prompt's, since it has no line break that is not escaped.
package toolresult

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// Of writes what a tool answered, in at most most bytes, which are at least 1,000. Texts
// that are a JSON object or array stand as such, others as a text; what is cut, and files,
// are named in left_out.
func Of(r toolbox.Result, most int) string {
	var texts, leftOut []string
	for _, p := range r.Parts {
		switch {
		case p.Kind == llm.KindText:
			texts = append(texts, p.Text)
		case p.Media != nil && len(leftOut) < 10:
			leftOut = append(leftOut, fmt.Sprintf("%.100q of %d bytes", assemble.Clean(p.Media.Type), len(p.Media.Data)))
		}
	}
	key := "result"
	if r.Failed {
		key = "error"
	}
	text := strings.Join(texts, "\n")
	for short := text; ; {
		answer := map[string]any{key: valueOf(short)}
		gone := leftOut
		if len(short) < len(text) {
			gone = append(slices.Clone(leftOut), fmt.Sprintf("the last %d of %d bytes", len(text)-len(short), len(text)))
		}
		if gone != nil {
			answer["left_out"] = gone
		}
		whole := JSON(answer)
		if len(whole) <= most || short == "" {
			return whole
		}
		// A cut in the middle of a rune leaves bytes that cleaning would make longer.
		short = strings.ToValidUTF8(text[:len(short)*max(0, most-200)/len(whole)], "")
	}
}

// Failure writes that a call failed, and what to do about it.
func Failure(what, remedy string) string {
	return JSON(map[string]any{"error": what, "remedy": remedy})
}

// JSON writes an answer.
func JSON(answer map[string]any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(answer); err != nil {
		return `{"error":"the tool's answer cannot be written"}`
	}
	return strings.TrimSpace(b.String())
}

// valueOf returns a tool's text as it stands in an answer.
func valueOf(text string) any {
	text = assemble.Clean(text)
	if s := strings.TrimSpace(text); strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") {
		var b bytes.Buffer
		if json.Compact(&b, []byte(s)) == nil {
			return json.RawMessage(b.Bytes())
		}
	}
	return text
}
