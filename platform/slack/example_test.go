package slack_test

import (
	"context"
	"fmt"
	"net/http/httptest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

// A bot of one's own on Slack, which the fake stands in for: the platform, a bot over
// it, and an address for events.
func Example() {
	fake, err := simulate.NewSlack(nil)
	if err != nil {
		panic(err)
	}
	defer fake.Close()
	mara := fake.AddUser(simulate.User{Name: "mara"})
	general := fake.AddChannel(simulate.Channel{Name: "general", Members: []string{mara, fake.App().UserID}})

	ctx, stop := context.WithCancel(context.Background())
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		panic(err)
	}
	defer st.Close()
	p, err := slack.Open(ctx, slack.Options{
		APIURL:         fake.URL() + "/api/", // by default Slack's own
		BotToken:       secret.New(fake.App().BotToken),
		SigningSecrets: []secret.Secret{secret.New(fake.App().SigningSecret)},
		Store:          st, Reply: slack.ReplyPost,
	})
	if err != nil {
		panic(err)
	}
	count, err := tokens.For("o200k")
	if err != nil {
		panic(err)
	}
	ended := make(chan earshot.TurnState, 1)
	b := bot.New(bot.Options{
		Store: st, Platform: p, Identity: p.Identity(), Counter: count, Model: llm.Model(llmtest.New(llmtest.Say("It is."))),
		Done: func(r bot.Report) { ended <- r.Turn.State },
	})
	done := make(chan error)
	go func() { done <- b.Run(ctx) }()
	events := httptest.NewServer(p.Handler(b.Handle))
	defer events.Close()

	fake.Deliver(events.URL)
	fake.Say(general, mara, "<@"+fake.App().UserID+"> is staging up?")
	fmt.Println(<-ended)
	for _, post := range fake.Posts() {
		fmt.Println(post.Text)
	}
	stop()
	fmt.Println(<-done)
	// Output:
	// done
	// It is.
	// <nil>
}
