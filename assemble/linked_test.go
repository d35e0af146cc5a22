package assemble_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// TestAPastedPermalinkBringsItsMessage: people ask about a message by pasting its
// address, which says nothing to a model.
func TestAPastedPermalinkBringsItsMessage(t *testing.T) {
	t.Parallel()
	const old, other = "<https://acme.slack.com/archives/C1/p1772355600000100|link>", "https://acme.slack.com/archives/C9/p1772355600000100"
	linked := func(policy, text string, change ...with) assemble.Input {
		m := said("1772355600.000100", "Carol", "the port is 9000\nnot 8000", append([]with{after(-86400)}, change...)...)
		return where(asking(policy, m, said("r", "Alice", "morning"), said("q", "Bob", "<@U0BOT> is "+text+" still so?", in("r"))))
	}
	shows := func(want bool) func(*testing.T, assemble.Result) {
		return func(t *testing.T, r assemble.Result) {
			t.Helper()
			if got := slices.ContainsFunc(r.Next.Shown, func(s earshot.ShownRevision) bool { return s.ID == "1772355600.000100" }); got != want {
				t.Errorf("next.shown has what is quoted: %t, want %t", got, want)
			}
		}
	}
	checkRules(t, []rule{
		{name: "a message of the channel", in: linked("standard", old), has: []string{"still so?\n+ link to Sun 1 Mar 09:00 Carol:\n    the port is 9000\n    not 8000"}, also: shows(true)},
		{name: "in a text form", in: linked("delta", old), has: []string{"still so?\n  [link to Sun 1 Mar 09:00 Carol] the port is 9000\n  not 8000"}, also: shows(true)},
		{name: "of another channel", in: linked("standard", other), has: []string{"still so?\n+ link to a message of a channel that is not this one"}, lacks: []string{"link to Sun"}},
		{name: "of another channel, of which nothing is known", in: linked("delta", "https://acme.slack.com/archives/C9/p1772355699000100"), has: []string{"[link to a message of a channel that is not this one]"}, also: shows(false)},
		{name: "a deleted one", in: linked("standard", old, deleted), has: []string{"still so?\n+ link to a deleted message"}, lacks: []string{"9000"}, also: shows(false)},
		{name: "one that is not loaded", in: linked("standard", "https://acme.slack.com/archives/C1/p1772355699000100"), has: []string{"still so?\n+ link to a message that is not loaded"}},
		{name: "a page", in: linked("standard", "https://example.com/archives"), lacks: []string{"link to"}},
		{
			name: "what the platform quotes itself", lacks: []string{"link to"},
			in: where(linked("standard", old), func(in *assemble.Input) {
				in.Messages[2].Shared = []earshot.SharedContent{{Kind: earshot.Forward, Author: "Carol", Text: in.Messages[0].Text}}
			}),
		},
		{
			name: "a question that is answered alone", in: asking("standard", said("1772355600.000100", "Carol", "the port is 9000", after(-86400)), said("q", "Bob", "🚫 is "+old+" so?")), lacks: []string{"9000", "link to a", "link to S"},
		},
		{
			name: "a long one is cut", in: linked("standard", old, func(m *earshot.Message) { m.Text = strings.Repeat("the port is 9000 ", 100) }), has: []string{" characters]"},
		},
	})
}

// TestADeletionOfWhatAPermalinkQuotedEndsTheSession: the quoted text leaves the session
// as every other text does.
func TestADeletionOfWhatAPermalinkQuotedEndsTheSession(t *testing.T) {
	t.Parallel()
	in := where(asking("delta", said("p", "Carol", "the port is 9000", deleted, seq(60)), said("q", "Bob", "and now?", after(100), seq(50))),
		recorded(4, "a1", "own", "Current question: is it?\n[link to Carol] the port is 9000", "Yes.", "p"))
	r, err := assemble.Turn(in)
	if err != nil || r.Next.Epoch != 1 {
		t.Fatalf("epoch %d, %v; want a new one", r.Next.Epoch, err)
	}
}
