package site

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
)

// markdown is GitHub's Markdown. HTML stays as it is: the pages are our own.
var markdown = goldmark.New(
	goldmark.WithExtensions(
		// Attributes, since a page's policy refuses styles within it.
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
		extension.Linkify, extension.Strikethrough, extension.TaskList,
	),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
	goldmark.WithRendererOptions(html.WithUnsafe()),
)

// render makes the HTML of a page, and its parts.
func (s *Site) render(p *Page) error {
	ctx := parser.NewContext(parser.WithIDs(&headingIDs{used: map[string]bool{}}))
	doc := markdown.Parser().Parse(text.NewReader(p.Markdown), parser.WithContext(ctx))
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(s.resolve(p, string(n.Destination)))
		case *ast.Image:
			n.Destination = []byte(s.resolve(p, string(n.Destination)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return err
	}
	p.Parts = parts(doc, p.Markdown)
	var b bytes.Buffer
	if err := markdown.Renderer().Render(&b, p.Markdown, doc); err != nil {
		return err
	}
	p.HTML = template.HTML(s.resolveHTML(p, inFrames(b.String()))) //nolint:gosec // our own pages
	return nil
}

// written is an address in HTML that a page has as it is.
var written = regexp.MustCompile(`(<(?:img|source)[^>]*? (?:src|srcset)=")([^":]+)(")`)

// resolveHTML does for HTML in a page what render does for its Markdown.
func (s *Site) resolveHTML(p *Page, text string) string {
	return written.ReplaceAllStringFunc(text, func(tag string) string {
		found := written.FindStringSubmatch(tag)
		target := strings.TrimPrefix(found[2], up(p.File))
		if s.assets[target] { // the Markdown of an image
			return tag
		}
		return found[1] + s.resolve(p, found[2]) + found[3]
	})
}

// inFrames puts tables into frames that scroll on a narrow screen, and makes blocks that
// may scroll reachable by the keyboard.
func inFrames(text string) string {
	n := 0
	text = table.ReplaceAllStringFunc(text, func(s string) string {
		n++
		return fmt.Sprintf(`<div class="wide" tabindex="0" role="region" aria-label="table %d">%s</div>`, n, strings.ReplaceAll(s, "<th></th>", "<td></td>"))
	})
	return strings.ReplaceAll(text, "<pre>", `<pre tabindex="0">`)
}

var table = regexp.MustCompile(`(?s)<table>.*?</table>`)

// headingIDs are the anchors of headings, as GitHub makes them.
type headingIDs struct{ used map[string]bool }

var marks = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// Generate implements [parser.IDs].
func (h *headingIDs) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.ReplaceAll(marks.ReplaceAllString(strings.ToLower(plainHeading(string(value))), ""), " ", "-")
	for n := 0; ; n++ {
		found := id
		if n > 0 {
			found = fmt.Sprintf("%s-%d", id, n)
		}
		if !h.used[found] {
			h.used[found] = true
			return []byte(found)
		}
	}
}

// Put implements [parser.IDs].
func (h *headingIDs) Put(value []byte) { h.used[string(value)] = true }

var linked = regexp.MustCompile(`\[([^\]]+)\]\([^)]*\)`)

// plainHeading is a heading's Markdown without the addresses of its links.
func plainHeading(s string) string { return linked.ReplaceAllString(s, "$1") }

// parts divides a page at its headings of the first three levels.
func parts(doc ast.Node, source []byte) []Part {
	var out []Part
	for n := doc.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 3 {
			id, _ := h.AttributeString("id")
			anchor, _ := id.([]byte)
			part := Part{Anchor: string(anchor), Heading: strings.TrimSpace(words(n, source))}
			if h.Level == 1 {
				part.Heading = "" // the page's own
			}
			out = append(out, part)
			continue
		}
		if len(out) == 0 {
			out = append(out, Part{})
		}
		last := &out[len(out)-1]
		last.Text = strings.TrimSpace(last.Text + " " + strings.Join(strings.Fields(words(n, source)), " "))
	}
	return out
}

// words is the text of a node, without marks.
func words(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function returns no error
		if !entering {
			if n.Type() == ast.TypeBlock || n.Kind().String() == "TableCell" {
				b.WriteString(" ")
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteString(" ")
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			lines := n.Lines()
			for i := range lines.Len() {
				segment := lines.At(i)
				b.Write(segment.Value(source))
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}
