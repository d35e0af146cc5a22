package slack_test

import (
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/platform/slack"
)

// payloads are replies of a model that was talked into leading people elsewhere,
// or into calling them.
func payloads() []string {
	var list []string
	for _, what := range []string{
		"https://evil.example/?q=secret", "HTTP://EVIL.EXAMPLE/A", "https://user@evil.example/", "www.evil.com/x", "evil.com/x?q=1", "//evil.com/x", "mailto:me@evil.example",
		"me@evil.example", "slack://channel?id=C1", "1.2.3.4/x", "https://evil.example/a_(b)", "https://evil.example/" + strings.Repeat("long/", 900),
		"<@U2>", "<@U2|mara>", "<!here>", "<!channel|x>", "<!subteam^S1>", "@here", "@everyone", "&lt;!channel&gt;", "&amp;lt;@U2&gt;", `\<!here>`, "&commat;channel", "<\u200b!here>",
	} {
		for _, f := range []string{
			"%s", "(%s)", "<%s>", "<%s|here>", "[here](%s)", "[here](<%s>)", "![](%s)", "[x][1]\n\n[1]: %s", "`%s`", "```\ncode\n```\n%s", "```\n%s", "- ```\n%s\n```", "> %s", "**%s**", "| a |\n|---|\n| %s |", strings.Repeat("<> ", 700) + "%s", strings.Repeat("|a", 30) + "\n" + strings.Repeat("|-", 30) + "\n" + strings.Repeat("|b\n", 60) + "\n%s",
		} {
			list = append(list, strings.ReplaceAll(f, "%s", what))
		}
	}
	return list
}

var (
	ping = regexp.MustCompile(`(?i)[<＜][@!#]|[@＠](here|channel|everyone)\b`)
	// In a message's text Slack makes links of <…>, and of bare addresses
	// outside of code.
	textLink = regexp.MustCompile(`(?i)<[a-z]+:|<//|\bhttps?://|www\.|evil\.(com|example)|slack://`)
	textCode = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
)

func TestNothingThatAModelSaysCallsPeopleOrLeadsElsewhere(t *testing.T) {
	t.Parallel()
	list, n := payloads(), 0
	if len(list) < 300 {
		t.Fatalf("only %d payloads", len(list))
	}
	if raceEnabled { // every tenth: what a text becomes does not depend on timing
		list = slices.DeleteFunc(list, func(string) bool { n++; return n%10 != 0 })
	}
	asks := regexp.MustCompile(`question (\d+)\?`)
	x := newAsked(t, slack.ReplyPost, time.Minute, llmtest.New(repeat(5*len(list), llmtest.Do(func(r llm.Request) (llm.Response, error) {
		all := asks.FindAllStringSubmatch(fmt.Sprint(r.Messages), -1)
		n, err := strconv.Atoi(all[len(all)-1][1])
		return llm.Response{Parts: []llm.Part{llm.Text("Well: " + list[n])}}, err
	}))...))
	x.ask(t, len(list))
	x.check(t)
	calls := x.slack.Calls("chat.postMessage")
	if len(calls) < len(list) {
		t.Errorf("%d posts for %d questions", len(calls), len(list))
	}
	for _, c := range calls {
		said, block := c.Args["text"], blockOf(t, c.Args["blocks"])
		for _, s := range []string{said, html.UnescapeString(said), block, html.UnescapeString(block), html.UnescapeString(html.UnescapeString(block))} {
			if p := ping.FindString(s); p != "" {
				t.Errorf("%q calls people by %q", s, p)
			}
		}
		if l := textLink.FindString(textCode.ReplaceAllString(said, "")); l != "" {
			t.Errorf("the text %q leads elsewhere by %q", said, l)
		}
		if l := leads(block); l != "" {
			t.Errorf("the block %q leads to %q", block, l)
		}
	}
}

// leads returns an address that a reader of Markdown would make a link of, or
// fetch.
func leads(markdown string) (to string) {
	src := []byte(markdown)
	_ = ast.Walk(goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src)), func(n ast.Node, _ bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Link:
			to = string(n.Destination)
		case *ast.Image:
			to = string(n.Destination)
		case *ast.AutoLink:
			to = string(n.URL(src))
		}
		return ast.WalkContinue, nil
	})
	return to
}

// blockOf returns the Markdown of the one block that there is.
func blockOf(t *testing.T, blocks string) string {
	t.Helper()
	var list []struct{ Type, Text string }
	if err := json.Unmarshal([]byte(blocks), &list); err != nil || len(list) != 1 || list[0].Type != "markdown" {
		t.Fatalf("the blocks are %q: %v", blocks, err)
	}
	return list[0].Text
}

func repeat(n int, s llmtest.Step) []llmtest.Step { return slices.Repeat([]llmtest.Step{s}, n) }
