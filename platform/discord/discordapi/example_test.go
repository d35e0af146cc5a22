package discordapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/secret"
)

func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/channels/11" {
			_, _ = io.WriteString(w, `{"id":"11","type":0,"name":"general"}`)
		} else {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"code":10003,"message":"Unknown Channel"}`)
		}
	}))
	defer server.Close()
	client := discordapi.New(discordapi.Options{URL: server.URL, Token: secret.New("token")})

	raw, err := client.Call(context.Background(), rest.GetChannel, []any{"11"}, nil, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	var channel struct {
		Name string `json:"name"`
	}
	err = json.Unmarshal(raw, &channel)
	fmt.Println(channel.Name, err)

	_, err = client.Call(context.Background(), rest.GetChannel, []any{"12"}, nil, nil)
	fmt.Println(err)
	fmt.Println(discordapi.IsRefused(err, discordapi.UnknownChannel), discordapi.Undone(err))
	// Output:
	// general <nil>
	// GET /channels/{channel.id}: status 404, code 10003: Unknown Channel
	// true true
}
