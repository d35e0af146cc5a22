// Command toolbox gives a bot a tool of its own, which restarts jobs.
package main

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// A scheduler is a toolbox. Its tool writes: it runs once for each call, whatever crashes.
type scheduler struct{}

func (scheduler) Tools(context.Context, toolbox.Place) ([]toolbox.Tool, error) {
	return []toolbox.Tool{{Effect: toolbox.Writes, Tool: llm.Tool{
		Name: "restart_job", Description: "Restarts a job of the scheduler by its name.",
		Schema: `{"type":"object","properties":{"job":{"type":"string"}},"required":["job"]}`,
	}}}, nil
}

func (scheduler) Call(_ context.Context, p toolbox.Place, c toolbox.Call) (toolbox.Result, error) {
	fmt.Printf("(%s asks for %s %s)\n", p.Asker.Name, c.Name, c.Args)
	return toolbox.Result{Parts: []llm.Part{llm.Text("restarted")}}, nil
}

type terminal struct{}

func (terminal) Post(_ context.Context, d bot.Draft) (earshot.Message, error) {
	fmt.Println("earshot:", d.Text)
	return earshot.Message{ID: "re-" + d.Anchor.ID, Time: d.Anchor.Time + 1}, nil
}

func main() {
	ctx, stop := context.WithCancel(context.Background())
	st, _ := store.Open(ctx, "memory:", nil)
	o200k, _ := tokens.For("o200k")
	model := llmtest.New(llmtest.Call("restart_job", `{"job":"import"}`), llmtest.Say("The import job runs again."))
	answered, stopped := make(chan bot.Report, 1), make(chan error)
	b := bot.New(bot.Options{Store: st, Model: model, Platform: terminal{}, Counter: o200k, Tools: []toolbox.Toolbox{scheduler{}},
		Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Done: func(r bot.Report) { answered <- r }})
	go func() { stopped <- b.Run(ctx) }()
	m := earshot.Message{ID: "1", Time: earshot.TimeOf(time.Now()), Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}, Text: "restart the import job"}
	dm := earshot.Channel{Platform: "terminal", Workspace: "home", ID: "dm", Kind: earshot.KindDM}
	if _, err := b.Handle(ctx, bot.Event{Channel: dm, Event: earshot.Event{Message: m}}); err != nil {
		log.Fatal(err)
	}
	<-answered
	stop()
	<-stopped
}
