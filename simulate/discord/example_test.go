package discord_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/simulate/discord"
)

// A bot under test answers a message although Discord's answer to its first post is
// lost. The bot here is two dozen lines; any program in any language will do.
func Example() {
	s, err := discord.New(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	mara := s.AddUser(discord.User{Name: "mara"})
	general := s.AddChannel(discord.Channel{Name: "general"})

	conn, res, err := websocket.DefaultDialer.Dial(s.GatewayURL()+"?v=10&encoding=json", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer conn.Close()
	defer res.Body.Close()
	go bot(s, conn, general)

	s.Inject(discord.Fault{Kind: discord.LostResponse, On: "create_message", Times: 1})
	ctx := context.Background()
	if err := s.Until(ctx, func() bool { return s.Sessions() == 1 }); err != nil {
		fmt.Println(err)
		return
	}
	s.Say(general, mara, "hello")
	if err := s.Until(ctx, func() bool { return len(s.Calls("create_message")) == 2 }); err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range s.Messages(general) {
		fmt.Println(m.Content)
	}
	// Output:
	// hello
	// Hello!
}

// bot identifies, and posts until it has an answer. The nonce makes its posts one.
func bot(s *discord.Discord, conn *websocket.Conn, channel string) {
	app := s.App()
	for {
		var frame struct {
			Op int    `json:"op"`
			T  string `json:"t"`
			D  struct {
				Content string `json:"content"`
			} `json:"d"`
		}
		if conn.ReadJSON(&frame) != nil {
			return
		}
		switch {
		case frame.Op == 10:
			intents := 1<<9 | 1<<15 // messages and their content
			_ = conn.WriteJSON(map[string]any{"op": 2, "d": map[string]any{"token": app.Token, "intents": intents, "properties": map[string]any{}}})
		case frame.T == "MESSAGE_CREATE" && frame.D.Content == "hello":
			for post(s, app.Token, channel, `{"content":"Hello!","nonce":"1","enforce_nonce":true}`) != nil {
			}
		}
	}
}

func post(s *discord.Discord, token, channel, body string) error {
	req, err := http.NewRequest(http.MethodPost, s.APIURL()+"/channels/"+channel+"/messages", strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bot "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
