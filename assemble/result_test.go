package assemble_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

func TestTheResultIsComplete(t *testing.T) {
	forInputs(t, func(t rapid.TB, _ dice, in assemble.Input, r assemble.Result) { checkResult(t, in, r) })
}

// checkResult checks everything in a result that can be checked by itself.
func checkResult(t rapid.TB, in assemble.Input, r assemble.Result) {
	t.Helper()
	sum := sha256.Sum256([]byte(prompt(r)))
	if got, want := r.Hash, hex.EncodeToString(sum[:]); got != want {
		t.Fatalf("hash %s, want %s", got, want)
	}
	if n := len(r.Messages); n == 0 || r.Messages[n-1].Role != earshot.User || !slices.Contains(r.Messages[n-1].Sections, assemble.Anchor) {
		t.Fatalf("the anchor does not stand last: %+v", r.Messages)
	}
	spans := map[assemble.SectionName]bool{}
	for i, m := range r.Messages {
		session := slices.Equal(m.Sections, []assemble.SectionName{assemble.SessionPart})
		if m.Role != earshot.User && m.Role != earshot.Assistant && !session {
			t.Fatalf("role %q", m.Role)
		}
		apart := i > 0 && in.Policy.Frame == assemble.Plain && (isWindow(m) || isWindow(r.Messages[i-1])) // a turn of its own
		if i > 0 && r.Messages[i-1].Role == m.Role && !session && !apart {
			t.Fatalf("two runs of %s in succession", m.Role)
		}
		for _, s := range m.Spans {
			spans[s.Section] = true
			if !slices.Contains(m.Sections, s.Section) {
				t.Fatalf("a span of %s in a message of %v", s.Section, m.Sections)
			}
		}
	}
	if media := r.Messages[len(r.Messages)-1].Media; len(media) > 0 {
		spans[assemble.Media] = true // files have tokens and no text
	}
	for name, n := range r.Tokens.Sections {
		if n > 0 && !spans[name] && name != assemble.Guide && name != assemble.Instructions {
			t.Fatalf("%d tokens of %s, which stands nowhere", n, name)
		}
	}
	if n := text(r, assemble.Anchor); n == "" {
		t.Fatal("no text is the anchor's")
	}
	for _, n := range r.Notes {
		if !slices.Contains([]string{"gap", "stale", "omitted"}, n.Kind) || n.Text == "" {
			t.Fatalf("note %+v", n)
		}
	}
	checkNext(t, in, r)
}

func checkNext(t rapid.TB, in assemble.Input, r assemble.Result) {
	t.Helper()
	if r.Next.Cursor < in.Conversation.Cursor || r.Next.Epoch < in.Conversation.Epoch || r.Next.Epoch > in.Conversation.Epoch+1 {
		t.Fatalf("next %+v after cursor %d, epoch %d", r.Next, in.Conversation.Cursor, in.Conversation.Epoch)
	}
	held := map[earshot.ShownRevision]bool{}
	for _, s := range in.Conversation.Shown {
		held[s] = true
	}
	seen := map[earshot.MessageID]bool{}
	for _, row := range r.Ledger {
		seen[row.ID] = row.Verdict == earshot.Full || row.Verdict == earshot.Cut || row.Section == string(assemble.News)
	}
	if isolatedAnchor(in) {
		if r.Next.Cursor != in.Conversation.Cursor || r.Next.Epoch != in.Conversation.Epoch || len(r.Next.Shown) > 0 || len(r.Next.Attached) > 0 || len(r.Messages) != 1 {
			t.Fatalf("an isolated turn has %+v", r.Next)
		}
		return
	}
	for _, m := range in.Messages { // what a message that is shown links to is quoted below it
		if seen[m.ID] || m.ID == in.Anchor {
			for _, l := range assemble.Permalinks(m.Text) {
				seen[l.Message] = true
			}
		}
	}
	twice := map[earshot.MessageID]bool{}
	for _, s := range r.Next.Shown {
		if !seen[s.ID] || twice[s.ID] || r.Next.Epoch == in.Conversation.Epoch && held[s] {
			t.Fatalf("next.shown has %+v, which is not shown, twice there, or old", s)
		}
		twice[s.ID] = true
	}
	for id, shown := range seen {
		if shown && r.Next.Epoch > in.Conversation.Epoch && !twice[id] {
			t.Fatalf("a new epoch does not list %s as shown", id)
		}
	}
	attached := 0
	for _, m := range r.Messages {
		if slices.Equal(m.Sections, []assemble.SectionName{assemble.SessionPart}) {
			continue // given in earlier turns
		}
		attached += len(m.Media)
	}
	if attached != len(r.Next.Attached) {
		t.Fatalf("%d files are attached, next.attached is %+v", attached, r.Next.Attached)
	}
}

func isolatedAnchor(in assemble.Input) bool {
	// The newest copy of the anchor decides; in these tests all copies agree.
	return slices.ContainsFunc(in.Messages, func(m earshot.Message) bool { return m.ID == in.Anchor && strings.Contains(m.Text, "🚫") })
}

func TestAnIsolatedTurnReadsNothingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := rapidDice{t}
		in, _ := hostileInput(d)
		for i := range in.Messages {
			if in.Messages[i].ID == in.Anchor {
				in.Messages[i].Text = strings.ReplaceAll(in.Messages[i].Text, "<@", "") + " 🚫"
			}
		}
		r, ok := mustTurn(t, in)
		if !ok {
			return
		}
		checkNext(t, in, r)
		alone := in
		alone.Messages = slices.DeleteFunc(slices.Clone(in.Messages), func(m earshot.Message) bool { return m.ID != in.Anchor })
		alone.Conversation, alone.Stored, alone.Coverage = assemble.ConversationState{}, nil, nil
		alone.Channel.Topic, alone.Channel.Name = "another", "another"
		got, ok := mustTurn(t, alone)
		if !ok {
			t.Fatal("alone it is an error")
		}
		samePrompt(t, "without everything else", got, r)
		if strings.Contains(r.Messages[0].Text, "🚫") {
			t.Fatalf("the sign is shown: %q", r.Messages[0].Text)
		}
	})
}

// isWindow reports whether a message of the prompt is the channel's window alone.
func isWindow(m assemble.Message) bool {
	return slices.Equal(m.Sections, []assemble.SectionName{assemble.Window})
}
