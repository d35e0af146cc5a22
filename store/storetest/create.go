package storetest

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
)

// canaryAbout returns what is said of a conversation, with a text in each part.
func canaryAbout(text string) earshot.About {
	return earshot.About{Title: "title " + text, Client: "client " + text, Owner: "owner " + text, Tags: []string{"tag " + text, "stays"}}
}

func (s *suite) create(name, key string, about earshot.About, metadata map[string]string) (earshot.Conversation, bool) {
	s.Helper()
	c, created, err := s.CreateConversation(s.Context(), earshot.Conversation{ID: s.conversation(name), About: about, Metadata: metadata}, key)
	s.check(err)
	return c, created
}

func (s *suite) aboutOf(name string) earshot.About {
	s.Helper()
	c, err := s.Conversation(s.Context(), s.conversation(name))
	s.check(err)
	return c.About
}

var createCases = []testCase{
	{"a conversation is created with what is said of it", func(s *suite) {
		c, created := s.create("m1", "k1", canaryAbout("x"), map[string]string{"a": "1"})
		s.equal("created", created, true)
		s.equal("about", []any{c.ID, c.About, c.Metadata}, []any{s.conversation("m1"), canaryAbout("x"), map[string]string{"a": "1"}})
		s.equal("dated", c.Created != 0 && c.Created == c.Updated, true)
		read, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("read", read, c)
		for name, key := range map[string]string{"m1": "", "m2": "k1"} {
			again, created := s.create(name, key, canaryAbout("other"), map[string]string{"b": "2"})
			s.equal("again, by "+name+key, []any{again, created}, []any{c, false})
		}
		bare, _ := s.create("m3", "", earshot.About{}, nil)
		s.equal("without anything", []any{bare.About, bare.Metadata}, []any{earshot.About{}, map[string]string{}})
		s.check(s.AdvanceCursor(s.Context(), c.ID, 7))
		d := s.drafted(1, "m1", 0)
		_, err = s.commits(d, "reply")
		s.check(err)
		s.equal("after a turn", s.aboutOf("m1"), canaryAbout("x"))
	}},
	{"a conversation that exists takes a key, and nothing else", func(s *suite) {
		s.opened("m1", "")
		c, created := s.create("m1", "k1", canaryAbout("x"), map[string]string{"a": "1"})
		s.equal("created", []any{created, c.About, c.Metadata}, []any{false, earshot.About{}, map[string]string{}})
		_, _, err := s.CreateConversation(s.Context(), earshot.Conversation{ID: s.conversation("m1")}, "k2")
		wantError(s.T, err, earshot.ErrConflict)
	}},
	{"what breaks a bound is refused, and nothing is created", func(s *suite) {
		long := func(n int) string { return strings.Repeat("x", n) }
		for name, c := range map[string]earshot.Conversation{
			"title": {About: earshot.About{Title: long(1001)}}, "client": {About: earshot.About{Client: long(101)}}, "owner": {About: earshot.About{Owner: long(513)}},
			"a tag": {About: earshot.About{Tags: []string{long(101)}}}, "tags": {About: earshot.About{Tags: make([]string, 33)}},
			"a key": {Metadata: map[string]string{"A": "1"}}, "metadata": {Metadata: map[string]string{"a": long(17 << 10)}}, "a ts": {Metadata: map[string]string{"last_processed_ts": "x"}},
		} {
			c.ID = s.conversation("m1")
			if _, _, err := s.CreateConversation(s.Context(), c, ""); !errors.Is(err, earshot.ErrInvalid) {
				s.Errorf("%s: got %v, want ErrInvalid", name, err)
			}
		}
		_, err := s.Conversation(s.Context(), s.conversation("m1"))
		wantError(s.T, err, earshot.ErrNotFound)
		s.create("m1", "", earshot.About{Title: long(1000), Client: long(100), Owner: long(512), Tags: []string{long(100)}}, nil)
		odd, _ := s.create("m2", "", earshot.About{Title: "a\x00b\xff", Tags: []string{}}, map[string]string{"a": "\x00"})
		s.equal("normalised", []any{odd.About, odd.Metadata}, []any{earshot.About{Title: "a␀b�"}, map[string]string{"a": "␀"}})
		s.equal("stored", s.aboutOf("m2"), odd.About)
	}},
	{"100 concurrent calls with one key create one conversation", func(s *suite) {
		results := make([]earshot.Conversation, 100)
		made := make([]bool, 100)
		errs := runTogether(len(results), func(i int) (err error) {
			id := s.conversation(fmt.Sprint("c", i))
			id.Scope.Channel = earshot.ChannelID(fmt.Sprint("C", i%7))
			results[i], made[i], err = s.CreateConversation(s.Context(), earshot.Conversation{ID: id, About: canaryAbout(fmt.Sprint(i)), Metadata: map[string]string{"n": fmt.Sprint(i)}}, "k")
			return err
		})
		s.equal("errors", errs, []error{})
		n := 0
		for i, c := range results {
			if made[i] {
				n++
				s.equal("its about", c.About, canaryAbout(fmt.Sprint(i)))
			}
			s.equal("the same", c, results[0])
		}
		s.equal("created", n, 1)
	}},
	{"1,000 concurrent patches of 20 conversations lose no key", func(s *suite) {
		patches := 1000
		if testing.Short() {
			patches = 200
		}
		for n := range 20 {
			s.opened(fmt.Sprint("c", n), "")
		}
		errs := runTogether(patches, func(i int) error {
			_, err := s.MergeMetadata(s.Context(), s.conversation(fmt.Sprint("c", i%20)), map[string]*string{fmt.Sprint("k", i/20): to(fmt.Sprint(i))})
			return err
		})
		s.equal("errors", errs, []error{})
		lost := 0
		for i := range patches {
			c, err := s.Conversation(s.Context(), s.conversation(fmt.Sprint("c", i%20)))
			s.check(err)
			if c.Metadata[fmt.Sprint("k", i/20)] != fmt.Sprint(i) {
				lost++
			}
		}
		s.equal("lost keys", lost, 0)
	}},
	{"what is said of a conversation goes with the message that it quotes", func(s *suite) {
		const secret = "the zebracanary files are under the mat"
		s.record(plainMessage(50, secret))
		about := earshot.About{Title: "Where the zebracanary files are", Client: "web", Owner: "U1", Tags: []string{"zebracanary", "stays"}}
		s.create("m51", "", about, map[string]string{"what": secret, "other": "stays"})
		s.replied(51, "m51", "they are there", "m50")
		s.create("m53", "", about, nil) // which only a draft has read
		d := s.draft(53, "m53", 0)
		d.Prompt.Shows = append(d.Prompt.Shows, "m50")
		s.record(plainMessage(53, "question"))
		s.opens(d)
		s.equal("before", s.aboutOf("m51"), about)
		s.record(tombstone(50))
		for _, name := range []string{"m51", "m53"} {
			s.equal("after", s.aboutOf(name), earshot.About{Client: "web", Owner: "U1", Tags: []string{"stays"}})
		}
		s.without("zebracanary")
	}},
	{"what is said of a conversation goes with the person", func(s *suite) {
		s.check(s.PutAuthors(s.Context(), s.scope.Platform, s.scope.Workspace, earshot.Author{ID: "U2", Name: "Bea", FullName: "Bea Canary", Kind: earshot.Human}))
		s.record(messageBy(1, "U2", "Bea", "hello"))
		s.create("m1", "", earshot.About{Title: "Talk with bea canary", Client: "web", Owner: "U2", Tags: []string{"bea", "stays"}}, map[string]string{"who": "U2", "other": "stays"})
		elsewhere := s.conversation("top")
		elsewhere.Scope.Channel = "c_nobody_spoke_here"
		_, _, err := s.CreateConversation(s.Context(), earshot.Conversation{ID: elsewhere, About: earshot.About{Title: "kept", Owner: "U2"}}, "")
		s.check(err)
		s.erased(s.ofPerson("U2"))
		s.equal("about", s.aboutOf("m1"), earshot.About{Client: "web", Tags: []string{"stays"}})
		c, err := s.Conversation(s.Context(), elsewhere)
		s.check(err)
		s.equal("of one without messages", c.About, earshot.About{Title: "kept"})
		s.without("Bea", "bea canary")
		for _, p := range s.tables("U2") {
			if p.Table != "erasure" && p.Table != "barred" && p.Table != "erasures" && p.Table != "bars" {
				s.Errorf("the person's id is left in %v", p)
			}
		}
	}},
	{"a person who owns a conversation, and never said anything, can be erased", func(s *suite) {
		s.create("m1", "", earshot.About{Title: "kept", Owner: `odd "user" <1>`}, nil)
		_, err := s.PlanErasure(s.Context(), s.ofPerson("odd"))
		wantError(s.T, err, earshot.ErrNotFound)
		_, err = s.PlanErasure(s.Context(), s.ofPerson(`odd "user" <1>`))
		s.check(err)
		s.erased(s.ofPerson(`odd "user" <1>`))
		s.equal("about", s.aboutOf("m1"), earshot.About{Title: "kept"})
	}},
	{"what is said of a conversation goes with the channel", func(s *suite) {
		s.create("m1", "k1", canaryAbout("aboutcanary"), nil)
		s.record(plainMessage(1, "x"))
		s.erased(s.ofChannel())
		s.without("aboutcanary")
		s.create("m2", "k1", canaryAbout("aboutcanary"), nil)
		s.check(s.Erase(s.Context(), s.scope))
		s.without("aboutcanary")
		_, created := s.create("m3", "k1", earshot.About{}, nil)
		s.equal("the key is free again", created, true)
	}},
}
