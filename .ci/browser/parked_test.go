package main

import (
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// park stores a question whose answer may or may not be visible, in a conversation of
// its own, and leaves it to an operator.
func park(t *testing.T, db, channel string, question earshot.Message, why string) earshot.TurnID {
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
	check(st.PutPost(t.Context(), lease, earshot.Post{Turn: a.Turn, Key: "k" + string(question.ID), Text: "an answer: " + question.Text, State: earshot.PostAmbiguous}))
	check(st.Finish(t.Context(), lease, a.Turn, earshot.TurnParked, why, nil))
	check(st.Release(t.Context(), lease, 0))
	check(st.Close())
	return a.Turn
}
