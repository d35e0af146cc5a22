package storetest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/search/index"
	"pgregory.net/rapid"
)

var modelCases = []testCase{
	{"the order of arrival changes nothing but sequences", func(s *suite) {
		var tries atomic.Int64 // each try has channels of its own
		rapid.Check(s.T, func(t *rapid.T) {
			copies := rapid.SliceOfN(rapid.Custom(drawCopy), 0, 24).Draw(t, "copies")
			want := expectedState(copies)
			for range sizeUnderRace(2, 1) {
				shuffled := rapid.Permutation(copies).Draw(t, "order")
				s := &suite{T: s.T, Store: s.Store, scope: s.scope}
				s.scope.Channel = earshot.ChannelID(fmt.Sprint("try ", tries.Add(1)))
				s.arrive(t, shuffled)
				if got := s.state(t); !equalStates(got, want) {
					t.Fatalf("in the order %v\ngot  %+v\nwant %+v", shuffled, got, want)
				}
				s.settled(t, copies)
			}
		})
	}},
}

// drawCopy draws one copy of one of four messages. All lists have a time: without one
// the last to arrive wins, and the property is that the order does not matter.
func drawCopy(t *rapid.T) earshot.Message {
	n := rapid.IntRange(0, 3).Draw(t, "message")
	if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
		return tombstone(n)
	}
	m := plainMessage(n, rapid.SampledFrom([]string{"", "a", "b", "deploy"}).Draw(t, "text"))
	m.Author.Name = rapid.SampledFrom([]string{"", "Alice"}).Draw(t, "name")
	if rev := rapid.IntRange(0, 2).Draw(t, "revision"); rev > 0 {
		m.Edited = timeAt(100 + rev)
	}
	if rapid.Bool().Draw(t, "thread") {
		m.Thread = "m0"
	}
	if rapid.Bool().Draw(t, "reply") {
		m.ReplyTo = "m1"
	}
	if rapid.Bool().Draw(t, "lists") {
		m.Mentions = rapid.SampledFrom([][]earshot.AuthorID{{}, {"U1"}, {"U2"}}).Draw(t, "mentions")
		m.AsOf.Mentions = timeAt(rapid.IntRange(1, 3).Draw(t, "as of"))
	}
	if rapid.Bool().Draw(t, "shared") {
		m.Shared = rapid.SampledFrom([][]earshot.SharedContent{{}, {{Kind: earshot.Link, Author: "erin", Text: "quoted"}}, {{Kind: earshot.Link, Text: "else"}}}).Draw(t, "quotes")
		m.AsOf.Shared = timeAt(rapid.IntRange(1, 3).Draw(t, "as of"))
	}
	if rapid.Bool().Draw(t, "files") {
		m.Files = rapid.SampledFrom([][]earshot.File{{}, {{ID: "F1"}}, {{ID: "F1"}, {ID: "F2"}}}).Draw(t, "attached")
		m.AsOf.Files = timeAt(rapid.IntRange(1, 3).Draw(t, "as of"))
	}
	m.Author.FullName = rapid.SampledFrom([]string{"", "Alice M", "Alice N"}).Draw(t, "full name")
	m.Author.Standing = rapid.SampledFrom([]earshot.Standing{"", earshot.External, earshot.Guest}).Draw(t, "standing")
	m.Author.Team = rapid.SampledFrom([]string{"", "ACME"}).Draw(t, "team")
	if count := rapid.IntRange(0, 3).Draw(t, "told"); count > 0 {
		m.Replies = &earshot.Activity{Count: count, Last: timeAt(rapid.IntRange(20, 22).Draw(t, "last"))}
	}
	return m
}

// expectedState computes from the contract of Record what must be stored after copies have
// arrived in any order: each message's revisions, oldest first.
func expectedState(copies []earshot.Message) map[earshot.MessageID][]earshot.Message {
	out := map[earshot.MessageID][]earshot.Message{}
	gone := map[earshot.MessageID]earshot.Message{}
	reported := map[earshot.MessageID]earshot.Activity{}
	for _, m := range copies {
		if r := m.Replies; r != nil {
			reported[m.ID] = earshot.Activity{Count: max(r.Count, reported[m.ID].Count), Last: max(r.Last, reported[m.ID].Last)}
			m.Replies = nil
		}
		if m.Deleted {
			gone[m.ID] = m
			continue
		}
		if m.Thread == m.ID {
			m.Thread = ""
		}
		list := out[m.ID]
		i := slices.IndexFunc(list, func(o earshot.Message) bool { return o.Edited == m.Edited })
		switch {
		case i < 0:
			out[m.ID] = append(list, m)
		case m.Text > list[i].Text:
			list[i] = m
		case m.Text == list[i].Text:
			o := &list[i]
			o.Author.Name, o.Author.FullName = max(o.Author.Name, m.Author.Name), max(o.Author.FullName, m.Author.FullName)
			o.Author.Standing, o.Author.Team = max(o.Author.Standing, m.Author.Standing), max(o.Author.Team, m.Author.Team)
			o.Thread, o.ReplyTo = max(o.Thread, m.Thread), max(o.ReplyTo, m.ReplyTo)
			keepLatest(&o.Mentions, &o.AsOf.Mentions, m.Mentions, m.AsOf.Mentions)
			keepLatest(&o.Shared, &o.AsOf.Shared, m.Shared, m.AsOf.Shared)
			keepLatest(&o.Files, &o.AsOf.Files, m.Files, m.AsOf.Files)
		}
	}
	for id := range out {
		slices.SortFunc(out[id], func(a, b earshot.Message) int { return cmp.Compare(a.Edited, b.Edited) })
		if a, ok := reported[id]; ok {
			out[id][len(out[id])-1].Replies = &a
		}
	}
	for id, m := range gone {
		out[id] = []earshot.Message{m}
	}
	return out
}

// keepLatest keeps of two lists the one told later, at the same time the greater.
func keepLatest[T any](have *[]T, since *earshot.Time, in []T, at earshot.Time) {
	if in != nil && (at > *since || at == *since && fmt.Sprint(in) > fmt.Sprint(*have)) {
		*have, *since = in, at
	}
}

// arrive records copies in calls of drawn sizes.
func (s *suite) arrive(t *rapid.T, copies []earshot.Message) {
	for len(copies) > 0 {
		n := rapid.IntRange(1, len(copies)).Draw(t, "in one call")
		out, err := s.Record(background, s.scope, copies[:n]...)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range out {
			if r.ID != copies[i].ID {
				t.Fatalf("outcome %d is of %s, not of %s", i, r.ID, copies[i].ID)
			}
		}
		copies = copies[n:]
	}
}

// state reads the revisions of everything that became known.
func (s *suite) state(t *rapid.T) map[earshot.MessageID][]earshot.Message {
	known, err := s.Since(background, s.scope, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	out := map[earshot.MessageID][]earshot.Message{}
	for i, m := range known {
		if i > 0 && m.Seq <= known[i-1].Seq {
			t.Fatalf("sequence %d follows %d", m.Seq, known[i-1].Seq)
		}
		list, err := s.Revisions(background, s.scope, m.ID)
		if err != nil {
			t.Fatal(err)
		}
		if out[m.ID] != nil {
			t.Fatalf("%s became known twice", m.ID)
		}
		out[m.ID] = bareAll(list)
	}
	return out
}

func equalStates(a, b map[earshot.MessageID][]earshot.Message) bool {
	return maps.EqualFunc(a, b, func(x, y []earshot.Message) bool {
		return slices.EqualFunc(x, y, func(m, n earshot.Message) bool { return dumpMessage(m) == dumpMessage(n) })
	})
}

// dumpMessage returns all of m as text.
func dumpMessage(m earshot.Message) string {
	reported := ""
	if m.Replies != nil {
		reported = fmt.Sprint(*m.Replies)
	}
	m.Replies = nil
	return fmt.Sprint(m, reported)
}

// settled checks that all reads agree with the state, and that recording known
// copies again writes nothing.
func (s *suite) settled(t *rapid.T, copies []earshot.Message) {
	before := s.views(t, copies)
	reversed := slices.Clone(copies)
	slices.Reverse(reversed)
	out, err := s.Record(background, s.scope, reversed...)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range out {
		if r.Change != earshot.Same {
			t.Fatalf("a copy that is known is %q: %+v", r.Change, reversed[i])
		}
	}
	if after := s.views(t, copies); after != before {
		t.Fatalf("recording what is known changed\n%s\nto\n%s", before, after)
	}
}

// views reads everything by every method, compares the results with one another, and
// returns them as text.
func (s *suite) views(t *rapid.T, copies []earshot.Message) string {
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	var live []earshot.Message
	for id := range expectedState(copies) {
		m, err := s.Message(background, s.scope, id)
		must(err)
		if !m.Deleted {
			live = append(live, m)
		}
	}
	slices.SortFunc(live, func(a, b earshot.Message) int { return a.Position().Compare(b.Position()) })
	var text string
	for _, m := range live {
		text += dumpMessage(m)
	}
	terms, err := collectTerms(s)
	must(err)
	for i, m := range live {
		want := index.Terms(m.Text)
		for _, x := range m.Shared {
			want = append(want, index.Terms(x.Text)...)
		}
		if !slices.Equal(terms[m.ID], want) {
			t.Fatalf("the terms of message %d are %q, want %q", i, terms[m.ID], want)
		}
	}
	for name, part := range map[string]earshot.ChannelPart{"whole": whole, "top": top, "m0": earshot.ThreadOf("m0"), "m2": earshot.ThreadOf("m2")} {
		for _, n := range []int{1, 3} {
			var want []earshot.MessageID
			for _, m := range live {
				inPart := name == "whole" || name == "top" && m.Thread == "" || part.Thread() != "" && (m.Thread == part.Thread() || m.ID == part.Thread())
				if inPart && m.Position().Compare(positionAt(n)) <= 0 {
					want = append(want, m.ID)
				}
			}
			newest, err := s.Newest(background, s.scope, part, positionAt(n), 100)
			must(err)
			count, err := s.Count(background, s.scope, part, positionAt(n))
			must(err)
			if !slices.Equal(messageIDs(newest), want) || count.Count != len(want) {
				t.Fatalf("%s up to %d: Newest %v, Count %d, want %v", name, n, messageIDs(newest), count.Count, want)
			}
		}
	}
	replying, err := s.Replying(background, s.scope, open, "m1")
	must(err)
	want := slices.DeleteFunc(slices.Clone(live), func(m earshot.Message) bool { return m.ReplyTo != "m1" })
	if !slices.Equal(messageIDs(replying), messageIDs(want)) {
		t.Fatalf("Replying %v, want %v", messageIDs(replying), messageIDs(want))
	}
	return text
}

// collectTerms reads the search terms of every message: its own, then those of its
// quotes.
func collectTerms(s *suite) (map[earshot.MessageID][]string, error) {
	out := map[earshot.MessageID][]string{}
	for t, err := range s.Terms(background, s.scope, 0) {
		if err != nil {
			return nil, err
		}
		for _, q := range t.Quoted {
			t.Terms = append(t.Terms, q.Terms...)
		}
		out[t.ID] = t.Terms
	}
	return out, nil
}
