package storetest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
)

var textCases = []testCase{
	{"NUL and invalid UTF-8 are replaced in every text", func(s *suite) {
		for _, c := range []struct{ given, want string }{
			{"a\x00b", "a␀b"},
			{"\xff\xfe", "\ufffd\ufffd"},
			{"x\xed\xa0\x80y", "x\ufffdy"},                 // a lone surrogate
			{"x\xed\xa0\xbd\xed\xb8\x80", "x\ufffd\ufffd"}, // a pair, not joined
			{"cut \xe2\x82", "cut \ufffd\ufffd"},
			{"whole \ufffd € 😀", "whole \ufffd € 😀"},
		} {
			want := hostileMessage(c.want)
			s.record(hostileMessage(c.given))
			s.equal("by the given id", withoutStoreFields(s.message(earshot.MessageID("id "+c.given))), want)
			s.equal("by the stored id", withoutStoreFields(s.message(earshot.MessageID("id "+c.want))), want)
			s.equal("thread", s.newest(earshot.ThreadOf(earshot.MessageID("root "+c.given)), open, 1), names(want.ID))
			list, err := s.Replying(s.Context(), s.scope, open, earshot.MessageID("to "+c.given))
			s.check(err)
			s.equal("replying", messageIDs(list), names(want.ID))
			s.equal("again", s.record(want), []earshot.Change{earshot.Same})
			s.record(earshot.Message{ID: hostileMessage(c.given).ID, Time: timeAt(1), Deleted: true})
		}
	}},
	{"the naughty strings come back unchanged from every field", func(s *suite) {
		list := hostileStrings(s.T)
		for i, text := range list {
			if len(text) > 400 {
				continue
			}
			m := hostileMessage(text)
			m.ID = earshot.MessageID(fmt.Sprintf("%d %s", i, text))
			s.scope.Channel = earshot.ChannelID("C " + text)
			s.record(m)
			s.equal("message", withoutStoreFields(s.message(m.ID)), m)
			s.equal("newest", s.newest(earshot.ThreadOf(m.Thread), open, 2), names(m.ID))
		}
	}},
	{"a text of a megabyte is stored whole", func(s *suite) {
		m := plainMessage(1, strings.Repeat("long lines of log, ", 55_000))
		s.record(m, plainMessage(2, "after"))
		s.equal("length", len(s.message("m1").Text), len(m.Text))
		s.equal("equal", s.message("m1").Text == m.Text, true)
	}},
}

// conversationTextCases are textCases for conversations.
var conversationTextCases = []testCase{
	{"the naughty strings come back unchanged from every field of a conversation", func(s *suite) {
		for _, text := range hostileStrings(s.T) {
			if len(text) > 400 {
				continue
			}
			s.scope.Channel = earshot.ChannelID("C " + text)
			id := earshot.ConversationID{Agent: earshot.AgentID("a" + text), Scope: s.scope, Name: text}
			c, created, err := s.OpenConversation(s.Context(), id, "k"+text)
			s.check(err)
			s.equal("conversation", c.ID, id)
			s.equal("created", created, true)
			c, err = s.MergeMetadata(s.Context(), id, map[string]*string{"k": &text})
			s.check(err)
			s.equal("metadata", c.Metadata["k"], text)
		}
	}},
}

// hostileMessage returns a message with text in each of its fields.
func hostileMessage(text string) earshot.Message {
	return earshot.Message{
		ID: earshot.MessageID("id " + text), Time: timeAt(1), Text: text,
		Author: earshot.Author{ID: earshot.AuthorID(text), Name: text, FullName: text, Kind: earshot.AuthorKind(text)},
		Thread: earshot.MessageID("root " + text), ReplyTo: earshot.MessageID("to " + text),
		Mentions:  []earshot.AuthorID{earshot.AuthorID(text)},
		Reactions: []earshot.Reaction{{Name: text, Count: 1}},
		Shared:    []earshot.SharedContent{{Kind: earshot.SharedKind(text), ID: earshot.AuthorID(text), Author: text, Place: text, Text: text}},
		Files:     []earshot.File{{ID: earshot.ArtifactID(text), Name: text, Type: text, SHA256: text}},
	}
}

// hostileStrings returns strings that break programs: a few of our own, and the Big List of
// Naughty Strings where EARSHOT_TEST_DATA is set.
func hostileStrings(t testing.TB) []string {
	t.Helper()
	list := []string{
		"", "NULL", "'; DROP TABLE message; --", `"`, "%_\\", "\u2028\u2029", "\u202e rtl", "e\u0301", "é", "\t\r\n", "[]", "{}", "\u200b",
		"👩‍👩‍👧‍👦", "<script>alert(1)</script> &amp; &", "\ufeff", "\uffff", "\U0010ffff", "ß", "ﬁ", "$1", "?1", ":id", "@id", "\x7f\x1b[31m",
	}
	dir := os.Getenv("EARSHOT_TEST_DATA")
	if dir == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("EARSHOT_TEST_DATA is not set; the big list of naughty strings is not tried")
		}
		t.Log("EARSHOT_TEST_DATA is not set; the big list of naughty strings is not tried")
		return list
	}
	b, err := os.ReadFile(filepath.Join(dir, "spec", "naughty", "blns.json"))
	if err != nil {
		t.Fatal(err)
	}
	var more []string
	if err := json.Unmarshal(b, &more); err != nil {
		t.Fatal(err)
	}
	for _, s := range more {
		if utf8.ValidString(s) && !strings.ContainsRune(s, 0) {
			list = append(list, s)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}
