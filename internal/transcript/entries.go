package transcript

import "strings"

// An entry is a line of a given section with the indented lines below it.
type entry struct {
	line   int
	head   string
	more   []string // further lines of its text
	extras []extraLine
}

// An extraLine is a line such as "  + file a.png", with the further lines of its
// text.
type extraLine struct {
	line int
	s    string
	more []string
}

// groupEntries groups the lines of a section. Empty lines and comments between entries
// are dropped; an empty line above an indented one belongs to the text. The further
// lines of a + line's text are indented by six spaces.
func groupEntries(s section) ([]entry, error) {
	var list []entry
	blank := 0
	for i, l := range s.body {
		n := s.line + i
		trimmed := strings.Trim(l, " \t")
		switch {
		case trimmed == "":
			blank++
			continue
		case strings.HasPrefix(l, indent):
			if len(list) == 0 {
				return nil, &Error{n, "indented text belongs to a message, and there is none above"}
			}
			e := &list[len(list)-1]
			text, cut := &e.more, indent
			if last := len(e.extras) - 1; last >= 0 {
				text, cut = &e.extras[last].more, extraIndent
			}
			rest, ok := strings.CutPrefix(l, cut)
			if !ok {
				return nil, &Error{n, "the text of a message stands above its + lines, and that of a + line is indented by six spaces"}
			}
			more, err := furtherLine(n, rest)
			if err != nil {
				return nil, err
			}
			for ; blank > 0; blank-- {
				*text = append(*text, "")
			}
			*text = append(*text, more)
		case strings.HasPrefix(l, "  + "):
			if len(list) == 0 {
				return nil, &Error{n, "a + line belongs to a message, and there is none above"}
			}
			e := &list[len(list)-1]
			e.extras = append(e.extras, extraLine{line: n, s: strings.TrimPrefix(trimmed, "+ ")})
		case strings.HasPrefix(l, "#"):
		case l[0] == ' ' || l[0] == '\t':
			return nil, &Error{n, "indent the further lines of a text by four spaces"}
		default:
			list = append(list, entry{line: n, head: strings.TrimRight(l, " \t")})
		}
		blank = 0
	}
	return list, nil
}

// furtherLine reads a line of a text after its first, the indent taken off.
func furtherLine(n int, l string) (string, error) {
	l = strings.TrimRight(l, " \t")
	if !strings.HasPrefix(l, `"`) {
		return l, nil
	}
	x := &scanner{line: n, s: l}
	if l = x.readRest(); x.err != nil {
		return "", x.err
	}
	return l, nil
}
