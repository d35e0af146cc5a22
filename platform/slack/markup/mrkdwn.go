package markup

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/earshot-ai/earshot"
)

// mrkdwn writes Markdown that is defused in Slack's older markup, which every
// text takes: *bold*, _italic_, ~struck~, code, quotes and links; headings
// become bold, tables code. & < > are entities.
func mrkdwn(source string, may []earshot.AuthorID) string {
	var escapes []string
	for _, id := range may {
		escapes = append(escapes, mentionOf(id), mentionOf(id))
	}
	w := &writer{source: []byte(source), escaper: strings.NewReplacer(append(escapes, escaped...)...)}
	return strings.TrimRight(w.blocks(markdown.Parse(text.NewReader(w.source))), "\n")
}

// A writer writes a Markdown tree as mrkdwn.
type writer struct {
	source  []byte
	escaper *strings.Replacer // leaves mentions of those who may be mentioned
	table   bool              // plain text, for a table's cell
}

// blocks writes the blocks in n, one after the other.
func (w *writer) blocks(n ast.Node) string {
	var parts []string
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if s := w.block(c); s != "" {
			parts = append(parts, s)
		}
	}
	sep := "\n\n"
	if _, item := n.(*ast.ListItem); item {
		sep = "\n"
	}
	return strings.Join(parts, sep)
}

func (w *writer) block(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Heading:
		if s := strings.Trim(w.inlines(n), " *"); s != "" {
			return "*" + s + "*"
		}
		return ""
	case *ast.ThematicBreak:
		return "———"
	case *ast.CodeBlock, *ast.FencedCodeBlock:
		var b strings.Builder
		for _, s := range n.Lines().Sliced(0, n.Lines().Len()) {
			b.Write(s.Value(w.source))
		}
		return fence(b.String())
	case *ast.Blockquote:
		return "> " + strings.ReplaceAll(w.blocks(n), "\n", "\n> ")
	case *ast.List:
		return w.list(n)
	case *east.Table:
		return w.rows(n)
	}
	return w.inlines(n)
}

// list writes a list, those in it indented.
func (w *writer) list(n *ast.List) string {
	var items []string
	number := n.Start
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		mark := "• "
		if n.IsOrdered() {
			mark = strconv.Itoa(number) + ". "
			number++
		}
		items = append(items, mark+strings.ReplaceAll(w.blocks(c), "\n", "\n    "))
	}
	return strings.Join(items, "\n")
}

// rows writes a table as code, so that its columns stand under one another.
func (w *writer) rows(n *east.Table) string {
	plain := &writer{source: w.source, table: true}
	var cells [][]string
	var width []int
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		var line []string
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			s := plain.inlines(c)
			if len(line) == len(width) {
				width = append(width, 0)
			}
			width[len(line)] = max(width[len(line)], utf8.RuneCountInString(s))
			line = append(line, s)
		}
		cells = append(cells, line)
	}
	var b strings.Builder
	for _, line := range cells {
		for i, s := range line {
			if i > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(s)
			if i < len(line)-1 {
				b.WriteString(strings.Repeat(" ", width[i]-utf8.RuneCountInString(s)))
			}
		}
		b.WriteByte('\n')
	}
	return fence(b.String())
}

// fence writes code, escaped, in a fence that it does not close.
func fence(s string) string {
	return "```\n" + strings.ReplaceAll(escape(strings.TrimRight(s, "\n")), "```", "`\u200b`\u200b`") + "\n```"
}

// inlines writes the text in n.
func (w *writer) inlines(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		b.WriteString(w.inline(c))
	}
	return b.String()
}

func (w *writer) inline(n ast.Node) string {
	switch n := n.(type) {
	case *ast.Text:
		s := w.text(n.Segment.Value(w.source))
		if n.SoftLineBreak() || n.HardLineBreak() {
			s += "\n"
		}
		return s
	case *ast.String:
		return w.text(n.Value)
	case *ast.CodeSpan:
		s := w.raw(n)
		if w.table {
			return s
		}
		return "`" + escape(strings.ReplaceAll(s, "`", tick)) + "`"
	case *ast.Emphasis:
		mark := "_"
		if n.Level > 1 {
			mark = "*"
		}
		return w.marked(mark, n)
	case *east.Strikethrough:
		return w.marked("~", n)
	case *east.TaskCheckBox:
		if n.IsChecked {
			return "☑ "
		}
		return "☐ "
	case *ast.Link:
		return w.link(string(n.Destination), w.inlines(n))
	case *ast.Image:
		return w.link(string(n.Destination), w.inlines(n))
	case *ast.AutoLink:
		return w.link(string(n.URL(w.source)), "")
	}
	return w.inlines(n)
}

func (w *writer) marked(mark string, n ast.Node) string {
	s := w.inlines(n)
	if w.table || strings.TrimSpace(s) == "" {
		return s
	}
	return mark + s + mark
}

// link writes a link to an address that may stay live; another is text.
func (w *writer) link(target, label string) string {
	if w.table || !isAddress(target) || strings.ContainsAny(target, " \t\n<>|`") {
		if label == "" || label == target {
			return escape(target)
		}
		return label + " (" + escape(target) + ")"
	}
	if label = strings.NewReplacer("\n", " ", "|", "¦").Replace(label); strings.TrimSpace(label) == "" || strings.ContainsAny(label, "<>") {
		label = ""
	} else {
		label = "|" + label
	}
	return "<" + escape(target) + label + ">"
}

// text writes what a stretch of Markdown says: its backslashes and entities
// resolved, and escaped for Slack.
func (w *writer) text(s []byte) string {
	said := string(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(s))))
	if w.table {
		return said
	}
	// Ticks that are text must not meet those that are marks.
	return w.escaper.Replace(strings.ReplaceAll(said, "`", tick))
}

const tick = "ˋ" // looks like one, and marks nothing

// raw is a code span's text.
func (w *writer) raw(n ast.Node) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if t, ok := c.(*ast.Text); ok {
			b.Write(t.Segment.Value(w.source))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// escape writes a text so that Slack shows it as it is.
func escape(s string) string { return escaper.Replace(s) }

var (
	escaped = []string{"&", "&amp;", "<", "&lt;", ">", "&gt;"}
	escaper = strings.NewReplacer(escaped...)
)
