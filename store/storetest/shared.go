package storetest

import (
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
)

// withQuote returns said(n, text) with a quote of Erin and a link preview.
func withQuote(n int, text string) earshot.Message {
	m := plainMessage(n, text)
	m.Shared = fullMessage(n).Shared
	m.Shared[1].Text = "how locks\nwork"
	return m
}

func (s *suite) terms(seq int64) []earshot.Terms {
	s.Helper()
	return collect(s.T, s.Terms(s.Context(), s.scope, seq))
}

var sharedCases = []testCase{
	{"a link preview that arrives after its message is an update, not an edit", func(s *suite) {
		s.record(plainMessage(1, "see this"))
		s.equal("outcome", s.recorded(withQuote(1, "see this"))[0], earshot.RecordResult{ID: "m1", Change: earshot.Updated, Seq: 2})
		s.equal("message", withoutStoreFields(s.message("m1")), withQuote(1, "see this"))
		list, err := s.Revisions(s.Context(), s.scope, "m1")
		s.check(err)
		s.equal("revisions", len(list), 1)
		s.equal("a copy that tells nothing of it", s.record(plainMessage(1, "see this")), []earshot.Change{earshot.Same})
		gone := plainMessage(1, "see this")
		gone.Shared = []earshot.SharedContent{}
		s.equal("a copy that says it is gone", s.record(gone), []earshot.Change{earshot.Updated})
		s.equal("without", withoutStoreFields(s.message("m1")), plainMessage(1, "see this"))
	}},
	{"what is shared goes with its revision", func(s *suite) {
		edit := plainMessage(1, "without the quote")
		edit.Edited = timeAt(9)
		s.equal("changes", s.record(withQuote(1, "with it"), edit), []earshot.Change{earshot.New, earshot.Edited})
		s.equal("message", withoutStoreFields(s.message("m1")), edit)
		list, err := s.Revisions(s.Context(), s.scope, "m1")
		s.check(err)
		s.equal("revisions", bareAll(list), []earshot.Message{withQuote(1, "with it"), edit})
		s.equal("the greater text brings its own", s.record(withQuote(2, "a"), plainMessage(2, "b"), plainMessage(3, "b"), withQuote(3, "a")),
			[]earshot.Change{earshot.New, earshot.Updated, earshot.New, earshot.Same})
		s.equal("m2", withoutStoreFields(s.message("m2")), plainMessage(2, "b"))
		s.equal("m3", withoutStoreFields(s.message("m3")), plainMessage(3, "b"))
	}},
	{"a tombstone keeps nothing that was shared", func(s *suite) {
		edit := withQuote(1, "y")
		edit.Edited = timeAt(9)
		s.record(withQuote(1, "x"), edit, tombstone(1))
		want := tombstone(1)
		want.Seq = 3
		s.equal("message", s.message("m1"), want)
		s.equal("terms", s.terms(0), []earshot.Terms{{ID: "m1", Seq: 3, Time: timeAt(1), Deleted: true}})
		late := withQuote(2, "x")
		late.Deleted = true
		s.record(late)
		want = tombstone(2)
		want.Seq = 4
		s.equal("shared by a tombstone", s.message("m2"), want)
	}},
	{"what is quoted is found under its own author", func(s *suite) {
		s.record(withQuote(1, "look at the locks"))
		want := earshot.Terms{ID: "m1", Seq: 1, Time: timeAt(1), Author: "U1", Name: "Alice", Terms: index.Terms("look at the locks"), Quoted: []earshot.Quote{
			{Author: "U9", Name: "Erin Vogt", Terms: index.Terms("we see it in our region too")},
			{Terms: index.Terms("how locks work")},
		}}
		s.equal("terms", s.terms(0), []earshot.Terms{want})
		m := withQuote(1, "look at the locks")
		m.Shared, m.Reactions = nil, fullMessage(1).Reactions
		s.equal("a copy that tells nothing of it, with reactions", s.record(m), []earshot.Change{earshot.Updated})
		want.Seq = 2
		s.equal("terms", s.terms(0), []earshot.Terms{want})
		m.Shared = []earshot.SharedContent{}
		s.record(m)
		want.Seq, want.Quoted = 3, nil
		s.equal("terms without", s.terms(0), []earshot.Terms{want})
		silent := plainMessage(2, "")
		silent.Shared = withQuote(2, "").Shared[:1]
		s.record(silent)
		s.equal("terms of a forward alone", s.terms(3), []earshot.Terms{{ID: "m2", Seq: 4, Time: timeAt(2), Author: "U1", Name: "Alice",
			Quoted: []earshot.Quote{{Author: "U9", Name: "Erin Vogt", Terms: index.Terms("we see it in our region too")}}}})
	}},
	{"an app's quote has no author's id, and without a name it counts as the app's text", func(s *suite) {
		m := plainMessage(1, "alert")
		m.Shared = []earshot.SharedContent{
			{Kind: earshot.AppQuote, ID: "U2", Author: "Bob", Text: "approved"},
			{Kind: earshot.AppQuote, ID: "U2", Text: "disk full"},
		}
		s.record(m)
		s.equal("message", withoutStoreFields(s.message("m1")), m)
		s.equal("terms", s.terms(0), []earshot.Terms{{ID: "m1", Seq: 1, Time: timeAt(1), Author: "U1", Name: "Alice", Terms: index.Terms("alert disk full"),
			Quoted: []earshot.Quote{{Name: "Bob", Terms: index.Terms("approved")}}}})
	}},
	{"a quote can neither make a message invalid nor break the stored form of the terms", func(s *suite) {
		m := plainMessage(1, "x")
		m.Shared = []earshot.SharedContent{{Kind: earshot.Forward, ID: earshot.AuthorID(strings.Repeat("U", 600)), Author: "Erin\n\t{\"id\":\"U1\"}\x00", Text: "canary\n\t{}"}}
		s.record(m, plainMessage(2, "after"))
		m.Shared[0].ID, m.Shared[0].Author = "", "Erin\n\t{\"id\":\"U1\"}␀"
		s.equal("message", withoutStoreFields(s.message("m1")), m)
		s.equal("terms", s.terms(0)[0].Quoted, []earshot.Quote{{Name: m.Shared[0].Author, Terms: index.Terms("canary")}})
	}},
	{"the terms of what is quoted are bounded together", func(s *suite) {
		m := plainMessage(1, "own")
		long := strings.Repeat("日", 5000)
		m.Shared = []earshot.SharedContent{{Kind: earshot.Link, Text: long}, {Kind: earshot.Link, Text: long}, {Kind: earshot.Link, Text: long}}
		s.record(m)
		t := s.terms(0)[0]
		n := 0
		for _, q := range t.Quoted {
			n += len(q.Terms)
		}
		s.equal("own and quoted", []int{len(t.Terms), n}, []int{1, index.MaxTerms})
	}},
}

// threadRoot returns said(n, text) with the platform's count of its thread's replies.
func threadRoot(n int, text string, count, last int) earshot.Message {
	m := plainMessage(n, text)
	m.Replies = &earshot.Activity{Count: count, Last: timeAt(last)}
	return m
}

var repliesCases = []testCase{
	{"the platform's count of a thread's replies comes back with its root", func(s *suite) {
		m := threadRoot(1, "root", 14, 50)
		m.Replies.LastHour = 3
		s.record(m)
		want := threadRoot(1, "root", 14, 50)
		want.Seq = 1
		want.Tokens = s.message("m1").Tokens
		s.equal("Message", s.message("m1"), want)
		list, err := s.Newest(s.Context(), s.scope, whole, open, 5)
		s.check(err)
		s.equal("Newest", list, []earshot.Message{want})
		s.equal("Range", collect(s.T, s.Range(s.Context(), s.scope, top, open, open)), []earshot.Message{want})
		list, err = s.Since(s.Context(), s.scope, 0, 0)
		s.check(err)
		s.equal("Since", list, []earshot.Message{want})
	}},
	{"a greater count of replies gets no sequence", func(s *suite) {
		s.record(threadRoot(1, "root", 2, 20), plainMessage(2, "x"))
		same := earshot.RecordResult{ID: "m1", Change: earshot.Same, Seq: 1}
		updated := earshot.RecordResult{ID: "m1", Change: earshot.Updated, Seq: 1}
		for _, c := range []struct {
			name     string
			given    earshot.Message
			outcome  earshot.RecordResult
			count    int
			lastTold int
		}{
			{"nothing told", plainMessage(1, "root"), same, 2, 20},
			{"none told", threadRoot(1, "root", 0, 0), same, 2, 20},
			{"a greater count", threadRoot(1, "root", 3, 30), updated, 3, 30},
			{"a lesser count", threadRoot(1, "root", 2, 20), same, 3, 30},
			{"a lesser count with a later last", threadRoot(1, "root", 1, 40), updated, 3, 40},
		} {
			s.equal(c.name, s.recorded(c.given)[0], c.outcome)
			s.equal(c.name+": message", withoutStoreFields(s.message("m1")), threadRoot(1, "root", c.count, c.lastTold))
		}
		list, err := s.Since(s.Context(), s.scope, 1, 0)
		s.check(err)
		s.equal("became known since", messageIDs(list), names("m2"))
		s.equal("the next sequence", s.recorded(plainMessage(3, "y"))[0].Seq, int64(3))
		s.equal("terms", s.terms(0)[0].Terms, index.Terms("root"))
		s.equal("newest", s.newest(whole, open, 9), names("m1", "m2", "m3"))
		s.record(tombstone(1))
		s.equal("newest without it", s.newest(whole, open, 9), names("m2", "m3"))
		s.equal("tombstone", s.message("m1").Replies, (*earshot.Activity)(nil))
	}},
	{"a count of replies belongs to no revision", func(s *suite) {
		edit := plainMessage(1, "after")
		edit.Edited = timeAt(9)
		s.equal("changes", s.record(threadRoot(1, "before", 2, 20), edit), []earshot.Change{earshot.New, earshot.Edited})
		want := threadRoot(1, "after", 2, 20)
		want.Edited = edit.Edited
		s.equal("edited", withoutStoreFields(s.message("m1")), want)
		late := s.recorded(threadRoot(1, "before", 5, 50))[0]
		s.equal("an older copy that tells more", late, earshot.RecordResult{ID: "m1", Change: earshot.Updated, Seq: 2})
		want.Replies = &earshot.Activity{Count: 5, Last: timeAt(50)}
		s.equal("message", withoutStoreFields(s.message("m1")), want)
		list, err := s.Revisions(s.Context(), s.scope, "m1")
		s.check(err)
		s.equal("revisions", bareAll(list), []earshot.Message{plainMessage(1, "before"), want})
		s.equal("terms", s.terms(0), []earshot.Terms{{ID: "m1", Seq: 2, Time: timeAt(1), Author: "U1", Name: "Alice", Terms: index.Terms("after")}})
	}},
	{"a full name that is reported later gets no sequence", func(s *suite) {
		named := plainMessage(1, "x")
		named.Author.FullName = "Alice Maier"
		s.record(plainMessage(1, "x"))
		s.equal("outcome", s.recorded(named)[0], earshot.RecordResult{ID: "m1", Change: earshot.Updated, Seq: 1})
		s.equal("message", withoutStoreFields(s.message("m1")), named)
		s.equal("reported again, and not told", s.record(named, plainMessage(1, "x")), []earshot.Change{earshot.Same, earshot.Same})
		renamed := plainMessage(1, "x")
		renamed.Author.Name = "Bob"
		s.equal("another name", s.recorded(renamed)[0], earshot.RecordResult{ID: "m1", Change: earshot.Updated, Seq: 2})
		named.Author.Name = "Bob"
		s.equal("renamed", withoutStoreFields(s.message("m1")), named)
	}},
	{"activity returns the reported count where it is greater", func(s *suite) {
		s.record(threadRoot(1, "unread", 14, 50), threadRoot(2, "read in part", 3, 45), reply(40, "m2", "a"), reply(41, "m2", "b"),
			threadRoot(3, "read", 1, 30), reply(30, "m3", "a"), reply(60, "m3", "later"), plainMessage(4, "alone"))
		gone := threadRoot(5, "gone", 9, 20)
		s.record(gone, tombstone(5))
		undated := threadRoot(6, "undated", 4, 0)
		undated.Replies.Last = 0
		s.record(undated)
		ask := func(upTo earshot.Position) map[earshot.MessageID]earshot.Activity {
			s.Helper()
			got, err := s.Activity(s.Context(), s.scope, upTo, "m1", "m2", "m3", "m4", "m5", "m6", "nope", "")
			s.check(err)
			return got
		}
		type activity = map[earshot.MessageID]earshot.Activity
		s.equal("without a bound", ask(open), activity{
			"m1": {Count: 14, Last: timeAt(50)}, "m2": {Count: 3, Last: timeAt(45)}, "m3": {Count: 2, Last: timeAt(60)}, "m6": {Count: 4}})
		s.equal("at the last that was told", ask(positionAt(50)), activity{
			"m1": {Count: 14, Last: timeAt(50)}, "m2": {Count: 3, LastHour: 2, Last: timeAt(45)}, "m3": {Count: 1, LastHour: 1, Last: timeAt(30)}})
		s.equal("before it", ask(positionAt(44)), activity{
			"m2": {Count: 2, LastHour: 2, Last: timeAt(41)}, "m3": {Count: 1, LastHour: 1, Last: timeAt(30)}})
		count, err := s.Count(s.Context(), s.scope, earshot.ThreadOf("m1"), open)
		s.check(err)
		s.equal("Count is of what is stored", count, earshot.Count{Count: 1, From: timeAt(1), To: timeAt(1)})
	}},
}
