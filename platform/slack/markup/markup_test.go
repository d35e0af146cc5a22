package markup_test

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/earshot-ai/earshot/platform/slack/markup"
)

func TestMarkdownIsWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, markdown, mrkdwn string }{
		{"plain", "hello", "hello", "hello"},
		{"bold, italic, struck", "**a** *b* _c_ ~~d~~ ***e***", "**a** *b* _c_ ~~d~~ ***e***", "*a* _b_ _c_ ~d~ _*e*_"},
		{"a heading", "# One\n\ntext\n\n## Two **bold**", "# One\n\ntext\n\n## Two **bold**", "*One*\n\ntext\n\n*Two *bold*"},
		{"a list", "- a\n- b\n  - c\n- d", "- a\n- b\n  - c\n- d", "• a\n• b\n    • c\n• d"},
		{"a numbered list", "3. a\n4. b", "3. a\n4. b", "3. a\n4. b"},
		{"tasks", "- [ ] a\n- [x] b", "- [ ] a\n- [x] b", "• ☐ a\n• ☑ b"},
		{"a quote", "> a\n> b", "> a\n> b", "> a\n> b"},
		{"code in a line", "use `a < b && c`", "use `a < b && c`", "use `a &lt; b &amp;&amp; c`"},
		{"a fence", "```go\nx := <-c // & y\n```", "```go\nx := <-c // & y\n```", "```\nx := &lt;-c // &amp; y\n```"},
		{"a fence in a fence", "````\n```\nx\n```\n````", "````\n```\nx\n```\n````", "```\n`\u200b`\u200b`\nx\n`\u200b`\u200b`\n```"},
		{"indented code", "text\n\n    a < b", "text\n\n    a < b", "text\n\n```\na &lt; b\n```"},
		{"a table", "| a | b |\n|---|---|\n| 1 < 2 | **x** |", "| a | b |\n|---|---|\n| 1 &lt; 2 | **x** |", "```\na     | b\n1 &lt; 2 | x\n```"},
		{"a link", "[the page](https://known.example/a?b=1&c=2)", "[the page](https://known.example/a?b=1&c=2)", "<https://known.example/a?b=1&amp;c=2|the page>"},
		{"a bare link", "<https://known.example/a>", "<https://known.example/a>", "<https://known.example/a>"},
		{"Slack's own link", "<https://known.example/a(1)|the  page>", "[the page](https://known.example/a%281%29)", "<https://known.example/a%281%29|the page>"},
		{"a link to nowhere", "[x](y)", "[x](y)", "x (y)"},
		{"an image", "![logo](https://known.example/l.png)", "![logo](https://known.example/l.png)", "<https://known.example/l.png|logo>"},
		{"HTML", "a <b>bold</b> & <br> &amp; &lt;i&gt;", "a &lt;b>bold&lt;/b> & &lt;br> &amp; &lt;i&gt;", "a &lt;b&gt;bold&lt;/b&gt; &amp; &lt;br&gt; &amp; &lt;i&gt;"},
		{"code in HTML", "<div>\n`a<b`\n</div>", "&lt;div>\n`a<b`\n&lt;/div>", "&lt;div&gt;\n`a&lt;b`\n&lt;/div&gt;"},
		{"an escaped bracket", `\<b> \*x\*`, `&lt;b> \*x\*`, "&lt;b&gt; *x*"},
		{"ticks that are text", "a \\` b ``` c\n\n`d`", "a \\` b ``` c\n\n`d`", "a ˋ b ˋˋˋ c\n\n`d`"},
		{"a rule", "a\n\n---\n\nb", "a\n\n---\n\nb", "a\n\n———\n\nb"},
		{"line breaks", "a\nb  \nc", "a\nb  \nc", "a\nb\nc"},
		{"the person asked", "<@U1>: yes, `<@U1>`", "<@U1>: yes, `< @U1>`", "<@U1>: yes, `&lt; @U1&gt;`"},
		{"somebody else", "<@U2> <@U1|mara> <!here> <#C1>", "&lt; @U2> &lt; @U1|mara> &lt; !here> &lt; #C1>", "&lt; @U2&gt; &lt; @U1|mara&gt; &lt; !here&gt; &lt; #C1&gt;"},
		{"broken UTF-8", "a\xffb", "a\uFFFDb", "a\uFFFDb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			want := markup.Body{Markdown: c.markdown, Mrkdwn: c.mrkdwn}
			if diff := cmp.Diff(markup.Write(c.source, "U1"), want); diff != "" {
				t.Errorf("got -, want +:\n%s", diff)
			}
		})
	}
}

// pings returns what would call somebody in a text, in any order in which its
// reader may take it apart: as it is, with entities resolved once or until
// there are none, with backslashes removed, with what nobody sees left out, and
// as what a Markdown parser that is not ours makes of it.
func pings(s string) []string {
	readings := []string{s, unslash(s), plain(s)}
	for _, r := range readings {
		for range 4 {
			r = html.UnescapeString(r)
			readings = append(readings, r, unslash(r))
		}
	}
	var found []string
	for _, r := range readings {
		found = append(found, mark.FindAllString(strings.Map(visible, r), -1)...)
	}
	return found
}

// others takes the mention of the person asked out of a text.
var others = strings.NewReplacer("<@U1>", "", "&lt;@U1&gt;", "")

var mark = regexp.MustCompile(`(?i)[<＜﹤][@!#＠！＃﹫]|[@＠﹫](here|channel|everyone)\b`)

var slashed = regexp.MustCompile(`\\([[:punct:]])`)

func unslash(s string) string { return slashed.ReplaceAllString(s, "$1") }

func visible(r rune) rune {
	if r != '\n' && unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn) {
		return -1
	}
	return r
}

// plain returns the stretches of text that a Markdown parser finds, one a line.
func plain(markdown string) string {
	src := []byte(markdown)
	var out []string
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := n.(*ast.Text); ok && entering {
			out = append(out, string(t.Segment.Value(src)))
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(out, "\n")
}

// calls are ways to write what calls people.
func calls() []string {
	return []string{
		"<@U2>", "<@U2|mara>", "<@W2>", "<@B2>", "<!here>", "<!channel>", "<!everyone>", "<!here|here>", "<!subteam^S1>", "<!subteam^S1|@team>", "<!date^1^{date}^https://x|y>",
		"<#C1>", "<#C1|general>", "@here", "@channel", "@everyone", "@HERE", "@@here", "@@@channel", "＠here", "﹫everyone", "@\u200bhere", "@ch\u200bannel", "@\u00adhere",
		"&lt;@U2&gt;", "&lt;!channel&gt;", "&LT;!channel>", "&#60;!here&#62;", "&#x3c;@U2&#x3E;", "&#x3C;&#64;U2>", "&lt;&commat;U2&gt;", "&amp;lt;!channel&amp;gt;", "&amp;amp;lt;@U2>",
		"&AMP;lt;!here>", "&lt@U2>", "&commat;here", "&#64;channel", "&#x40;everyone", "&amp;#64;here", "@&#104;ere", "@h&#101;re", "&commat;&commat;here",
		`\<@U2>`, `<\@U2>`, `\<\@U2\>`, `\\<@U2>`, `<\!channel>`, `\@here`, "<\u200b@U2>", "<\u2060!here>", "<\u00ad@U2>", "<&#8203;@U2>", "<&shy;!channel>", "<&ZeroWidthSpace;@U2>",
		"<<@U2>>", "<@<@U2>U2>", "<<!here>!here>", "<@U2", "<!channel", "<＠U2>", "＜@U2＞", "﹤!here﹥", "< <@U2>", "<\t<!here>", "<@U1|<!here>>", "<https://known.example|<!channel>>",
		"[<!channel>](https://known.example)", "[x](<!here>)", "![<@U2>](https://known.example)", "<https://known.example|@here>", "[@here](https://known.example)",
		"<mailto:a@b.example|<@U2>>", "<@U1><!here>", "@<!-- -->here", "<!-- --><!here>", "<b><!channel></b>", "<@\\U2>",
	}
}

func TestNobodyIsCalled(t *testing.T) {
	t.Parallel()
	frames := []string{
		"%s", "hey %s!", "`%s`", "`` ` %s ``", "```\n%s\n```", "~~~\n%s\n~~~", "    %s", "**%s**", "~~%s~~", "> %s", "- %s", "1. %s\n   %s", "# %s", "| a |\n|---|\n| %s |",
		"(%s)", "%s%s", "a%sb", "%s\n%s", "[%s](https://known.example)", "\\%s", "<%s>", "&%s", "`%s", "```\n%s", "<div>%s</div>", "[x]: %s", "%s\n===", "@%s", "<%s", "&lt;%s",
	}
	n := 0
	for _, c := range calls() {
		for _, f := range frames {
			n++
			source := strings.ReplaceAll(f, "%s", c)
			b := markup.Write(source, "U1")
			for form, got := range map[string]string{"markdown": b.Markdown, "mrkdwn": b.Mrkdwn} {
				// The person asked may be called.
				if p := pings(others.Replace(got)); p != nil {
					t.Errorf("%s: %q became %q, which calls %q", form, source, got, p)
				}
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d payloads", n)
	}
}

func TestNothingIsLongerThanSlackTakes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source string }{
		{"brackets", strings.Repeat("<", markup.MaxText)},
		{"ampersands", strings.Repeat("&", markup.MaxText)},
		{"brackets in code", "```\n" + strings.Repeat("<>", markup.MaxText/2-10) + "\n```"},
		{"everybody", strings.Repeat("<!here>", markup.MaxText/7)},
		{"items", strings.Repeat("- x\n", markup.MaxText/4)},
		{"nested quotes", strings.Repeat("> ", markup.MaxText/2) + "x"},
		{"nested lists", nested(80)},
		{"marks", strings.Repeat("*a* ", markup.MaxText/4)},
		{"a wide table", "|" + strings.Repeat("a|", 400) + "\n|" + strings.Repeat("-|", 400) + "\n" + strings.Repeat("|b|c|\n", 100)},
		{"a long cell", "| a |\n|---|\n| " + strings.Repeat("x", 2000) + " |\n" + strings.Repeat("| y | z |\n", 100)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := markup.Write(c.source, "U1")
			if n := utf8.RuneCountInString(b.Markdown); n > 12_000 || n == 0 {
				t.Errorf("the Markdown has %d characters", n)
			}
			if n := utf8.RuneCountInString(b.Mrkdwn); n > 4000 || n == 0 {
				t.Errorf("the text has %d characters", n)
			}
		})
	}
}

func nested(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat("  ", i%20) + "- item\n")
	}
	return b.String()
}

func FuzzWrite(f *testing.F) {
	for _, c := range calls() {
		f.Add(c, "`"+c)
	}
	f.Add("```\na\n```", "| a |\n|---|\n| b |")
	f.Fuzz(func(t *testing.T, a, b string) {
		if len(a)+len(b) > markup.MaxText {
			return
		}
		for _, source := range []string{a + b, a + "<@U2>" + b, a + "@here" + b} {
			w := markup.Write(source, "U1")
			for _, got := range []string{w.Markdown, w.Mrkdwn} {
				if p := pings(others.Replace(got)); p != nil {
					t.Errorf("%q became %q, which calls %q", source, got, p)
				}
			}
			if len(source) <= markup.MaxText && (utf8.RuneCountInString(w.Markdown) > 12_000 || utf8.RuneCountInString(w.Mrkdwn) > 4000) {
				t.Errorf("%q became too long", source)
			}
		}
	})
}
