package discord_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/platform/discord"
	fake "github.com/earshot-ai/earshot/simulate/discord"
)

// longAnswer is an answer of three posts, with a block of code and a table that are
// cut.
func longAnswer() string {
	var b strings.Builder
	b.WriteString("It is this:\n\n```go\n")
	for i := range 120 {
		fmt.Fprintf(&b, "line(%d) // of code\n", i)
	}
	b.WriteString("```\n\n| disk | free |\n|------|------|\n")
	for i := range 60 {
		fmt.Fprintf(&b, "| number %d | %d GB |\n", i, i*7)
	}
	return b.String()
}

func TestLongAnswersAreWholeWhereEveryPostIsLost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		placeholder string
		thread      string
	}{{"with a placeholder", "…", discord.ThreadOff}, {"posted whole", "", discord.ThreadOff}, {"in a thread", "…", discord.ThreadOnMention}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const questions = 3
			x := listen(t, func(_ *ear, _ *fake.Options, o *discord.Options) { o.Thread = c.thread })
			var steps []llmtest.Step
			for range questions {
				steps = append(steps, llmtest.Say(longAnswer()))
			}
			x.start(llmtest.New(steps...), c.placeholder)
			x.fake.Inject(fake.Fault{Kind: fake.LostResponse, On: "create_message"}, fake.Fault{Kind: fake.DropEvent, On: "MESSAGE_CREATE", Skip: questions})
			asked := map[string]bool{}
			for range questions {
				asked[x.fake.Say(x.general, x.mara, "<@"+x.fake.App().UserID+"> which disk?")] = true
			}
			whole := func() bool {
				n := 0
				for _, m := range x.fake.Posts() {
					if strings.Contains(m.Content, "number 59") {
						n++
					}
				}
				return n == questions
			}
			if err := x.fake.Until(t.Context(), whole); err != nil {
				t.Fatalf("%v\n%s", err, x.logged())
			}
			answers := map[string][]string{}
			for _, m := range x.fake.Posts() {
				root := m.Reply
				if c.thread == discord.ThreadOnMention {
					root = m.Channel
				}
				if answers[root] = append(answers[root], m.Content); !asked[root] {
					t.Errorf("a post stands below %q: %q", root, m.Content)
				}
			}
			for root, parts := range answers {
				all := strings.Join(parts, "\n")
				for i := range 120 {
					if n := strings.Count(all, fmt.Sprintf("line(%d) ", i)); n != 1 {
						t.Fatalf("line %d of the answer to %s is there %d times", i, root, n)
					}
				}
				for i, part := range parts {
					if strings.Count(part, "```")%2 != 0 || part == c.placeholder {
						t.Errorf("part %d is %q", i, part)
					}
				}
			}
			for nonce, list := range x.fake.PostsByNonce() {
				if len(list) > 1 {
					t.Errorf("%d posts of %s", len(list), nonce)
				}
			}
		})
	}
}
