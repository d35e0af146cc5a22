package main

import (
	"errors"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// park stores a question whose answer may or may not be visible, in a conversation of
// its own, and leaves it to an operator.
func park(t *testing.T, db, channel string, question earshot.Message, why string) earshot.TurnID {
	t.Helper()
	return claimed(t, db, channel, question, func(st earshot.Store, lease earshot.Lease, turn earshot.TurnID) error {
		p := earshot.Post{Turn: turn, Key: "k" + string(question.ID), Text: "an answer: " + question.Text, State: earshot.PostAmbiguous}
		return errors.Join(st.PutPost(t.Context(), lease, p), st.Finish(t.Context(), lease, turn, earshot.TurnParked, why, nil))
	})
}

// wait stores a question for which a person is asked whether a tool may be called.
func wait(t *testing.T, db, channel string, question earshot.Message, tool, args string) earshot.TurnID {
	t.Helper()
	return claimed(t, db, channel, question, func(st earshot.Store, lease earshot.Lease, turn earshot.TurnID) error {
		began := st.Begin(t.Context(), lease, turn, earshot.Prompt{Hash: "h", Input: []byte("{}")})
		now := earshot.TimeOf(time.Now())
		_, asked := st.AskApproval(t.Context(), lease, earshot.Approval{
			ID: earshot.ApprovalID("ask-" + question.ID), Turn: turn, Asker: question.Author.ID, Call: "c", Tool: tool, Args: []byte(args),
			Asked: now, Expires: now + earshot.Time(time.Hour/time.Microsecond),
		})
		_, waits := st.AwaitApprovals(t.Context(), lease, turn)
		return errors.Join(began, asked, waits)
	})
}

// claimed stores a question in a conversation of its own, and does something to its turn, as a
// process that ended then.
func claimed(t *testing.T, db, channel string, question earshot.Message, do func(earshot.Store, earshot.Lease, earshot.TurnID) error) earshot.TurnID {
	t.Helper()
	st, err := store.Open(t.Context(), "sqlite:"+db, nil)
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s := earshot.Scope{Platform: earshot.Local, Workspace: "local", Channel: earshot.ChannelID(channel)}
	conversation := earshot.ConversationID{Agent: "earshot", Scope: s, Name: string(question.ID)}
	now := earshot.TimeOf(time.Now())
	question.Time = now
	a, err := st.Accept(t.Context(), s, earshot.Event{Delivery: string(question.ID), Raw: []byte(question.Text), Received: now, Message: question}, &conversation)
	check(err)
	lease, _, err := st.Claim(t.Context(), "earshot", "a process that died", now, time.Minute)
	check(err)
	check(do(st, lease, a.Turn))
	check(st.Release(t.Context(), lease, 0))
	check(st.Close())
	return a.Turn
}
