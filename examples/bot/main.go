// Command bot answers on a platform of its own, with a model of its own.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// A terminal is a platform: it shows what the bot posts.
type terminal struct{}

func (terminal) Post(_ context.Context, d bot.Draft) (earshot.Message, error) {
	fmt.Println("earshot:", d.Text)
	return earshot.Message{ID: "re-" + d.Anchor.ID, Time: d.Anchor.Time + 1}, nil
}

// A counter is a model: it counts the questions that it was given so far.
type counter struct{}

func (counter) Generate(_ context.Context, r llm.Request, _ func(llm.Event)) (llm.Response, error) {
	answer := llm.Text(fmt.Sprintf("this is question %d", (len(r.Messages)+1)/2))
	return llm.Response{Parts: []llm.Part{answer}, Stop: llm.StopEnd}, nil
}

func main() {
	ctx, stop := context.WithCancel(context.Background())
	st, err := store.Open(ctx, "memory:", nil) // or a file's path, or postgres://…
	if err != nil {
		log.Fatal(err)
	}
	o200k, _ := tokens.For("o200k") // fails for unknown names only
	answered, stopped := make(chan bot.Report, 1), make(chan error)
	b := bot.New(bot.Options{
		Store: st, Model: counter{}, Platform: terminal{}, Counter: o200k,
		Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"},
		Done:     func(r bot.Report) { answered <- r },
	})
	go func() { stopped <- b.Run(ctx) }()

	dm := earshot.Channel{Platform: "terminal", Workspace: "home", ID: "dm", Kind: earshot.KindDM}
	for i, text := range []string{"is anybody there?", "and now?"} {
		fmt.Println("alice:", text)
		alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
		m := earshot.Message{ID: earshot.MessageID(fmt.Sprint(i)), Time: earshot.TimeOf(time.Now()), Author: alice, Text: text}
		if _, err := b.Handle(ctx, bot.Event{Channel: dm, Event: earshot.Event{Message: m}}); err != nil {
			log.Fatal(err)
		}
		<-answered
	}
	stop()
	<-stopped
}
