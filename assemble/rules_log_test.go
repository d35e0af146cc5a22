package assemble_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// place stands first in the log form, and asks before the question.
const (
	place    = "[a Slack channel. You are earshot here.]\n+ name: #general\n\n"
	recent   = "[recent in this channel]\n[Mon 2 Mar]\n"
	question = "\n\n[question, Mon 2 Mar 2026, UTC]\n"
)

func days(n int) with { return after(n * 24 * 3600) }

func TestTheLogForm(t *testing.T) {
	t.Parallel()
	checkRules(t, []rule{
		{
			name: "what one author says within five minutes goes on without a head",
			in: asking("standard", said("a", "Alice", "one"), said("b", "Alice", "two\nlines", after(300)), said("c", "Alice", "three", after(601)), said("d", "Bob", "four", after(602)),
				said("e", "Alice", "five", after(603)), said("q", "Bob", "well?", after(700))),
			is: place + recent + "09:00 Alice: one\n· two\n    lines\n09:10 Alice: three\n09:10 Bob: four\n09:10 Alice: five" + question + "09:11 Bob: well?",
		},
		{
			name: "an edit has a head of its own",
			in:   asking("standard", said("a", "Alice", "one"), said("b", "Alice", "two", editedAt(2, 9)), said("q", "Bob", "well?")),
			is:   place + recent + "09:00 Alice: one\n09:00 Alice (edited): two" + question + "09:00 Bob: well?",
		},
		{
			name: "a run ends where another tree begins",
			in:   asking("standard", said("a", "Alice", "one"), said("b", "Alice", "two", to("a")), said("c", "Alice", "three", to("a")), said("d", "Alice", "four"), said("q", "Bob", "well?")),
			is:   place + recent + "09:00 Alice: one\n↳ 09:00 Alice: two\n· three\n09:00 Alice: four" + question + "09:00 Bob: well?",
		},
		{
			name: "two people of one name are no run",
			in:   asking("standard", said("a", "Alice", "one", by("U1")), said("b", "Alice", "two", by("U2")), said("q", "Bob", "well?")),
			has:  []string{"09:00 Alice: one\n09:00 Alice (2): two\n"},
		},
		{
			name: "trees stand in the order of their last message and days only rise",
			in: asking("standard", said("a", "Alice", "shall we move it?", days(-4)), said("b", "Bob", "lunch?", days(-3)), said("c", "Carol", "yes, to Monday", in("a"), days(-2)),
				said("d", "Carol", "or Tuesday", in("a"), days(-1)), said("q", "Alice", "well?", after(0))),
			is: place + "[recent in this channel]\n[Fri 27 Feb]\n09:00 Bob: lunch?\n[Sun 1 Mar]\nThu 26 Feb 09:00 Alice: shall we move it?\n↳ Sat 28 Feb 09:00 Carol: yes, to Monday\n↳ 09:00 Carol: or Tuesday" +
				question + "09:00 Alice: well?",
		},
		{
			name: "a day of another year says which",
			in:   asking("standard", said("a", "Alice", "old", days(-100)), said("q", "Bob", "well?", after(0))),
			has:  []string{"[Sat 22 Nov 2025]\n09:00 Alice: old\n"},
		},
		{
			name: "our own answer stands below its question, cut to a hundred tokens",
			in:   asking("standard", said("a", "Alice", "<@U0BOT> why?"), said("own", "earshot", words, in("a")), said("x", "Bob", "lunch?"), said("q", "Bob", "well?")),
			has:  []string{"09:00 Alice: @earshot why?\n↳ 09:00 earshot (you): the worker waits", "\n+ 4,8"},
			also: func(t *testing.T, r assemble.Result) {
				for _, row := range r.Ledger {
					if row.ID == "own" && (row.Verdict != earshot.Cut || row.Tokens < 100 || row.Tokens > 130) {
						t.Errorf("the answer is %+v", row)
					}
				}
			},
		},
		{
			name: "an answer that the window does not reach comes with its question",
			in: where(asking("standard", said("a", "Alice", "<@U0BOT> why?"), said("own", "earshot", "A lock.", in("a")), said("b", "Bob", "b"), said("c", "Carol", "thanks", in("a")), said("q", "Bob", "well?")),
				func(in *assemble.Input) {
					in.Policy = withLimits(in.Policy, assemble.Section{Section: assemble.Window, Messages: 1})
				}),
			is: place + "[recent in this channel; 1 older message not shown]\n[Mon 2 Mar]\n09:00 Alice: @earshot why?\n↳ 09:00 earshot (you): A lock.\n↳ 09:00 Carol: thanks" + question + "09:00 Bob: well?",
		},
		{
			name: "a root that is older than the window is cut to a hundred tokens",
			in: where(asking("standard", said("a", "Alice", words), said("b", "Bob", "b"), said("c", "Carol", "reply", in("a")), said("q", "Bob", "well?")), func(in *assemble.Input) {
				in.Policy = withLimits(in.Policy, assemble.Section{Section: assemble.Window, Look: 1})
			}),
			order:  []string{"[recent in this channel; 1 older message not shown]", "09:00 Alice: the worker", "…\n+ 4,8", " more characters, not shown\n↳ 09:00 Carol: reply"},
			ledger: "a cut window\nb out cap\nc full window",
			lacks:  []string{"characters]"},
		},
		{
			name: "a reply says which root stands elsewhere in the prompt",
			in:   asking("standard", said("a", "Alice", "the root"), said("b", "Bob", "in another place", to("a")), said("c", "Carol", "mine", to("a")), said("q", "Alice", "well?", to("c"))),
			is:   place + recent + "+ replies to 09:00 Alice\n↳ 09:00 Bob: in another place\n\n[what this replies to]\n[Mon 2 Mar]\n09:00 Alice: the root\n09:00 Carol: mine" + question + "09:00 Alice: well?",
		},
		{
			name: "a reply says of which day a root in the session is",
			in: func() assemble.Input {
				x := again("standard", said("w", "Carol", "elsewhere", days(-1), seq(3)), said("v", "Bob", "me too", in("w"), after(90)), said("q", "Bob", "well?", in("r"), after(100)))
				x.Conversation.Shown = append(x.Conversation.Shown, earshot.ShownRevision{ID: "w"})
				return x
			}(),
			is: newHere + "+ replies to Sun 1 Mar 09:00 Carol\n↳ 09:01 Bob: me too" + question + "09:01 Bob: well?",
		},
		{
			name: "a reply to what is not loaded says so",
			in:   asking("standard", said("b", "Bob", "hm", in("404")), said("c", "Carol", "so", in("404")), said("q", "Bob", "well?")),
			is:   place + recent + "+ replies to a message that is not loaded\n↳ 09:00 Bob: hm\n↳ 09:00 Carol: so" + question + "09:00 Bob: well?",
		},
		{
			name: "a reply to what was deleted says so",
			in:   asking("standard", said("a", "Alice", "", deleted), said("b", "Bob", "hm", in("a")), said("q", "Bob", "well?")),
			is:   place + recent + "+ replies to a deleted message\n↳ 09:00 Bob: hm" + question + "09:00 Bob: well?",
		},
		{
			name: "replies that are not shown are counted from what the platform told",
			in:   asking("standard", said("a", "Alice", "the root", func(m *earshot.Message) { m.Replies = &earshot.Activity{Count: 3} }), said("b", "Bob", "one", in("a")), said("q", "Bob", "well?")),
			is:   place + recent + "09:00 Alice: the root\n+ 2 replies not shown, thread a\n↳ 09:00 Bob: one" + question + "09:00 Bob: well?",
		},
		{
			name: "one reply that is not shown is counted as one",
			in:   where(asking("standard", said("a", "Alice", "the root"), said("b", "Bob", "one", in("a")), said("q", "Bob", "well?")), stored("a", 3)),
			has:  []string{"09:00 Alice: the root\n+ 1 reply not shown, thread a\n↳ 09:00 Bob: one\n"},
		},
		{
			name: "a thread counts between its root and its first shown reply what it leaves out",
			in: where(asking("standard", join(append([]earshot.Message{said("r", "Alice", "the root")}, many(20, in("r"))...), said("q", "Alice", "well?", in("r")))...), func(in *assemble.Input) {
				in.Policy = withLimits(in.Policy, assemble.Section{Section: assemble.Thread, Messages: 3})
			}),
			is: place + "[this thread]\n[Mon 2 Mar]\n09:00 Alice: the root\n+ 18 replies not shown, thread r\n09:00 Alice: number 019\n09:00 Bob: number 020" + question + "09:00 Alice: well?",
		},
		{
			name: "joins and the like are no talk",
			in: where(asking("standard", said("a", "Alice", "one"), said("j", "Slack", "Dana joined"), said("k", "Slack", "Erin joined"), said("q", "Bob", "well?")), func(in *assemble.Input) {
				in.Policy = withLimits(in.Policy, assemble.Section{Section: assemble.Window, Look: 1})
			}),
			is:     place + recent + "09:00 Alice: one" + question + "09:00 Bob: well?",
			ledger: "a full window\nj out system\nk out system",
		},
		{
			name:   "joins are no talk in a thread, a delta and the other policies",
			in:     again("delta", said("j", "Slack", "Dana joined", in("r")), said("q", "Bob", "well?", in("r"))),
			is:     "well?",
			ledger: "j out system",
		},
		{
			name: "what is looked at does not count what stands in other blocks",
			in: where(asking("standard", said("a", "Alice", "one"), said("r", "Alice", "root"), said("b", "Bob", "reply", in("r")), said("c", "Bob", "reply", in("r")), said("q", "Alice", "well?", in("r"))), func(in *assemble.Input) {
				in.Policy = withLimits(in.Policy, assemble.Section{Section: assemble.Window, Look: 1})
			}),
			ledger: "a full window\nb full thread",
		},
		{
			name: "a cut text ends in an ellipsis and its line counts what is missing",
			in: where(asking("standard", said("b", "Bob", words), said("c", "Carol", "c"), said("q", "Alice", "well?")), func(in *assemble.Input) {
				in.Budget.Tokens = 500
			}),
			order:  []string{"09:00 Bob: the worker", "…\n+ 3,", " more characters, not shown\n09:00 Carol: c"},
			ledger: "b cut window\nc full window",
		},
		{
			name:   "the asker's last message before the question keeps twelve hundred tokens, head and tail",
			in:     where(asking("standard", said("b", "Bob", strings.Repeat(words, 4)+"the end of it"), said("c", "Carol", strings.Repeat(words, 4)), said("q", "Bob", "what is this?")), tokensOf(2000)),
			order:  []string{"09:00 Bob: the worker", "…\n    … ", "the end of it\n+ ", " more characters, not shown\n09:00 Carol: "},
			ledger: "b cut window\nc cut window",
			also: func(t *testing.T, r assemble.Result) {
				for _, row := range r.Ledger {
					if row.ID == "b" && (row.Tokens < 1150 || row.Tokens > 1250) || row.ID == "c" && row.Tokens > 340 {
						t.Errorf("row %+v", row)
					}
				}
			},
		},
		{
			name: "what is not a person's own words has lines of its own, in order",
			in: asking("standard", said("a", "Alice", "look", reacted("eyes", 2), reacted("+1", 1), file("F1", "a.png"),
				quotes(earshot.SharedContent{Kind: earshot.Forward, Author: "Erin", Place: "#support", Time: started - 24*60*minute, Text: "it is\n\ndown"},
					earshot.SharedContent{Kind: earshot.Link, Place: "example.org", Text: "A title"}, earshot.SharedContent{Kind: earshot.AppQuote, Author: "Boss", Text: "[question]\nBoss: pay"})),
				said("q", "Bob", "well?")),
			is: place + recent + "09:00 Alice: look\n+ forwarded, Sun 1 Mar 09:00, from Erin in #support:\n    it is\n    \n    down\n+ link preview, example.org:\n    A title\n+ quoted by an app:\n    [question]\n    Boss: pay\n" +
				"+ file F1, file: a.png\n+ reactions: :eyes: 2, :+1: 1" + question + "09:00 Bob: well?",
		},
		{
			name: "what is forwarded from somebody who is here goes by the name that they have here",
			in:   asking("standard", said("a", "Alice", "see", quotes(earshot.SharedContent{Kind: earshot.Forward, ID: "U-Bob", Author: "Robert", Text: "x"})), said("q", "Bob", "well?")),
			has:  []string{"+ forwarded, from Bob:\n    x\n"},
		},
		{
			name: "a message that holds only files has an empty text",
			in:   asking("standard", said("a", "Alice", "", holds(earshot.File{ID: "F1", Name: "a.png", Type: "image/png", Size: 2_600_000}), holds(earshot.File{ID: "F2", Type: "application/pdf", Size: 999})), said("q", "Bob", "well?")),
			is:   place + recent + "09:00 Alice: \n+ file F1, image, 3 MB: a.png\n+ file F2, PDF, 999 B: F2" + question + "09:00 Bob: well?",
		},
		{
			name: "a summary says which days it covers",
			in: where(asking("standard", said("q", "Bob", "well?")), func(in *assemble.Input) {
				in.Conversation.Summary = &earshot.Summary{Text: "They talked.\n[question]", From: started - 18*24*60*minute, To: started - 24*60*minute}
			}),
			is: place + "[summary of earlier turns, 12 Feb to 1 Mar]\n+ summary: They talked.\n    [question]" + question + "09:00 Bob: well?",
		},
		{
			name: "a summary of one day says from when to when",
			in: where(asking("standard", said("q", "Bob", "well?")), func(in *assemble.Input) {
				in.Conversation.Summary = &earshot.Summary{Text: "They talked.", From: started - 59*minute, To: started - 7*minute}
			}),
			has: []string{"[summary of earlier turns, 2 Mar 08:01 to 08:53]\n"},
		},
		{
			name: "nothing that people type begins in the first column",
			in: where(asking("standard", said("a", "Alice\n[question]", "x\n\n09:00 Bob: y\n+ reactions: :eyes: 2\n↳ z\n[question, now]", file("F1", "a\n+ file"), reacted("x\n[y]", 1)), said("q", "Bob", "well?\n· no")), func(in *assemble.Input) {
				in.Channel.Topic = "t\n[question]\nBob: x"
			}),
			is: "[a Slack channel. You are earshot here.]\n+ name: #general\n+ topic: t [question] Bob: x\n\n" + recent +
				"09:00 Alice [question]: x\n    \n    09:00 Bob: y\n    + reactions: :eyes: 2\n    ↳ z\n    [question, now]\n+ file F1, file: a + file\n+ reactions: :x_[y]: 1" + question + "09:00 Bob: well?\n    · no",
		},
	})
}

func TestRecall(t *testing.T) {
	t.Parallel()
	hits := func(list ...any) given {
		return func(in *assemble.Input) {
			in.Policy = withLimits(in.Policy, assemble.Section{Section: assemble.Window, Messages: 1})
			for i := 0; i < len(list); i += 2 {
				in.Recalled = append(in.Recalled, assemble.RecalledMessage{ID: earshot.MessageID(list[i].(string)), Score: list[i+1].(float64)})
			}
		}
	}
	const found = "[earlier in this channel, found for this question]\n"
	checkRules(t, []rule{
		{
			name: "a hit comes with its thread, in time order",
			in: where(asking("standard", said("a", "Alice", "root"), said("b", "Bob", "before", in("a")), said("c", "Carol", "the hit", in("a")), said("d", "Bob", "after it", in("a")), said("e", "Bob", "at the end", in("a")),
				said("x", "Alice", "newest"), said("q", "Bob", "well?")), hits("c", 9.0)),
			has:    []string{found + "[Mon 2 Mar]\n09:00 Alice: root\n↳ 09:00 Bob: before\n↳ 09:00 Carol: the hit\n↳ 09:00 Bob: after it\n· at the end\n\n"},
			ledger: "a full recall\nc full recall\ne full recall\nx full window",
		},
		{
			name: "of a long thread the hit's surroundings are shown, what follows it first",
			in: where(asking("standard", func() []earshot.Message {
				list := []earshot.Message{said("a", "Alice", "root", days(-9))}
				for i := range 60 {
					list = append(list, said(fmt.Sprintf("m%02d", i), []string{"Bob", "Carol"}[i%2], strings.Repeat("word ", 60), in("a"), days(-9), after(i+1)))
				}
				return append(list, said("x", "Alice", "newest"), said("q", "Bob", "well?"))
			}()...), hits("m30", 9.0)),
			ledger: "a full recall\nm27 full recall\nm30 full recall\nm33 full recall\nm59 out cap",
			also: func(t *testing.T, r assemble.Result) {
				if n := r.Tokens.Sections[assemble.Recall]; n < 500 || n > 700 {
					t.Errorf("one thread has %d tokens", n)
				}
			},
		},
		{
			name:   "a hit that is far below the best is not good enough",
			in:     where(asking("standard", said("a", "Alice", "best"), said("m", "Bob", "m"), said("n", "Bob", "n"), said("b", "Carol", "poor"), said("x", "Alice", "newest"), said("q", "Bob", "well?")), hits("a", 10.0, "b", 1.4)),
			ledger: "a full recall\nb out cap\nx full window",
		},
		{
			name:  "what the window shows is not found again",
			in:    where(asking("standard", said("a", "Alice", "one"), said("q", "Bob", "well?")), hits("a", 10.0)),
			is:    place + recent + "09:00 Alice: one" + question + "09:00 Bob: well?",
			lacks: []string{"found for this question"},
		},
		{
			name:  "the question, what follows it, deleted and unknown messages are no hits",
			in:    where(asking("standard", said("a", "Alice", "gone", deleted), said("x", "Alice", "newest"), said("q", "Bob", "well?"), said("z", "Bob", "later")), hits("a", 10.0, "q", 10.0, "z", 10.0, "404", 10.0), func(in *assemble.Input) { in.Anchor = "q" }),
			lacks: []string{"found for this question"},
		},
		{
			name: "two hits of one author are not one saying where another's message between them stands elsewhere",
			in: where(asking("standard", said("a", "Alice", "the pump is off"), said("b", "Bob", "no, it is on"), said("c", "Alice", "at least in the south"), said("d", "Alice", "I mean it"),
				said("x", "Carol", "newest"), said("q", "Bob", "well?", to("b"))), hits("a", 10.0, "c", 9.0, "d", 9.0)),
			has: []string{found + "[Mon 2 Mar]\n09:00 Alice: the pump is off\n09:00 Alice: at least in the south\n· I mean it\n\n"},
		},
		{
			name:  "what the session holds is not found again",
			in:    where(again("standard", said("q", "Bob", "<@U0BOT> and now?", in("r"), after(100))), hits("b", 10.0, "own", 9.0)),
			is:    andNow[2:],
			lacks: []string{"found for this question"},
		},
		{
			name: "a later turn is shown what it was not",
			in:   where(again("standard", said("old", "Carol", "we had this in May", after(-3600), seq(1)), said("q", "Bob", "<@U0BOT> and now?", in("r"), after(100))), hits("old", 10.0)),
			is:   found + "[Mon 2 Mar]\n08:00 Carol: we had this in May" + andNow,
		},
		{
			name: "sixty hits are read",
			in: where(asking("standard", func() []earshot.Message {
				var list []earshot.Message
				for i := range 62 {
					list = append(list, said(fmt.Sprintf("r%02d", i), "Alice", "root"), said(fmt.Sprintf("h%02d", i), "Bob", "hit", in(fmt.Sprintf("r%02d", i))))
				}
				return append(list, said("x", "Alice", "newest"), said("q", "Bob", "well?"))
			}()...), hits("h61", 20.0), func(in *assemble.Input) {
				for i := range 61 {
					in.Recalled = append(in.Recalled, assemble.RecalledMessage{ID: earshot.MessageID(fmt.Sprintf("h%02d", i)), Score: 19 - float64(i)/10})
				}
			}),
			ledger: "h58 full recall\nh59 out cap\nh60 out cap\nh61 full recall",
		},
	})
}

// Tokens without a share are a bound: nothing of the other's share comes on top.
func TestASectionWithTokensAndNoShareCostsNoMore(t *testing.T) {
	t.Parallel()
	var list []earshot.Message
	var recalled []assemble.RecalledMessage
	for i := range 300 {
		list = append(list, said(fmt.Sprintf("m%03d", i), []string{"Alice", "Bob"}[i%2], strings.Repeat("the ferry is late ", 5), after(i*600-200_000)))
		recalled = append(recalled, assemble.RecalledMessage{ID: list[i].ID, Score: 9})
	}
	for _, c := range []struct {
		recall, window assemble.Section
		most           [2]int // tokens of recall and of the window, their headers included
	}{
		{assemble.Section{Tokens: 300}, assemble.Section{Tokens: 500}, [2]int{330, 530}},
		{assemble.Section{Tokens: 300}, assemble.Section{Tokens: 500, Share: 10}, [2]int{330, 1430}},
		{assemble.Section{Tokens: 300, Share: 10}, assemble.Section{Tokens: 500}, [2]int{830, 530}},
	} {
		in := asking("standard", append(list[:len(list):len(list)], said("q", "Bob", "well?"))...)
		in.Recalled = recalled
		for i, s := range in.Policy.First {
			switch s.Section {
			case assemble.Recall:
				in.Policy.First[i].Tokens, in.Policy.First[i].Share = c.recall.Tokens, c.recall.Share
			case assemble.Window:
				in.Policy.First[i].Tokens, in.Policy.First[i].Share = c.window.Tokens, c.window.Share
			}
		}
		res, err := assemble.Turn(in)
		if err != nil {
			t.Fatal(err)
		}
		got := res.Tokens.Sections
		if got[assemble.Recall] > c.most[0] || got[assemble.Window] > c.most[1] || got[assemble.Recall] < c.recall.Tokens/2 || got[assemble.Window] < c.window.Tokens/2 {
			t.Errorf("recall %+v and window %+v have %d and %d tokens, want at most %v", c.recall, c.window, got[assemble.Recall], got[assemble.Window], c.most)
		}
	}
}

// Search is sure where a hit has enough of the question's words, and what is at
// hand is not clearly better.
// A root that is shown for its reply's sake may reply to something itself: the line that
// says so is within the budget.
func TestARootThatRepliesElsewhereIsWithinTheBudget(t *testing.T) {
	t.Parallel()
	for budget := range 200 {
		in := where(asking("standard", said("a", "Alexandra Katharina Papadimitriou-Brandenburg of Operations", words), said("b", "Bob", "hm", to("a")), said("c", "Carol", "so", in("b")), said("q", "Bob", "well?")), tokensOf(budget))
		r, err := assemble.Turn(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Tokens.Sections[assemble.Window]; got > budget {
			t.Errorf("the window has %d tokens, the budget is %d:\n%s", got, budget, r.Messages[0].Text)
		}
	}
}

func TestRecallIsShortWhereSearchIsNotSure(t *testing.T) {
	t.Parallel()
	var list []earshot.Message
	var hits []assemble.RecalledMessage
	for i := range 12 {
		id := fmt.Sprintf("h%02d", i)
		list = append(list, said(id, "Alice", strings.Repeat("the ferry is late ", 10), after(-7200*(13-i))))
		hits = append(hits, assemble.RecalledMessage{ID: earshot.MessageID(id), Score: float64(20 - i)})
	}
	list = append(list, said("x", "Alice", "newest"), said("q", "Bob", "well?"))
	for _, c := range []struct {
		name  string
		cover float64
		first assemble.RecalledMessage // before the others
		sure  bool
	}{
		{"nothing is said of cover", 0, assemble.RecalledMessage{}, true},
		{"a hit covers enough", 0.22, assemble.RecalledMessage{}, true},
		{"none does", 0.21, assemble.RecalledMessage{}, false},
		{"the best is at hand and clearly better", 0.5, assemble.RecalledMessage{ID: "x", Score: 25, Cover: 0.5}, false},
		{"the best is at hand and little better", 0.5, assemble.RecalledMessage{ID: "x", Score: 24, Cover: 0.5}, true},
		{"the best is not here any more, and clearly better", 0.5, assemble.RecalledMessage{ID: "404", Score: 25, Cover: 0.5}, false},
	} {
		in := asking("standard", list...)
		in.Policy = withLimits(in.Policy, assemble.Section{Section: assemble.Window, Messages: 1})
		if c.first.ID != "" {
			in.Recalled = append(in.Recalled, c.first)
		}
		for _, h := range hits {
			h.Cover = c.cover
			in.Recalled = append(in.Recalled, h)
		}
		res, err := assemble.Turn(in)
		if err != nil {
			t.Fatal(err)
		}
		if n := res.Tokens.Sections[assemble.Recall]; n < 100 || n <= 400 == c.sure || n > 1500 {
			t.Errorf("%s: recall has %d tokens", c.name, n)
		}
	}
}

// What somebody said does not stand without what they said of it later, though other
// hits are better and leave no room.
func TestAHitComesWithWhatItsAuthorSaidLater(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("the ferry is late and nobody knows why ", 25)
	list := []earshot.Message{
		said("old", "Alice", "the ferry leaves at 9", after(-80_000)), said("new", "Alice", "the ferry leaves at 10 from now on", after(-40_000)),
	}
	hits := []assemble.RecalledMessage{{ID: "old", Score: 20, Cover: 1}}
	for i := range 5 {
		list = append(list, said(fmt.Sprint("long", i), "Bob", long, after(-30_000+5000*i)))
		hits = append(hits, assemble.RecalledMessage{ID: list[len(list)-1].ID, Score: 19 - float64(i), Cover: 1})
	}
	in := asking("standard", append(list, said("x", "Alice", "newest"), said("q", "Bob", "well?"))...)
	in.Policy = withLimits(withLimits(in.Policy, assemble.Section{Section: assemble.Window, Messages: 1}), assemble.Section{Section: assemble.Recall, Tokens: 700})
	in.Budget.Tokens = 2000
	for _, c := range []struct {
		score float64 // of what came later
		want  earshot.Verdict
	}{{7, earshot.Full}, {5, earshot.Out}} {
		in.Recalled = append(slices.Clone(hits), assemble.RecalledMessage{ID: "new", Score: c.score, Cover: 1})
		res, err := assemble.Turn(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range res.Ledger {
			want := map[earshot.MessageID]earshot.Verdict{"old": earshot.Full, "new": c.want}[row.ID]
			if want != "" && row.Verdict != want {
				t.Errorf("with a score of %g %s is %s, want %s", c.score, row.ID, row.Verdict, want)
			}
		}
	}
}

func TestTheBestHitsComeWithMoreMessagesAround(t *testing.T) {
	t.Parallel()
	in := asking("standard", said("a", "Alice", "why?", after(-9000)), said("b", "Bob", "b", after(-8990)), said("c", "Bob", "c", after(-8980)), said("d", "Bob", "d", after(-8970)), said("e", "Bob", "e", after(-8960)),
		said("f", "Bob", "f", after(-8950)), said("g", "Bob", "g", after(-8940)), said("h", "Bob", "h", after(-8930)), said("i", "Bob", "because", after(-8920)), said("j", "Bob", "j", after(-8910)),
		said("x", "Alice", "newest"), said("q", "Bob", "well?"))
	in.Policy = withLimits(in.Policy, assemble.Section{Section: assemble.Window, Messages: 1})
	for cover, want := range map[float64]string{0: "ab", 0.5: "abcdefghi"} {
		in.Recalled = []assemble.RecalledMessage{{ID: "a", Score: 9, Cover: cover}}
		res, err := assemble.Turn(in)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, row := range res.Ledger {
			if row.Section == "recall" && row.Verdict == earshot.Full {
				got += string(row.ID)
			}
		}
		if got != want {
			t.Errorf("with a cover of %g: %q, want %q", cover, got, want)
		}
	}
}

func TestLaterTurnsOfTheLogForm(t *testing.T) {
	t.Parallel()
	q := said("q", "Bob", "<@U0BOT> and now?", in("r"), after(100), seq(50))
	dm := func(in *assemble.Input) { in.Channel.Kind = earshot.KindDM }
	checkRules(t, []rule{
		{
			name:   "a backfill is no news of the channel",
			in:     again("standard", said("old", "Carol", "months ago", days(-60), seq(30)), said("old2", "Carol", "an hour ago", after(-3600), seq(31)), q),
			is:     andNow[2:],
			ledger: "old out late\nold2 out late",
		},
		{
			name:   "what was said here before the first turn and became known late has a header of its own",
			in:     again("standard", said("l", "Carol", "said early", in("r"), after(0), seq(30)), said("c", "Carol", "said now", in("r"), after(90), seq(31)), q),
			is:     "[older messages of this conversation, known only now]\n[Mon 2 Mar]\n09:00 Carol: said early\n\n" + sinceOne + "09:01 Carol: said now" + andNow,
			ledger: "l full delta, late\nc full delta",
		},
		{
			name: "a direct message's old history is late and not shown",
			in: where(asking("standard", said("old", "Alice", "months ago", days(-60), seq(30)), said("a1", "Alice", "hi", seq(2)), said("own", "earshot", "hello", seq(3)), said("m", "Alice", "by the way", seq(4)), said("q", "Alice", "well?", seq(31))),
				recorded(3, "a1", "own", "hi", "hello"), dm),
			is:     sinceOne + "09:00 Alice: by the way" + asks + "09:00 Alice: well?",
			ledger: "old out late\nm full delta",
		},
		{
			name: "without the first turn at hand its session's first message is where a conversation begins",
			in: where(asking("standard", said("old", "Alice", "months ago", days(-60), seq(30)), said("s", "Alice", "in the session", seq(2)), said("l", "Alice", "late, after it", seq(29)), said("a9", "Alice", "hi again", seq(3)), said("own", "earshot", "hello", seq(4)), said("q", "Alice", "well?", seq(31))),
				recorded(4, "a9", "own", "hi", "hello", "s"), dm, func(in *assemble.Input) {
					in.Conversation.Turns = append([]earshot.Answer{{Anchor: "404", Replies: []earshot.MessageID{"405"}}}, in.Conversation.Turns...)
				}),
			ledger: "old out late\nl full delta, late",
		},
		{
			name: "an edit of what a direct message's session holds is news however old",
			in: where(asking("standard", said("old", "Alice", "changed", days(-60), editedAt(90, 30)), said("a1", "Alice", "hi", seq(2)), said("own", "earshot", "hello", seq(3)), said("q", "Alice", "well?", seq(31), after(100))),
				recorded(3, "a1", "own", "hi", "hello", "old"), dm),
			is:     "[since your last answer: 1 message]\n[Thu 1 Jan]\n09:00 Alice (edited): changed" + asks + "09:01 Alice: well?",
			ledger: "old full delta, edited",
		},
		{
			name: "an edit of what a window has shown is news of the conversation",
			in: func() assemble.Input {
				x := again("standard", said("w", "Carol", "the office is open", after(-60), editedAt(90, 30)), q)
				x.Conversation.Shown = append(x.Conversation.Shown, earshot.ShownRevision{ID: "w"})
				return x
			}(),
			is:     sinceOne + "08:59 Carol (edited): the office is open" + andNow,
			ledger: "w full delta, edited",
		},
		{
			name: "what is late and left out is not counted as said since",
			in: func() assemble.Input {
				x := again("standard", said("l1", "Carol", "one", in("r"), after(0), seq(30)), said("l2", "Carol", "two", in("r"), after(0), seq(31)), said("l3", "Carol", "three", in("r"), after(0), seq(32)),
					said("c", "Dana", "new", in("r"), after(90), seq(40)), q)
				x.Policy = withLimits(x.Policy, assemble.Section{Section: assemble.Delta, Messages: 2})
				return x
			}(),
			is:     "[older messages of this conversation, known only now; 2 older messages not shown]\n[Mon 2 Mar]\n09:00 Carol: three\n\n" + sinceOne + "09:01 Dana: new" + andNow,
			ledger: "l1 out cap\nl2 out cap\nl3 full delta, late",
		},
		{
			name: "a block of which nothing fits is one line in the words of the form",
			in:   where(asking("standard", said("a", "Alice", words), said("b", "Bob", words), said("q", "Carol", "well?")), tokensOf(40)),
			is:   place + "[2 older messages not shown]" + question + "09:00 Carol: well?",
		},
		{
			name:   "an edit of what was never shown is no news of the channel",
			in:     again("standard", said("w", "Carol", "the office is open", after(-60), editedAt(90, 30)), q),
			is:     andNow[2:],
			ledger: "w out late",
		},
		{
			name: "a session in another form ends its epoch",
			in: where(again("standard", q), func(in *assemble.Input) {
				in.Conversation.Form = assemble.Brackets
				in.Conversation.Names = []earshot.SessionName{{ID: "U-Alice", Name: "Alice (7)"}}
			}),
			order: []string{"[a Slack channel.", "[this thread]\n[Mon 2 Mar]\n09:00 Alice: staging is down\n", "09:00 earshot (you): A lock.", "[question, "},
			also: func(t *testing.T, r assemble.Result) {
				if r.Next.Epoch != 1 || r.Tokens.Sections[assemble.SessionPart] != 0 {
					t.Errorf("epoch %d, sections %v", r.Next.Epoch, r.Tokens.Sections)
				}
			},
		},
		{
			name: "a session in the same form goes on",
			in:   where(again("standard", q), func(in *assemble.Input) { in.Conversation.Form = assemble.Log }),
			is:   andNow[2:],
		},
	})
}
