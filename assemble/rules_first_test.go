package assemble_test

import (
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

func TestFirstTurns(t *testing.T) {
	t.Parallel()
	root := said("r", "Alice", "staging is down since the 1.4 deploy")
	checkRules(t, []rule{
		{
			name: "a mention in a channel without a thread has no thread context",
			in:   asking("delta", said("x", "Bob", "before"), said("q", "Alice", "hello?")),
			is:   "hello?", ledger: "x out other-conversation",
		},
		{
			name: "the first question in a thread that the agent itself started keeps its root",
			in:   asking("delta", said("r", "earshot", "disk is full on db1"), said("q", "Alice", "since when?", in("r"))),
			is:   "Previous conversation:\n---\nearshot: disk is full on db1\n---\nCurrent question: since when?", ledger: "r full thread",
		},
		{
			name: "a direct message outside a thread is bare on its first turn",
			in: where(asking("delta", said("x", "Alice", "hi"), said("q", "Alice", "hello?")), func(in *assemble.Input) {
				in.Channel.Kind = earshot.KindDM
			}),
			is: "hello?",
		},
		{
			name: "more than fifty messages of a thread are counted in the preamble and the root is among the fifty",
			in:   asking("delta", join(append([]earshot.Message{root}, many(120, in("r"))...), said("q", "Alice", "well?", in("r")))...),
			has: []string{"Previous conversation (last 50 of 121 messages; 71 earlier ones were left out):\n---\nAlice: staging is down since the 1.4 deploy\nBob: number 072\n",
				"number 120\n---\nCurrent question: well?"},
			ledger: "n071 out cap\nn072 full thread\nr full thread",
			notes:  []string{"omitted thread: 71 of 121 messages were left out"},
		},
		{
			name: "what is stored and not loaded counts in the preamble",
			in:   where(asking("delta", root, said("b", "Bob", "hm", in("r")), said("q", "Alice", "well?", in("r"))), stored("r", 123)),
			has:  []string{"Previous conversation (last 2 of 122 messages; 120 earlier ones were left out):\n---\n"},
		},
		{
			name: "a gap with nothing to show stands alone under a first line without a count",
			in:   where(asking("delta", said("q", "Alice", "well?", in("r"), after(200))), missing("r", 60, 120)),
			is:   "Previous conversation:\n---\n[history between 2026-03-02 09:01 UTC and 2026-03-02 09:02 UTC could not be loaded]\n---\nCurrent question: well?",
		},
		{
			name:  "a gap of seconds is said by its minute",
			in:    where(asking("delta", said("q", "Alice", "well?", in("r"), after(200))), missing("r", 61, 63)),
			is:    "Previous conversation:\n---\n[history at 2026-03-02 09:01 UTC could not be loaded]\n---\nCurrent question: well?",
			notes: []string{"gap history at 2026-03-02 09:01 UTC could not be loaded (ratelimited)"},
		},
		{
			name:  "a stretch without length is of no concern",
			in:    where(asking("window", said("a", "Alice", "x"), said("q", "Alice", "well?", after(200))), covered(earshot.Stale, "", 60, 60), missing("", 70, 61)),
			lacks: []string{"history"}, notes: []string{},
		},
		{
			name:  "a gap that begins with the anchor is of no concern",
			in:    where(asking("window", said("a", "Alice", "x"), said("q", "Alice", "well?", after(60))), covered(earshot.Stale, "", 60, 90)),
			lacks: []string{"history"}, notes: []string{},
		},
		{
			name:  "a gap after the anchor is of no concern",
			in:    where(asking("delta", said("q", "Alice", "well?", in("r"))), missing("r", 60, 0)),
			is:    "well?",
			notes: []string{},
		},
		{
			name: "a gap without times says so",
			in:   where(asking("thread", root, said("q", "Alice", "well?", in("r"))), missing("r", 0, 0)),
			is:   "<slack_thread_context>\n[history could not be loaded]\nAlice: staging is down since the 1.4 deploy\n</slack_thread_context>\n\nCurrent question: well?",
		},
		{
			name:  "what is stale may be out of date",
			in:    where(asking("window", said("a", "Alice", "x"), said("q", "Alice", "well?")), covered(earshot.Stale, "", 0, 60)),
			is:    "[recent channel context]\n[history before 2026-03-02 09:01 UTC may be out of date]\n\nstandalone (Alice):\n  x\n<<" + "next>>\nAlice: well?",
			notes: []string{"stale history before 2026-03-02 09:01 UTC may be out of date (ratelimited)"},
		},
		{
			name:  "a gap in another thread is of no concern",
			in:    where(asking("delta", root, said("q", "Alice", "well?", in("r"))), missing("other", 0, 0), covered(earshot.Known, "r", 0, 0)),
			lacks: []string{"history"}, notes: []string{},
		},
		{
			name:  "a gap in the channel is of no concern where the policy shows no channel",
			in:    where(asking("delta", root, said("q", "Alice", "well?", in("r"))), missing("", 0, 0)),
			lacks: []string{"history"},
		},
		{
			name: "a gap is said in a transcript too",
			in:   where(asking("transcript", said("a", "Alice", "<@U0BOT> x"), said("q", "Alice", "well?")), missing("", 0, 60)),
			is:   "[history before 2026-03-02 09:01 UTC could not be loaded]\nAlice: @earshot x\n\nAlice: well?",
		},
		{
			name: "structured says a gap before its JSON",
			in:   where(asking("structured", root, said("q", "Alice", "well?", in("r"))), missing("r", 0, 60), missing("", 0, 120)),
			has: []string{"[ThreadContext]\n[history before 2026-03-02 09:01 UTC could not be loaded]\n{\"schema_version\"",
				"[ChannelSnapshot]\n[history before 2026-03-02 09:02 UTC could not be loaded]\n{\"schema_version\""},
		},
		{
			name: "a message that holds only files shows their names",
			in:   asking("delta", root, said("b", "Bob", "", in("r"), file("F1", "a.png"), file("F2", "b.pdf")), said("q", "Alice", "well?", in("r"))),
			has:  []string{"\nBob: [attached: a.png, b.pdf]\n"},
		},
		{
			name: "an edit shows as an edit in every policy that renders text",
			in:   asking("window", said("a", "Alice", "now", editedAt(1, 9)), said("q", "Bob", "well?")),
			has:  []string{"standalone (Alice):\n  (edited) now\n"}, ledger: "a full window, edited",
		},
		{
			name: "an edit shows as an edit in a thread, a chain and a transcript",
			in:   asking("thread", said("r", "Alice", "now", editedAt(1, 9)), said("b", "Bob", "b", in("r"), editedAt(2, 10)), said("q", "Bob", "well?", in("r"))),
			is:   "<slack_thread_context>\nAlice: (edited) now\nBob: (edited) b\n</slack_thread_context>\n\nCurrent question: well?",
		},
		{
			name: "the agent's own turns carry no tags, edited or not",
			in:   asking("window", said("a", "earshot", "done", editedAt(1, 9)), said("q", "Bob", "well?", to("a"))),
			is:   "[this conversation goes on]\n<<" + "next>>\ndone\n<<" + "next>>\nBob: well?",
		},
		{
			name: "a reply chain is told as turns up to its root",
			in: asking("window", said("a", "Alice", "one"), said("b", "earshot", "two", to("a")), said("c", "CI", "three\nfour", to("b")), said("x", "Bob", "aside"),
				said("q", "Bob", "well?", to("c"))),
			is: "[recent channel context]\n\nstandalone (Bob):\n  aside\n<<" + "next>>\nAlice: one\n<<" + "next>>\ntwo\n<<" + "next>>\nCI (bot): three\n  four\n\nBob: well?",
		},
		{
			name: "a chain with a circle ends",
			in:   asking("window", said("a", "Alice", "one", to("b")), said("b", "Bob", "two", to("a")), said("q", "Bob", "well?", to("b"))),
			is:   "Alice: one\nBob: two\n\nBob: well?",
		},
		{
			name: "a chain shows twenty",
			in: asking("window", func() []earshot.Message {
				list := many(30)
				for i := 1; i < 30; i++ {
					list[i].ReplyTo = list[i-1].ID
				}
				return join(list, said("q", "Bob", "well?", to("n030")))
			}()...),
			ledger: "n010 out cap\nn011 full chain\nn030 full chain",
		},
		{
			name: "a window shows five conversations of two and more messages and all that stands alone",
			in: withoutGuesses(asking("window", func() []earshot.Message {
				list := many(16)
				for i := range 8 {
					list[8+i].ReplyTo = list[i].ID
				}
				return join([]earshot.Message{said("alone", "Carol", "by myself")}, append(list, said("q", "Bob", "well?"))...)
			}()...)),
			ledger: "alone full window\nn003 out cap\nn011 out cap\nn004 full window\nn012 full window\nn008 full window\nn016 full window",
			order:  []string{"number 008", "number 007", "number 004", "by myself"},
		},
		{
			name: "a window shows twenty messages and a thread loses its oldest, the root included",
			in: asking("window", func() []earshot.Message {
				list := many(30)
				for i := 1; i < 30; i++ {
					list[i].ReplyTo = "n001"
				}
				return join(list, said("q", "Bob", "well?"))
			}()...),
			ledger: "n001 out cap\nn010 out cap\nn011 full window\nn030 full window",
			has:    []string{"thread (Alice, Bob):\n  Alice: number 011\n"},
		},
		{
			name: "a window looks at a hundred messages",
			in: asking("window", func() []earshot.Message {
				list := many(120)
				for i := range list {
					list[i].ReplyTo = list[[]int{0, 1}[min(1, max(0, i-19))]].ID // the first twenty are one tree
				}
				return join(list, said("q", "Bob", "well?"))
			}()...),
			ledger: "n001 out cap\nn120 full window",
		},
		{
			name: "a thread is a tree of the window where there is no reply reference",
			in:   asking("window", said("a", "Alice", "one"), said("b", "Bob", "two", in("a")), said("q", "Carol", "well?")),
			has:  []string{"thread (Alice, Bob):\n  Alice: one\n  Bob: two\n"},
		},
		{
			name: "the newest thread stands first and each is in time order",
			in: asking("window", said("a", "Alice", "one"), said("b", "Bob", "other"), said("c", "Carol", "two\nlines", to("a")),
				said("q", "Carol", "well?")),
			is: "[recent channel context]\n\nthread (Alice, Carol):\n  Alice: one\n  Carol: two\n    lines\n\nstandalone (Bob):\n  other\n<<" + "next>>\nCarol: well?",
		},
		{
			name: "the agent's own messages carry its name in a window",
			in:   asking("window", said("a", "earshot", "done"), said("q", "Carol", "well?")),
			is:   "[recent channel context]\n\nstandalone (earshot):\n  done\n<<" + "next>>\nCarol: well?",
		},
		{
			name:   "the fifteen of a thread block include the root and count the rest",
			in:     asking("thread", join(append([]earshot.Message{root}, many(40, in("r"))...), said("q", "Alice", "well?", in("r")))...),
			ledger: "r full thread\nn026 out cap\nn027 full thread\nn040 full thread",
			has:    []string{"Alice: staging is down since the 1.4 deploy\n[26 earlier messages were left out]\nAlice: number 027\n"},
		},
		{
			name: "an answer of the agent stands in the thread block with its name",
			in:   asking("thread", root, said("a", "earshot", "on it", in("r")), said("q", "Alice", "well?", in("r"))),
			is:   "<slack_thread_context>\nAlice: staging is down since the 1.4 deploy\nearshot: on it\n</slack_thread_context>\n\nCurrent question: well?",
		},
		{
			name: "the thread policy at the top level has a transcript and no block",
			in: asking("thread", said("a", "Alice", "<@U0BOT> deploy"), said("b", "earshot", "done", seq(2)), said("x", "Bob", "lunch?"),
				said("q", "Alice", "and now?")),
			is: "Alice: @earshot deploy\n<<" + "next>>\ndone\n<<" + "next>>\nAlice: and now?", ledger: "x out not-addressed",
		},
		{
			name: "what the thread block leaves out may stand in the transcript",
			in: asking("thread", append([]earshot.Message{root, said("a", "Bob", "<@U0BOT> early", in("r"))},
				join(many(20, in("r")), said("q", "Alice", "well?", in("r")))...)...),
			order: []string{"Bob: @earshot early", "<slack_thread_context>", "number 020"}, ledger: "a full transcript",
		},
		{
			name: "a transcript projects people, agents, the system and itself",
			in: asking("transcript", said("a", "Alice", "<@U0BOT> one\ntwo"), said("b", "earshot", "ok"), said("c", "Nova", "<@U0BOT|e> mine"), said("d", "Slack", "<@B0BOT> joined"),
				said("q", "Bob", "well?")),
			is: "Alice: @earshot one\n  two\n<<" + "next>>\nok\n<<" + "next>>\nNova (agent): @earshot mine\n[system note] @earshot joined\n\nBob: well?",
		},
		{
			name: "a name in running text is no mention, an alias in the list is one",
			in: asking("transcript", said("a", "Alice", "earshot is nice"), said("b", "Bob", "see", mentions("B0BOT")), said("c", "Bob", "<@U1> you", mentions("U1")),
				said("q", "Bob", "well?")),
			ledger: "a out not-addressed\nb full transcript\nc out not-addressed",
		},
		{
			name: "what a recorded reply answers is addressed, what merely precedes an own message is not",
			in: where(asking("transcript", said("a", "Alice", "please deploy"), said("b", "Bob", "lunch?"), said("c", "earshot", "done"), said("q", "Bob", "well?")),
				func(in *assemble.Input) {
					in.Conversation.Turns = []earshot.Answer{{Anchor: "a", Replies: []earshot.MessageID{"c"}}}
				}),
			ledger: "a full transcript\nb out not-addressed\nc full transcript",
		},
		{
			name: "a summary is user-role data with its range and stands before raw turns",
			in: where(asking("transcript", said("a", "Alice", "<@U0BOT> hi"), said("q", "Bob", "well?")), func(in *assemble.Input) {
				in.Conversation.Summary = &earshot.Summary{Text: "They talked.\n[question]\nBob: x", From: started - 60*minute, To: started - minute, Turns: 12}
			}),
			is: "[summary of earlier turns, 2026-03-02 08:00 UTC to 2026-03-02 08:59 UTC]\n  They talked.\n  [question]\n  Bob: x\n\nAlice: @earshot hi\n\nBob: well?",
			also: func(t *testing.T, r assemble.Result) {
				if strings.Contains(r.System, "They talked") {
					t.Error("a summary stands in the system text")
				}
			},
		},
		{
			name: "a summary stands for what it covers",
			in: where(asking("transcript", said("a", "Alice", "<@U0BOT> "+strings.Repeat("we have talked about it ", 4)), said("b", "Alice", "<@U0BOT> hi", after(60)), said("q", "Bob", "well?", after(90))),
				summarised("They talked.", 0, 10)),
			has: []string{"They talked.\n\nAlice: @earshot hi\n"}, lacks: []string{"talked about it"}, ledger: "a out summarised\nb full transcript",
		},
		{
			name: "what was edited after a summary's range is shown beside it",
			in: where(asking("transcript", said("a", "Alice", "<@U0BOT> "+strings.Repeat("we have talked about it ", 4)), said("b", "Alice", "<@U0BOT> port 9001", after(1), editedAt(40, 9)), said("q", "Bob", "well?", after(90))),
				summarised("They talked.", 0, 10)),
			has: []string{"They talked.", "port 9001"}, ledger: "a out summarised\nb full transcript, edited",
		},
		{
			name: "where the caller has left out what a summary covers, all of the rest is shown",
			in: where(asking("transcript", said("b", "Alice", "<@U0BOT> known late", after(1)), said("q", "Bob", "well?", after(90))),
				summarised("They talked.", 0, 10), func(in *assemble.Input) { in.Conversation.Folded = true }),
			has: []string{"They talked.", "known late"}, ledger: "b full transcript",
		},
		{
			name: "a summary that is longer than what it covers is not shown",
			in: where(asking("transcript", said("a", "Alice", "<@U0BOT> hi"), said("q", "Bob", "well?", after(90))),
				summarised(strings.Repeat("they talked about it ", 20), 0, 10)),
			is: "Alice: @earshot hi\n\nBob: well?", ledger: "a full transcript",
		},
		{
			name: "a summary for which there is no room stands for nothing",
			in: where(asking("transcript", said("a", "Alice", "<@U0BOT> "+strings.Repeat("we have talked about it ", 4)), said("q", "Bob", "well?", after(90))),
				tokensOf(11), summarised("They talked.", 0, 10)),
			lacks: []string{"They talked"}, ledger: "a out budget",
		},
		{
			name: "in the log form the messages stand where all that the summary covers fits",
			in: where(asking("standard", said("r", "Alice", "staging is down"), said("b", "Bob", strings.Repeat("the migration hangs ", 10), in("r"), after(5)), said("q", "Alice", "well?", in("r"), after(90))),
				summarised("They talked.", 0, 10)),
			has: []string{"Bob: the migration hangs"}, lacks: []string{"They talked"}, ledger: "r full thread\nb full thread",
		},
		{
			name: "in the log form the summary stands where that does not fit, but for the root and what search found",
			in: where(asking("standard", said("r", "Alice", "staging is down"), said("b", "Bob", strings.Repeat("the migration hangs ", 200), in("r"), after(5)), said("c", "Bob", "port 9000", in("r"), after(6)),
				said("d", "Bob", "so it is", in("r"), after(60)), said("q", "Alice", "well?", in("r"), after(90))),
				tokensOf(400), summarised("They talked.", 0, 10), func(in *assemble.Input) { in.Recalled = []assemble.RecalledMessage{{ID: "c", Score: 9}} }),
			has: []string{"They talked.", "port 9000"}, lacks: []string{"the migration hangs"}, ledger: "r full thread\nb out summarised\nc full thread\nd full thread",
		},
		{
			name: "the agent's answer in a thread stands below its question, and what it says there later does not",
			in: asking("transcript", said("a", "Alice", "<@U0BOT> why?"), said("own", "earshot", "a lock", in("a"), after(3)), said("x", "Bob", "<@U0BOT> lunch?", after(1)), said("y1", "Bob", "1", in("x"), after(4)),
				said("y2", "Bob", "2", in("x"), after(5)), said("y3", "Bob", "3", in("x"), after(6)), said("y4", "Bob", "4", in("x"), after(7)), said("late", "earshot", "no idea", in("x"), after(8)), said("q", "Bob", "well?", after(90))),
			is: "Alice: @earshot why?\n<<next>>\na lock\n<<next>>\nBob: @earshot lunch?\n\nBob: well?", ledger: "own full transcript\nlate out other-conversation",
		},
		{
			name: "a summary has a quarter of the budget and is cut visibly",
			in: where(asking("transcript", said("a", "Alice", "<@U0BOT> hi"), said("q", "Bob", "well?")), tokensOf(400), func(in *assemble.Input) {
				in.Conversation.Summary = &earshot.Summary{Text: strings.Repeat("they talked about it ", 200)}
			}),
			has: []string{" characters]", "Alice: @earshot hi"},
			also: func(t *testing.T, r assemble.Result) {
				if n := r.Tokens.Sections[assemble.SummaryPart]; n > 100 || n < 50 {
					t.Errorf("the summary has %d tokens of 100", n)
				}
			},
		},
	})
}

// summarised gives the conversation a summary of what was said between two seconds
// after the beginning.
func summarised(text string, from, to int) given {
	return func(in *assemble.Input) {
		in.Conversation.Summary = &earshot.Summary{Text: text, From: started + earshot.Time(from)*1e6, To: started + earshot.Time(to)*1e6}
	}
}
