package simulate_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/earshot-ai/earshot/simulate"
)

// A bot under test answers a mention although Slack's answer to its first post is
// lost. The bot here is a dozen lines; any program in any language will do.
func Example() {
	s, err := simulate.NewSlack(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	mara := s.AddUser(simulate.User{Name: "mara"})
	general := s.AddChannel(simulate.Channel{Name: "general", Members: []string{mara, s.App().UserID}})

	bot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.Posts() != nil {
			return // it has answered already
		}
		form := url.Values{"token": {s.App().BotToken}, "channel": {general}, "text": {"Hello!"}}
		if answer, err := http.PostForm(s.URL()+"/api/chat.postMessage", form); err == nil {
			answer.Body.Close()
		}
	}))
	defer bot.Close()

	s.Inject(simulate.Fault{Kind: simulate.LostResponse, On: "chat.postMessage", Times: 1})
	s.Deliver(bot.URL)
	s.Say(general, mara, "<@"+s.App().UserID+"> hello")
	if err := s.Settle(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range s.Messages(general) {
		fmt.Println(strings.Replace(m.Text, s.App().UserID, "the app", 1))
	}
	fmt.Println("calls:", len(s.Calls("chat.postMessage")))
	// Output:
	// <@the app> hello
	// Hello!
	// calls: 1
}
