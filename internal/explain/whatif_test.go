package explain_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/store"
)

// busy has a thread of which a turn with the service's budget shows only the end.
func busy(t *testing.T) (*room, earshot.TurnID) {
	t.Helper()
	r := newRoom(t)
	r.say("x0", "elsewhere", "")
	r.say("m0", "staging is down", "")
	for n := range 40 {
		r.say(fmt.Sprintf("a%02d", n), strings.Repeat(fmt.Sprintf("log line %d ", n), 60), "m0")
	}
	r.say("q1", "<@U0BOT> why?", "m0")
	return r, r.answer("q1", "The disk is full.")
}

// rowsOf writes rows as message, verdict before and verdict after.
func rowsOf(c explain.Comparison) (list []string) {
	for _, x := range c.Rows {
		list = append(list, fmt.Sprint(x.Message.ID, " ", x.Was.Verdict, " ", x.Now.Verdict))
	}
	return list
}

func TestABudgetMovesMessages(t *testing.T) {
	t.Parallel()
	r, turn := busy(t)
	less, err := r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: turn, Budget: 1000})
	r.must(err)
	more, err := r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: turn, Budget: 30_000})
	r.must(err)
	moves := func(c explain.Comparison, was, now earshot.Verdict) (n int) {
		for _, x := range c.Rows {
			if x.Was.Verdict == was && x.Now.Verdict == now {
				n++
			}
		}
		return n
	}
	if moves(less, earshot.Full, earshot.Out)+moves(less, earshot.Cut, earshot.Out) == 0 || less.Same || less.Now.Result.Tokens.Total >= less.Was.Result.Tokens.Total {
		t.Errorf("a smaller budget: %v", rowsOf(less))
	}
	if moves(more, earshot.Cut, earshot.Full)+moves(more, earshot.Out, earshot.Full) == 0 || more.Same || more.Now.Result.Tokens.Budget != 30_000 || more.Now.Input.Budget.Session != 120_000 {
		t.Errorf("a larger budget: %v", rowsOf(more))
	}
	for _, c := range []explain.Comparison{less, more} {
		_, was, err := r.reader.Explain(t.Context(), everyone, turn)
		r.must(err)
		if c.Was.Result.Hash != was.Result.Hash || c.Since || len(c.Now.Segments) == 0 {
			t.Errorf("was %.8s, want %.8s; since %v", c.Was.Result.Hash, was.Result.Hash, c.Since)
		}
		for i := 1; i < len(c.Rows); i++ {
			if c.Rows[i-1].Message.Position().Compare(c.Rows[i].Message.Position()) >= 0 {
				t.Errorf("rows are not in order: %v", rowsOf(c))
			}
		}
	}
	// The recorded turn is as it was.
	again, err := r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: turn})
	r.must(err)
	if !again.Same || len(again.Rows) != 0 || again.Since {
		t.Errorf("nothing changed: %v", rowsOf(again))
	}
}

// TestNamesStayWhereABudgetChanges: a prompt whose people go by names that somebody told
// has the same names with another budget.
func TestNamesStayWhereABudgetChanges(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.say("m0", "ask <@U9> or <@U8|eight>", "")
	r.say("q1", "<@U0BOT> why?", "")
	r.must(r.store.PutAuthors(t.Context(), channel.Platform, channel.Workspace,
		earshot.Author{ID: alice.ID, Name: "Alicia", AsOf: 1}, earshot.Author{ID: "U9", Name: "Nina", AsOf: 1}, earshot.Author{ID: "U8", Name: "Otto", AsOf: 1}))
	turn := r.answer("q1", "no")
	c, err := r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: turn, Budget: 2000})
	r.must(err)
	was, now := c.Was.Result.Messages[0].Text, c.Now.Result.Messages[0].Text
	if was != now || !strings.Contains(now, "Alicia: ask @Nina or @Otto") || c.Since {
		t.Errorf("since %v; was %s\nnow %s", c.Since, was, now)
	}
}

func TestALimitAndAPolicyMoveMessages(t *testing.T) {
	t.Parallel()
	r, turn := busy(t)
	c, err := r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: turn, Limits: map[assemble.SectionName]map[string]int{
		assemble.Thread: {"messages": 2}, assemble.Window: {"messages": 1},
	}})
	r.must(err)
	in := []string{}
	for _, x := range c.Now.Candidates {
		if x.Row.Verdict != earshot.Out {
			in = append(in, string(x.Message.ID))
		}
	}
	if diff := cmp.Diff([]string{"x0", "m0", "a39", "q1"}, in); diff != "" {
		t.Errorf("two messages of the thread, one of the channel; -want +got\n%s", diff)
	}
	if p := c.Now.Input.Policy; p.Name != "standard" || c.Was.Input.Policy.First[5].Messages == 2 {
		t.Errorf("the policy of the turn has changed too: %+v", c.Was.Input.Policy)
	}
	c, err = r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: turn, Policy: "thread"})
	r.must(err)
	if c.Now.Input.Policy.Name != "thread" || c.Same || !strings.Contains(c.Now.Result.Messages[0].Text, "<slack_thread_context>") {
		t.Errorf("another policy: %+v", c.Now.Result.Messages)
	}
	file := "name: mine\nframe: brackets\nfirst:\n  - section: guide\n  - section: thread\n    messages: 3\n  - section: anchor\n"
	c, err = r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: turn, Policy: file, Limits: map[assemble.SectionName]map[string]int{assemble.Thread: {"messages": 2}}})
	r.must(err)
	if diff := cmp.Diff([]string{"0 m0", "0 a39", "0 q1"}, shows(c.Now)); diff != "" || c.Now.Input.Policy.Name != "mine" {
		t.Errorf("a policy's text with a limit; -want +got\n%s", diff)
	}
	at := explain.PreviewRequest{Channel: visible.Place{Channel: "C1"}, Message: "a39"}
	c, err = r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{At: at, Policy: "transcript"})
	r.must(err)
	if c.Was.Input.Policy.Name != "standard" || c.Now.Input.Policy.Name != "transcript" || c.Was.Anchor.ID != "a39" {
		t.Errorf("of a message: %s and %s", c.Was.Input.Policy.Name, c.Now.Input.Policy.Name)
	}
}

func TestAWhatIfSaysThatTheChannelHasChangedSince(t *testing.T) {
	t.Parallel()
	r, turn := busy(t)
	_, err := r.store.Record(t.Context(), channel.Scope(), earshot.Message{ID: "a39", Time: begin + 42*60e6, Author: alice, Text: "edited", Thread: "m0", Edited: begin + 1000*60e6})
	r.must(err)
	c, err := r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: turn, Budget: 7999})
	r.must(err)
	if !c.Since {
		t.Error("an edit since is not told")
	}
}

func TestWhatIfRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	r, turn := busy(t)
	limit := func(section assemble.SectionName, name string, n int) map[assemble.SectionName]map[string]int {
		return map[assemble.SectionName]map[string]int{section: {name: n}}
	}
	at := func(channel, message string) explain.PreviewRequest {
		return explain.PreviewRequest{Channel: visible.Place{Channel: earshot.ChannelID(channel)}, Message: earshot.MessageID(message)}
	}
	for name, c := range map[string]struct {
		of   explain.WhatIf
		kind visible.Kind
		says string
	}{
		"a turn that is not there":     {explain.WhatIf{Turn: turn + 1000}, visible.NotFound, ""},
		"a channel that is not there":  {explain.WhatIf{At: at("C9", "q1")}, visible.NotFound, ""},
		"a message that is not there":  {explain.WhatIf{At: at("C1", "nowhere")}, visible.NotFound, ""},
		"no message":                   {explain.WhatIf{At: at("C1", "")}, visible.Invalid, "message is required"},
		"an unknown policy":            {explain.WhatIf{Turn: turn, Policy: "fancy"}, visible.Invalid, "built-in ones are standard"},
		"a policy with an unknown key": {explain.WhatIf{Turn: turn, Policy: "name: x\nfrist: []\n"}, visible.Invalid, "frist"},
		"a policy without an anchor":   {explain.WhatIf{Turn: turn, Policy: "name: x\nfirst:\n  - section: guide\n"}, visible.Invalid, "first: the last section must be anchor"},
		"a policy that is a bomb":      {explain.WhatIf{Turn: turn, Policy: strings.Repeat("[", 1000) + ":"}, visible.Invalid, "brackets"},
		"a policy of a megabyte":       {explain.WhatIf{Turn: turn, Policy: strings.Repeat("name: x\n", 1<<17)}, visible.Invalid, "KiB"},
		"a negative budget":            {explain.WhatIf{Turn: turn, Budget: -1}, visible.Invalid, "budget must be 1 to 32000"},
		"a budget above all":           {explain.WhatIf{Turn: turn, Budget: 32_001}, visible.Invalid, "budget must be 1 to 32000"},
		"a negative session":           {explain.WhatIf{Turn: turn, Session: -1}, visible.Invalid, "session must be"},
		"a negative limit":             {explain.WhatIf{Turn: turn, Limits: limit(assemble.Thread, "messages", -1)}, visible.Invalid, "thread.messages: must be 0 to"},
		"a limit above all":            {explain.WhatIf{Turn: turn, Limits: limit(assemble.SummaryPart, "share", 101)}, visible.Invalid, "summary.share: must be 0 to 100"},
		"an unknown limit":             {explain.WhatIf{Turn: turn, Limits: limit(assemble.Thread, "colour", 1)}, visible.Invalid, "no such section or limit"},
		"an unknown section":           {explain.WhatIf{Turn: turn, Limits: limit("cellar", "messages", 1)}, visible.Invalid, "no such section or limit"},
		"a limit that it has not":      {explain.WhatIf{Turn: turn, Limits: limit(assemble.Thread, "look", 1)}, visible.Invalid, "thread.look: the section has no such limit"},
		"a section that it has not":    {explain.WhatIf{Turn: turn, Limits: limit(assemble.Transcript, "messages", 1)}, visible.Invalid, "transcript.messages: the policy does not have this section"},
	} {
		_, err := r.reader.WhatIf(t.Context(), everyone, c.of)
		refusal, ok := visible.AsRefusal(err)
		if !ok || refusal.Kind != c.kind || !strings.Contains(refusal.Error(), c.says) {
			t.Errorf("%s: %v, want %s %q", name, err, c.kind, c.says)
		}
	}
}

// TestAWhatIfRecallsWhatTheTurnDid has a channel in which only the search finds what
// the question is about.
func TestAWhatIfRecallsWhatTheTurnDid(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	counted := &reading{Store: st}
	r := roomOf(t, counted)
	r.say("old", "the quarantine certificate of the ferret expired, renew it with certbot", "")
	for n := range 150 {
		r.say(fmt.Sprintf("a%03d", n), fmt.Sprint("chatter about lunch ", n), "")
	}
	r.say("m0", "<@U0BOT> what about the quarantine certificate of the ferret?", "")
	first := r.answer("m0", "Renew it.")
	r.say("q2", "<@U0BOT> and now?", "m0")
	second := r.answer("q2", "Wait.")
	recalled := func(x explain.Explanation) bool {
		return slices.ContainsFunc(x.Candidates, func(c explain.Candidate) bool {
			return c.Message.ID == "old" && c.Row.Section == "recall" && c.Row.Verdict == earshot.Full
		})
	}
	counted.whole = 0
	c, err := r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: first, Budget: 4000})
	r.must(err)
	if !recalled(c.Was) || !recalled(c.Now) || c.Since || counted.whole > 0 {
		t.Errorf("recalled %v, then %v; since %v, searched %d times", recalled(c.Was), recalled(c.Now), c.Since, counted.whole)
	}
	c, err = r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: second, Session: 1})
	r.must(err)
	if recalled(c.Was) || !recalled(c.Now) || len(c.Now.Before) != 0 {
		t.Errorf("the question in a session is not searched for, and without one it is: recalled %v, then %v", recalled(c.Was), recalled(c.Now))
	}
	c, err = r.reader.WhatIf(t.Context(), everyone, explain.WhatIf{Turn: first, Policy: "window"})
	r.must(err)
	if recalled(c.Now) {
		t.Error("a policy without recall recalls")
	}
}
