package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestASimulatedSlackServesUntilItIsInterrupted takes the way of a script that
// tries a bot: start it, read where it is, call it, stop it.
func TestASimulatedSlackServesUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, content, channel string
		messages               bool
	}{
		{"a small workspace", "", "general", false},
		{"the bundled one", "bundled", "deploys", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx, stop := context.WithCancel(t.Context())
			out, in := io.Pipe()
			code := make(chan int, 1)
			go func() {
				args := []string{"earshot", "simulate", "slack", "--json", "--tier", "unlimited", "--fault", "rate_limit@auth.test,times=1,wait=5s"}
				if c.content != "" {
					args = append(args, "--content", c.content)
				}
				code <- run(ctx, args, nil, strings.NewReader(""), in, t.Output())
			}()
			var about struct {
				URL string            `json:"url"`
				API string            `json:"api_url"`
				Env map[string]string `json:"env"`
			}
			if err := json.NewDecoder(out).Decode(&about); err != nil {
				t.Fatal(err)
			}
			go io.Copy(io.Discard, out)
			if about.Env["EARSHOT_SLACK_API_URL"] != about.API {
				t.Errorf("the API is at %q and at %q", about.API, about.Env["EARSHOT_SLACK_API_URL"])
			}
			ask := func(method, url, body string) (int, map[string]any) {
				t.Helper()
				req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Content-Type", "application/json")
				req.Header.Set("Authorization", "Bearer "+about.Env["SLACK_BOT_TOKEN"])
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer res.Body.Close()
				var answer map[string]any
				if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
					t.Fatal(err)
				}
				return res.StatusCode, answer
			}
			if status, _ := ask(http.MethodPost, about.API+"auth.test", "{}"); status != http.StatusTooManyRequests {
				t.Errorf("the first call ends with status %d, want the fault's 429", status)
			}
			if _, answer := ask(http.MethodPost, about.API+"auth.test", "{}"); answer["user"] != "earshot" {
				t.Errorf("auth.test says %v", answer)
			}
			if _, answer := ask(http.MethodPost, about.URL+"/simulate/say", `{"channel":"`+c.channel+`","user":"mara","text":"hello"}`); answer["ok"] != true {
				t.Errorf("mara says nothing: %v", answer)
			}
			_, answer := ask(http.MethodGet, about.URL+"/simulate/messages?channel="+c.channel, "")
			list, _ := answer["list"].([]any)
			if len(list) == 0 || (len(list) > 1) != c.messages {
				t.Errorf("%d messages are there; history: %t", len(list), c.messages)
			}
			stop()
			if got := <-code; got != exitOK {
				t.Errorf("it ended with %d", got)
			}
		})
	}
}

// TestASimulatedDiscordServesUntilItIsInterrupted does the same with a Discord.
func TestASimulatedDiscordServesUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	code := make(chan int, 1)
	go func() {
		args := []string{"earshot", "simulate", "discord", "--json", "--limits", "off", "--no-message-content", "--fault", "rate_limit@get_my_user,times=1,wait=5s"}
		code <- run(ctx, args, nil, strings.NewReader(""), in, t.Output())
	}()
	var about struct {
		URL  string            `json:"url"`
		API  string            `json:"api_url"`
		Bot  string            `json:"bot_user"`
		Env  map[string]string `json:"env"`
		Gate string            `json:"gateway_url"`
	}
	if err := json.NewDecoder(out).Decode(&about); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	if about.Env["EARSHOT_DISCORD_API_URL"] != about.API || about.Env["EARSHOT_DISCORD_GATEWAY_URL"] != about.Gate {
		t.Errorf("the API and the gateway are at %q and %q, the environment says %v", about.API, about.Gate, about.Env)
	}
	ask := func(method, url, body string) (int, map[string]any) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bot "+about.Env["DISCORD_BOT_TOKEN"])
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var answer map[string]any
		if err := json.NewDecoder(res.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, answer
	}
	if status, _ := ask(http.MethodGet, about.API+"/users/@me", ""); status != http.StatusTooManyRequests {
		t.Errorf("the first call ends with status %d, want the fault's 429", status)
	}
	if _, answer := ask(http.MethodGet, about.API+"/users/@me", ""); answer["id"] != about.Bot {
		t.Errorf("the bot is %v", answer)
	}
	if _, answer := ask(http.MethodGet, about.API+"/gateway", ""); answer["url"] != about.Gate {
		t.Errorf("the API says that the gateway is at %v", answer)
	}
	_, said := ask(http.MethodPost, about.URL+"/simulate/say", `{"channel":"general","user":"mara","text":"hello"}`)
	if said["ok"] != true {
		t.Fatalf("mara says nothing: %v", said)
	}
	_, answer := ask(http.MethodGet, about.URL+"/simulate/messages?channel=general", "")
	list, _ := answer["list"].([]any)
	if m, _ := list[0].(map[string]any); len(list) != 1 || m["id"] != said["id"] || m["content"] != "hello" {
		t.Errorf("people see %v", list)
	}
	channel, _ := list[0].(map[string]any)["channel"].(string)
	id, _ := said["id"].(string)
	if _, m := ask(http.MethodGet, about.API+"/channels/"+channel+"/messages/"+id, ""); m["id"] != id || m["content"] != "" {
		t.Errorf("without the intent, the bot gets %v", m)
	}
	stop()
	if got := <-code; got != exitOK {
		t.Errorf("it ended with %d", got)
	}
}
