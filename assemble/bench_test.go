package assemble_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/tokens"
)

// longThread returns a thread of n replies as a store would load it, with
// token counts, of about 90 characters a message.
func longThread(b *testing.B, n int, policy assemble.Policy) assemble.Input {
	counter, err := tokens.For("o200k")
	if err != nil {
		b.Fatal(err)
	}
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	in := assemble.Input{
		Policy: policy, Budget: assemble.DefaultBudget(), Counter: counter,
		Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"},
		Channel:  earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "deploys", Kind: earshot.KindChannel},
	}
	id := func(i int) earshot.MessageID {
		return earshot.MessageID(fmt.Sprintf("%d.%06d", start.Unix()+int64(i), 100))
	}
	for i := range n + 1 {
		text := fmt.Sprintf("message %d: the migration of shard %d waits for a lock that worker %d has held since nine", i, i%17, i%5)
		m := earshot.Message{
			ID: id(i), Time: earshot.TimeOf(start.Add(time.Duration(i) * time.Second)), Text: text, Seq: int64(i + 1),
			Author: earshot.Author{ID: earshot.AuthorID(fmt.Sprintf("U%d", i%12)), Name: fmt.Sprintf("Person %d", i%12), Kind: earshot.Human},
			Tokens: counter.Count(text),
		}
		if i > 0 {
			m.Thread = id(0)
		}
		in.Messages = append(in.Messages, m)
	}
	in.Anchor = id(n)
	return in
}

// BenchmarkTurn assembles the default 8,000-token context from a thread that
// is in memory.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		for _, name := range []string{"standard", "delta", "window"} {
			policy, _ := assemble.ByName(name)
			in := longThread(b, n, policy)
			b.Run(fmt.Sprintf("%s/messages=%d", name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := assemble.Turn(in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkFlatTalk assembles the window of a channel without threads, with and
// without guessing conversations.
func BenchmarkFlatTalk(b *testing.B) {
	for _, link := range []assemble.Link{assemble.LinkOff, assemble.LinkAuto} {
		policy, _ := assemble.ByName("window")
		policy.First = slices.Clone(policy.First)
		for i := range policy.First {
			if policy.First[i].Section == assemble.Window {
				policy.First[i].Link = link
			}
		}
		in := longThread(b, 1000, policy)
		for i := range in.Messages {
			in.Messages[i].Thread = ""
		}
		b.Run("link="+string(link), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := assemble.Turn(in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// repliedTalk returns n messages of a Discord channel, of which each third is a
// reply to one of the ten before it, and a question.
func repliedTalk(b *testing.B, n int, policy assemble.Policy) assemble.Input {
	in := longThread(b, n, policy)
	in.Channel.Platform, in.Channel.Workspace = earshot.Discord, "G1"
	for i := range in.Messages {
		m := &in.Messages[i]
		m.ID = earshot.MessageID(fmt.Sprint(1_480_000_000_000_000_000 + i<<22))
		if m.Thread = ""; i%3 == 2 {
			m.ReplyTo = in.Messages[max(0, i-1-i*7%10)].ID
		}
	}
	in.Anchor = in.Messages[n].ID
	return in
}

// windowPolicy is the policy window with another link and look.
func windowPolicy(link assemble.Link, look int) assemble.Policy {
	p, _ := assemble.ByName("window")
	p.First = slices.Clone(p.First)
	for i := range p.First {
		if s := &p.First[i]; s.Section == assemble.Window {
			s.Link, s.Look = link, look
		}
	}
	return p
}

// BenchmarkWindow100 is a whole turn of the policy window over 100 messages: what
// it looks at is grouped, of that 20 messages are chosen, and the prompt is written.
// The aim is 100 µs.
func BenchmarkWindow100(b *testing.B) {
	for _, link := range []assemble.Link{assemble.LinkOff, assemble.LinkAuto} {
		in := repliedTalk(b, 100, windowPolicy(link, 100))
		b.Run("link="+string(link), func(b *testing.B) { turns(b, in) })
	}
}

// BenchmarkForest10000 is the same where the window looks at 10,000 messages. The
// aim is 10 ms.
func BenchmarkForest10000(b *testing.B) {
	for _, link := range []assemble.Link{assemble.LinkOff, assemble.LinkAuto} {
		in := repliedTalk(b, 10_000, windowPolicy(link, 10_000))
		b.Run("link="+string(link), func(b *testing.B) { turns(b, in) })
	}
	chain := repliedTalk(b, 10_000, windowPolicy(assemble.LinkOff, 10_000))
	for i := range chain.Messages[1:] {
		chain.Messages[i+1].ReplyTo = chain.Messages[i].ID
	}
	b.Run("one chain", func(b *testing.B) { turns(b, chain) })
}

func turns(b *testing.B, in assemble.Input) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := assemble.Turn(in); err != nil {
			b.Fatal(err)
		}
	}
}
