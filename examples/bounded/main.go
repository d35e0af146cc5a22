// Command bounded keeps a history in a memory that stays small: what is evicted is
// missing, and the prompt says so.
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
	st, err := store.Open(ctx, "memory:", &store.Options{
		Memory: &store.MemoryLimits{Conversations: 2, Messages: 3}, // 500 and 500 by default
	})
	if err != nil {
		return err
	}
	defer st.Close()
	h := history.New(st, earshot.Identity{ID: "ops", Name: "ops"}, nil)
	nine := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	dm := func(person string) history.Conversation {
		return history.Conversation{Channel: earshot.Channel{Platform: "myapp", ID: earshot.ChannelID(person), Kind: earshot.KindDM}}
	}
	for _, person := range []string{"Alice", "Bob", "Carol"} {
		for i := range 5 {
			_, err := h.Append(ctx, dm(person), earshot.Message{
				ID: earshot.MessageID(fmt.Sprint(i)), Time: earshot.TimeOf(nine.Add(time.Duration(i) * time.Minute)),
				Author: earshot.Author{ID: earshot.AuthorID(person), Name: person}, Text: fmt.Sprint("line ", i),
			})
			if err != nil {
				return err
			}
		}
	}
	for _, person := range []string{"Alice", "Bob", "Carol"} {
		list, err := h.Get(ctx, dm(person), nil)
		if err != nil {
			return err
		}
		fmt.Printf("%s: %d messages\n", person, len(list))
	}
	prompt, err := h.Prompt(ctx, dm("Carol"), "4")
	if err != nil {
		return err
	}
	fmt.Println(prompt.Messages[0].Text)
	return nil
}
