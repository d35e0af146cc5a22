package tools_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tools"
)

// The tools of a channel find what was said there before the question, and nothing of
// another channel.
func Example() {
	ctx := context.Background()
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer st.Close()
	deploys := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C1"}
	secrets := earshot.Scope{Platform: earshot.Slack, Workspace: "T1", Channel: "C2"}
	at := func(minute int) earshot.Time {
		return earshot.TimeOf(time.Date(2026, 3, 2, 9, minute, 0, 0, time.UTC))
	}
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	question := earshot.Message{ID: "m2", Time: at(30), Author: alice, Text: "which release do we run?"}
	for scope, m := range map[earshot.Scope]earshot.Message{
		deploys: {ID: "m1", Time: at(1), Author: alice, Text: "release 1.4 is out on all machines"},
		secrets: {ID: "s1", Time: at(2), Author: alice, Text: "release 2.0 is a secret"},
	} {
		if _, err := st.Record(ctx, scope, m); err != nil {
			log.Fatal(err)
		}
	}
	set := tools.ForChannel(deploys, st, tools.NewIndex(st, 0), question.Position(), nil)
	answer, err := set.Call(ctx, tools.ChannelContext, `{"intent":"the release that runs"}`)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(tools.ShownIDs(answer.JSON))
	// Output: [m1]
}
