// Command colleagues has two agents in one store: each sees its own messages as
// the assistant's and the other's as "Name (agent)".
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

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		return err
	}
	defer st.Close()
	everything := &history.Options{Everything: true} // not only what is addressed to the agent
	ops := history.New(st, earshot.Identity{ID: "A1", Name: "ops", Aliases: []earshot.AuthorID{"A1-old"}}, everything)
	desk := history.New(st, earshot.Identity{ID: "A2", Name: "desk"}, everything)

	nine := earshot.TimeOf(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	channel := history.Conversation{Channel: earshot.Channel{Platform: "myapp", ID: "deploys"}}
	thread := channel.InThread("1") // the root stands in the channel
	if _, err := ops.Append(ctx, channel, earshot.Message{ID: "1", Time: nine, Author: alice, Text: "<@A1> why does import 7 hang?"}); err != nil {
		return err
	}
	if _, err := ops.Append(ctx, thread, earshot.Message{ID: "2", Time: nine + 1, Author: ops.Author(), Text: "It waits for a lock.", ReplyTo: "1"}); err != nil {
		return err
	}
	if _, err := desk.Append(ctx, thread,
		earshot.Message{ID: "3", Time: nine + 2, Author: desk.Author(), Text: "I have told the customer."},
		earshot.Message{ID: "4", Time: nine + 3, Author: alice, Text: "<@A1> <@A2> thanks! Is it fixed?"}); err != nil {
		return err
	}
	for _, h := range []*history.History{ops, desk} {
		prompt, err := h.Prompt(ctx, thread, "4")
		if err != nil {
			return err
		}
		for _, m := range prompt.Messages {
			fmt.Printf("%s's %s: %q\n", h.Author().Name, m.Role, m.Text)
		}
	}
	return nil
}
