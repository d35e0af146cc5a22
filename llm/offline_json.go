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
		q, ok := message(v)
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
				if q, ok := message(anchor); ok && t.question == "" {
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
		said, ok := first(v, "text")
		if !ok {
			continue
		}
		who, ok := first(v, "author", "place")
		if kind, _ := first(v, "kind"); ok && kind != string(earshot.Forward) {
			who += ", as quoted"
		}
		if !ok {
			who = "somebody"
		}
		if by.speaker == "" {
			by.speaker, _ = speaker(o)
		}
		t.quotes = append(t.quotes, quote{speaker: who + ", shared by " + by.speaker, text: said, time: at(v)})
	}
}

// speaker returns the author of an object that is a message.
func speaker(o map[string]any) (string, bool) {
	if author, is := o["author"].(map[string]any); is {
		return first(author, "display_name", "name", "id", "user_id")
	}
	return first(o, "author", "speaker", "name")
}

// at returns the time of an object that is a message; 0 where there is none.
func at(o map[string]any) earshot.Time {
	if s, ok := first(o, "time", "ts"); ok {
		if t, err := earshot.ParseTime(s); err == nil {
			return t
		}
	}
	return 0
}

// message reads an object as a message, and reports whether it is one.
func message(o map[string]any) (quote, bool) {
	text, whole := first(o, "text")
	if !whole {
		text, _ = first(o, "snippet")
	}
	who, ok := speaker(o)
	if !ok || text == "" {
		return quote{}, false
	}
	q := quote{speaker: who, text: text, time: at(o), cut: !whole && strings.HasSuffix(text, "…")}
	for _, name := range []string{"is_truncated", "cut"} {
		if cut, _ := o[name].(bool); cut {
			q.cut = true
		}
	}
	q.id, _ = first(o, "id", "message_id")
	return q, true
}

// first returns the first of the named fields that is a text and not empty.
func first(o map[string]any, names ...string) (string, bool) {
	for _, name := range names {
		if s, ok := o[name].(string); ok && s != "" {
			return s, true
		}
	}
	return "", false
}
