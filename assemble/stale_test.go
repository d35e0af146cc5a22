package assemble_test

import "testing"

// TestATalkOfDaysAgoSaysSo: delta and thread show no times, so that a model takes a
// talk of last week for one of this morning.
func TestATalkOfDaysAgoSaysSo(t *testing.T) {
	t.Parallel()
	root, b := said("r", "Alice", "staging is down"), said("b", "Bob", "I restart it now", in("r"), after(300))
	q := func(seconds int) with { return after(300 + seconds) }
	const day = 24 * 3600
	checkRules(t, []rule{
		{
			name: "a thread by delta", in: asking("delta", root, b, said("q", "Alice", "and now?", in("r"), q(3*day+60))),
			is: "Previous conversation:\n---\n[the newest of these messages is of 2026-03-02 09:05 UTC, 3 days before the question]\nAlice: staging is down\nBob: I restart it now\n---\nCurrent question: and now?",
		},
		{
			name: "a thread by thread", in: asking("thread", root, b, said("q", "Alice", "and now?", in("r"), q(day+60))),
			is: "<slack_thread_context>\n[the newest of these messages is of 2026-03-02 09:05 UTC, 1 day before the question]\nAlice: staging is down\nBob: I restart it now\n</slack_thread_context>\n\nCurrent question: and now?",
		},
		{
			name: "what was said since", in: again("delta", said("c", "Carol", "it runs", in("r"), after(310), seq(40)), said("q", "Alice", "and now?", in("r"), q(2*day+60), seq(50))),
			has: []string{"(last 1 messages):\n---\n[the newest of these messages is of 2026-03-02 09:05 UTC, 2 days before the question]\nCarol: it runs\n"},
		},
		{name: "a talk of today", in: asking("delta", root, b, said("q", "Alice", "and now?", in("r"), q(day-60))), lacks: []string{"newest"}},
		{name: "the log form has days", in: asking("standard", root, b, said("q", "Alice", "and now?", in("r"), q(3*day))), lacks: []string{"newest"}},
		{name: "nothing is shown", in: asking("delta", said("q", "Alice", "and now?", q(3*day))), is: "and now?"},
	})
}
