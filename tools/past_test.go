package tools_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/tools"
)

// A shelf has the turns of conversations.
type shelf map[earshot.ConversationID][]earshot.Turn

func (s shelf) Turns(_ context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error) {
	list := s[id]
	if limit > 0 {
		list = list[max(0, len(list)-limit):]
	}
	return slices.Clone(list), nil
}

var conversation = earshot.ConversationID{Agent: "U0BOT", Scope: general, Name: "r"}

// asked records a question and its answers, and returns the turn.
func asked(t *testing.T, st earshot.Messages, n int, question string, answers ...string) earshot.Turn {
	t.Helper()
	at := began + earshot.Time(n)*60*second
	turn := earshot.Turn{Number: n, Answer: earshot.Answer{Anchor: earshot.MessageID(fmt.Sprint("q", n))}}
	list := []earshot.Message{{ID: turn.Answer.Anchor, Time: at, Thread: "r", Author: person("U1", "Alice"), Text: question}}
	for i, text := range answers {
		id := earshot.MessageID(fmt.Sprintf("a%d.%d", n, i))
		turn.Answer.Replies = append(turn.Answer.Replies, id)
		list = append(list, earshot.Message{ID: id, Time: at + earshot.Time(i+1)*second, Thread: "r", Author: earshot.Author{ID: "U0BOT", Name: "earshot", Kind: earshot.Bot}, Text: text})
	}
	record(t, st, general, list...)
	return turn
}

func TestAConversationsOwnTurnsAreSearched(t *testing.T) {
	t.Parallel()
	st := open(t)
	turns := []earshot.Turn{
		asked(t, st, 0, "<@U0BOT> why does the migration hang?", "The lock table is full.", "Raise it to 500."),
		asked(t, st, 1, "<@U0BOT> when is lunch?", "At noon, "+strings.Repeat("roughly ", 300)),
		asked(t, st, 2, "<@U0BOT> and the migration of staging?", "It is done."),
		asked(t, st, 9, "<@U0BOT> a question of after the anchor, about the migration", "Yes."),
	}
	// Somebody else's words about it are not a turn.
	record(t, st, general, earshot.Message{ID: "x", Time: began, Author: person("U2", "Bob"), Text: "migration migration"})
	anchor := earshot.Position{Time: began + 5*60*second, ID: "q5"}
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), anchor,
		&tools.Options{Identity: self, Turns: shelf{conversation: turns}, Conversation: conversation})
	got := call(t, set, tools.ConversationSearch, `{"query":"lock table"}`)
	want := `{"results":[{"turn":0,"ts":"2026-03-02T09:00:00Z","message_id":"q0","author":{"user_id":"U1","display_name":"Alice","is_bot":false},` +
		`"question":"@earshot why does the migration hang?","answer":"The lock table is full.\nRaise it to 500.","is_truncated":false}],` +
		`"coverage":{"turns_scanned":3,"time_range":["2026-03-02T09:00:00Z","2026-03-02T09:02:00Z"]}}`
	if diff := cmp.Diff(got.JSON, want); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(shows(got), []earshot.MessageID{"q0", "a0.0", "a0.1"}); diff != "" {
		t.Error(diff)
	}
	numbers := func(args string) string {
		var out []string
		for _, part := range strings.Split(call(t, set, tools.ConversationSearch, args).JSON, `"turn":`)[1:] {
			n, _, _ := strings.Cut(part, ",")
			out = append(out, n)
		}
		return strings.Join(out, " ")
	}
	for args, want := range map[string]string{
		`{"query":"migration"}`:           "2 0",
		`{"query":"migration","limit":1}`: "2",
		`{"query":"???"}`:                 "2 1 0", // no words: the newest
		`{"query":"coffee"}`:              "",
	} {
		if got := numbers(args); got != want {
			t.Errorf("%s found the turns %q, want %q", args, got, want)
		}
	}
	if got := call(t, set, tools.ConversationSearch, `{"query":"lunch"}`).JSON; !strings.Contains(got, `roughly…","is_truncated":true`) {
		t.Errorf("a long answer is not cut: %s", got)
	}
}

func TestWhatWasDeletedDoesNotComeBackAsATurn(t *testing.T) {
	t.Parallel()
	st := open(t)
	turns := []earshot.Turn{asked(t, st, 0, "<@U0BOT> my password is swordfish, is it good?", "swordfish is no good password"), asked(t, st, 1, "<@U0BOT> swordfish recipes?", "Grill it.")}
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), earshot.Position{}, &tools.Options{Identity: self, Turns: shelf{conversation: turns}, Conversation: conversation})
	gone := func(ids ...earshot.MessageID) {
		for _, id := range ids {
			record(t, st, general, earshot.Message{ID: id, Time: began, Deleted: true})
		}
	}
	gone("q0")
	if got := call(t, set, tools.ConversationSearch, `{"query":"swordfish password"}`).JSON; strings.Contains(got, "my password") || !strings.Contains(got, `"question":"","answer":"swordfish is no good password"`) {
		t.Errorf("after the question was deleted: %s", got)
	}
	gone("a0.0")
	if got := call(t, set, tools.ConversationSearch, `{"query":"swordfish password"}`).JSON; strings.Contains(got, "password") || !strings.Contains(got, `"turns_scanned":1`) {
		t.Errorf("after both were: %s", got)
	}
}

func TestAConversationOfAnotherChannelHasNoTurns(t *testing.T) {
	t.Parallel()
	st := open(t)
	turns := []earshot.Turn{asked(t, st, 0, "<@U0BOT> why does the migration hang?", "The lock table is full.")}
	elsewhere := conversation
	elsewhere.Scope.Channel = "C2"
	set := tools.ForChannel(general, st, tools.NewIndex(st, 0), earshot.Position{}, &tools.Options{Turns: shelf{elsewhere: turns}, Conversation: elsewhere})
	if got := call(t, set, tools.ConversationSearch, `{"query":"migration"}`).JSON; got != `{"results":[],"coverage":{"turns_scanned":0,"time_range":null}}` {
		t.Errorf("got %s", got)
	}
}

func TestOlderTurnsThatWereNotSearchedAreSaid(t *testing.T) {
	t.Parallel()
	st := open(t)
	var turns []earshot.Turn
	for i := range 501 {
		turns = append(turns, asked(t, st, i, "question", "answer"))
	}
	for n, want := range map[int]string{501: `"turns_scanned":500,"time_range":["2026-03-02T09:01:00Z","2026-03-02T17:20:00Z"],"older_turns":true`, 500: `"turns_scanned":500,"time_range":["2026-03-02T09:00:00Z","2026-03-02T17:19:00Z"]}`} {
		set := tools.ForChannel(general, st, tools.NewIndex(st, 0), earshot.Position{}, &tools.Options{Turns: shelf{conversation: turns[:n]}, Conversation: conversation})
		if got := call(t, set, tools.ConversationSearch, `{"query":"question","limit":1}`).JSON; !strings.Contains(got, want) {
			t.Errorf("of %d: %s", n, got)
		}
	}
}
