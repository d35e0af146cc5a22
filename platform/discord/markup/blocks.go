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

// formatBlocks writes a text line by line. aligned says that a table's columns stand under
// one another.
func formatBlocks(source string, aligned bool) string {
	lines := strings.Split(strings.ReplaceAll(source, "\r\n", "\n"), "\n")
	var out []string
	for i := 0; i < len(lines); {
		if f, ok := openFence(lines[i]); ok {
			code, all := f.length(lines[i+1:])
			out = append(out, f.write(lines[i+1:i+1+code])...)
			i += 1 + all
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
		out = append(out, formatLine(lines[i]))
		i++
	}
	return strings.Join(out, "\n")
}

// isText reports whether a line can be a heading that the next one underlines.
func isText(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && !strings.ContainsAny(s[:1], "#>-*+|`~=")
}

// formatLine writes a line that is no code.
func formatLine(s string) string {
	if m := heading.FindStringSubmatch(s); m != nil {
		title := strings.ReplaceAll(formatInline(m[1]), "**", "")
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
	return formatInline(s)
}

// A fence is the line that opens a block of code.
type fence struct {
	prefix string // the marks of quotes and lists around it, and its indentation
	mark   string // of ticks or tildes, three or more
	info   string
}

// before is what may stand before a fence in its line.
var before = regexp.MustCompile(`^(?:[\s>]|[-*+]\s|[0-9]{1,9}[.)]\s)*`)

// openFence reads a line that opens a block of code.
func openFence(s string) (f fence, ok bool) {
	f.prefix = before.FindString(s)
	body := s[len(f.prefix):]
	for _, c := range [...]string{"`", "~"} {
		rest := strings.TrimLeft(body, c)
		if n := len(body) - len(rest); n >= 3 {
			f.mark, f.info = body[:n], strings.TrimSpace(rest)
			return f, c == "~" || !strings.Contains(rest, "`") // else it is code within a line
		}
	}
	return f, false
}

// length returns how many of the lines are the block's code, and how many belong to it
// with the line that closes it, if there is one. A quote ends the code in it.
func (f fence) length(lines []string) (code, all int) {
	quoted := strings.Contains(f.prefix, ">")
	for i, s := range lines {
		if quoted && !strings.HasPrefix(strings.TrimLeft(s, " "), ">") {
			return i, i
		}
		body := strings.Trim(s, "> \t\r")
		if len(body) >= len(f.mark) && strings.Trim(body, f.mark[:1]) == "" {
			return i, i + 1
		}
	}
	return len(lines), len(lines)
}

// write writes the block with three ticks, which is the only fence that Discord knows.
// What stands behind the language is code to Discord, so it gets a line of its own. A
// block that is not closed, as in an answer that is still being written, is closed.
func (f fence) write(lines []string) []string {
	name := language.FindString(f.info)
	out := []string{f.prefix + "```" + strings.TrimSpace(name)}
	next := strings.Map(func(r rune) rune { // what stands before the block's other lines
		if r == '>' {
			return r
		}
		return ' '
	}, f.prefix)
	if rest := strings.TrimSpace(f.info[len(name):]); rest != "" {
		out = append(out, next+splitTicks(rest))
	}
	for _, s := range lines {
		out = append(out, splitTicks(s))
	}
	return append(out, next+"```")
}

// splitTicks takes runs of ticks apart that would end a block of code.
func splitTicks(s string) string {
	for strings.Contains(s, "```") {
		s = strings.ReplaceAll(s, "```", "`"+unseen+"`"+unseen+"`")
	}
	return s
}
