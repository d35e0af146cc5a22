package assemble_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// TestAPromptBeginsWithTheUser has what would come first be the agent's own: providers
// refuse a prompt that begins with the assistant, whoever calls them.
func TestAPromptBeginsWithTheUser(t *testing.T) {
	t.Parallel()
	const open = "[this conversation goes on]\n<<next>>\n"
	checkRules(t, []rule{
		{
			name: "a transcript", in: asking("transcript", said("a", "earshot", "the build is red"), said("q", "Bob", "<@U0BOT> why?")),
			is: open + "the build is red\n<<next>>\nBob: @earshot why?",
		},
		{
			name: "a chain without a window", in: asking("window", said("a", "earshot", "the build is red"), said("q", "Bob", "why?", to("a"))),
			is: open + "the build is red\n<<next>>\nBob: why?",
		},
		{
			name: "a chain below a window", in: asking("window", said("x", "Carol", "lunch?"), said("a", "earshot", "the build is red"), said("q", "Bob", "why?", to("a"))),
			is: "[recent channel context]\n\nstandalone (Carol):\n  lunch?\n<<next>>\nthe build is red\n<<next>>\nBob: why?",
		},
		{
			name: "a session that was begun elsewhere",
			in: where(asking("delta", said("q", "Bob", "why?")), func(in *assemble.Input) {
				in.Conversation.Session = []earshot.SessionEntry{{Role: earshot.Assistant, Text: "the build is red"}}
			}),
			also: func(t *testing.T, r assemble.Result) {
				if m := r.Messages[0]; m.Role != earshot.User || m.Text != assemble.Opening {
					t.Errorf("the first message is %+v", m)
				}
			},
		},
	})
}

// TestTheWindowIsATurnOfItsOwn: what the channel says is not mixed with what the
// question replies to, nor with the question.
func TestTheWindowIsATurnOfItsOwn(t *testing.T) {
	t.Parallel()
	checkRules(t, []rule{
		{
			name: "before the question", in: asking("window", said("x", "Carol", "lunch?"), said("q", "Bob", "why?")),
			is: "[recent channel context]\n\nstandalone (Carol):\n  lunch?\n<<next>>\nBob: why?",
		},
		{
			name: "before the chain", in: asking("window", said("x", "Carol", "lunch?"), said("a", "Alice", "the build is red"), said("q", "Bob", "why?", to("a"))),
			is: "[recent channel context]\n\nstandalone (Carol):\n  lunch?\n<<next>>\nAlice: the build is red\n\nBob: why?",
		},
	})
}
