package assemble_test

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// belowQuestion is a DM whose question was answered beside it, and a thread that the
// person opened below the question.
func belowQuestion(policy string, more ...earshot.Message) assemble.Input {
	in := asking(policy, append([]earshot.Message{
		said("1", "Alice", "list the VMs"),
		said("2", "earshot", "vm-1, vm-2"),
		said("3", "earshot", "and vm-3, which is asleep"),
		said("4", "Alice", "what is for lunch?"),
		said("5", "earshot", "soup"),
	}, more...)...)
	in.Channel.Kind, in.Channel.Name = earshot.KindDM, ""
	return in
}

func TestAThreadBelowADMQuestionHasTheAnswerThatStandsBesideIt(t *testing.T) {
	t.Parallel()
	q := said("6", "Alice", "are they running?", in("1"))
	reference := where(asking("thread", said("1", "Alice", "list the VMs"), said("2", "Bob", "hm"), said("3", "earshot", "vm-1, vm-2", to("1")), said("6", "Alice", "are they running?", in("1"))))
	checkRules(t, []rule{
		{
			name: "transcript", in: belowQuestion("transcript", q),
			is:     "Alice: list the VMs\n<<next>>\nvm-1, vm-2\nand vm-3, which is asleep\n<<next>>\nAlice: are they running?",
			ledger: "2 full transcript\n3 full transcript\n4 out other-conversation\n5 out other-conversation",
		},
		{
			name: "thread", in: belowQuestion("thread", q),
			is: "<slack_thread_context>\nAlice: list the VMs\nearshot: vm-1, vm-2\nearshot: and vm-3, which is asleep\n</slack_thread_context>\n\nCurrent question: are they running?",
		},
		{
			name: "delta", in: belowQuestion("delta", q),
			is: "Previous conversation:\n---\nAlice: list the VMs\nearshot: vm-1, vm-2\nearshot: and vm-3, which is asleep\n---\nCurrent question: are they running?",
		},
		{
			name: "standard", in: belowQuestion("standard", q),
			has: []string{"[this thread]\n[Mon 2 Mar]\n09:00 Alice: list the VMs\n09:00 earshot (you): vm-1, vm-2\n· and vm-3, which is asleep\n\n[question, Mon 2 Mar 2026, UTC]\n09:00 Alice: are they running?"},
		},
		{
			name: "structured", in: belowQuestion("structured", q),
			order: []string{`"snippet":"vm-1, vm-2"`, `[ThreadContext]`, `"text":"list the VMs"`, `"total_replies":0`}, // among the neighbours, since it is no reply
		},
		{
			name: "a thread below a question of somebody who was answered by reference", in: reference,
			is: "<slack_thread_context>\nAlice: list the VMs\nearshot: vm-1, vm-2\n</slack_thread_context>\n\nCurrent question: are they running?",
		},
		{
			name: "the thread's own answers come after it", in: belowQuestion("transcript", said("6", "earshot", "all three run", in("1")), said("7", "Alice", "thanks, and vm-4?", in("1"))),
			is: "Alice: list the VMs\n<<next>>\nvm-1, vm-2\nand vm-3, which is asleep\nall three run\n<<next>>\nAlice: thanks, and vm-4?",
		},
		{
			name: "the next question's answer is not this one's", in: belowQuestion("transcript", said("6", "Alice", "with bread?", in("4"))),
			is: "Alice: what is for lunch?\n<<next>>\nsoup\n<<next>>\nAlice: with bread?",
		},
	})
}

// TestAnAnswerInADMsThreadStandsBelowItsQuestionAtTheTop is the mirror of it: the
// question before was answered in a thread.
func TestAnAnswerInADMsThreadStandsBelowItsQuestionAtTheTop(t *testing.T) {
	t.Parallel()
	dm := func(policy string) assemble.Input {
		return where(asking(policy, said("1", "Alice", "list the VMs"), said("2", "earshot", "vm-1, vm-2", in("1")), said("3", "Alice", "are they running?")),
			func(in *assemble.Input) { in.Channel.Kind, in.Channel.Name = earshot.KindDM, "" })
	}
	const turns = "Alice: list the VMs\n<<next>>\nvm-1, vm-2\n<<next>>\nAlice: are they running?"
	checkRules(t, []rule{
		{name: "transcript", in: dm("transcript"), is: turns},
		{name: "thread", in: dm("thread"), is: turns},
		{name: "standard", in: dm("standard"), has: []string{"09:00 Alice: list the VMs\n↳ 09:00 earshot (you): vm-1, vm-2\n"}},
		{name: "window", in: dm("window"), has: []string{"  Alice: list the VMs\n  earshot: vm-1, vm-2\n"}},
	})
}
