package assemble_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// at places a message at a time, in UTC.
func at(when string) with {
	return func(m *earshot.Message) { m.Time = moment(when) }
}

// changed says that a message's text was edited at a time.
func changed(when string) with {
	return func(m *earshot.Message) { m.Edited = moment(when) }
}

// full gives an author another name on the platform and a full one.
func full(name, whole string) with {
	return func(m *earshot.Message) { m.Author.Name, m.Author.FullName = name, whole }
}

func quotes(s ...earshot.SharedContent) with {
	return func(m *earshot.Message) { m.Shared = append(m.Shared, s...) }
}

func reacted(name string, count int) with {
	return func(m *earshot.Message) {
		m.Reactions = append(m.Reactions, earshot.Reaction{Name: name, Count: count})
	}
}

func holds(f earshot.File) with {
	return func(m *earshot.Message) { m.Files = append(m.Files, f) }
}

// withLimits returns a policy with other limits of one section.
func withLimits(p assemble.Policy, s assemble.Section) assemble.Policy {
	p.First, p.Later = slices.Clone(p.First), slices.Clone(p.Later)
	for _, list := range [][]assemble.Section{p.First, p.Later} {
		for i := range list {
			if list[i].Section == s.Section {
				list[i] = s
			}
		}
	}
	return p
}

func moment(when string) earshot.Time {
	t, err := time.Parse("2006-01-02 15:04", when)
	if err != nil {
		panic(err)
	}
	return earshot.TimeOf(t)
}

// deploys is the channel of the specification's example, up to its first
// question or, with the later revisions, up to the second.
func deploys(later bool) []earshot.Message {
	const release, thread = "1772441700.000100", "1772442120.000100"
	hangs := said("1772442180.000100", "Bob", "the migration hangs\nhere is the log", in(thread), at("2026-03-02 09:03"), changed("2026-03-02 09:04"),
		holds(earshot.File{ID: "F1", Type: "text/plain", Size: 12_000, Name: "migrate.log"}))
	list := []earshot.Message{
		said("1770887520.000100", "Alice", "workers hang when the lock table is full", at("2026-02-12 09:12")),
		said("1770888000.000100", "Bob", "then restart import first, web last", in("1770887520.000100"), at("2026-02-12 09:20")),
		said("1772210400.000100", "Carol", "the office is closed on Friday", at("2026-02-27 16:40")),
		said("1772210460.000100", "Carol", "keys are with the porter", at("2026-02-27 16:41")),
		said(release, "DanaF", "release notes for 1.4?", at("2026-03-02 08:55"), full("Dana", "Dana Frei")),
		said("1772441880.000100", "DanaW", "in the wiki", in(release), at("2026-03-02 08:58"), full("Dana", "Dana Wolf")),
		said("1772442060.000100", "earshot", "the last green build is 811", at("2026-03-02 09:01")),
		said(thread, "Alice", "staging is down since the 1.4 deploy", at("2026-03-02 09:02")),
		hangs,
		said("1772442300.000100", "CI", "build 812 green", in(thread), at("2026-03-02 09:05")),
		said("1772442360.000100", "Carol", "from the vendor", in(thread), at("2026-03-02 09:06"), reacted("eyes", 2),
			quotes(earshot.SharedContent{Kind: earshot.Forward, Author: "Erin Vogt", Place: "#support", Time: moment("2026-03-01 17:20"), Text: "we see it in our region too"})),
		said("1772442420.000100", "Alice", "<@U0BOT> are they running?", in(thread), at("2026-03-02 09:07")),
	}
	if later {
		b := &list[8]
		b.Text, b.Edited, b.Seq, b.Files = "the migration hung, now done", moment("2026-03-02 09:15"), 90, nil
		list = append(list,
			said("1772442480.000100", "earshot", "Yes, all four.", in(thread), at("2026-03-02 09:08")),
			said("1772443200.000100", "Carol", "I restarted the workers", in(thread), at("2026-03-02 09:20")),
			said("1772443320.000100", "Bob", "<@U0BOT> and now?", in(thread), at("2026-03-02 09:22")))
	}
	return list
}

const exampleFirst = `[a Slack channel. You are earshot here.]
+ name: #deploys
+ topic: releases and incidents

[earlier in this channel, found for this question]
[Thu 12 Feb]
09:12 Alice: workers hang when the lock table is full
↳ 09:20 Bob: then restart import first, web last

[recent in this channel; 81 older messages not shown]
[Fri 27 Feb]
16:40 Carol: the office is closed on Friday
· keys are with the porter
[Mon 2 Mar]
08:55 Dana Frei: release notes for 1.4?
+ 14 replies not shown, thread 1772441700.000100
↳ 08:58 Dana Wolf: in the wiki
09:01 earshot (you): the last green build is 811

[this thread]
[history before 2026-03-02 09:02 UTC could not be loaded]
[Mon 2 Mar]
09:02 Alice: staging is down since the 1.4 deploy
09:03 Bob (edited): the migration hangs
    here is the log
+ file F1, text, 12 KB: migrate.log
09:05 CI (bot): build 812 green
09:06 Carol: from the vendor
+ forwarded, Sun 1 Mar 17:20, from Erin Vogt in #support:
    we see it in our region too
+ reactions: :eyes: 2

[question, Mon 2 Mar 2026, UTC]
09:07 Alice: @earshot are they running?`

const exampleLater = `[since your last answer: 2 messages]
[Mon 2 Mar]
09:03 Bob (edited): the migration hung, now done
09:20 Carol: I restarted the workers

[question, Mon 2 Mar 2026, UTC]
09:22 Bob: @earshot and now?`

// example is the input of the specification's first turn. Its window shows five
// messages: with the built-in limits the window would show all that are loaded,
// and leave none to recall.
func example(messages []earshot.Message) assemble.Input {
	return where(asking("standard", messages...), func(in *assemble.Input) {
		in.Policy = withLimits(in.Policy, assemble.Section{Section: assemble.Window, Messages: 5})
		in.Channel.Name, in.Channel.Topic = "deploys", "releases and incidents"
		in.Recalled = []assemble.RecalledMessage{{ID: "1770888000.000100", Score: 23.3}, {ID: "1770887520.000100", Score: 20}}
		in.Stored = []assemble.StoredCount{{Thread: "1772441700.000100", Count: 16}, {Count: 12 + 81}}
		in.Coverage = []earshot.Coverage{{Thread: "1772442120.000100", To: moment("2026-03-02 09:02"), State: earshot.Missing, Why: "ratelimited"}}
	})
}

func TestTheLogFormOfTheSpecificationComesOutByteForByte(t *testing.T) {
	t.Parallel()
	first := example(deploys(false))
	r, err := assemble.Turn(first)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Messages) != 1 {
		t.Fatalf("%d messages, want one of the user's", len(r.Messages))
	}
	if got, want := r.Messages[0].Text, exampleFirst; got != want {
		t.Fatalf("first turn (-got +want):\n%s", cmp.Diff(got, want))
	}
	checkBudget(t, first, r)
	checkCount(t, first, r)
	checkLedger(t, first, r)
	checkResult(t, first, r)

	later := example(deploys(true))
	later.Coverage, later.Stored, later.Recalled = first.Coverage, nil, first.Recalled
	commit(&later.Conversation, first.Anchor, r, later.Messages[12])
	got, err := assemble.Turn(later)
	if err != nil {
		t.Fatal(err)
	}
	if g, w := got.Messages[0].Text, exampleFirst; g != w {
		t.Fatalf("the recorded prompt (-got +want):\n%s", cmp.Diff(g, w))
	}
	if g, w := got.Messages[2].Text, exampleLater; g != w {
		t.Fatalf("follow-up (-got +want):\n%s", cmp.Diff(g, w))
	}
	checkBudget(t, later, got)
	checkLedger(t, later, got)
	checkResult(t, later, got)
}
