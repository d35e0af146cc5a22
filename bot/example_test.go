package bot_test

import (
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// A shout is a model that repeats the last line of its prompt.
type shout struct{}

func (shout) Generate(_ context.Context, r llm.Request, _ func(llm.Event)) (llm.Response, error) {
	return llm.Response{Parts: []llm.Part{llm.Text("I HEARD: " + lastLine(r))}, Stop: llm.StopEnd}, nil
}

// A terminal is a platform that prints.
type terminal struct{}

func (terminal) Post(_ context.Context, d bot.Draft) (earshot.Message, error) {
	fmt.Println(d.Text)
	return earshot.Message{ID: "re-" + d.Anchor.ID, Time: d.Anchor.Time + 1}, nil
}

// A bot on a platform of your own: a store, a model, a platform, and an event.
func Example() {
	ctx, stop := context.WithCancel(context.Background())
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		panic(err)
	}
	counter, _ := tokens.For("o200k")
	answered := make(chan bot.Report, 1)
	b := bot.New(bot.Options{
		Store: st, Model: shout{}, Platform: terminal{}, Counter: counter,
		Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"},
		Done:     func(r bot.Report) { answered <- r },
	})
	done := make(chan error)
	go func() { done <- b.Run(ctx) }()

	_, err = b.Handle(ctx, bot.Event{
		Channel: earshot.Channel{Platform: earshot.Local, Workspace: "home", ID: "d1", Kind: earshot.KindDM},
		Event: earshot.Event{Delivery: "1", Message: earshot.Message{
			ID: "m1", Time: earshot.TimeOf(time.Now()), Author: earshot.Author{ID: "u1", Name: "Alice", Kind: earshot.Human}, Text: "is anybody there?"}},
	})
	fmt.Println(err, (<-answered).Turn.State)
	stop()
	<-done
	// Output:
	// I HEARD: Alice: is anybody there?
	// <nil> done
}
