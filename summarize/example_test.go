package summarize_test

import (
	"context"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/summarize"
	"github.com/earshot-ai/earshot/tokens"
)

// A summarizer runs beside the bot, until its context ends. Without a model it writes
// digests.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		panic(err)
	}
	defer st.Close()
	count, err := tokens.For("o200k")
	if err != nil {
		panic(err)
	}
	s := summarize.New(summarize.Options{
		Store: st, Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"},
		Counter: func() assemble.Counter { return count },
		Done:    func(r summarize.Report) { fmt.Println(r.Conversation, r.Err) },
	})
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	stop()
	fmt.Println(<-done)
	// Output: <nil>
}
