package gather_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

// conversationAt returns the name of the agent's conversation that a reply to a
// message belongs to.
func conversationAt(t *testing.T, st gather.ByID, replyTo earshot.MessageID) string {
	t.Helper()
	id, err := gather.ConversationOf(t.Context(), st, guild, line(90, "m90", replyTo), self)
	if err != nil {
		t.Fatal(err)
	}
	return id.Name
}

// own is a message of the agent's.
func own(n int, id, replyTo earshot.MessageID) earshot.Message {
	m := line(n, id, replyTo)
	m.Author = earshot.Author{ID: self.ID, Name: self.Name, Kind: earshot.Bot}
	return m
}

// opened opens a turn for a message in a conversation.
func opened(t *testing.T, st earshot.Store, m earshot.Message, conversation string) earshot.TurnID {
	t.Helper()
	id := earshot.ConversationID{Agent: earshot.AgentID(self.ID), Scope: guild.Scope(), Name: conversation}
	got, err := st.Accept(t.Context(), guild.Scope(), earshot.Event{Received: m.Time, Message: m}, &id)
	if err != nil || !got.Opened {
		t.Fatalf("%+v, %v", got, err)
	}
	return got.Turn
}

// posted answers a turn with posts, as a bot does, which the platform shows as these
// messages.
func posted(t *testing.T, st earshot.Store, turn earshot.TurnID, answers ...earshot.Message) {
	t.Helper()
	ctx := t.Context()
	l, turns, err := st.Claim(ctx, earshot.AgentID(self.ID), "me", answers[0].Time, time.Minute)
	if err != nil || turns[0].ID != turn {
		t.Fatalf("claimed %v, %v", turns, err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(st.Begin(ctx, l, turn, earshot.Prompt{Input: []byte("input"), Hash: "hash"}))
	done := earshot.Turn{Answer: earshot.Answer{Anchor: turns[0].Anchor}, Hash: "hash", Policy: "standard"}
	for i, m := range answers {
		check(st.PutPost(ctx, l, earshot.Post{Turn: turn, Chunk: i, Key: string(m.ID), Text: m.Text, State: earshot.PostSent, Message: m.ID, Tries: 1}))
		done.Answer.Replies = append(done.Answer.Replies, m.ID)
	}
	check(st.Finish(ctx, l, turn, earshot.TurnDone, "", &done))
	check(st.Release(ctx, l, 0))
	record(t, st, guild.Scope(), answers...)
}

func TestAReplyToAnyPartOfAnAnswerContinues(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, st earshot.Store) {
		// The second part has no reference, as where a bot's later chunks are plain
		// messages.
		posted(t, st, opened(t, st, line(1, "q1", ""), "q1"), own(2, "a1", "q1"), own(3, "a2", ""))
		record(t, st, guild.Scope(), line(4, "x1", "a2"))
		// The third has a reference to the second only.
		posted(t, st, opened(t, st, line(5, "q2", "x1"), "q1"), own(6, "b1", ""), own(7, "b2", ""), own(8, "b3", "b2"))
		for _, replyTo := range []earshot.MessageID{"a1", "a2", "x1", "b1", "b2", "b3"} {
			if got := conversationAt(t, st, replyTo); got != "q1" {
				t.Errorf("a reply to %s belongs to %s", replyTo, got)
			}
		}
		// The post is known, and the message not yet.
		turn := opened(t, st, line(10, "q3", ""), "q3")
		l, _, err := st.Claim(t.Context(), earshot.AgentID(self.ID), "me", line(11, "", "").Time, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if err := st.PutPost(t.Context(), l, earshot.Post{Turn: turn, Key: "early", Text: "…", State: earshot.PostSent, Message: "early", Tries: 1}); err != nil {
			t.Fatal(err)
		}
		if got := conversationAt(t, st, "early"); got != "q3" {
			t.Errorf("a reply to a post that is not recorded yet belongs to %s", got)
		}
		if got := conversationAt(t, st, "unknown"); got != "m90" {
			t.Errorf("a reply to what nobody knows belongs to %s", got)
		}
		// Only the tombstone of the answer is left.
		record(t, st, guild.Scope(), earshot.Message{ID: "a2", Time: line(3, "", "").Time, Deleted: true})
		if got := conversationAt(t, st, "x1"); got != "q1" {
			t.Errorf("a reply below a deleted part belongs to %s", got)
		}
	})
}

func TestAReplyToACommittedAnswerContinues(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, st earshot.Store) {
		ctx := t.Context()
		for _, q := range []earshot.MessageID{"q1", "q2"} {
			record(t, st, guild.Scope(), line(1, q, ""))
			id := earshot.ConversationID{Agent: earshot.AgentID(self.ID), Scope: guild.Scope(), Name: string(q)}
			d, err := st.OpenDraft(ctx, earshot.Draft{Conversation: id, Anchor: q, Expires: 1 << 60, Prompt: earshot.Prompt{Input: []byte("input"), Hash: "hash"}})
			if err != nil {
				t.Fatal(err)
			}
			first, second := own(2, "first-"+q, q), own(3, "second-"+q, "")
			turn := earshot.Turn{Policy: "standard", Answer: earshot.Answer{Anchor: q, Replies: []earshot.MessageID{first.ID, second.ID}}}
			if _, err := st.CommitDraft(ctx, d.ID, turn, first.Time, first, second); err != nil {
				t.Fatal(err)
			}
		}
		for _, replyTo := range []earshot.MessageID{"first-q1", "second-q1"} {
			if got := conversationAt(t, st, replyTo); got != "q1" {
				t.Errorf("a reply to %s belongs to %s", replyTo, got)
			}
		}
	})
}

func TestAnAnswerOfAnotherAgentIsNoConversationOfOurs(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, st earshot.Store) {
		posted(t, st, opened(t, st, line(1, "q1", ""), "q1"), own(2, "a1", ""))
		other := earshot.Identity{ID: "U7BOT", Name: "other", Aliases: []earshot.AuthorID{self.ID}}
		id, err := gather.ConversationOf(t.Context(), st, guild, line(3, "m3", "a1"), other)
		if err != nil || id.Name != "a1" || id.Agent != "U7BOT" {
			t.Errorf("got %+v, %v", id, err)
		}
	})
}

// onlyByID hides everything else that a store knows.
type onlyByID struct{ st gather.ByID }

func (o onlyByID) ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	return o.st.ByID(ctx, s, ids...)
}

func TestAStoreOfMessagesAloneFollowsReferences(t *testing.T) {
	t.Parallel()
	st := open(t, "memory:")
	record(t, st, guild.Scope(), line(1, "q1", ""), own(2, "a1", "q1"), own(3, "a2", "q1"), own(4, "a3", ""))
	for replyTo, want := range map[earshot.MessageID]string{"a1": "q1", "a2": "q1", "a3": "a3"} {
		if got := conversationAt(t, onlyByID{st}, replyTo); got != want {
			t.Errorf("a reply to %s belongs to %s, want %s", replyTo, got, want)
		}
	}
}

// What was said below any part of the answers, or replies to the same message that
// nobody has, is news of the conversation, not of the channel.
func TestTheDeltaHasWhatWasSaidBelowEveryPart(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, st earshot.Store) {
		posted(t, st, opened(t, st, line(1, "q1", "gone"), "q1"), own(2, "a1", "q1"), own(3, "a2", ""))
		record(t, st, guild.Scope(), line(4, "x1", "a1"), line(5, "x2", "x1"), line(6, "x3", "gone"), line(7, "x4", "a2"), line(8, "aside", ""), line(9, "q2", "a2"))
		state := assemble.ConversationState{
			Cursor: 1, Form: assemble.Log, Shown: []earshot.ShownRevision{{ID: "q1"}, {ID: "a1"}, {ID: "a2"}},
			Turns:   []earshot.Answer{{Anchor: "q1", Replies: []earshot.MessageID{"a1", "a2"}}},
			Session: []earshot.SessionEntry{{Role: earshot.User, Text: "q"}, {Role: earshot.Assistant, Text: "a"}},
		}
		req := gather.Request{Channel: guild, Anchor: "q2", Identity: self, Counter: counter(t), State: &state}
		_, res, err := gather.Turn(t.Context(), st, req)
		if err != nil {
			t.Fatal(err)
		}
		sections := map[earshot.MessageID]string{}
		for _, row := range res.Ledger {
			if row.Verdict != earshot.Out {
				sections[row.ID] = row.Section
			}
		}
		want := map[earshot.MessageID]string{"x1": "delta", "x2": "delta", "x3": "delta", "x4": "delta", "aside": "window", "q2": "anchor"}
		if d := cmp.Diff(want, sections); d != "" {
			t.Errorf("-want +got:\n%s\n%s", d, promptOf(res))
		}
		same(t, st, req, state)
	})
}
