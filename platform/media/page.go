package media

import (
	"bytes"
	"regexp"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// isPageType reports whether files of a declared type are web pages: HTML, and Slack's
// canvases, whose content Slack serves as HTML.
func isPageType(declared string) bool {
	return strings.Contains(declared, "html") || isCanvas(declared)
}

// isCanvas reports whether a type is that of Slack's canvases, which were called posts and
// are written by Quip (docs.slack.dev, File object).
func isCanvas(declared string) bool {
	return declared == "application/vnd.slack-docs" || declared == "quip"
}

// signIn is found in pages that ask somebody to sign in: in their title, or in their form.
// The text of a canvas may speak of signing in somewhere.
var signIn = regexp.MustCompile(`(?i)<title>[^<]*\b(?:sign|log) ?in\b|<form[^>]*\b(?:sign|log)-?in\b`)

// asksToSignIn reports whether a page is a login page, by its beginning.
func asksToSignIn(page []byte) bool { return signIn.Match(page[:min(len(page), 64<<10)]) }

// pageText is what a page says: its text without scripts and styles, one line for each
// block, and the address of each link behind it.
func pageText(page []byte) []byte {
	var b bytes.Buffer
	var hidden int    // within how many elements that are not shown
	var link []string // the addresses of the links that are open
	line := func() {
		if s := b.Bytes(); len(s) > 0 && s[len(s)-1] != '\n' {
			b.WriteByte('\n')
		}
	}
	for z := html.NewTokenizer(bytes.NewReader(page)); ; {
		kind := z.Next()
		t := z.Token()
		switch kind {
		case html.ErrorToken: // the end
			return bytes.TrimSpace(b.Bytes())
		case html.TextToken:
			if words := strings.Join(strings.Fields(t.Data), " "); words != "" && hidden == 0 {
				if s := b.Bytes(); len(s) > 0 && s[len(s)-1] != '\n' && (t.Data[0] == ' ' || t.Data[0] == '\n') {
					b.WriteByte(' ')
				}
				b.WriteString(words)
				if last := t.Data[len(t.Data)-1]; last == ' ' || last == '\n' {
					b.WriteByte(' ')
				}
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			if isBlock(t.DataAtom) {
				line()
			}
			switch t.DataAtom {
			case atom.Script, atom.Style, atom.Head, atom.Template:
				if kind == html.StartTagToken {
					hidden++
				}
			case atom.Li:
				b.WriteString("- ")
			case atom.A:
				if kind == html.StartTagToken {
					link = append(link, attribute(t, "href"))
				}
			case atom.Img:
				b.WriteString(attribute(t, "alt"))
			}
		case html.EndTagToken:
			switch {
			case isBlock(t.DataAtom):
				line()
			case t.DataAtom == atom.Td || t.DataAtom == atom.Th:
				b.WriteString(" | ")
			case t.DataAtom == atom.A && len(link) > 0:
				if to := link[len(link)-1]; strings.Contains(to, "://") {
					b.WriteString(" <" + to + ">")
				}
				link = link[:len(link)-1]
			}
			switch t.DataAtom {
			case atom.Script, atom.Style, atom.Head, atom.Template:
				hidden = max(0, hidden-1)
			}
		}
	}
}

func attribute(t html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return strings.TrimSpace(a.Val)
		}
	}
	return ""
}

// isBlock reports whether an element begins a line.
func isBlock(a atom.Atom) bool {
	switch a {
	case atom.P, atom.Div, atom.Br, atom.Li, atom.Ul, atom.Ol, atom.Tr, atom.Table, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Blockquote, atom.Section, atom.Article, atom.Hr, atom.Body:
		return true
	}
	return false
}
