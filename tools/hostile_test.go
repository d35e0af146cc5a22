package tools_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/hostile"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools"
)

// A crowd is 52 channels of 4 workspaces with the same ids everywhere, each of
// whose texts, files and turns carries a word of its own.
type crowd struct {
	st     earshot.Store
	index  *tools.Index
	scopes []earshot.Scope
	turns  shelf
}

func newCrowd(t *testing.T) *crowd {
	c := &crowd{st: open(t), turns: shelf{}}
	c.index = tools.NewIndex(c.st, 0)
	for i, s := range hostile.Scopes() {
		c.fill(t, s, hostile.Canary(i))
		c.scopes = append(c.scopes, s)
	}
	return c
}

// fill says the same in every channel but for the word.
func (c *crowd) fill(t *testing.T, s earshot.Scope, word string) {
	t.Helper()
	var list []earshot.Message
	for i := range 10 {
		m := earshot.Message{ID: earshot.MessageID(fmt.Sprintf("m%d", i)), Time: began + earshot.Time(i)*second,
			Author: person(fmt.Sprintf("U%d", i%3), "Alice"), Text: fmt.Sprintf("%s says deploy %d", word, i), Files: file(fmt.Sprintf("F%d", i), word+" file.png")}
		if i > 0 && i < 6 {
			m.Thread = "m0"
		}
		list = append(list, m)
	}
	record(t, c.st, s, list...)
	c.turns[earshot.ConversationID{Agent: "U0BOT", Scope: s, Name: "m0"}] = []earshot.Turn{{Answer: earshot.Answer{Anchor: "m1", Replies: []earshot.MessageID{"m2"}}}}
	if err := c.st.PutCoverage(t.Context(), s, earshot.Coverage{Thread: "m0", To: began + second, State: earshot.Missing}); err != nil {
		t.Fatal(err)
	}
}

// set returns a channel's tools, with a loader that has every file of every
// channel. Every third is told of another channel's conversation.
func (c *crowd) set(n int, of int) *tools.Set {
	conversation := earshot.ConversationID{Agent: "U0BOT", Scope: c.scopes[of], Name: "m0"}
	load := func(_ context.Context, _ earshot.MessageID, f earshot.File) (llm.Media, error) {
		return llm.Media{Type: "image/png", Data: []byte(f.Name)}, nil
	}
	return tools.ForChannel(c.scopes[n], c.st, c.index, earshot.Position{}, &tools.Options{Media: load, Turns: c.turns, Conversation: conversation})
}

// TestHostileCallsReachNoOtherChannel asks with the same ids in 52 channels of
// 4 workspaces, each of whose texts carries a word of its own.
func TestHostileCallsReachNoOtherChannel(t *testing.T) {
	t.Parallel()
	calls := 100_000
	if testing.Short() {
		calls = 5_000
	}
	c := newCrowd(t)
	rng := rand.New(rand.NewPCG(3, 14))
	told := map[string]int{} // calls that found something, by tool
	for n := range calls {
		i := rng.IntN(len(c.scopes))
		of := i
		if rng.IntN(3) == 0 {
			of = rng.IntN(len(c.scopes))
		}
		canary := hostile.Canary(i) + " "
		tool, args := hostile.Call(rng, c.scopes[rng.IntN(len(c.scopes))])
		got, err := c.set(i, of).Call(t.Context(), tool, args)
		if err != nil {
			t.Fatalf("call %d: %s(%s): %v", n, tool, args, err)
		}
		all := got.JSON
		for _, m := range got.Media {
			all += string(m.Data) + " "
			told["file"]++
		}
		if strings.Count(all, "canary") != strings.Count(all, canary) {
			t.Fatalf("call %d in %v: %s(%s) says %s", n, c.scopes[i], tool, args, all)
		}
		if strings.Contains(all, canary) {
			told[tool]++
		}
	}
	for tool, least := range map[string]int{tools.ChannelContext: calls / 10, tools.ChannelMessages: calls / 20, tools.ConversationSearch: calls / 50, "file": calls / 100} {
		if told[tool] < least {
			t.Errorf("only %d of %d calls had something from %s", told[tool], calls, tool)
		}
	}
}

// everyCall asks for what is there, what is elsewhere and what is nowhere.
func everyCall() (list [][2]string) {
	for _, args := range []string{
		`{"intent":"deploy"}`, `{"intent":"secret merger"}`, `{"intent":"deploy secret","max_results":50}`, `{"intent":"deploy","authors":["Alice"]}`,
		`{"intent":"merger","authors":["Mallory"]}`, `{"intent":"deploy","since":"2026-03-01"}`, `{"intent":"deploy","since":"2027-03-01"}`, `{"intent":"???"}`,
	} {
		list = append(list, [2]string{tools.ChannelContext, args})
	}
	for _, id := range []string{"m0", "m3", "m9", "s1", "s2", "nowhere"} {
		list = append(list, [2]string{tools.ChannelMessages, `{"thread_id":"` + id + `"}`}, [2]string{tools.ChannelMessages, `{"message_ids":["` + id + `"]}`},
			[2]string{tools.ChannelMessages, `{"message_ids":["m1","` + id + `"]}`})
	}
	for _, id := range []string{"F0", "F3", "SF1", "nowhere"} {
		list = append(list, [2]string{tools.ChannelMessages, `{"media_artifact_id":"` + id + `"}`})
	}
	for _, q := range []string{"deploy", "secret merger", "???"} {
		list = append(list, [2]string{tools.ConversationSearch, `{"query":"` + q + `"}`})
	}
	return list
}

// Two worlds differ in all that is outside the channel: other channels have
// other words, threads, files, turns and gaps, and the same ids. No byte of an
// answer tells in which of them it was given.
func TestWorldsThatDifferElsewhereGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	small := &crowd{st: open(t), turns: shelf{}, scopes: []earshot.Scope{general}}
	small.index = tools.NewIndex(small.st, 0)
	small.fill(t, general, "here")
	large := &crowd{st: open(t), turns: shelf{}, scopes: []earshot.Scope{general}}
	large.index = tools.NewIndex(large.st, 0)
	for _, other := range []earshot.Scope{{Platform: earshot.Slack, Workspace: "T1", Channel: "C2"}, {Platform: earshot.Slack, Workspace: "T2", Channel: "C1"}, {Platform: earshot.Discord, Workspace: "T1", Channel: "C1"}} {
		large.fill(t, other, "secret merger")
		record(t, large.st, other,
			earshot.Message{ID: "s1", Time: began, Author: person("U1", "Mallory"), Text: "the secret merger", Files: file("SF1", "merger.png")},
			earshot.Message{ID: "s2", Time: began + 1, Author: person("U9", "Mallory"), Text: "deploy the secret merger", Thread: "m0", Files: file("F3", "merger.png")})
		if err := large.st.PutCoverage(t.Context(), other, earshot.Coverage{To: began + 60*second, State: earshot.Missing}); err != nil {
			t.Fatal(err)
		}
	}
	large.fill(t, general, "here")
	one, two := small.set(0, 0), large.set(0, 0)
	found := 0
	for _, c := range everyCall() {
		x, y := call(t, one, c[0], c[1]), call(t, two, c[0], c[1])
		if diff := cmp.Diff(x, y); diff != "" {
			t.Errorf("%s(%s): %s", c[0], c[1], diff)
		}
		if !x.Failed {
			found++
		}
	}
	if found < 15 {
		t.Errorf("only %d calls found something", found)
	}
}

// What is there and must not be seen, because it is said after the anchor or
// was deleted, is as if it had never been.
func TestWhatMustNotBeSeenGivesTheBytesOfWhatIsNotThere(t *testing.T) {
	t.Parallel()
	at := earshot.Position{Time: began + 9*second, ID: "m9"}
	build := func(more bool) *tools.Set {
		c := &crowd{st: open(t), turns: shelf{}, scopes: []earshot.Scope{general}}
		c.fill(t, general, "here")
		id := earshot.ConversationID{Agent: "U0BOT", Scope: general, Name: "m0"}
		if more {
			record(t, c.st, general,
				earshot.Message{ID: "s1", Time: at.Time + 1, Author: person("U8", "Mallory"), Text: "the secret merger, a deploy", Files: file("SF1", "merger.png")},
				earshot.Message{ID: "s3", Time: at.Time + 2, Author: person("U8", "Mallory"), Text: "deploy", Thread: "m0", Files: file("SF2", "merger.png")},
				earshot.Message{ID: "s2", Time: began, Deleted: true})
			if err := c.st.PutCoverage(t.Context(), general, earshot.Coverage{From: at.Time + 1, State: earshot.Missing}, earshot.Coverage{Thread: "s1", State: earshot.Missing}, earshot.Coverage{Thread: "s2", State: earshot.Stale}); err != nil {
				t.Fatal(err)
			}
			c.turns[id] = append(c.turns[id], earshot.Turn{Number: 1, Answer: earshot.Answer{Anchor: "s1", Replies: []earshot.MessageID{"s3"}}})
		}
		load := func(_ context.Context, _ earshot.MessageID, f earshot.File) (llm.Media, error) {
			return llm.Media{Type: "image/png", Data: []byte(f.Name)}, nil
		}
		return tools.ForChannel(general, c.st, tools.NewIndex(c.st, 0), at, &tools.Options{Media: load, Turns: c.turns, Conversation: id})
	}
	one, two := build(false), build(true)
	for _, c := range append(everyCall(), [2]string{tools.ChannelMessages, `{"media_artifact_id":"SF2"}`}) {
		x, y := call(t, one, c[0], c[1]), call(t, two, c[0], c[1])
		if diff := cmp.Diff(x.JSON, y.JSON); diff != "" {
			t.Errorf("%s(%s): %s", c[0], c[1], diff)
		}
	}
}
