package markup

import (
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/earshot-ai/earshot"
)

// Bounds of what is posted, in characters.
const (
	// MaxText is how long a Markdown text should be at most. chat.update takes
	// 4,000 characters of a text, chat.postMessage names that as its best, and
	// Slack used to split what is longer (docs.slack.dev, chat.update:
	// msg_too_long, and chat.postMessage). The rest is for what marks add.
	MaxText = 3500

	maxMrkdwn   = 4000   // chat.update's own bound
	maxMarkdown = 12_000 // of all Markdown blocks of a message together (docs.slack.dev, Markdown block)
)

// markdown reads Markdown as Slack does: with tables, without HTML.
var markdown = goldmark.New(
	goldmark.WithParser(parser.NewParser(
		parser.WithBlockParsers(
			util.Prioritized(parser.NewSetextHeadingParser(), 100), util.Prioritized(parser.NewThematicBreakParser(), 200),
			util.Prioritized(parser.NewListParser(), 300), util.Prioritized(parser.NewListItemParser(), 400),
			util.Prioritized(parser.NewCodeBlockParser(), 500), util.Prioritized(parser.NewATXHeadingParser(), 600),
			util.Prioritized(parser.NewFencedCodeBlockParser(), 700), util.Prioritized(parser.NewBlockquoteParser(), 800),
			util.Prioritized(parser.NewParagraphParser(), 1000),
		),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100), util.Prioritized(parser.NewLinkParser(), 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300), util.Prioritized(parser.NewEmphasisParser(), 500),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)),
	goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList),
).Parser()

// A Body is one text in the two forms that a message carries it in.
type Body struct {
	Markdown string // for a Markdown block
	Mrkdwn   string // for text: what is shown where blocks are not, as in a notification
}

// Write makes a message's body of Markdown. It calls nobody but those in may, and them
// only where the text mentions them as <@id>.
func Write(source string, may ...earshot.AuthorID) Body {
	source = strings.ToValidUTF8(source, "\uFFFD")
	safe := defuse(source, codeRanges(source), may)
	b := Body{Markdown: safe, Mrkdwn: mrkdwn(safe, may)}
	if utf8.RuneCountInString(b.Markdown) <= maxMarkdown && utf8.RuneCountInString(b.Mrkdwn) <= maxMrkdwn {
		return b
	}
	// Marks have made it longer than Slack takes: in place of brackets
	// characters that look alike, one for each; and in a text that is too long
	// all the same, no marks.
	safe = defuse(alike.Replace(source), nil, nil)
	if utf8.RuneCountInString(b.Markdown) > maxMarkdown {
		b.Markdown = safe
	}
	if utf8.RuneCountInString(b.Mrkdwn) > maxMrkdwn {
		b.Mrkdwn = mrkdwn(safe, nil)
	}
	if utf8.RuneCountInString(b.Mrkdwn) > maxMrkdwn {
		b.Mrkdwn = fence(strings.ReplaceAll(safe, "`", tick))
	}
	return b
}

var alike = strings.NewReplacer("<", "‹", "＜", "‹", "﹤", "‹", ">", "›", "&", "＆")

// codeRanges returns where there is code in a Markdown text, as byte offsets, in
// order.
func codeRanges(source string) [][2]int {
	if !strings.ContainsAny(source, "`~\t ") {
		return nil
	}
	var out [][2]int
	add := func(s text.Segment) {
		if n := len(out); n > 0 && s.Start < out[n-1][1] {
			return
		}
		out = append(out, [2]int{s.Start, s.Stop})
	}
	root := markdown.Parse(text.NewReader([]byte(source)))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) { // no error comes
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeSpan:
			for c := n.FirstChild(); c != nil; c = c.NextSibling() {
				if t, ok := c.(*ast.Text); ok {
					add(t.Segment)
				}
			}
			return ast.WalkSkipChildren, nil
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			for _, s := range n.Lines().Sliced(0, n.Lines().Len()) {
				add(s)
			}
		}
		return ast.WalkContinue, nil
	})
	return out
}
