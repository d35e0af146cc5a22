package gather_test

import (
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/archive"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

var lawPrompts = flag.Int("laws.prompts", 500, "how many prompts of each chat the laws are checked on")

// Every law that needs no second model holds for thousands of messages of real
// chats, under every policy.
func TestTheLawsHoldForRealMessages(t *testing.T) {
	t.Parallel()
	root := os.Getenv("EARSHOT_TEST_DATA")
	if root == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("EARSHOT_TEST_DATA is not set")
		}
		t.Skip("EARSHOT_TEST_DATA is not set: no real chat was read")
	}
	paths, err := filepath.Glob(filepath.Join(root, "*.messages.jsonl.gz"))
	if err != nil || len(paths) < 6 {
		t.Fatalf("found %d chats, %v", len(paths), err)
	}
	for _, p := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(p), ".messages.jsonl.gz"), func(t *testing.T) {
			t.Parallel()
			st := open(t, "memory:")
			if _, err := archive.ImportJSONL(t.Context(), st, p, nil); err != nil {
				t.Fatal(err)
			}
			channels, err := st.Channels(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			checked := 0
			for _, c := range channels {
				for i, id := range someOf(t, st, c, max(5, *lawPrompts/len(channels))) {
					policy := assemble.Policies()[i%6]
					budget := assemble.DefaultBudget()
					budget.Tokens = []int{8000, 300, 40}[i%3]
					in, res, err := gather.Turn(t.Context(), st, gather.Request{Channel: c.Channel, Anchor: id, Identity: self, Policy: policy, Budget: budget, Counter: counter(t)})
					var unusable *assemble.InputError
					if errors.As(err, &unusable) {
						continue // a blank message asks nothing
					}
					if err != nil {
						t.Fatalf("%s %s under %s: %v", c.ID, id, policy.Name, err)
					}
					checkLaws(t, in, res)
					checked++
				}
			}
			t.Logf("%d contexts in %d channels", checked, len(channels))
			if checked < 300 {
				t.Errorf("got %d contexts, want 300 at least", checked)
			}
		})
	}
}

// someOf returns about most ids of a channel, evenly spread.
func someOf(t *testing.T, st earshot.Store, c earshot.ChannelInfo, most int) []earshot.MessageID {
	t.Helper()
	step := max(1, c.Messages/most)
	var ids []earshot.MessageID
	n := 0
	for m, err := range st.Range(t.Context(), c.Scope(), earshot.Whole(), earshot.Position{}, earshot.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%step == 0 {
			ids = append(ids, m.ID)
		}
	}
	return ids
}

func checkLaws(t *testing.T, in assemble.Input, res assemble.Result) {
	t.Helper()
	at := string(in.Channel.ID) + " " + string(in.Anchor) + " under " + in.Policy.Name
	turned := in
	turned.Messages = slices.Clone(in.Messages)
	slices.Reverse(turned.Messages)
	turned.Messages = append(turned.Messages, in.Messages...)
	again, err := assemble.Turn(turned)
	if err != nil || again.Hash != res.Hash {
		t.Errorf("%s: turned round and doubled it is another prompt: %v", at, err)
	}
	sum, added := 0, 0
	exempt := []assemble.SectionName{assemble.Guide, assemble.Instructions, assemble.Place, assemble.Anchor}
	for _, name := range slices.Sorted(maps.Keys(res.Tokens.Sections)) {
		n := res.Tokens.Sections[name]
		sum += n
		if !slices.Contains(exempt, name) {
			added += n
		}
	}
	seen := map[earshot.MessageID]bool{}
	var anchor *earshot.Message
	for i := range in.Messages {
		if in.Messages[i].ID == in.Anchor {
			anchor = &in.Messages[i]
		}
	}
	for _, row := range res.Ledger {
		if seen[row.ID] {
			t.Errorf("%s: two rows for %s", at, row.ID)
		}
		seen[row.ID] = true
		if row.ID == anchor.Root() && row.ID != in.Anchor {
			added -= row.Tokens + 60 // the root is whole, with the lines that frame it
		}
		if row.ID == in.Anchor && row.Verdict != earshot.Full {
			t.Errorf("%s: the anchor is %s", at, row.Verdict)
		}
	}
	if len(seen) != len(in.Messages) {
		t.Errorf("%s: %d rows for %d messages", at, len(seen), len(in.Messages))
	}
	if sum != res.Tokens.Total || added > in.Budget.Tokens {
		t.Errorf("%s: sections sum to %d of %d, %d are added with a budget of %d", at, sum, res.Tokens.Total, added, in.Budget.Tokens)
	}
	for _, m := range res.Messages {
		if !utf8.ValidString(m.Text) || strings.ContainsAny(m.Text, "\x00\x1b\u200b\u202e") {
			t.Errorf("%s: something that cannot be seen stands in the prompt", at)
		}
	}
}
