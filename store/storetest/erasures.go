package storetest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
)

// of returns an erasure in the suite's workspace.
func (s *suite) of(of earshot.ErasureOf) earshot.ErasureOf {
	of.Platform, of.Workspace = s.scope.Platform, s.scope.Workspace
	return of
}

// ofPerson, ofChannel and ofMessages are the kinds of erasures.
func (s *suite) ofPerson(id earshot.AuthorID) earshot.ErasureOf {
	return s.of(earshot.ErasureOf{User: id})
}

func (s *suite) ofChannel() earshot.ErasureOf {
	return s.of(earshot.ErasureOf{Channel: s.scope.Channel})
}

func (s *suite) ofMessages(ids ...earshot.MessageID) earshot.ErasureOf {
	return s.of(earshot.ErasureOf{Channel: s.scope.Channel, Messages: ids})
}

// erased begins an erasure, takes all its steps, and returns it. What was planned must
// be what was removed.
func (s *suite) erased(of earshot.ErasureOf) earshot.Erasure {
	s.Helper()
	plan, err := s.PlanErasure(s.Context(), of)
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		s.Fatal(err)
	}
	e, err := s.BeginErasure(s.Context(), of)
	s.check(err)
	e = s.stepped(e.ID)
	s.equal("removed, as planned", e.Removed, plan)
	return e
}

// stepped takes all steps of an erasure.
func (s *suite) stepped(id earshot.ErasureID) earshot.Erasure {
	s.Helper()
	for range 10_000 {
		e, err := s.StepErasure(s.Context(), id)
		s.check(err)
		if e.Ended != 0 {
			return e
		}
	}
	s.Fatal("the erasure does not end")
	return earshot.Erasure{}
}

// messageBy returns a message by somebody.
func messageBy(n int, author earshot.AuthorID, name, text string) earshot.Message {
	m := plainMessage(n, text)
	m.Author = earshot.Author{ID: author, Name: name, Kind: earshot.Human}
	return m
}

// hears accepts a message with raw bytes.
func (s *suite) hears(m earshot.Message) {
	s.Helper()
	s.accept(earshot.Event{Delivery: "Ev" + string(m.ID), Raw: []byte(`{"text":"` + m.Text + `","user":"` + string(m.Author.ID) + `"}`), Received: m.Time, Message: m})
}

// without checks that no place in the store has a text.
func (s *suite) without(texts ...string) {
	s.Helper()
	for _, text := range texts {
		if found := s.tables(text); len(found) > 0 {
			s.Errorf("%q is still in %v", text, found)
		}
	}
}

// tables returns the places of a text in the store's tables.
func (s *suite) tables(text string) []earshot.Place {
	s.Helper()
	var out []earshot.Place
	for p, err := range s.Locate(s.Context(), text, nil) {
		s.check(err)
		if p.Table != "" {
			out = append(out, p)
		}
	}
	return out
}

// replied answers message n in a conversation after showing messages, with the reply
// rN, which is recorded.
func (s *suite) replied(n int, conversation, text string, shows ...earshot.MessageID) earshot.MessageID {
	s.Helper()
	return s.repliedTo(n, fmt.Sprint("question ", n), conversation, text, shows...)
}

// repliedTo is replied for a question of its own.
func (s *suite) repliedTo(n int, question, conversation, text string, shows ...earshot.MessageID) earshot.MessageID {
	s.Helper()
	id := s.ask(deliveryOf(n, question), conversation).Turn
	l := s.claimOf(s.conversation(conversation))
	p := prompt(n, shows...)
	p.From = s.epoch(conversation)
	p.Epoch = p.From
	s.begin(l, id, p)
	s.step(l, id, 0)
	r := messageBy(n+500, "UBOT", "earshot", text)
	r.Author.Kind = earshot.Bot
	post := newPost(id, 0, earshot.PostSent)
	post.Message = r.ID
	s.put(l, post)
	t := turn(n, fmt.Sprint("turn ", n))
	t.Epoch, t.Ledger, t.Shown = p.Epoch, nil, nil
	t.Answer.Replies = []earshot.MessageID{r.ID}
	for _, m := range append(shows, t.Answer.Anchor) {
		t.Shown = append(t.Shown, earshot.ShownRevision{ID: m})
	}
	s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t, earshot.Arrival{Key: post.Key, Message: r}))
	s.check(s.Release(s.Context(), l, 0))
	return r.ID
}

// gone reports which of the messages are tombstones.
func (s *suite) gone(ids ...earshot.MessageID) []bool {
	s.Helper()
	out := []bool{}
	for _, id := range ids {
		m := s.message(id)
		if m.Deleted && (m.Text != "" || m.Author.ID != "" || m.Author.Name != "" || len(m.Files)+len(m.Shared) > 0) {
			s.Errorf("the tombstone of %s is not bare: %+v", id, m)
		}
		out = append(out, m.Deleted)
	}
	return out
}

// personOf fills a channel with what a person, U2 called Bea, leaves everywhere.
func (s *suite) personOf() {
	s.Helper()
	ctx := s.Context()
	s.check(s.PutAuthors(ctx, s.scope.Platform, s.scope.Workspace, earshot.Author{ID: "U2", Name: "Bea", FullName: "Bea Canary", Kind: earshot.Human}, earshot.Author{ID: "U1", Name: "Alice"}))
	m := messageBy(50, "U2", "Bea", "canarytext0 one two three")
	m.Files = []earshot.File{{ID: "F1", Name: "canaryfile.png"}}
	s.hears(m)
	edit := m
	edit.Text, edit.Edited = "canarytext1 one two three", timeAt(51)
	s.record(edit)
	s.keep(50, "F1", "aa")
	label := plainMessage(52, "ask <@U2|Bea>, she knows")
	label.Mentions = []earshot.AuthorID{"U2"}
	s.hears(label)
	later := label
	later.Text, later.Edited = "ask her", timeAt(53)
	s.record(later)
	forward := plainMessage(54, "look")
	forward.Shared = []earshot.SharedContent{{Kind: earshot.Forward, ID: "U2", Author: "Bea", Time: timeAt(50), Text: "canarytext0 one two three"}, {Kind: earshot.Forward, ID: "U3", Author: "Cid", Text: "stays"}}
	s.hears(forward)
	s.hears(plainMessage(55, "hello <@U2|Bea>"))
	s.replied(56, "m56", "she wrote canarytext1 today", "m50", "m55")
	s.summarise(s.conversation("m56"), "canarysummary", "m50")
	_, err := s.merge("m56", map[string]*string{"who": to("it is about Bea"), "what": to("canarytext1 again"), "list": to(`json:["about \u0042ea"]`), "object": to(`json:{"canary\u0074ext1":1}`), "other": to("stays")})
	s.check(err)
}

var erasuresCases = []testCase{
	{"an erased person leaves tombstones and nothing else", func(s *suite) {
		s.personOf()
		e := s.erased(s.ofPerson("U2"))
		s.equal("gone", s.gone("m50", "m52", "m54", "m556"), []bool{true, false, false, true})
		s.equal("message", s.message("m55").Text, "hello <@U2>")
		s.equal("quotes", s.message("m54").Shared, []earshot.SharedContent{{Kind: earshot.Forward, ID: "U3", Author: "Cid", Text: "stays"}})
		revisions, err := s.Revisions(s.Context(), s.scope, "m52")
		s.check(err)
		s.equal("an older revision", revisions[0].Text, "ask <@U2>, she knows")
		s.equal("terms", slices.ContainsFunc(s.terms(0), func(t earshot.Terms) bool { return slices.Contains(t.Terms, "bea") }), false)
		s.without("canarytext", "canaryfile", "canarysummary", "Bea", "Canary", "content \x00\xff of aa")
		c, err := s.Conversation(s.Context(), s.conversation("m56"))
		s.check(err)
		s.equal("metadata", c.Metadata, map[string]string{"other": "stays"})
		s.equal("blobs", s.kept("aa"), []string{})
		authors, err := s.Authors(s.Context(), s.scope.Platform, s.scope.Workspace)
		s.check(err)
		s.equal("authors", len(authors), 1)
		s.equal("removed", e.Removed, earshot.ErasureCounts{Messages: 2, Revisions: 1, Events: 4, Sessions: 1, Turns: 1, Replies: 1, Summaries: 1, Files: 1, Names: 1})
	}},
	{"a delivery that names an erased person goes however a writer of JSON spells the name", func(s *suite) {
		s.hears(messageBy(50, "Ué<2>", "Bea", "x"))
		for i, spelled := range []string{`Ué<2>`, `U\u00e9\u003c2\u003e`, `U\u00E9\u003C2\u003E`, `\u0055\u00e9<\u0032>`} {
			s.accept(earshot.Event{Delivery: fmt.Sprint("Ev", i), Raw: []byte(`{"text":"canary","of":"` + spelled + `"}`), Message: plainMessage(51+i, "hello")})
		}
		s.accept(earshot.Event{Delivery: "other", Raw: []byte(`{"text":"stays","of":"U\u00ea<2>"}`), Message: plainMessage(60, "hello")})
		s.erased(s.ofPerson("Ué<2>"))
		s.without("canary")
		s.equal("another's", len(s.tables("stays")), 1)
	}},
	{"a file that was forwarded goes with the person who shared it", func(s *suite) {
		original := messageBy(50, "U2", "Bea", "x")
		forward := plainMessage(51, "look")
		forward.Shared = []earshot.SharedContent{{Kind: earshot.Forward, ID: "U2", Author: "Bea", Time: timeAt(50), Text: "x"}}
		link := plainMessage(52, "look")
		link.Shared = []earshot.SharedContent{{Kind: earshot.Link, Text: "a page"}}
		for i, m := range []earshot.Message{original, forward, link} {
			m.Files = []earshot.File{{ID: "F1", Name: fmt.Sprint("canaryfile", min(i, 1), ".png")}}
			if i == 2 {
				m.Files = []earshot.File{{ID: "F2", Name: "stays.png"}}
			}
			s.record(m)
		}
		s.keep(50, "F1", "aa")
		s.keep(51, "F1", "aa")
		s.keep(52, "F2", "bb")
		s.erased(s.ofPerson("U2"))
		s.without("canaryfile")
		s.equal("files", []int{len(s.message("m51").Files), len(s.message("m52").Files)}, []int{0, 1})
		s.equal("blobs", s.kept("aa", "bb"), []string{"bb"})
		forward.Files = []earshot.File{{ID: "F1", Name: "canaryfile1.png"}}
		s.record(forward)
		s.without("canaryfile")
	}},
	{"a summary of several erased messages counts once", func(s *suite) {
		for n := 50; n < 55; n++ {
			s.hears(messageBy(n, "U2", "Bea", "x"))
		}
		s.hears(plainMessage(56, "y"))
		s.replied(57, "m57", "z", "m56")
		s.summarise(s.conversation("m57"), "canarysummary", "m50", "m51", "m52", "m53", "m54")
		e := s.erased(s.ofPerson("U2"))
		s.equal("messages, summaries, sessions", []int{e.Removed.Messages, e.Removed.Summaries, e.Removed.Sessions}, []int{5, 1, 1})
		s.without("canarysummary")
	}},
	{"neither a redelivery nor a backfill brings a person back, and what they say later is recorded", func(s *suite) {
		s.personOf()
		s.erased(s.ofPerson("U2"))
		m := messageBy(50, "U2", "Bea", "canarytext0")
		s.equal("again", s.record(m), []earshot.Change{earshot.Same})
		s.equal("from before, never seen", s.record(messageBy(49, "U2", "Bea", "canarytext2")), []earshot.Change{earshot.Gone})
		s.accept(earshot.Event{Delivery: "late", Raw: []byte("canarytext3 of U2"), Message: messageBy(48, "U2", "Bea", "canarytext3")})
		forward := plainMessage(54, "look")
		forward.Shared = []earshot.SharedContent{{Kind: earshot.Forward, ID: "U2", Author: "Bea", Time: timeAt(50), Text: "canarytext0"}}
		s.record(forward, plainMessage(55, "hello <@U2|Bea>"))
		s.check(s.PutAuthors(s.Context(), s.scope.Platform, s.scope.Workspace, earshot.Author{ID: "U2", Name: "Bea"}))
		s.without("canarytext", "Bea")
		now := messageBy(60, "U2", "Bea", "I am back")
		now.Time = timeAfter(time.Minute)
		s.equal("later", s.record(now), []earshot.Change{earshot.New})
		s.equal("text", s.message("m60").Text, "I am back")
		s.check(s.PutAuthors(s.Context(), s.scope.Platform, s.scope.Workspace, earshot.Author{ID: "U2", Name: "Bea"}))
		authors, err := s.Authors(s.Context(), s.scope.Platform, s.scope.Workspace, "U2")
		s.check(err)
		s.equal("and has a name again", len(authors), 1)
	}},
	{"a forgotten person is not recorded until they are remembered", func(s *suite) {
		of := s.ofPerson("U2")
		of.Forget = true
		s.record(messageBy(1, "U2", "Bea", "canarytext"))
		s.erased(of)
		m := messageBy(2, "U2", "Bea", "canarytext")
		m.Time = timeAfter(time.Minute)
		out := s.ask(earshot.Event{Delivery: "Ev2", Raw: []byte("canarytext"), Message: m}, "m2")
		s.equal("accepted", []any{out.Change, out.Turn}, []any{earshot.Gone, earshot.TurnID(0)})
		s.without("canarytext", "Bea")
		s.check(s.Remember(s.Context(), s.scope.Platform, s.scope.Workspace, "U2"))
		s.equal("what was said meanwhile", s.record(m), []earshot.Change{earshot.Same})
		m.ID = "m3"
		s.equal("afterwards", s.record(m), []earshot.Change{earshot.New})
		s.check(s.Remember(s.Context(), s.scope.Platform, s.scope.Workspace, "nobody"))
	}},
	{"an erased channel keeps tombstones and its numbers", func(s *suite) {
		l, turns := s.fill()
		s.erased(s.ofChannel())
		s.equal("gone", s.gone("m50", "m52", "m1", "m2"), []bool{true, true, true, true})
		s.without("canary")
		for _, p := range s.tables(fmt.Sprint(s.scope)) {
			if p.Table != "coverage" && !strings.HasPrefix(p.Column, "coverage.") {
				s.Errorf("the channel's name is still in %v", p)
			}
		}
		for _, id := range turns {
			_, err := s.QueuedTurn(s.Context(), id)
			wantError(s.T, err, earshot.ErrNotFound)
		}
		wantError(s.T, s.PutPost(s.Context(), l, newPost(turns[1], 0, earshot.PostSent)), earshot.ErrFenced)
		s.equal("again", s.record(plainMessage(50, "canary"), plainMessage(60, "canary")), []earshot.Change{earshot.Same, earshot.Gone})
		next := plainMessage(61, "later")
		next.Time = timeAfter(time.Minute)
		s.equal("later", s.record(next), []earshot.Change{earshot.New})
		e := earshot.Event{Delivery: "next", Message: next}
		e.Message.ID = "m62"
		s.equal("no turn id is given twice", s.ask(e, "dm").Turn > slices.Max(turns), true)
	}},
	{"erased messages are gone, known or not", func(s *suite) {
		s.record(plainMessage(1, "canary"), plainMessage(2, "stays"))
		_, err := s.PlanErasure(s.Context(), s.ofMessages("m1", "m9"))
		wantError(s.T, err, earshot.ErrNotFound)
		e, err := s.BeginErasure(s.Context(), s.ofMessages("m9", "m1"))
		s.check(err)
		s.equal("removed", s.stepped(e.ID).Removed.Messages, 1)
		s.equal("gone", s.gone("m1", "m2", "m9"), []bool{true, false, true})
		s.equal("again", s.record(plainMessage(9, "canary")), []earshot.Change{earshot.Same})
		s.without("canary")
	}},
	{"nothing from before the floor is recorded, and its history counts as missing", func(s *suite) {
		for n := range 10 {
			s.record(plainMessage(n, fmt.Sprint("text ", n)))
		}
		s.check(s.PutCoverage(s.Context(), s.scope, earshot.Coverage{From: timeAt(0), To: timeAt(9), State: earshot.Stale}))
		of := s.of(earshot.ErasureOf{Channel: s.scope.Channel, Before: timeAt(5)})
		e := s.erased(of)
		s.equal("removed", e.Removed.Messages, 5)
		s.equal("left", s.ranged(earshot.Whole(), earshot.Position{}, earshot.Position{}), names("m5", "m6", "m7", "m8", "m9"))
		out := s.recorded(plainMessage(3, "text 3"), plainMessage(7, "text 7"))
		s.equal("again", []any{out[0].Change, out[0].Seq, out[1].Change}, []any{earshot.Same, int64(0), earshot.Same})
		accepted := s.ask(deliveryOf(2, "canary"), "dm")
		s.equal("a question from before", []any{accepted.Change, accepted.Seq, accepted.Turn}, []any{earshot.Same, int64(0), earshot.TurnID(0)})
		s.without("canary", "text 3")
		list, err := s.Coverage(s.Context(), s.scope)
		s.check(err)
		s.equal("coverage", list, []earshot.Coverage{{To: timeAt(5) - 1, State: earshot.Missing, Why: earshot.ErasedBefore}, {From: timeAt(5), To: timeAt(9), State: earshot.Stale}})
		of.Before = timeAt(7)
		s.erased(of)
		_, err = s.Message(s.Context(), s.scope, "m3")
		wantError(s.T, err, earshot.ErrNotFound)
		log, err := s.ErasureLog(s.Context(), false, 0)
		s.check(err)
		s.equal("erasures before a time in the log", len(log), 1)
		s.equal("a question whose tombstone is gone", s.ask(earshot.Event{Delivery: "again", Message: plainMessage(3, "canary")}, "dm").Turn, earshot.TurnID(0))
		info, err := s.Channels(s.Context())
		s.check(err)
		s.equal("counted", info[0].Messages, 3)
	}},
	{"a direct message's channel goes with the person", func(s *suite) {
		s.check(s.PutChannel(s.Context(), earshot.Channel{Platform: s.scope.Platform, Workspace: s.scope.Workspace, ID: s.scope.Channel, Kind: earshot.KindDM}))
		s.record(messageBy(50, "U2", "Bea", "canarytext"))
		s.replied(51, "dm", "an answer in other words", "m50")
		s.erased(s.ofPerson("U2"))
		s.equal("gone", s.gone("m50", "m51", "m551"), []bool{true, true, true})
		_, err := s.Conversation(s.Context(), s.conversation("dm"))
		wantError(s.T, err, earshot.ErrNotFound)
		s.without("canarytext", "other words")
	}},
	{"a channel that is called by its members' names is not called by an erased one's", func(s *suite) {
		before := earshot.Channel{Platform: s.scope.Platform, Workspace: s.scope.Workspace, ID: "D0", Kind: earshot.KindDM, Name: "Dan, earshot"}
		s.check(s.PutChannel(s.Context(), before))
		_, err := s.Record(s.Context(), before.Scope(), messageBy(50, "U3", "Dan", "gone"), tombstone(50))
		s.check(err)
		s.check(s.PutChannel(s.Context(), before))
		kept, err := s.Channel(s.Context(), before.Scope())
		s.check(err)
		s.equal("a direct message where all is deleted, and nobody erased", kept.Name, before.Name)
		of := func(id earshot.ChannelID, kind earshot.ChannelKind, name string) earshot.Channel {
			return earshot.Channel{Platform: s.scope.Platform, Workspace: s.scope.Workspace, ID: id, Kind: kind, Name: name, Purpose: "for " + name}
		}
		dm, silent := of("D1", earshot.KindDM, "Canary, earshot"), of("D2", earshot.KindDM, "Canary, Dan")
		group, other := of("G1", earshot.KindGroup, "mpdm-canaryhandle--dan-1"), of("C9", earshot.KindGroup, "friends-of-dan")
		s.check(s.PutAuthors(s.Context(), s.scope.Platform, s.scope.Workspace, earshot.Author{ID: "U2", Name: "Canary"}))
		for _, c := range []earshot.Channel{dm, silent, group, other} {
			s.check(s.PutChannel(s.Context(), c))
			m := messageBy(50, "U2", "Canary", "canarytext")
			if c == silent {
				m = messageBy(50, "U3", "Dan", "nobody answers")
			}
			_, err := s.Record(s.Context(), c.Scope(), m)
			s.check(err)
		}
		s.erased(s.ofPerson("U2"))
		for _, c := range []earshot.Channel{dm, silent, group} { // as an import would
			s.check(s.PutChannel(s.Context(), c))
		}
		for c, want := range map[earshot.Channel]string{dm: "", silent: "", group: "", other: other.Name} {
			got, err := s.Channel(s.Context(), c.Scope())
			s.check(err)
			s.equal("name of "+c.Name, got.Name, want)
		}
	}},
	{"other workspaces and channels stay as they are", func(s *suite) {
		s.personOf()
		s.check(s.PutChannel(s.Context(), earshot.Channel{Platform: s.scope.Platform, Workspace: s.scope.Workspace, ID: s.scope.Channel}))
		var others []*suite
		for _, n := range s.neighbours() {
			if n.scope.Workspace != s.scope.Workspace || n.scope.Platform != s.scope.Platform {
				n.personOf()
				others = append(others, n)
			}
		}
		s.erased(s.ofPerson("U2"))
		for _, n := range others {
			s.equal(fmt.Sprint(n.scope), n.gone("m50", "m556"), []bool{false, false})
			s.equal("names", n.message("m55").Text, "hello <@U2|Bea>")
		}
		here := s.of(earshot.ErasureOf{User: "U1", Channel: s.scope.Channel})
		there := &suite{T: s.T, Store: s.Store, scope: earshot.Scope{Platform: s.scope.Platform, Workspace: s.scope.Workspace, Channel: "other"}}
		there.record(plainMessage(1, "stays"))
		s.erased(here)
		s.equal("here", s.gone("m52"), []bool{true})
		s.equal("there", there.gone("m1"), []bool{false})
		authors, err := s.Authors(s.Context(), s.scope.Platform, s.scope.Workspace, "U1")
		s.check(err)
		s.equal("who spoke elsewhere keeps the name", len(authors), 1)
	}},
	{"an erasure under way is not begun twice, and its record stays", func(s *suite) {
		for n := range 300 {
			s.record(plainMessage(n, "text"))
		}
		a, err := s.BeginErasure(s.Context(), s.ofPerson("U1"))
		s.check(err)
		b, err := s.BeginErasure(s.Context(), s.ofPerson("U1"))
		s.check(err)
		s.equal("the same", a.ID, b.ID)
		other, err := s.BeginErasure(s.Context(), s.ofPerson("U9"))
		s.check(err)
		open, err := s.ErasureLog(s.Context(), true, 0)
		s.check(err)
		s.equal("open", []earshot.ErasureID{open[0].ID, open[1].ID}, []earshot.ErasureID{other.ID, a.ID})
		done := s.stepped(a.ID)
		again, err := s.StepErasure(s.Context(), a.ID)
		s.check(err)
		s.equal("a further step", again, done)
		s.stepped(other.ID)
		open, err = s.ErasureLog(s.Context(), true, 0)
		s.check(err)
		s.equal("open", len(open), 0)
		log, err := s.ErasureLog(s.Context(), false, 1)
		s.check(err)
		s.equal("log", []any{len(log), log[0].ID, log[0].Of.User}, []any{1, other.ID, earshot.AuthorID("U9")})
		_, err = s.StepErasure(s.Context(), 99)
		wantError(s.T, err, earshot.ErrNotFound)
		one, err := s.Erasure(s.Context(), a.ID)
		s.check(err)
		s.equal("one of the log", one, done)
		_, err = s.Erasure(s.Context(), 99)
		wantError(s.T, err, earshot.ErrNotFound)
		c, err := s.BeginErasure(s.Context(), s.ofPerson("U1"))
		s.check(err)
		s.equal("afterwards another", c.ID != a.ID, true)
	}},
	{"several processes may step one erasure", func(s *suite) {
		for n := range 400 {
			s.record(plainMessage(n, "canarytext"))
		}
		e, err := s.BeginErasure(s.Context(), s.ofPerson("U1"))
		s.check(err)
		var both sync.WaitGroup
		for range 3 {
			both.Go(func() {
				for {
					e, err := s.StepErasure(background, e.ID)
					if err != nil {
						s.Error(err)
						return
					}
					if e.Ended != 0 {
						return
					}
				}
			})
		}
		both.Wait()
		log, err := s.ErasureLog(s.Context(), false, 0)
		s.check(err)
		s.equal("removed", log[0].Removed.Messages, 400)
		s.without("canarytext")
	}},
	{"what arrives while an erasure runs is recorded as what it is", func(s *suite) {
		for n := range 400 {
			s.record(messageBy(n, "U2", "Bea", "canarytext"))
		}
		e, err := s.BeginErasure(s.Context(), s.ofPerson("U2"))
		s.check(err)
		var writers sync.WaitGroup
		writers.Go(func() {
			for n := range 100 {
				old, fresh := messageBy(n*4, "U2", "Bea", "canarytext"), messageBy(1000+n, "U2", "Bea", "new")
				fresh.Time = timeAfter(time.Hour)
				if _, err := s.Record(background, s.scope, old, fresh, plainMessage(2000+n, "another's")); err != nil {
					s.Error(err)
				}
			}
		})
		s.stepped(e.ID)
		writers.Wait()
		s.without("canarytext")
		n := 0
		for _, m := range collect(s.T, s.Range(s.Context(), s.scope, earshot.Whole(), earshot.Position{}, earshot.Position{})) {
			if m.Text == "new" || m.Text == "another's" {
				n++
			}
		}
		s.equal("new messages", n, 200)
	}},
	{"a turn that runs meanwhile may finish, and keeps no text", func(s *suite) {
		s.record(messageBy(50, "U2", "Bea", "canarytext1 one two"))
		id := s.asked(1, "m1")
		l, _ := s.claim("me", timeAt(1))
		s.begin(l, id, prompt(1, "m50"))
		s.step(l, id, 0)
		s.erased(s.ofPerson("U2"))
		s.put(l, newPost(id, 0, earshot.PostSent))
		t := turn(1, "canarytext1")
		s.check(s.Finish(s.Context(), l, id, earshot.TurnDone, "", &t))
		s.equal("text", s.text(id), []string{})
		s.without("canarytext")
	}},
	{"what cannot be erased is refused", func(s *suite) {
		for _, of := range []earshot.ErasureOf{
			{}, {Platform: "slack"}, s.of(earshot.ErasureOf{}), s.of(earshot.ErasureOf{Messages: []earshot.MessageID{"m1"}}),
			s.of(earshot.ErasureOf{Before: 1}), s.of(earshot.ErasureOf{User: "U1", Channel: "C1", Before: 1}),
			s.of(earshot.ErasureOf{Channel: "C1", Forget: true}), s.of(earshot.ErasureOf{Channel: "C1", Messages: []earshot.MessageID{""}}),
			s.of(earshot.ErasureOf{User: earshot.AuthorID(strings.Repeat("U", 600))}),
		} {
			_, err := s.BeginErasure(s.Context(), of)
			wantError(s.T, err, earshot.ErrInvalid)
			_, err = s.PlanErasure(s.Context(), of)
			wantError(s.T, err, earshot.ErrInvalid)
		}
		for _, of := range []earshot.ErasureOf{s.ofPerson("U9"), s.ofChannel()} {
			_, err := s.PlanErasure(s.Context(), of)
			wantError(s.T, err, earshot.ErrNotFound)
		}
	}},
}

// timeAfter returns a time after now.
func timeAfter(d time.Duration) earshot.Time { return earshot.TimeOf(time.Now().Add(d)) }

// quoteCases: the agents' replies that quote a deleted message go with it.
var quoteCases = []testCase{
	{"a reply that quotes a deleted message is deleted with it", func(s *suite) {
		s.record(plainMessage(50, "the launch is on Friday in Hamburg"), plainMessage(60, "code zebra4711x"))
		words := s.replied(1, "m1", "They said the launch is on Friday.", "m50")
		rare := s.replied(2, "m2", "It is zebra4711x!", "m60")
		neither := s.replied(3, "m3", "I do not know.", "m50", "m60")
		unread := s.replied(4, "m4", "Somebody said that the launch is on Friday: zebra4711x.")
		s.accept(deletionOf(50, ""))
		s.equal("gone", s.gone(words, rare, neither, unread), []bool{true, false, false, false})
		s.record(tombstone(60))
		s.equal("gone", s.gone(words, rare, neither, unread), []bool{true, true, false, false})
		s.without("zebra4711x!", "They said")
	}},
	{"words of the question, and of others' messages that were shown, are no quotes", func(s *suite) {
		s.record(plainMessage(50, "deploy build7788 on Friday at noon"), plainMessage(51, "also on Friday at noon, please"))
		reply := s.replied(3, "m3", "build7788 on Friday at noon", "m50", "m51")
		other := s.replied(4, "m4", "on Friday at noon", "m50", "m51")
		asked := s.repliedTo(5, "what about build7788?", "m5", "I know nothing of build7788", "m50")
		s.record(tombstone(50))
		s.equal("gone", s.gone(reply, other, asked), []bool{true, false, false})
	}},
	{"a file's name, what was shared, and older revisions are words too", func(s *suite) {
		m := plainMessage(50, "look")
		m.Files = []earshot.File{{ID: "F1", Name: "salary2026.xlsx"}}
		m.Shared = []earshot.SharedContent{{Kind: earshot.Link, Text: "quarterly numbers look bad"}}
		edited := plainMessage(51, "now harmless")
		edited.Edited = timeAt(60)
		s.record(m, plainMessage(51, "an unspeakable secret phrase"), edited)
		a := s.replied(1, "m1", "see salary2026", "m50")
		b := s.replied(2, "m2", "The quarterly numbers look fine", "m50")
		c := s.replied(3, "m3", "That unspeakable secret phrase", "m51")
		s.record(tombstone(50), tombstone(51))
		s.equal("gone", s.gone(a, b, c), []bool{true, true, true})
	}},
	{"a reply that goes takes with it what has read it", func(s *suite) {
		s.record(plainMessage(50, "code zebra4711x"))
		first := s.replied(1, "m1", "zebra4711x is the unforgettable code", "m50")
		second := s.replied(2, "m2", "as I said: zebra4711x", first)
		s.equal("before", s.epoch("m2"), 0)
		s.record(tombstone(50))
		s.equal("gone", s.gone(first, second), []bool{true, true})
		s.equal("its reader's epoch ended", s.epoch("m2"), 1)
	}},
	{"a reply that goes does not take replies that share its own words", func(s *suite) {
		s.record(plainMessage(50, "code zebra4711x"))
		first := s.replied(1, "m1", "Noted: zebra4711x. Let me know whenever you need anything else.", "m50")
		second := s.replied(2, "m2", "Sunny. Let me know whenever you need anything else.", first)
		s.record(tombstone(50))
		s.equal("gone", s.gone(first, second), []bool{true, false})
		s.equal("its reader's epoch ended", s.epoch("m2"), 1)
	}},
	{"what everybody says is no quote", func(s *suite) {
		s.record(plainMessage(50, "I think so, let me know if it works"))
		reply := s.replied(1, "m1", "Let me know if you need more. I think so too.", "m50")
		s.record(tombstone(50))
		s.equal("gone", s.gone(reply), []bool{false})
	}},
}
