package llm

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// json reads a line of JSON, and reports whether it is one. Every object with an
// author and a text is a message; the one in a field "anchor" is the question.
func (t *text) json(line string) bool {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "{") && !strings.HasPrefix(line, "[") {
		return false
	}
	var v any
	if json.Unmarshal([]byte(line), &v) != nil {
		return false
	}
	t.value(v, 0)
	return true
}

// maxDepth bounds how deep in a value messages are looked for.
const maxDepth = 16

func (t *text) value(v any, depth int) {
	if depth > maxDepth {
		return
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			t.value(e, depth+1)
		}
	case map[string]any:
		q, ok := parseMessage(v)
		if ok {
			t.quotes = append(t.quotes, q)
		}
		t.shared(v, q)
		if list, ok := v["missing"].([]any); ok && len(list) > 0 {
			t.gap = true
		}
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if name == "shared" || name == "missing" {
				continue
			}
			if anchor, ok := v[name].(map[string]any); ok && name == "anchor" {
				if q, ok := parseMessage(anchor); ok && t.question == "" {
					t.question = q.text
					continue
				}
			}
			t.value(v[name], depth+1)
		}
	}
}

// maxShared bounds how many quotes of one message are read.
const maxShared = 10

// shared reads what a message quotes. The author of the message did not write
// it, and only of a forward is it certain who did.
func (t *text) shared(o map[string]any, by quote) {
	list, _ := o["shared"].([]any)
	for _, e := range list[:min(len(list), maxShared)] {
		v, _ := e.(map[string]any)
		said, ok := firstField(v, "text")
		if !ok {
			continue
		}
		who, ok := firstField(v, "author", "place")
		if kind, _ := firstField(v, "kind"); ok && kind != string(earshot.Forward) {
			who += ", as quoted"
		}
		if !ok {
			who = "somebody"
		}
		if by.speaker == "" {
			by.speaker, _ = authorOf(o)
		}
		t.quotes = append(t.quotes, quote{speaker: who + ", shared by " + by.speaker, text: said, time: timeOf(v)})
	}
}

// authorOf returns the author of an object that is a message.
func authorOf(o map[string]any) (string, bool) {
	if author, is := o["author"].(map[string]any); is {
		return firstField(author, "display_name", "name", "id", "user_id")
	}
	return firstField(o, "author", "speaker", "name")
}

// timeOf returns the time of an object that is a message; 0 where there is none.
func timeOf(o map[string]any) earshot.Time {
	if s, ok := firstField(o, "time", "ts"); ok {
		if t, err := earshot.ParseTime(s); err == nil {
			return t
		}
	}
	return 0
}

// parseMessage reads an object as a message, and reports whether it is one.
func parseMessage(o map[string]any) (quote, bool) {
	text, whole := firstField(o, "text")
	if !whole {
		text, _ = firstField(o, "snippet")
	}
	who, ok := authorOf(o)
	if !ok || text == "" {
		return quote{}, false
	}
	q := quote{speaker: who, text: text, time: timeOf(o), cut: !whole && strings.HasSuffix(text, "…")}
	for _, name := range []string{"is_truncated", "cut"} {
		if cut, _ := o[name].(bool); cut {
			q.cut = true
		}
	}
	q.id, _ = firstField(o, "id", "message_id")
	return q, true
}

// firstField returns the first of the named fields that is a text and not empty.
func firstField(o map[string]any, names ...string) (string, bool) {
	for _, name := range names {
		if s, ok := o[name].(string); ok && s != "" {
			return s, true
		}
	}
	return "", false
}
