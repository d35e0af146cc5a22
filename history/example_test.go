package history_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/history"
	"github.com/earshot-ai/earshot/store"
)

// An agent is a function from a text to an answer. Captured, its questions and answers
// are kept, and the next prompt has them.
func Example() {
	ctx := context.Background()
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	h := history.New(st, earshot.Identity{ID: "ops", Name: "ops"}, nil)
	defer h.Close()
	chat := history.Conversation{Channel: earshot.Channel{Platform: "myapp", ID: "alice", Kind: earshot.KindDM}}
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	nine := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

	agent := h.Capture(history.Text(func(_ context.Context, text string) (string, error) { return "It waits for a lock.", nil }))
	question := earshot.Message{ID: "1", Time: earshot.TimeOf(nine), Author: alice, Text: "why does import 7 hang?"}
	if _, err := agent(ctx, chat, question); err != nil {
		log.Fatal(err)
	}
	kept, err := h.Get(ctx, chat, nil)
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range kept {
		fmt.Printf("%s: %s\n", m.Author.Name, m.Text)
	}
	// Output:
	// Alice: why does import 7 hang?
	// ops: It waits for a lock.
}
