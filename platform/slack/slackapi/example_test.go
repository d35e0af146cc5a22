package slackapi_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"

	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/secret"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("channel") == "C1" {
			_, _ = io.WriteString(w, `{"ok":true,"channel":{"name":"general"}}`)
		} else {
			_, _ = io.WriteString(w, `{"ok":false,"error":"channel_not_found"}`)
		}
	}))
	defer server.Close()
	client := slackapi.New(slackapi.Options{URL: server.URL + "/", Token: secret.New("xoxb-1")})

	raw, err := client.Call(context.Background(), "conversations.info", url.Values{"channel": {"C1"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	var answer struct {
		Channel struct {
			Name string `json:"name"`
		} `json:"channel"`
	}
	err = json.Unmarshal(raw, &answer)
	fmt.Println(answer.Channel.Name, err)

	_, err = client.Call(context.Background(), "conversations.info", url.Values{"channel": {"C2"}})
	var refused *slackapi.Error
	fmt.Println(errors.As(err, &refused) && refused.Code == "channel_not_found")
	// Output:
	// general <nil>
	// true
}
