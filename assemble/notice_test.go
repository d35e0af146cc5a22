package assemble_test

import (
	"testing"

	"github.com/earshot-ai/earshot/assemble"
	sentences "github.com/earshot-ai/earshot/internal/words"
)

var english sentences.Table

// TestAnApologyIsNoConversation: what the bot says where it has no answer is not told
// to the model as an answer of its own, nor as what was said since.
func TestAnApologyIsNoConversation(t *testing.T) {
	t.Parallel()
	asks := func(policy string) assemble.Input {
		return asking(policy, said("r", "Alice", "<@U0BOT> list the VMs"), said("s", "earshot", english.Say(sentences.Failed), in("r")), said("q", "Alice", "<@U0BOT> and now?", in("r")))
	}
	own := func(in assemble.Input) assemble.Input {
		in.Notices = []string{"Nope."}
		return in
	}
	const out = "s out system"
	checkRules(t, []rule{
		{name: "transcript", in: asks("transcript"), is: "Alice: @earshot list the VMs\n\nAlice: @earshot and now?", ledger: out},
		{name: "thread", in: asks("thread"), lacks: []string{"Sorry"}, ledger: out},
		{name: "delta", in: asks("delta"), lacks: []string{"Sorry"}, ledger: out},
		{name: "standard", in: asks("standard"), lacks: []string{"Sorry"}, ledger: out},
		{name: "window", in: asks("window"), lacks: []string{"Sorry"}, ledger: out},
		{name: "structured", in: asks("structured"), lacks: []string{"Sorry"}, ledger: out},
		{name: "what was said since", in: again("delta", said("s", "earshot", english.Say(sentences.Down), in("r"), after(90), seq(40)), said("q", "Bob", "and now?", in("r"), after(100), seq(50))), is: "and now?", ledger: out},
		{
			name: "at the top level, the answer in the thread is not the apology",
			in:   asking("transcript", said("1", "Alice", "<@U0BOT> list the VMs"), said("2", "earshot", english.Say(sentences.TooLong), in("1")), said("3", "earshot", "vm-1", in("1")), said("4", "Alice", "<@U0BOT> are they running?")),
			is:   "Alice: @earshot list the VMs\n<<next>>\nvm-1\n<<next>>\nAlice: @earshot are they running?",
		},
		{
			name: "a question about it", in: asking("window", said("1", "Alice", "list the VMs"), said("2", "earshot", english.Say(sentences.Failed), to("1")), said("3", "Alice", "what went wrong?", to("2"))),
			is: "Alice: list the VMs\n<<next>>\n" + english.Say(sentences.Failed) + "\n<<next>>\nAlice: what went wrong?",
		},
		{
			name: "in another language", in: asking("delta", said("r", "Alice", "hi"), said("s", "earshot", sentences.In("de", nil).Say(sentences.Failed), in("r")), said("q", "Alice", "hm", in("r"))),
			lacks: []string{"Entschuldigung"}, ledger: out,
		},
		{name: "in the operator's own words", in: own(asking("delta", said("r", "Alice", "hi"), said("s", "earshot", "Nope.", in("r")), said("q", "Alice", "hm", in("r")))), lacks: []string{"Nope"}, ledger: out},
		{name: "somebody else's words", in: asking("delta", said("r", "Alice", "hi"), said("s", "Bob", english.Say(sentences.Failed), in("r")), said("q", "Alice", "hm", in("r"))), has: []string{"Bob: " + english.Say(sentences.Failed)}},
	})
}
