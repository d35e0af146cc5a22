package assemble_test

import (
	"fmt"
	"log"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/tokens"
)

// The question is asked in a thread. The prompt shows the thread, what was said
// around it in the channel, and the question last.
func ExampleTurn() {
	start := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	message := func(id string, minute int, name, text string) earshot.Message {
		return earshot.Message{
			ID: earshot.MessageID(id), Time: earshot.TimeOf(start.Add(time.Duration(minute) * time.Minute)), Text: text,
			Author: earshot.Author{ID: earshot.AuthorID("U-" + name), Name: name, Kind: earshot.Human},
		}
	}
	root := message("1", 2, "Alice", "staging is down since the 1.4 deploy")
	reply := message("3", 5, "Bob", "the migration hangs")
	question := message("4", 7, "Alice", "<@U0BOT> what should we do?")
	reply.Thread, question.Thread = root.ID, root.ID

	counter, err := tokens.For("o200k")
	if err != nil {
		log.Fatal(err)
	}
	res, err := assemble.Turn(assemble.Input{
		Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"},
		Channel:  earshot.Channel{Platform: earshot.Slack, ID: "C1", Name: "deploys", Kind: earshot.KindChannel},
		Messages: []earshot.Message{root, message("2", 3, "Carol", "who has the keys?"), reply, question},
		Anchor:   question.ID,
		Counter:  counter,
	})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range res.Messages {
		fmt.Println(m.Text)
	}
	fmt.Println("--")
	for _, row := range res.Ledger {
		fmt.Println(row.ID, row.Verdict, row.Section)
	}
	// Output:
	// [a Slack channel. You are earshot here.]
	// + name: #deploys
	//
	// [recent in this channel]
	// [Mon 2 Mar]
	// 09:03 Carol: who has the keys?
	//
	// [this thread]
	// [Mon 2 Mar]
	// 09:02 Alice: staging is down since the 1.4 deploy
	// 09:05 Bob: the migration hangs
	//
	// [question, Mon 2 Mar 2026, UTC]
	// 09:07 Alice: @earshot what should we do?
	// --
	// 1 full thread
	// 2 full window
	// 3 full thread
	// 4 full anchor
}

// A policy of one's own: the thread's newest ten messages and the question, anew
// for every turn.
func ExamplePolicy() {
	p := assemble.Policy{
		Name: "small", Frame: assemble.Brackets,
		First: []assemble.Section{
			{Section: assemble.Guide},
			{Section: assemble.Thread, Messages: 10},
			{Section: assemble.Anchor},
		},
	}
	fmt.Println(p.Check())
	p.First[1].Snippet = 80
	for _, problem := range p.Check() {
		fmt.Println(problem)
	}
	// Output:
	// []
	// first[1].snippet: thread has no such limit
}
