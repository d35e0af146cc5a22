package storetest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
)

// conversation returns the id of a conversation of the suite's agent and scope.
func (s *suite) conversation(name string) earshot.ConversationID {
	return earshot.ConversationID{Agent: "agent", Scope: s.scope, Name: name}
}

// opened opens a conversation.
func (s *suite) opened(name, key string) (earshot.Conversation, bool) {
	s.Helper()
	c, created, err := s.OpenConversation(s.Context(), s.conversation(name), key)
	s.check(err)
	return c, created
}

func (s *suite) merge(name string, patch map[string]*string) (map[string]string, error) {
	s.Helper()
	c, err := s.MergeMetadata(s.Context(), s.conversation(name), patch)
	return c.Metadata, err
}

func to(v string) *string { return &v }

var conversationCases = []testCase{
	{"a conversation is created once", func(s *suite) {
		c, created := s.opened("m1", "")
		s.equal("created", created, true)
		s.equal("id", c.ID, s.conversation("m1"))
		s.equal("dated", c.Created != 0 && c.Created == c.Updated, true)
		again, created := s.opened("m1", "")
		s.equal("created again", created, false)
		s.equal("the same", again, c)
		got, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("read", got, c)
		_, err = s.Conversation(s.Context(), s.conversation("m2"))
		wantError(s.T, err, earshot.ErrNotFound)
	}},
	{"a channel's top level may have no name of its own", func(s *suite) {
		_, created := s.opened("", "")
		s.equal("created", created, true)
	}},
	{"an idempotency key leads to its first conversation", func(s *suite) {
		first, _ := s.opened("m1", "k1")
		again, created := s.opened("m1", "k1")
		s.equal("again", []any{again, created}, []any{first, false})
		other, created := s.opened("m2", "k1")
		s.equal("under another name", []any{other, created}, []any{first, false})
		_, err := s.Conversation(s.Context(), s.conversation("m2"))
		wantError(s.T, err, earshot.ErrNotFound)
	}},
	{"a conversation under another key is a conflict", func(s *suite) {
		s.opened("m1", "k1")
		_, _, err := s.OpenConversation(s.Context(), s.conversation("m1"), "k2")
		wantError(s.T, err, earshot.ErrConflict)
		_, created := s.opened("m1", "")
		s.equal("without a key it is found", created, false)
	}},
	{"a conversation without a key takes the first key that it is opened with", func(s *suite) {
		s.opened("m1", "")
		_, created := s.opened("m1", "k1")
		s.equal("created", created, false)
		c, _ := s.opened("m9", "k1")
		s.equal("by the key", c.ID.Name, "m1")
	}},
	{"a key counts within one agent and workspace", func(s *suite) {
		first, _ := s.opened("m1", "k1")
		elsewhere := s.conversation("m1")
		elsewhere.Scope.Platform, elsewhere.Scope.Channel = "api", "C2"
		again, created, err := s.OpenConversation(s.Context(), elsewhere, "k1")
		s.check(err)
		s.equal("in another channel", []any{again, created}, []any{first, false})
		elsewhere.Scope.Workspace = "T2"
		_, created, err = s.OpenConversation(s.Context(), elsewhere, "k1")
		s.check(err)
		s.equal("created in another workspace", created, true)
		other := s.conversation("m1")
		other.Agent = "other"
		_, created, err = s.OpenConversation(s.Context(), other, "k1")
		s.check(err)
		s.equal("created by another agent", created, true)
	}},
	{"a conversation needs an agent and a channel", func(s *suite) {
		for _, id := range []earshot.ConversationID{{Scope: s.scope, Name: "m1"}, {Agent: "a", Name: "m1"}, {Agent: "a", Scope: s.scope, Name: strings.Repeat("x", 600)}} {
			_, _, err := s.OpenConversation(s.Context(), id, "")
			wantError(s.T, err, earshot.ErrInvalid)
		}
	}},
	{"an agent's conversations are listed, the newest first", func(s *suite) {
		elsewhere := s.scope
		elsewhere.Channel = "c_another"
		for i := range 6 {
			for _, at := range []earshot.Scope{s.scope, elsewhere} {
				for _, agent := range []earshot.AgentID{"agent", "another"} {
					id := earshot.ConversationID{Agent: agent, Scope: at, Name: fmt.Sprint("m", i)}
					_, _, err := s.CreateConversation(s.Context(), earshot.Conversation{ID: id, About: earshot.About{Title: fmt.Sprint(i)}, Metadata: map[string]string{"n": fmt.Sprint(i)}}, "")
					s.check(err)
				}
			}
		}
		list := func(q earshot.ConversationQuery) []earshot.Conversation {
			s.Helper()
			out, err := s.FindConversations(s.Context(), q)
			s.check(err)
			return out
		}
		q := earshot.ConversationQuery{Agent: "agent", Platform: s.scope.Platform, Workspaces: []earshot.WorkspaceID{s.scope.Workspace, "w_none"}}
		all := list(q)
		s.equal("how many", len(all), 12)
		s.equal("in order", slices.IsSortedFunc(all, func(a, b earshot.Conversation) int {
			x, y := a.ID, b.ID
			return cmp.Or(cmp.Compare(b.Created, a.Created), cmp.Compare(x.Scope.Channel, y.Scope.Channel), cmp.Compare(x.Name, y.Name))
		}), true)
		for _, c := range all {
			one, err := s.Conversation(s.Context(), c.ID)
			s.check(err)
			s.equal("each whole", c, one)
		}
		var paged []earshot.Conversation
		for q.Limit = 5; ; q.After = &paged[len(paged)-1] {
			page := list(q)
			if paged = append(paged, page...); len(page) < q.Limit {
				break
			}
		}
		s.equal("by pages", paged, all)
		s.equal("of a channel", len(list(earshot.ConversationQuery{Agent: "agent", Workspaces: q.Workspaces, Channels: []earshot.ChannelID{elsewhere.Channel, "c_none"}})), 6)
		s.equal("of another workspace", len(list(earshot.ConversationQuery{Agent: "agent", Workspaces: []earshot.WorkspaceID{"w_none"}})), 0)
		s.equal("of nobody", len(list(earshot.ConversationQuery{Workspaces: q.Workspaces})), 0)
	}},
	{"metadata merge key by key", func(s *suite) {
		s.opened("m1", "")
		_, err := s.merge("m1", map[string]*string{"a": to("1"), "b": to("2")})
		s.check(err)
		got, err := s.merge("m1", map[string]*string{"b": nil, "c": to(""), "nope": nil})
		s.check(err)
		s.equal("metadata", got, map[string]string{"a": "1", "c": ""})
		c, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("stored", c.Metadata, got)
		_, err = s.merge("m2", map[string]*string{"a": to("1")})
		wantError(s.T, err, earshot.ErrNotFound)
	}},
	{"metadata out of bounds are refused and nothing is merged", func(s *suite) {
		s.opened("m1", "")
		many := map[string]*string{}
		for i := range 65 {
			many[fmt.Sprintf("k%d", i)] = to("v")
		}
		for name, patch := range map[string]map[string]*string{
			"65 keys": many, "17 KiB": {"a": to(strings.Repeat("x", 17<<10))}, "a dot": {"a.b": to("1")}, "upper case": {"A": to("1")},
			"no key": {"": to("1")}, "a digit first": {"1a": to("1")}, "65 letters": {strings.Repeat("a", 65): to("1")}, "a line break": {"a\n": to("1")},
			"not a ts": {"last_processed_ts": to("yesterday")}, "a ts removed": {"last_processed_ts": nil},
		} {
			patch["good"] = to("1")
			if _, err := s.merge("m1", patch); !errors.Is(err, earshot.ErrInvalid) {
				s.Errorf("%s: got %v, want ErrInvalid", name, err)
			}
		}
		c, err := s.Conversation(s.Context(), s.conversation("m1"))
		s.check(err)
		s.equal("metadata", c.Metadata, map[string]string{})
		delete(many, "k64")
		delete(many, "good")
		_, err = s.merge("m1", many)
		s.check(err)
		if _, err = s.merge("m1", map[string]*string{"one_more": to("")}); !errors.Is(err, earshot.ErrInvalid) {
			s.Errorf("a 65th key: got %v, want ErrInvalid", err)
		}
		_, err = s.merge("m1", map[string]*string{"k1": nil, "one_more": to("")})
		s.check(err)
	}},
	{"last_processed_ts only moves forward", func(s *suite) {
		s.opened("m1", "")
		for _, c := range []struct{ given, want string }{
			{"1700000005.000100", "1700000005.000100"}, {"1700000005.000099", "1700000005.000100"},
			{"999999999.000000", "1700000005.000100"}, {"1700000006.000000", "1700000006.000000"},
		} {
			got, err := s.merge("m1", map[string]*string{"last_processed_ts": &c.given})
			s.check(err)
			s.equal("after "+c.given, got["last_processed_ts"], c.want)
		}
	}},
	{"the cursor only moves forward", func(s *suite) {
		s.opened("m1", "")
		for _, c := range []struct{ given, want int64 }{{5, 5}, {3, 5}, {0, 5}, {6, 6}} {
			s.check(s.AdvanceCursor(s.Context(), s.conversation("m1"), c.given))
			got, err := s.Conversation(s.Context(), s.conversation("m1"))
			s.check(err)
			s.equal("cursor", got.Cursor, c.want)
		}
		wantError(s.T, s.AdvanceCursor(s.Context(), s.conversation("m2"), 1), earshot.ErrNotFound)
	}},
}
