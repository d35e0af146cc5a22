// Command lookup gives a model conversation_search, a tool that finds what was
// said in one conversation and reaches no other.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/history"
	"github.com/earshot-ai/earshot/llm"
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
	h := history.New(st, earshot.Identity{ID: "ops", Name: "ops"}, nil)
	nine := earshot.TimeOf(time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	deploys := history.Conversation{Channel: earshot.Channel{Platform: "myapp", ID: "deploys"}}
	private := history.Conversation{Channel: earshot.Channel{Platform: "myapp", ID: "alice", Kind: earshot.KindDM}}
	if _, err := h.Append(ctx, deploys,
		earshot.Message{ID: "1", Time: nine, Author: alice, Text: "the staging password rotates on Mondays"},
		earshot.Message{ID: "2", Time: nine + 1, Author: alice, Text: "<@ops> when does the password rotate?"}); err != nil {
		return err
	}
	if _, err := h.Append(ctx, private, earshot.Message{ID: "1", Time: nine, Author: alice, Text: "my password is marzipan"}); err != nil {
		return err
	}
	tool := h.SearchTool(deploys, &history.SearchOptions{Before: "2"})
	prompt, err := h.Prompt(ctx, deploys, "2")
	if err != nil {
		return err
	}
	request, err := llm.FromResult(prompt, &llm.Options{Tools: []llm.Tool{tool.Tool}})
	if err != nil {
		return err
	}
	fmt.Println("the model may call", request.Tools[0].Name)
	answer, err := tool.Call(ctx, `{"query": "password"}`) // as the model would
	if err != nil {
		return err
	}
	fmt.Println(answer)
	return nil
}
