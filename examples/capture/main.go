// Command capture records what an agent is asked and what it answers, in one line
// around its function. When the store fails, the agent still answers.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/history"
	"github.com/earshot-ai/earshot/store"
)

// agent is any function from text to text; yours calls a model.
func agent(_ context.Context, text string) (string, error) {
	return "You said: " + text, nil
}

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
	h := history.New(st, earshot.Identity{ID: "echo", Name: "echo"}, nil)
	chat := history.Conversation{Channel: earshot.Channel{Platform: "myapp", ID: "alice", Kind: earshot.KindDM}}
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}

	answer := h.Capture(history.Text(agent)) // the one line

	reply, err := answer(ctx, chat, earshot.Message{Author: alice, Text: "hello"})
	if err != nil {
		return err
	}
	fmt.Println(reply.Text)
	list, err := h.Get(ctx, chat, nil)
	if err != nil {
		return err
	}
	for _, m := range list {
		fmt.Printf("stored: %s: %s\n", m.Author.Name, m.Text)
	}

	if err := st.Close(); err != nil { // from now on the store fails
		return err
	}
	reply, err = answer(ctx, chat, earshot.Message{Author: alice, Text: "still there?"})
	f := h.Failures()
	fmt.Printf("%s (error: %v)\n", reply.Text, err)
	fmt.Printf("not stored: %d question, %d reply; last: %v\n", f.Questions, f.Replies, f.Last)
	return nil
}
