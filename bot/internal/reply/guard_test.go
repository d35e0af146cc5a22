package reply

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// liveTargets returns what a reader of Markdown would link or fetch, by a
// parser that is not ours, bare addresses included.
func liveTargets(t *testing.T, markdown string) []string {
	t.Helper()
	src := []byte(markdown)
	root := goldmark.New(goldmark.WithExtensions(extension.Linkify)).Parser().Parse(text.NewReader(src))
	var out []string
	err := ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			out = append(out, string(n.Destination))
		case *ast.Image:
			out = append(out, string(n.Destination))
		case *ast.AutoLink:
			out = append(out, string(n.URL(src)))
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// shapes are ways to write an address, and ways to hide one.
func shapes() []string {
	var out []string
	for _, u := range []string{
		"https://evil.example/?q=secret", "http://evil.example/a", "HTTPS://EVIL.EXAMPLE/A", "https://evil.example:8443/x#y", "https://user:pw@evil.example/",
		"https://good.example@evil.example/", "https://good.example.evil.example/", "www.evil.example/x", "www.evil.com", "evil.com", "evil.com/x?q=1", "//evil.com/x",
		"ftp://evil.example/x", "mailto:me@evil.example?body=secret", "me@evil.example", "tel:+123", "javascript:alert(1)", "data:text/html,x", "slack://channel?id=C1",
		"https://1.2.3.4/x", "1.2.3.4/x", "https://[::1]/x", "https://xn--evil-9ya.example/", "https://ëvil.example/ü", "https://evil。example/x", "https:/evil.example/x",
		"https://evil.example/a_(b)", "https://evil.example/a`b", "https://known.example/page2", "https://known.example/page?x=secret",
	} {
		for _, f := range []string{
			"%s", "see %s.", "(%s)", "<%s>", "<%s|here>", "[here](%s)", "[here](<%s>)", "![](%s)", "![x](%s \"title\")", "[x][1]\n\n[1]: %s",
			"` %s", "a ` b `` %s `` c", "**%s**", "[`x`](%s)", "> %s", "- %s", "~~~\n%s\n~~~", "[a\\](%s)", "[![x](%s)](%s)", "<a href=\"%s\">x</a>", "\\%s", "\\\\%s", "`\\%s`",
		} {
			out = append(out, strings.ReplaceAll(f, "%s", u))
		}
	}
	return append(out, "https://ev\u200bil.example/x", "https://evil.example\u2028/x", "[x](ht\ntps://evil.example)", "[x]\u200b(https://evil.example)",
		"[x](&#104;ttps://evil.example)", "[x]\n(https://evil.example)", "[x](\\https://evil.example)")
}

func TestAnInventedAddressIsNotClickable(t *testing.T) {
	t.Parallel()
	l := NewLinks([]string{"docs.example"})
	l.Allow("see https://known.example/page, or <https://known.example/other|the other>")
	list := shapes()
	if len(list) < 300 {
		t.Fatalf("only %d shapes", len(list))
	}
	for _, s := range list {
		got := Guard(s, l, &People{})
		for _, target := range liveTargets(t, got) {
			if !l.allows(target) && !l.allows(strings.TrimPrefix(target, "mailto:")) {
				t.Errorf("%q became %q: %q is live", s, got, target)
			}
		}
	}
}

func TestKnownAddressesStayClickable(t *testing.T) {
	t.Parallel()
	l := NewLinks([]string{"docs.example"})
	l.Allow("see https://known.example/page, or <https://known.example/other|the other>")
	for _, s := range []string{
		"see https://known.example/page.", "[the page](https://known.example/page)", "https://known.example/other", "https://docs.example/x?y=1",
		"https://sub.docs.example/", "<https://known.example/page>", "run `make test` in main.go, version 1.4.2", "e.g. this, i.e. that",
		"```\ncurl https://evil.example/x\n```\n", "the time is 12:30", "a/b, c//d", "x := y[0](z)",
	} {
		want := s
		if strings.Contains(s, "c//d") {
			want = strings.Replace(s, "//d", "`//d`", 1)
		}
		if strings.Contains(s, "](z)") {
			want = strings.Replace(s, "](z)", "] (z)", 1)
		}
		if got := Guard(s, l, &People{}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestNobodyIsMentioned(t *testing.T) {
	t.Parallel()
	ping := regexp.MustCompile(`(?i)<[@!]|[@＠﹫](here|channel|everyone|all)\b`)
	n := 0
	for _, m := range []string{
		"<@U1>", "<@!123>", "<@&456>", "<@U1|Alice>", "<!here>", "<!channel>", "<!everyone>", "<!subteam^S1>", "<!subteam^S1|@team>", "@here", "@channel", "@everyone",
		"@EVERYONE", "＠here", "<<@U1>@U1>", "<@<@U1>>", "@@here", "<@U1|<!here>>", "@\u200beveryone", "<\u200b@U1>",
	} {
		for _, f := range []string{"%s", "hey %s!", "`%s`", "```\n%s\n```", "(%s)", "**%s**", "> %s", "%s%s", "a%sb", "[%s](x)"} {
			n++
			s := strings.ReplaceAll(f, "%s", m)
			if got := Guard(s, NewLinks(nil), &People{}); ping.MatchString(got) {
				t.Errorf("%q became %q", s, got)
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d payloads", n)
	}
	if got, want := Guard("ask <@U1|Alice>", NewLinks(nil), &People{}), "ask Alice"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSplitKeepsTextAndFences(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		most       int
		parts      int
	}{
		{"short", "hello", 100, 1},
		{"words", strings.Repeat("word ", 100), 100, 5},
		{"one long word", strings.Repeat("x", 950), 100, 10},
		{"not in ASCII", strings.Repeat("日本語", 100), 100, 3},
		{"a fence", "before\n```go\n" + strings.Repeat("line of code\n", 40) + "```\nafter", 200, 0},
		{"a fence of four", "````\n" + strings.Repeat("```\nx\n", 60) + "````", 120, 0},
		{"two fences", strings.Repeat("```\n"+strings.Repeat("a\n", 30)+"```\ntext\n", 5), 100, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			parts := Split(c.text, c.most)
			if c.parts > 0 && len(parts) != c.parts {
				t.Errorf("%d parts, want %d", len(parts), c.parts)
			}
			letters := regexp.MustCompile("[\\s`]+|go")
			for i, p := range parts {
				if n := len([]rune(p)); n > c.most || strings.TrimSpace(p) == "" {
					t.Errorf("part %d has %d characters: %q", i, n, p)
				}
				if open := fenceAfter("", p); open != "" {
					t.Errorf("part %d leaves a fence open: %q", i, p)
				}
			}
			if got, want := letters.ReplaceAllString(strings.Join(parts, ""), ""), letters.ReplaceAllString(c.text, ""); got != want {
				t.Errorf("text was lost:\n%s", fmt.Sprintf("%.200q\n%.200q", got, want))
			}
		})
	}
}
