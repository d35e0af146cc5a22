// Command history keeps a conversation for an agent that is one function, and
// makes the prompt of its next question.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/history"
	"github.com/earshot-ai/earshot/store"
)

var (
	nine    = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	deploys = history.Conversation{Channel: earshot.Channel{Platform: "myapp", ID: "deploys"}}
	alice   = earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
)

func at(minute int) earshot.Time {
	return earshot.TimeOf(nine.Add(time.Duration(minute) * time.Minute))
}

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	st, err := store.Open(ctx, "memory:", nil) // or sqlite:chat.db, or postgres://…
	if err != nil {
		return err
	}
	defer st.Close()
	h := history.New(st, earshot.Identity{ID: "ops", Name: "ops"}, nil)
	_, err = h.Append(ctx, deploys,
		earshot.Message{ID: "1", Time: at(1), Author: alice, Text: "lunch at noon?"},
		earshot.Message{ID: "2", Time: at(2), Author: alice, Text: "<@ops> why does import 7 hang?"},
		earshot.Message{ID: "3", Time: at(3), Author: h.Author(), Text: "It waits for a lock.", ReplyTo: "2"},
		earshot.Message{ID: "4", Time: at(4), Author: alice, Text: "<@ops> and import 8?"},
		earshot.Message{ID: "4", Time: at(4), Author: alice, Text: "<@ops> and import 9?", Edited: at(5)})
	if err != nil {
		return err
	}
	prompt, err := h.Prompt(ctx, deploys, "4") // llm.FromResult makes a request of it
	if err != nil {
		return err
	}
	for _, m := range prompt.Messages {
		fmt.Printf("--- %s\n%s\n", m.Role, m.Text)
	}
	newest, err := h.Get(ctx, deploys, &history.Query{Limit: 1, Participants: []earshot.AuthorID{"U1"}})
	if err != nil {
		return err
	}
	fmt.Println("--- Alice's newest:", newest[0].Text)
	return h.Delete(ctx, deploys, "1")
}
