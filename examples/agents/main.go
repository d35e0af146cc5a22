// Command agents runs two agents on one store: each hears what the other says,
// and each keeps its own conversations.
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

var (
	channel  = earshot.Channel{Platform: "zulip", Workspace: "home", ID: "C1", Name: "deploys", Kind: earshot.KindChannel}
	ops      = earshot.Identity{ID: "U0OPS", Name: "ops"}
	helpdesk = earshot.Identity{ID: "U0HELP", Name: "helpdesk"}
)

// An agent is a bot's platform and model: it posts what it is made to say, and
// shows what it was given to read.
type agent struct {
	name, says string
}

func (a agent) Generate(_ context.Context, r llm.Request, _ func(llm.Event)) (llm.Response, error) {
	fmt.Printf("--- %s reads\n", a.name)
	fmt.Println(r.Messages[0].Parts[0].Text)
	return llm.Response{Parts: []llm.Part{llm.Text(a.says)}, Stop: llm.StopEnd}, nil
}

func (a agent) Post(_ context.Context, d bot.Draft) (earshot.Message, error) {
	fmt.Printf("--- %s says: %s\n\n", a.name, d.Text)
	return earshot.Message{ID: earshot.MessageID("re-" + string(d.Anchor.ID)), Time: d.Anchor.Time + 1}, nil
}

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	// The clock stands still, so that the output is always the same.
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	st, err := store.Open(ctx, "memory:", &store.Options{Now: func() time.Time { return now }})
	if err != nil {
		return err
	}
	defer st.Close()
	counter, err := tokens.For("o200k")
	if err != nil {
		return err
	}
	answered := make(chan bot.Report)
	start := func(self earshot.Identity, says string) *bot.Bot {
		a := agent{self.Name, says}
		b := bot.New(bot.Options{
			Store: st, Model: a, Platform: a, Counter: counter, Identity: self,
			Done: func(r bot.Report) { answered <- r },
			Now:  func() earshot.Time { return earshot.TimeOf(now) },
		})
		go b.Run(ctx)
		return b
	}
	bots := []*bot.Bot{
		start(ops, "Import 7 hangs on a lock. Restarted."),
		start(helpdesk, "The import was restarted; try again in a minute."),
	}
	people := map[string]earshot.Author{"Alice": {ID: "U1", Name: "Alice", Kind: earshot.Human}, "Bob": {ID: "U2", Name: "Bob", Kind: earshot.Human}}
	say := func(minute int, who, text string) error {
		m := earshot.Message{ID: earshot.MessageID(fmt.Sprint("m", minute)), Time: earshot.TimeOf(now.Add(time.Duration(minute) * time.Minute)), Author: people[who], Text: text}
		for _, b := range bots { // every agent hears every message
			if _, err := b.Handle(ctx, bot.Event{Channel: channel, Event: earshot.Event{Message: m}}); err != nil {
				return err
			}
		}
		<-answered
		return nil
	}
	if err := say(1, "Alice", "<@U0OPS> why does the import hang?"); err != nil {
		return err
	}
	return say(2, "Bob", "<@U0HELP> can I import again?")
}
