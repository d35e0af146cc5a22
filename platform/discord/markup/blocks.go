package markup

import (
	"regexp"
	"strings"
)

var (
	heading   = regexp.MustCompile(`^ {0,3}#{4,6} +(.*?)(?: +#+)? *$`)
	rule      = regexp.MustCompile(`^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$`)
	underline = regexp.MustCompile(`^ {0,3}={3,} *$`) // a heading's underline
	task      = regexp.MustCompile(`^(\s*[-*+] )\[([ xX])\] `)
	plus      = regexp.MustCompile(`^(\s*)\+ `)
	number    = regexp.MustCompile(`^(\s*[0-9]{1,9})\) `)
	quote     = regexp.MustCompile(`^( {0,3}>)([^\s>])`)
	language  = regexp.MustCompile(`^[A-Za-z0-9_+.#-]{1,40}(?: |$)`)
)

// blocks writes a text line by line. aligned says that a table's columns stand under
// one another.
func blocks(source string, aligned bool) string {
	lines := strings.Split(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	var out []string
	for i := 0; i < len(lines); {
		if f, ok := openFence(lines[i]); ok {
			n := f.length(lines[i+1:])
			out = append(out, f.write(lines[i+1:i+1+n])...)
			i += n + 2
			continue
		}
		if n := tableLength(lines[i:]); n > 0 {
			out = append(out, writeTable(lines[i:i+n], aligned)...)
			i += n
			continue
		}
		if i > 0 && len(out) > 0 && underline.MatchString(lines[i]) && isText(lines[i-1]) {
			out[len(out)-1] = "# " + out[len(out)-1]
			i++
			continue
		}
		out = append(out, line(lines[i]))
		i++
	}
	return strings.Join(out, "\n")
}

// isText reports whether a line can be a heading that the next one underlines.
func isText(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && !strings.ContainsAny(s[:1], "#>-*+|`~=")
}

// line writes a line that is no code.
func line(s string) string {
	if m := heading.FindStringSubmatch(s); m != nil {
		title := strings.ReplaceAll(inline(m[1]), "**", "")
		if title == "" {
			return ""
		}
		return "**" + title + "**"
	}
	switch {
	case rule.MatchString(s):
		return "———"
	case strings.HasPrefix(s, ">>>"): // to Discord, all that follows would be a quote
		s = unseen + s
	}
	if m := task.FindStringSubmatch(s); m != nil {
		box := "☐ "
		if m[2] != " " {
			box = "☑ "
		}
		s = m[1] + box + s[len(m[0]):]
	}
	s = plus.ReplaceAllString(s, "$1- ")
	s = number.ReplaceAllString(s, "$1. ")
	s = quote.ReplaceAllString(s, "$1 $2")
	if strings.HasSuffix(s, `\`) && !strings.HasSuffix(s, `\\`) { // the end of a line, in Markdown
		s = s[:len(s)-1]
	}
	return inline(s)
}

// A fence is the line that opens a block of code.
type fence struct {
	indent string
	mark   string // of ticks or tildes, three or more
	info   string
}

// openFence reads a line that opens a block of code.
func openFence(s string) (f fence, ok bool) {
	body := strings.TrimLeft(s, " ")
	f.indent = s[:len(s)-len(body)]
	for _, c := range [...]string{"`", "~"} {
		rest := strings.TrimLeft(body, c)
		if n := len(body) - len(rest); n >= 3 {
			f.mark, f.info = body[:n], strings.TrimSpace(rest)
			return f, c == "~" || !strings.Contains(rest, "`") // else it is code within a line
		}
	}
	return f, false
}

// length returns how many of the lines are the block's code: those before the line that
// closes it, or all.
func (f fence) length(lines []string) int {
	for i, s := range lines {
		body := strings.TrimSpace(s)
		if len(body) >= len(f.mark) && strings.Trim(body, f.mark[:1]) == "" {
			return i
		}
	}
	return len(lines)
}

// write writes the block with three ticks, which is the only fence that Discord knows.
// What stands behind the language is code to Discord, so it gets a line of its own. A
// block that is not closed, as in an answer that is still being written, is closed.
func (f fence) write(lines []string) []string {
	name := language.FindString(f.info)
	out := []string{f.indent + "```" + strings.TrimSpace(name)}
	if rest := strings.TrimSpace(f.info[len(name):]); rest != "" {
		out = append(out, unticked(rest))
	}
	for _, s := range lines {
		out = append(out, unticked(s))
	}
	return append(out, f.indent+"```")
}

// unticked takes runs of ticks apart that would end a block of code.
func unticked(s string) string {
	for strings.Contains(s, "```") {
		s = strings.ReplaceAll(s, "```", "`"+unseen+"`"+unseen+"`")
	}
	return s
}
