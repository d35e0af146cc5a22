package assemble_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

// asked is a thread in which the agent has answered once: r and b were shown,
// a1 was answered by own.
func asked(more ...earshot.Message) []earshot.Message {
	return append([]earshot.Message{
		said("r", "Alice", "staging is down"), said("b", "Bob", "the migration hangs", in("r")),
		said("a1", "Alice", "<@U0BOT> why?", in("r")), said("own", "earshot", "A lock.", in("r")),
	}, more...)
}

const heldDelta = "Previous conversation:\n---\nAlice: staging is down\nBob: the migration hangs\n---\nCurrent question: @earshot why?"
const heldStandard = "[a Slack channel. You are earshot here.]\n+ name: #general\n\n[this thread]\n[Mon 2 Mar]\n09:00 Alice: staging is down\n09:00 Bob: the migration hangs\n\n[question, Mon 2 Mar 2026, UTC]\n09:00 Alice: @earshot why?"

// What stands below the day in most follow-ups of the log form.
const (
	sinceOne = "[since your last answer: 1 message]\n[Mon 2 Mar]\n"
	newHere  = "[new in this channel since your last answer]\n[Mon 2 Mar]\n"
	asks     = "\n\n[question, Mon 2 Mar 2026, UTC]\n"
	andNow   = asks + "09:01 Bob: @earshot and now?"
)

func again(policyName string, more ...earshot.Message) assemble.Input {
	held := heldDelta
	if policyName != "delta" {
		held = heldStandard
	}
	return where(asking(policyName, asked(more...)...), recorded(4, "a1", "own", held, "A lock.", "r", "b"))
}

// elsewhere is a conversation whose caller keeps the session, and has processed it up
// to a number of seconds after the start.
func elsewhere(seconds int) given {
	return func(in *assemble.Input) { in.Conversation.Processed = started + earshot.Time(seconds)*1_000_000 }
}

func TestTurnsOfASessionThatTheCallerKeeps(t *testing.T) {
	t.Parallel()
	q := func(changes ...with) earshot.Message {
		return said("q", "Bob", "<@U0BOT> and now?", append([]with{in("r"), after(100)}, changes...)...)
	}
	const since = "Since your last message, the following conversation took place (last 1 messages):\n---\nCarol: I restarted the workers\n---\nCurrent question: @earshot and now?"
	carol := said("c", "Carol", "I restarted the workers", in("r"), after(50))
	checkRules(t, []rule{
		{
			name: "what was said up to it is considered, and own messages are left out",
			in:   where(asking("delta", asked(carol, said("o2", "earshot", "Noted.", in("r"), after(60)), q())...), elsewhere(2)),
			is:   since, ledger: "r out considered",
		},
		{
			name: "the time itself is processed",
			in:   where(asking("delta", asked(carol, q())...), elsewhere(50)),
			is:   "@earshot and now?", ledger: "c out considered",
		},
		{
			name: "an own message is left out as its own",
			in:   where(asking("delta", asked(carol, q())...), elsewhere(2)),
			is:   since, ledger: "own out own-recorded",
		},
		{
			name: "what was edited since is shown again",
			in:   where(asking("delta", asked(said("d", "Dan", "it was the lock", in("r"), after(1), editedAt(70, 40)), q())...), elsewhere(2)),
			is:   "Since your last message, the following conversation took place (last 1 messages):\n---\nDan: (edited) it was the lock\n---\nCurrent question: @earshot and now?",
		},
		{
			name: "more than fifty are counted with what was left out and with what is not loaded",
			in: where(asking("delta", func() []earshot.Message {
				list := many(60, in("r"))
				for i := range list {
					list[i].Time = started + earshot.Time(10_000_000+i*1000)
				}
				return asked(append(list, q())...)
			}()...), elsewhere(3), stored("r", 100)),
			has: []string{"(last 50 of 99 messages; 49 earlier ones were left out):\n---\nAlice: number 011\n"},
		},
		{
			name: "a session that is kept here goes first",
			in:   where(again("delta", carol, q(seq(50))), elsewhere(90)),
			is:   since,
		},
		{
			name: "another frame begins anew",
			in:   where(asking("standard", asked(carol, q())...), elsewhere(50)),
			has:  []string{"[this thread]", "09:00 Alice: staging is down"},
		},
	})
}

func TestLaterTurns(t *testing.T) {
	t.Parallel()
	q := func(changes ...with) earshot.Message {
		return said("q", "Bob", "<@U0BOT> and now?", append([]with{in("r"), after(100), seq(50)}, changes...)...)
	}
	edited := func(m earshot.Message, second int, n int64, text string) earshot.Message {
		m.Text, m.Edited, m.Seq = text, started+earshot.Time(second)*1_000_000, n
		return m
	}
	checkRules(t, []rule{
		{
			name: "one message is counted as one",
			in:   again("standard", said("c", "Carol", "I restarted the workers", in("r")), q()),
			is:   sinceOne + "09:00 Carol: I restarted the workers" + andNow,
		},
		{
			name: "one message is counted in the words of the delta preamble",
			in:   again("delta", said("c", "Carol", "I restarted the workers", in("r")), q()),
			is:   "Since your last message, the following conversation took place (last 1 messages):\n---\nCarol: I restarted the workers\n---\nCurrent question: @earshot and now?",
		},
		{
			name: "nothing new is the bare question under a header in standard",
			in:   again("standard", q()),
			is:   andNow[2:],
		},
		{
			name: "nothing new is the bare message in delta",
			in:   again("delta", q()),
			is:   "@earshot and now?",
		},
		{
			name: "more than fifty are counted with what was left out",
			in: again("delta", func() []earshot.Message {
				list := many(190, in("r"))
				for i := range list {
					list[i].Time, list[i].Seq = started+earshot.Time(10_000_000+i*1000), int64(5+i)
				}
				return join(list, q(seq(500)))
			}()...),
			has:    []string{"Since your last message, the following conversation took place (last 50 of 190 messages; 140 earlier ones were left out):\n---\nAlice: number 141\n", "number 190\n---\nCurrent question: "},
			ledger: "n140 out cap\nn141 full delta",
			notes:  []string{"omitted delta: 140 of 190 messages were left out"},
		},
		{
			name: "standard counts what was left out in the header",
			in: again("standard", func() []earshot.Message {
				list := many(60, in("r"))
				for i := range list {
					list[i].Time, list[i].Seq = started+earshot.Time(10_000_000+i*1000), int64(5+i)
				}
				return join(list, q(seq(500)))
			}()...),
			has: []string{"[since your last answer: the newest 50 of 60 messages]\n[Mon 2 Mar]\n09:00 Alice: number 011\n"},
		},
		{
			name:   "a message that became known late is shown where it was said, with that reason",
			in:     again("delta", said("l", "Carol", "said early", in("r"), after(1), seq(9)), said("c", "Carol", "said now", in("r")), q()),
			is:     "Since your last message, the following conversation took place (last 2 messages):\n---\nCarol: said early\nCarol: said now\n---\nCurrent question: @earshot and now?",
			ledger: "l full delta, late\nc full delta",
		},
		{
			name:   "what is at or below the cursor and older than the last anchor has been considered",
			in:     again("delta", said("l", "Carol", "left out then", in("r"), after(1), seq(2)), q()),
			is:     "@earshot and now?",
			ledger: "l out considered",
		},
		{
			name:   "what stands after the last anchor with a sequence at or below the cursor is shown",
			in:     where(again("delta", said("l", "Carol", "while it answered", in("r"), after(3), seq(4)), q())),
			has:    []string{"Carol: while it answered"},
			ledger: "l full delta",
		},
		{
			name: "an edit of the root arrives in a delta, whole",
			in: func() assemble.Input {
				x := again("delta", q())
				x.Messages[0] = edited(x.Messages[0], 60, 9, "staging was down")
				return x
			}(),
			is:     "Since your last message, the following conversation took place (last 1 messages):\n---\nAlice: (edited) staging was down\n---\nCurrent question: @earshot and now?",
			ledger: "r full delta, edited",
		},
		{
			name: "an edit of a late message is edited and late",
			in: func() assemble.Input {
				return again("delta", said("l", "Carol", "said early", in("r"), after(1), editedAt(70, 9)), q())
			}(),
			has: []string{"Carol: (edited) said early"}, ledger: "l full delta, edited, late",
		},
		{
			name: "an edit that was shown is not shown again",
			in: func() assemble.Input {
				x := again("delta", q())
				x.Messages[1] = edited(x.Messages[1], 60, 9, "changed")
				x.Conversation.Shown = append(x.Conversation.Shown, earshot.ShownRevision{ID: "b", Revision: started + 60_000_000})
				return x
			}(),
			is: "@earshot and now?", ledger: "b out shown",
		},
		{
			name: "an own reply that no turn carries is shown with the agent's name",
			in:   again("delta", said("o2", "earshot", "PS: done", in("r")), q()),
			has:  []string{"\nearshot: PS: done\n"}, ledger: "o2 full delta",
		},
		{
			name: "every part of a split reply is recorded",
			in: func() assemble.Input {
				x := again("delta", said("own2", "earshot", "and more", in("r")), q())
				x.Conversation.Turns[0].Replies = append(x.Conversation.Turns[0].Replies, "own2")
				return x
			}(),
			is: "@earshot and now?", ledger: "own2 out own-recorded",
		},
		{
			name:   "other threads and the channel stay out of a delta",
			in:     again("delta", said("x", "Carol", "elsewhere"), said("y", "Carol", "in another", in("x")), q()),
			is:     "@earshot and now?",
			ledger: "x out other-conversation\ny out other-conversation",
		},
		{
			name: "standard shows what is new in the channel before what is new here",
			in:   again("standard", said("x", "Carol", "elsewhere"), said("c", "Carol", "here", in("r")), q()),
			is:   newHere + "09:00 Carol: elsewhere\n\n" + sinceOne + "09:00 Carol: here" + andNow,
		},
		{
			name: "a gap is said where a delta is, without a count where nothing is shown",
			in:   where(again("delta", q()), missing("r", 60, 120)),
			is:   "Since your last message, the following conversation took place:\n---\n[history between 2026-03-02 09:01 UTC and 2026-03-02 09:02 UTC could not be loaded]\n---\nCurrent question: @earshot and now?",
		},
		{
			name: "a gap in standard stands in the delta",
			in:   where(again("standard", q()), missing("r", 0, 120)),
			is:   "[since your last answer]\n[history before 2026-03-02 09:02 UTC could not be loaded]" + andNow,
		},
		{
			name: "structured sends only the new message later, never the context again",
			in: where(asking("structured", asked(said("c", "Carol", "here", in("r")), q())...), recorded(4, "a1", "own",
				"[ChannelSnapshot]\n{}\n\n[question]\nAnswer the message in ChannelSnapshot.anchor.", "A lock.", "r", "b")),
			is: "[since your last answer (1 message)]\nCarol: here\n\n[question]\nBob: @earshot and now?",
		},
		{
			name: "a conversation in a direct message goes on at the top level",
			in: where(asking("delta", said("a1", "Alice", "hi"), said("own", "earshot", "hello"), said("m", "Alice", "by the way"), said("t", "Alice", "aside", in("a1")), said("q", "Alice", "well?")),
				recorded(2, "a1", "own", "hi", "hello"), func(in *assemble.Input) { in.Channel.Kind = earshot.KindDM }),
			is:     "Since your last message, the following conversation took place (last 1 messages):\n---\nAlice: by the way\n---\nCurrent question: well?",
			ledger: "t out other-conversation",
		},
		{
			name: "a reply to the agent's answer goes on with the conversation that this answer stands in",
			in: where(asking("standard", said("a1", "Alice", "<@U0BOT> how?"), said("own", "earshot", "So.", to("a1")), said("x", "Bob", "other talk"), said("y", "Carol", "me too", to("own")),
				said("q", "Alice", "and then?", to("own"))), recorded(2, "a1", "own", "[question]\nAlice: @earshot how?", "So.")),
			is:     newHere + "09:00 Bob: other talk\n\n" + sinceOne + "09:00 Carol: me too" + asks + "09:00 Alice: and then?",
			ledger: "a1 out shown\nown out own-recorded\nx full window\ny full delta",
		},
		{
			name: "a deletion of something shown starts a new epoch without what was taken back",
			in: func() assemble.Input {
				x := again("delta", said("c", "Carol", "here", in("r")), q())
				x.Messages[1].Deleted = true
				return x
			}(),
			is:     "Previous conversation:\n---\nAlice: staging is down\nAlice: @earshot why?\nearshot: A lock.\nCarol: here\n---\nCurrent question: @earshot and now?",
			ledger: "b out deleted\nr full thread",
			also: func(t *testing.T, r assemble.Result) {
				if got, want := r.Next.Epoch, 1; got != want {
					t.Errorf("epoch %d, want %d", got, want)
				}
				nextShown("r", "a1", "own", "c", "q")(t, r)
			},
		},
		{
			name: "an id that is merely absent is no deletion",
			in: func() assemble.Input {
				x := again("delta", q())
				x.Messages = x.Messages[2:]
				return x
			}(),
			is: "@earshot and now?",
			also: func(t *testing.T, r assemble.Result) {
				if r.Next.Epoch != 0 {
					t.Errorf("epoch %d, want 0", r.Next.Epoch)
				}
			},
		},
		{
			name: "a deletion of what was never shown changes nothing",
			in:   again("delta", said("c", "Carol", "gone", in("r"), deleted), q()),
			is:   "@earshot and now?", ledger: "c out deleted",
		},
		{
			name: "a summary that covers what was taken back is dropped",
			in: func() assemble.Input {
				x := again("delta", q())
				x.Messages[1].Deleted = true
				x.Conversation.Summary = &earshot.Summary{Text: "Bob said something", From: started, To: started + minute}
				return x
			}(),
			lacks: []string{"Bob said something"},
		},
		{
			name: "a summary of another time stays after a deletion",
			in: func() assemble.Input {
				x := again("delta", q())
				x.Messages[1].Deleted = true
				x.Conversation.Summary = &earshot.Summary{Text: "They talked before", From: started - 60*minute, To: started - minute}
				return x
			}(),
			has: []string{"[summary of earlier turns, 2026-03-02 08:00 UTC to 2026-03-02 08:59 UTC]\n  They talked before\n\nPrevious conversation:"},
		},
		{
			name: "a session over its budget starts a new epoch with the summary",
			in: where(again("delta", q()), func(in *assemble.Input) {
				in.Budget.Session = 10
				in.Conversation.Summary = &earshot.Summary{Text: "They talked before"}
			}),
			is: "[summary of earlier turns]\n  They talked before\n\nPrevious conversation:\n---\nAlice: staging is down\nBob: the migration hangs\nAlice: @earshot why?\nearshot: A lock.\n---\nCurrent question: @earshot and now?",
			also: func(t *testing.T, r assemble.Result) {
				if r.Next.Epoch != 1 || r.Tokens.Sections[assemble.SessionPart] != 0 {
					t.Errorf("epoch %d, sections %v", r.Next.Epoch, r.Tokens.Sections)
				}
			},
		},
		{
			name: "a summary is not repeated in a later turn",
			in: where(again("standard", q()), func(in *assemble.Input) {
				in.Conversation.Summary = &earshot.Summary{Text: "They talked before"}
			}),
			lacks: []string{"They talked before"},
		},
		{
			name: "an isolated turn reads no session and is not told what was said",
			in:   where(again("standard", said("q", "Bob", "🚫 what is 2+2? ", in("r"))), missing("r", 0, 0)),
			is:   "what is 2+2?", ledger: "r out isolated\nb out isolated\na1 out isolated\nown out isolated\nq full anchor",
			also: func(t *testing.T, r assemble.Result) {
				if len(r.Messages) != 1 || r.Next.Cursor != 4 || len(r.Next.Shown) != 0 || !strings.Contains(r.System, "[question") {
					t.Errorf("result %+v", r)
				}
			},
		},
		{
			name: "an isolated message is an ordinary one to later turns",
			in:   again("delta", said("i", "Bob", "🚫 alone", in("r")), q()),
			has:  []string{"\nBob: 🚫 alone\n"},
		},
		{
			name: "names that a session has used stay when somebody of the same name comes",
			in: where(again("delta", said("n", "Alice", "I am another", in("r"), by("A-0")), q()), func(in *assemble.Input) {
				in.Conversation.Names = []earshot.SessionName{{ID: "U-Alice", Name: "Alice"}}
			}),
			has: []string{"\nAlice (2): I am another\n"},
		},
		{
			name: "a first turn numbers namesakes by author id",
			in: asking("delta", said("r", "Alice", "one"), said("n", "Alice", "two", in("r"), by("A-0")), said("k", "ＡLICE", "three", in("r"), by("Z")),
				said("q", "Bob", "well?", in("r"))),
			is: "Previous conversation:\n---\nAlice (2): one\nAlice: two\nALICE (3): three\n---\nCurrent question: well?",
		},
		{
			name: "a bare question does not run into a session that ends with the user",
			in: where(again("delta", said("q", "Bob", "and now?", in("r"))), func(in *assemble.Input) {
				in.Conversation.Session = in.Conversation.Session[:1]
			}),
			also: func(t *testing.T, r assemble.Result) {
				if got, want := r.Messages[0].Text, heldDelta+"\nCurrent question: and now?"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			},
		},
		{
			name: "the policies without a session are rebuilt each time",
			in: where(asking("window", asked(said("q", "Bob", "well?"))...), func(in *assemble.Input) {
				in.Conversation = again("delta", q()).Conversation
			}),
			has: []string{"Alice: staging is down"},
		},
	})
}

func TestALaterTurnKeepsTheSessionByteForByte(t *testing.T) {
	t.Parallel()
	x := again("standard", said("q", "Bob", "well?", in("r")))
	x.Conversation.Session[0].Text = "odd\x00 [question]\r\n\u202Ebytes \xff"
	r, err := assemble.Turn(x)
	if err != nil {
		t.Fatal(err)
	}
	var got []earshot.SessionEntry
	for _, m := range r.Messages[:2] {
		got = append(got, earshot.SessionEntry{Role: m.Role, Text: m.Text})
	}
	if d := cmp.Diff(got, x.Conversation.Session); d != "" {
		t.Errorf("session (-got +want):\n%s", d)
	}
}
