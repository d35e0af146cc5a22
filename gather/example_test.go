package gather_test

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

func Example() {
	ctx := context.Background()
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		panic(err)
	}
	defer st.Close()
	channel := earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "ops", Kind: earshot.KindChannel}
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	_, err = st.Record(ctx, channel.Scope(),
		earshot.Message{ID: "1", Time: 1772442000e6, Author: alice, Text: "staging is down"},
		earshot.Message{ID: "2", Time: 1772442060e6, Author: alice, Text: "<@U0BOT> since when?", Thread: "1"},
	)
	if err != nil {
		panic(err)
	}
	counter, err := tokens.For("o200k")
	if err != nil {
		panic(err)
	}
	_, result, err := gather.Turn(ctx, st, gather.Request{
		Channel: channel, Anchor: "2", Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Counter: counter,
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Messages[0].Text)
	// Output:
	// [a Slack channel. You are earshot here.]
	// + name: #ops
	//
	// [this thread]
	// [Mon 2 Mar]
	// 09:00 Alice: staging is down
	//
	// [question, Mon 2 Mar 2026, UTC]
	// 09:01 Alice: @earshot since when?
}
