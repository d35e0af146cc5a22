package gather_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// TestAWindowOfTheStoreSaysWhatItLeavesOut has a channel of 300 messages, and a root
// with replies that only the store can count.
func TestAWindowOfTheStoreSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	const start = earshot.Time(1_772_442_000_000_000)
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	var list []earshot.Message
	add := func(id, text, thread string) {
		list = append(list, earshot.Message{ID: earshot.MessageID(id), Time: start + earshot.Time(len(list))*1_000_000, Author: alice, Text: text, Thread: earshot.MessageID(thread)})
	}
	for i := range 269 {
		add(fmt.Sprintf("a%03d", i), "old news", "")
	}
	add("r", "who broke staging?", "")
	for i := range 30 {
		add(fmt.Sprintf("r%03d", i), "not me", "r")
	}
	add("q", "<@U0BOT> who was it?", "")
	st := open(t, "memory:")
	record(t, st, general.Scope(), list...)
	p, _ := assemble.ByName("window")
	for i := range p.First {
		if p.First[i].Section == assemble.Window {
			p.First[i].Minutes = 0
		}
	}
	_, res, err := gather.Turn(t.Context(), st, gather.Request{Channel: general, Anchor: "q", Identity: self, Counter: counter(t), Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := promptOf(res), "[280 earlier messages were left out]"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
	list = []earshot.Message{list[269], list[270], list[300]} // the root, one reply and the question, of a thread of which the platform tells
	list[0].Replies = &earshot.Activity{Count: 12, Last: list[1].Time}
	st = open(t, "memory:")
	record(t, st, general.Scope(), list...)
	if _, res, err = gather.Turn(t.Context(), st, gather.Request{Channel: general, Anchor: "q", Identity: self, Counter: counter(t), Policy: p}); err != nil {
		t.Fatal(err)
	}
	if got, want := promptOf(res), "thread (Alice), 11 replies not shown, thread r:\n"; !strings.Contains(got, want) {
		t.Errorf("no %q in\n%s", want, got)
	}
}
