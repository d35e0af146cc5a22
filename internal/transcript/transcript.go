// Package transcript reads and writes an [assemble.Input] as text: a chat as a
// person would write it down, in a txtar archive. Tests and bug reports are in this
// form, `earshot context --transcript` prints it and `earshot assemble
// --transcript` reads it.
//
// Start with [Parse], [Format] and [Case]. A case looks like this:
//
//	follow-up in a thread: only what was said since
//	-- given --
//	channel slack/T1/C1 #deploys
//	09:00:00 m1 alice: shipping 1.4
//	09:00:40 m2 bob >m1: wait, the migration
//	    is not done yet
//	09:01:00 m3 earshot* >m1: Paused.
//	09:05:00 m4 ci^ >m1: build 812 green
//	09:06:00 m5 alice >m1: @earshot are they done?
//	  + forward author="Erin Vogt" place=#support time=08:20:00: we see it in our region too
//	      since the deploy
//	  + file migrate.log id=F1 type=text/plain size=1234
//	state cursor=m3 shown=m1,m2,m3
//	anchor m5
//	-- prompt --
//	…
//	-- ledger --
//	m1 out   shown
//	m4 full  delta
//
// What belongs to a message stands below it: further lines of its text indented
// by four spaces, then + lines with what it quotes, its files and its replies.
// folded=1 in the state says that the messages have nothing of what a summary covers.
// The session is written in the same way, with the calls of tools as + lines:
//
//	zone Europe/Berlin
//	author alice id=U1 full_name="Alice Maier"
//	named U1 Alice
//	session user media=F1: [question]
//	session assistant: Let me look.
//	  + call c1 channel_context: {"intent":"migration"}
//	session tool call=c1: {"results":[]}
//	attached F1 turn=3 tokens=1105 sha256=ab12
//	file_tokens F2=85
//	recalled m1=23.3,m2=12
//
// The text of the comment says why the case exists. Every field of an Input can be
// written, and Parse(Format(c)) is c again: a text that cannot be written plainly is
// written as a JSON string. The grammar is in grammar.md.
package transcript

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// A Case is an input and, where they are known, the prompt and the ledger that
// it should give.
type Case struct {
	Comment string // why the case exists; no line break at its end
	// Input has a nil Counter: a counter is code, and Counter below names it.
	Input   assemble.Input
	Counter string // a counter's spec, such as "o200k*1.15"; "" is the default
	Prompt  string // as [Prompt] renders it; "" when there is no such section
	// Ledger has ID, Verdict and Reason of each row; sections and tokens are
	// left to the prompt.
	Ledger earshot.Ledger
}

// An Error is a line that cannot be read. Line counts from 1.
type Error struct {
	Line   int
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// A section is one file of the archive. line is that of its first line.
type section struct {
	name string
	line int
	body []string
}

// splitSections reads an archive: the comment, then the sections.
func splitSections(data []byte) (comment string, sections []section, err error) {
	if len(data) > 0 && data[len(data)-1] == '\n' {
		data = data[:len(data)-1]
	}
	var head []string
	for i, l := range strings.Split(string(data), "\n") {
		l = strings.TrimRight(l, "\r")
		if !utf8.ValidString(l) {
			return "", nil, &Error{i + 1, "not UTF-8"}
		}
		if name, ok := sectionName(l); ok {
			sections = append(sections, section{name: name, line: i + 2})
			continue
		}
		if len(sections) == 0 {
			head = append(head, unescapeMarker(l))
			continue
		}
		s := &sections[len(sections)-1]
		s.body = append(s.body, l)
	}
	return strings.TrimRight(strings.Join(head, "\n"), " \t\r\n"), sections, nil
}

// sectionName returns the name in a line such as "-- given --".
func sectionName(l string) (string, bool) {
	if len(l) < len("--  --") || !strings.HasPrefix(l, "-- ") || !strings.HasSuffix(l, " --") {
		return "", false
	}
	name := strings.TrimSpace(l[3 : len(l)-3])
	return name, name != ""
}

// escapeMarker puts a backslash before a line of free text that would be taken
// for a marker, or for one that was escaped.
func escapeMarker(l string) string {
	if _, ok := sectionName(strings.TrimLeft(l, `\`)); ok {
		return `\` + l
	}
	return l
}

func unescapeMarker(l string) string {
	if rest, ok := strings.CutPrefix(l, `\`); ok {
		if _, ok := sectionName(strings.TrimLeft(rest, `\`)); ok {
			return rest
		}
	}
	return l
}

// Parse reads a case. A section other than given, prompt and ledger, or one
// that stands twice, is an error, and so is a case without given. The error is
// an [*Error]; it names the line.
func Parse(data []byte) (Case, error) {
	var c Case
	comment, sections, err := splitSections(data)
	if err != nil {
		return Case{}, err
	}
	c.Comment = comment
	seen := map[string]bool{}
	for _, s := range sections {
		if seen[s.name] {
			return Case{}, &Error{s.line - 1, fmt.Sprintf("the section %s stands twice", s.name)}
		}
		seen[s.name] = true
		switch s.name {
		case "given":
			err = parseGiven(s, &c)
		case "prompt":
			c.Prompt = parseText(s)
		case "ledger":
			c.Ledger, err = parseLedger(s)
		default:
			err = &Error{s.line - 1, fmt.Sprintf("unknown section %q; there are given, prompt and ledger", s.name)}
		}
		if err != nil {
			return Case{}, err
		}
	}
	if !seen["given"] {
		return Case{}, &Error{1, "there is no section given: a line -- given -- and below it the chat"}
	}
	return c, nil
}

// Format writes a case in the form that [Parse] reads. A nil Counter and an
// empty spec mean the default; a Counter without spec is written by its name.
func Format(c Case) []byte {
	var b strings.Builder
	writeText(&b, c.Comment)
	b.WriteString("-- given --\n")
	formatGiven(&b, c)
	if c.Prompt != "" {
		b.WriteString("-- prompt --\n")
		writeText(&b, c.Prompt)
	}
	if len(c.Ledger) > 0 {
		b.WriteString("-- ledger --\n")
		formatLedger(&b, c.Ledger)
	}
	return []byte(b.String())
}

// Prompt renders the messages of a result for a reader: each below a line with
// its role, the call that it answers and the ids of the files attached to it,
// and below it a line for each call that it makes. The system text is left out.
func Prompt(r assemble.Result) string {
	var parts []string
	for _, m := range r.Messages {
		head := ">>> " + string(m.Role)
		if m.Call != "" {
			head += " " + quoteWord(m.Call)
		}
		if m.Failed {
			head += " failed"
		}
		if len(m.Media) > 0 {
			head += " with " + quoteWords(m.Media)
		}
		parts = append(parts, head+"\n"+m.Text)
		for _, c := range m.Calls {
			parts = append(parts, fmt.Sprintf(">>> call %s %s: %s", quoteWord(c.ID), quoteWord(c.Name), c.Args))
		}
	}
	return strings.Join(parts, "\n")
}

// Rows returns what a case keeps of a ledger.
func Rows(l earshot.Ledger) earshot.Ledger {
	var rows earshot.Ledger
	for _, r := range l {
		rows = append(rows, earshot.LedgerRow{ID: r.ID, Verdict: r.Verdict, Reason: r.Reason})
	}
	return rows
}

func parseText(s section) string {
	lines := make([]string, len(s.body))
	for i, l := range s.body {
		lines[i] = unescapeMarker(l)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

func writeText(b *strings.Builder, text string) {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return
	}
	for _, l := range strings.Split(text, "\n") {
		b.WriteString(escapeMarker(l))
		b.WriteByte('\n')
	}
}

// parseLedger reads rows such as "m4 full  delta".
func parseLedger(s section) (earshot.Ledger, error) {
	var rows earshot.Ledger
	for i, l := range s.body {
		if strings.TrimSpace(l) == "" || strings.HasPrefix(l, "#") {
			continue
		}
		x := &scanner{line: s.line + i, s: strings.TrimRight(l, " \t")}
		row := earshot.LedgerRow{ID: earshot.MessageID(x.readWord("an id"))}
		x.spaces()
		row.Verdict = earshot.Verdict(x.readWord("a verdict"))
		x.spaces()
		row.Reason = x.readRest()
		if x.err != nil {
			return nil, x.err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func formatLedger(b *strings.Builder, rows earshot.Ledger) {
	ids, verdicts := 0, len("full ")
	for _, r := range rows {
		ids = max(ids, utf8.RuneCountInString(quoteWord(string(r.ID))))
		verdicts = max(verdicts, utf8.RuneCountInString(quoteWord(string(r.Verdict))))
	}
	for _, r := range rows {
		l := fmt.Sprintf("%-*s %-*s %s", ids, quoteWord(string(r.ID)), verdicts, quoteWord(string(r.Verdict)), firstLine(r.Reason))
		b.WriteString(strings.TrimRight(l, " "))
		b.WriteByte('\n')
	}
}
