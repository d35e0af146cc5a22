package markup_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot/platform/discord/markup"
)

func TestMarkdownIsWrittenAsDiscordShowsIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, source, want string }{
		{"what Discord knows stays", "# a\n## b\n### c\n**d** *e* ~~f~~ `g`\n- h\n  - i\n1. j\n> k", "# a\n## b\n### c\n**d** *e* ~~f~~ `g`\n- h\n  - i\n1. j\n> k"},
		{"headings below the third are bold", "#### Setup\n##### **More** ##", "**Setup**\n**More**"},
		{"an underlined heading", "Title\n=====\ntext", "# Title\ntext"},
		{"a table is code with aligned columns", "see\n| name | n |\n|:--|--:|\n| **ann** | 1 |\n| `b` | 22 |\nend", "see\n```\nname | n\nann  | 1\nb    | 22\n```\nend"},
		{"a table without outer bars", "a | b\n--- | ---\n1 | 2", "```\na | b\n1 | 2\n```"},
		{"columns of wide characters", "|日本|x|\n|-|-|\n|a|y|", "```\n日本 | x\na    | y\n```"},
		{"a bar in a cell", "|a|b|\n|-|-|\n|x \\| y|z|", "```\na     | b\nx | y | z\n```"},
		{"a link in a cell", "|a|b|\n|-|-|\n|[x](https://known.example)|z|", "```\na                         | b\nx (https://known.example) | z\n```"},
		{"bars that are no table", "a | b\nc | d", "a | b\nc | d"},
		{"a table in code stays", "```\n| a | b |\n|---|---|\n```", "```\n| a | b |\n|---|---|\n```"},
		{"a fence of tildes", "~~~go\nx := 1\n~~~", "```go\nx := 1\n```"},
		{"a fence in a fence", "````md\n```go\nx\n```\n````", "```md\n`\u200b`\u200b`go\nx\n`\u200b`\u200b`\n```"},
		{"a language with more behind it", "```go title=\"x\"\nx\n```", "```go\ntitle=\"x\"\nx\n```"},
		{"a fence that is not closed yet", "a\n```go\nx", "a\n```go\nx\n```"},
		{"code in a quote", "> ```py\n> x.__init__()\n> ```\nafter __b__", "> ```py\n> x.__init__()\n> ```\nafter **b**"},
		{"code in a quote that ends", "> ```py\n> x\nafter __b__", "> ```py\n> x\n> ```\nafter **b**"},
		{"code in a list", "- ```go\n  x.__y__()\n  ```\nafter __b__", "- ```go\n  x.__y__()\n  ```\nafter **b**"},
		{"code below a list's item", "1. a\n   ~~~\n   x\n   ~~~\n2. b", "1. a\n   ```\n   x\n   ```\n2. b"},
		{"a picture is a link", "![the chart](https://known.example/c.png) ![](https://known.example/d.png)", "[the chart](https://known.example/c.png) https://known.example/d.png"},
		{"words that are another address", "[https://bank.example](https://known.example/x)", "https://bank.example (https://known.example/x)"},
		{"words that are the address", "[https://known.example](https://known.example)", "https://known.example"},
		{"a title is left out", `[page](https://known.example/x "https://bank.example")`, "[page](https://known.example/x)"},
		{"a target that is no page", "[readme](docs/x.md)", "readme (docs/x.md)"},
		{"a link in code stays", "`[a](b)` and `` ` [c](d) ``", "`[a](b)` and `` ` [c](d) ``"},
		{"two underscores are bold", "a __b c__ d, __init__.py and x__y__z", "a **b c** d, **init**.py and x__y__z"},
		{"tasks", "- [ ] a\n- [x] b", "- ☐ a\n- ☑ b"},
		{"other marks of lists", "+ a\n2) b", "- a\n2. b"},
		{"a quote without a space", ">a\n> b", "> a\n> b"},
		{"three marks quote nothing", ">>> print(1)", "\u200b>>> print(1)"},
		{"a rule", "a\n\n---\n\nb", "a\n\n———\n\nb"},
		{"the end of a line in Markdown", "a\\\nb", "a\nb"},
		{"escapes stay", `2 \* 3 \_ 4`, `2 \* 3 \_ 4`},
		{"line ends of another kind", "a\r\nb", "a\nb"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := markup.Write(c.source); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

var ping = regexp.MustCompile(`(?i)<@[!&]?\d+>|<#\d+>|</[^<>]+:\d+>|<id:\w+>|@everyone|@here`)

func TestNobodyIsNotified(t *testing.T) {
	t.Parallel()
	n := 0
	for _, m := range []string{
		"<@123>", "<@!123>", "<@&123>", "<#123>", "</ask:123>", "</ask me:123>", "<id:customize>", "@everyone", "@here", "@EVERYONE", "@Here", "@@everyone", "@@here",
		"<<@1>@2>", "<@<@1>>", "<@1><@2>", "\\@everyone", "\\<@1>", "@everyone@here", "<@!1", "@hereabouts",
	} {
		for _, f := range []string{"%s", "hey %s!", "`%s`", "```\n%s\n```", "**%s**", "> %s", "%s%s", "a%sb", "[%s](https://known.example/)", "[x](%s)", "|a|b|\n|-|-|\n|%s|c|", "- [ ] %s", "#### %s"} {
			n++
			source := strings.ReplaceAll(f, "%s", m)
			for _, s := range []string{source, strings.Repeat("x", markup.MaxText-utf8.RuneCountInString(source)) + source} {
				if got := markup.Write(s); ping.MatchString(got) {
					t.Errorf("%q became %q", s, got)
				}
			}
		}
	}
	if n < 200 {
		t.Errorf("only %d payloads", n)
	}
	if got, want := markup.Write("ask <@123> or @here"), "ask <\u200b@123> or @\u200bhere"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// pieces are what hostile texts are made of.
var pieces = []string{
	"word ", "x", "\n", "\n\n", "`", "``", "```", "\n```\n", "\n```go\n", "\n~~~\n", "\n````\n", "| a | b |\n|---|---|\n| c | d |\n", "|", "\n|-|\n", "[a](https://known.example/)", "![b](https://known.example/)",
	"<@123>", "@everyone", "# ", "\n#### x\n", "\n- [ ] ", "\\", "\n===\n", "\n---\n", "\n> ```\n", "\n> ", "\n- ```\n", "\n2) ~~~ py\n", ">>> ", "__", "**", "👩‍👩‍👧", "e\u0301", strings.Repeat("\u0301", 30), "日本", strings.Repeat("long ", 40), "\r\n", "\x00", "\xff",
}

func TestAMessageIsNeverTooLongAndLosesNoText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		source := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 60).Draw(t, "pieces"), "")
		source = strings.Repeat(source, rapid.IntRange(1, 20).Draw(t, "times"))
		check(t, source)
		checkLetters(t, source)
	})
}

func FuzzWrite(f *testing.F) {
	for _, p := range pieces {
		f.Add(p + pieces[0] + p)
	}
	f.Fuzz(func(t *testing.T, source string) {
		check(t, source)
		if !strings.Contains(source, "](") { // a link whose words are its target is written once
			checkLetters(t, source)
		}
	})
}

// check holds one text to what is true of all.
func check(t interface {
	Fatalf(format string, args ...any)
}, source string,
) {
	got := markup.Write(source)
	if n := utf8.RuneCountInString(got); n > markup.MaxText || !utf8.ValidString(got) {
		t.Fatalf("%d characters: %q", n, got)
	}
	if ping.MatchString(got) {
		t.Fatalf("%q became %q", source, got)
	}
}

// checkLetters holds a text that is not cut to its letters.
func checkLetters(t interface {
	Fatalf(format string, args ...any)
}, source string,
) {
	if got := markup.Write(source); utf8.RuneCountInString(source) <= markup.MaxText/2 && letters(got) != letters(source) {
		t.Fatalf("%q became %q", source, got)
	}
}

// letters are the letters of a text in order, but for those that marks are made of: the
// x of a task, and <br>.
func letters(s string) string {
	s = strings.NewReplacer("x", "", "X", "", "<br>", "", "<br/>", "", "<br />", "").Replace(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || r >= 0x1F000 {
			return r
		}
		return -1
	}, s)
}
