package summarize_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot/summarize"
)

// TestFactsOutliveAThousandTurns plants facts early in a long conversation. Later
// summaries, each made of the one before, still have them, and none is longer than
// it may be.
func TestFactsOutliveAThousandTurns(t *testing.T) {
	t.Parallel()
	facts := map[int][2]string{
		5:   {"we decided that the archive moves to the Rotterdam cellar", "Rotterdam cellar"},
		200: {"the badge printer's passphrase hint is marmalade-zeppelin", "marmalade-zeppelin"},
		600: {"invoice 88213 was paid twice by the Lisbon office", "88213"},
	}
	words := strings.Fields("deploy build branch review merge rollback cluster metric alert dashboard latency queue worker cache schema index table column token session header payload retry timeout")
	x := newTalk(t, open(t, "memory:"), "root")
	s := summarize.New(options(x.Store, nil))
	longest, made := 0, 0
	for n := range 1000 {
		question := fmt.Sprintf("is the %s of the %s done, run %d?", words[n%len(words)], words[n*7%len(words)], n)
		if f, ok := facts[n]; ok {
			question = f[0]
		}
		x.turn(question, fmt.Sprintf("Yes, the %s is done.", words[n%len(words)]))
		before := x.summary().Turns
		check(t, s.All(t.Context()))
		if got := x.summary(); got.Turns != before {
			made++
			longest = max(longest, count().Count(got.Text))
		}
	}
	got := x.summary()
	for n, f := range facts {
		if !strings.Contains(got.Text, f[1]) {
			t.Errorf("the fact of turn %d is lost in\n%s", n, got.Text)
		}
	}
	if got.Turns < 960 || longest > summarize.DefaultTokens || made > 60 {
		t.Errorf("%d turns are covered after %d summaries, the longest of %d tokens", got.Turns, made, longest)
	}
}
