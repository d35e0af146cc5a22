// Command assemble makes a context from messages of its own: no store, no
// platform.
package main

import (
	"fmt"
	"log"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/tokens"
)

func main() {
	counter, err := tokens.For("o200k")
	if err != nil {
		log.Fatal(err)
	}
	nine := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	result, err := assemble.Turn(assemble.Input{
		Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"},
		Channel:  earshot.Channel{Platform: "zulip", Workspace: "example", ID: "C1", Name: "ops"},
		Counter:  counter,
		Anchor:   "2", // the message to answer
		Messages: []earshot.Message{
			{ID: "1", Time: earshot.TimeOf(nine), Author: earshot.Author{ID: "U1", Name: "Alice"}, Text: "staging is down"},
			{ID: "2", Time: earshot.TimeOf(nine.Add(time.Minute)), Author: earshot.Author{ID: "U2", Name: "Bob"}, Text: "<@U0BOT> since when?", Thread: "1"},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Messages[0].Text + "\n") // the prompt; result.System says how to read it
	for _, row := range result.Ledger {
		fmt.Printf("message %s: %s, %s, %d tokens\n", row.ID, row.Verdict, row.Section, row.Tokens)
	}
}
