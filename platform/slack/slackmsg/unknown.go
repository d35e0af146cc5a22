package slackmsg

import (
	"cmp"
	"strings"
)

// unknown returns whatever text a block of unknown type holds, marked with
// that type. Its fallback speaks only where nothing else does.
func (r *reader) unknown(b value) []paragraph {
	out := r.members(b, true)
	if len(out) == 0 {
		out = plainly(escape(b.At("fallback")))
	}
	kind := b.At("type")
	if !isID(kind) {
		kind = "unknown"
	}
	for i := range out {
		out[i].kind = cmp.Or(out[i].kind, kind)
	}
	return out
}

// visible returns the text of any value: of text objects, of rich text and of
// blocks, however deep they stand, and, where bare is set, of strings.
func (r *reader) visible(v value, bare bool) []paragraph {
	switch {
	case v.Absent() || !r.more():
		return nil
	case v.Array():
		return r.each(v.List, bare)
	case !v.Object():
		if !bare {
			return nil
		}
		return plainly(escape(v.Str()))
	}
	switch t := v.At("type"); {
	case t == "mrkdwn" || t == "plain_text":
		return plainly(object(v))
	case strings.HasPrefix(t, "raw_"):
		return plainly(r.cell(v))
	case strings.HasPrefix(t, "rich_text_"):
		return plainly(r.richText(value{List: []value{v}})...)
	case inlines[t] || t == "url":
		return plainly(r.element(v))
	default:
		if _, known := layouts[t]; known {
			return r.block(v)
		}
	}
	return r.members(v, bare)
}

// each returns the text of a list's values. Neighbours that are parts of one
// line are written as one.
func (r *reader) each(list []value, bare bool) []paragraph {
	var out []paragraph
	for i := 0; i < len(list); {
		end := i
		for end < len(list) && inlines[list[end].At("type")] {
			end++
		}
		if end > i {
			out = append(out, plainly(r.inline(value{List: list[i:end]}, true))...)
			i = end
			continue
		}
		out = append(out, r.visible(list[i], bare)...)
		i++
	}
	return out
}

// members returns the text of an object's fields, in order, without those that
// Slack does not show.
func (r *reader) members(v value, bare bool) []paragraph {
	labelled := !v.Get("text").Absent() || !v.Get("action_id").Absent()
	var out []paragraph
	for _, m := range v.Members {
		switch {
		case m.Name == "value" && labelled:
			// A control's value is what its app gets, and a number's is shown as its text.
		case m.Value.Kind == '0' && m.Name != "value", m.Name != "text" && isURL(m.Value.Str()), hiddenField(m.Name):
		default:
			out = append(out, r.visible(m.Value, bare)...)
		}
	}
	return out
}

// hiddenField reports whether a field of an unknown object is, by its name, one
// that no reader sees: an id, an address, a choice of looks. A fallback repeats
// what the other fields say.
func hiddenField(name string) bool {
	switch name {
	case "type", "id", "ts", "url", "uri", "href", "style", "color", "align", "width", "height", "theme", "variant", "icon", "slack_icon",
		"unicode", "hash", "token", "mimetype", "filetype", "fallback":
		return true
	}
	for _, end := range [...]string{"_id", "_ids", "_url", "_urls", "_ts", "_type", "_style", "_color", "_token", "_hash"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// isURL reports whether s is an address and nothing else.
func isURL(s string) bool {
	scheme, _, ok := strings.Cut(s, "://")
	return ok && isID(scheme) && !strings.ContainsAny(s, " \n\t")
}
