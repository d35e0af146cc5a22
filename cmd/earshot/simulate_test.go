package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// A simulated is a fake platform that the program serves.
type simulated struct {
	URL     string            `json:"url"`
	API     string            `json:"api_url"`
	Gateway string            `json:"gateway_url"`
	Bot     string            `json:"bot_user"`
	Team    string            `json:"workspace"`
	Env     map[string]string `json:"env"`
	// Of Discord: the channels' ids by their names.
	Channels map[string]string `json:"channels"`

	auth string // the header that the bot sends
	stop func()
	code chan int
}

// serveSimulated takes the way of a script that tries a bot: start it, read where it
// is. The token is scheme and the variable token of what it says.
func serveSimulated(t *testing.T, scheme, token string, args ...string) *simulated {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	s := &simulated{stop: stop, code: make(chan int, 1)}
	go func() {
		s.code <- run(ctx, append([]string{"earshot", "simulate"}, args...), nil, strings.NewReader(""), in, t.Output())
	}()
	if err := json.NewDecoder(out).Decode(s); err != nil {
		t.Fatal(err)
	}
	go io.Copy(io.Discard, out)
	s.auth = scheme + " " + s.Env[token]
	return s
}

// ask calls it with the bot's token.
func (s *simulated) ask(t *testing.T, method, url, body string) (int, map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", s.auth)
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

// interrupted stops it.
func (s *simulated) interrupted(t *testing.T) {
	t.Helper()
	s.stop()
	if got := <-s.code; got != exitOK {
		t.Errorf("it ended with %d", got)
	}
}

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
			args := []string{"slack", "--json", "--tier", "unlimited", "--fault", "rate_limit@auth.test,times=1,wait=5s"}
			if c.content != "" {
				args = append(args, "--content", c.content)
			}
			s := serveSimulated(t, "Bearer", "SLACK_BOT_TOKEN", args...)
			if s.Env["EARSHOT_SLACK_API_URL"] != s.API {
				t.Errorf("the API is at %q and at %q", s.API, s.Env["EARSHOT_SLACK_API_URL"])
			}
			if status, _ := s.ask(t, http.MethodPost, s.API+"auth.test", "{}"); status != http.StatusTooManyRequests {
				t.Errorf("the first call ends with status %d, want the fault's 429", status)
			}
			if _, answer := s.ask(t, http.MethodPost, s.API+"auth.test", "{}"); answer["user"] != "earshot" || s.Team == "" || answer["team_id"] != s.Team {
				t.Errorf("auth.test says %v; the workspace is said to be %q", answer, s.Team)
			}
			if _, answer := s.ask(t, http.MethodPost, s.URL+"/simulate/say", `{"channel":"`+c.channel+`","user":"mara","text":"hello"}`); answer["ok"] != true {
				t.Errorf("mara says nothing: %v", answer)
			}
			_, answer := s.ask(t, http.MethodGet, s.URL+"/simulate/messages?channel="+c.channel, "")
			list, _ := answer["list"].([]any)
			if len(list) == 0 || (len(list) > 1) != c.messages {
				t.Errorf("%d messages are there; history: %t", len(list), c.messages)
			}
			s.interrupted(t)
		})
	}
}

func TestASimulatedPlatformSaysItsWorkspaceAndTheKeyForIt(t *testing.T) {
	t.Parallel()
	for _, platform := range []string{"slack", "discord"} {
		out, in := io.Pipe()
		ctx, stop := context.WithCancel(t.Context())
		code := make(chan int, 1)
		go func() {
			code <- run(ctx, []string{"earshot", "simulate", platform}, nil, strings.NewReader(""), in, t.Output())
			_ = in.Close()
		}()
		lines := bufio.NewScanner(out)
		said := ""
		for lines.Scan() && said == "" {
			if _, rest, ok := strings.Cut(lines.Text(), "Its workspace is "); ok {
				said = rest
			}
		}
		id, command, _ := strings.Cut(said, ";")
		if id == "" || !strings.HasSuffix(command, "earshot key create --name bot --workspace "+id) {
			t.Errorf("%s says %q of its workspace", platform, said)
		}
		go io.Copy(io.Discard, out)
		stop()
		<-code
	}
}

// TestASimulatedDiscordPrintsTheIDsOfItsChannels has a newcomer copy an id for the check.
func TestASimulatedDiscordPrintsTheIDsOfItsChannels(t *testing.T) {
	t.Parallel()
	out, in := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"earshot", "simulate", "discord"}, nil, strings.NewReader(""), in, t.Output())
	}()
	env, general := []string{"HOME=" + t.TempDir()}, ""
	for lines := bufio.NewScanner(out); general == "" && lines.Scan(); {
		if v, ok := strings.CutPrefix(lines.Text(), "export "); ok {
			env = append(env, v)
		}
		if id, ok := strings.CutSuffix(lines.Text(), "  general"); ok {
			general = id
		}
	}
	go io.Copy(io.Discard, out)
	var printed, failed strings.Builder
	if got := run(ctx, []string{"earshot", "check", "discord", "--channel", general}, env, strings.NewReader(""), &printed, &failed); got != exitOK {
		t.Errorf("the check of channel %q ends with %d:\n%s%s", general, got, printed.String(), failed.String())
	}
	if !strings.Contains(printed.String(), "general") {
		t.Errorf("the check says nothing of the channel:\n%s", printed.String())
	}
	stop()
	<-code
}

func TestADiscordTakesTheNumberOfAnInvitation(t *testing.T) {
	t.Parallel()
	s := serveSimulated(t, "Bot", "DISCORD_BOT_TOKEN", "discord", "--json", "--limits", "off", "--permissions", "0")
	if status, _ := s.ask(t, http.MethodPost, s.API+"/guilds/"+s.Team+"/roles", "{}"); status != http.StatusForbidden {
		t.Errorf("without a permission a role is made with status %d", status)
	}
	s.interrupted(t)
	s = serveSimulated(t, "Bot", "DISCORD_BOT_TOKEN", "discord", "--json", "--limits", "off")
	if status, made := s.ask(t, http.MethodPost, s.API+"/guilds/"+s.Team+"/roles", `{"name":"helper"}`); status != http.StatusOK || made["name"] != "helper" {
		t.Errorf("a role is made with status %d: %v", status, made)
	}
	s.interrupted(t)
}

func TestASimulatedDiscordServesUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	s := serveSimulated(t, "Bot", "DISCORD_BOT_TOKEN",
		"discord", "--json", "--limits", "off", "--no-message-content", "--fault", "rate_limit@get_my_user,times=1,wait=5s")
	if s.Env["EARSHOT_DISCORD_API_URL"] != s.API || s.Env["EARSHOT_DISCORD_GATEWAY_URL"] != s.Gateway {
		t.Errorf("the API and the gateway are at %q and %q, the environment says %v", s.API, s.Gateway, s.Env)
	}
	if status, _ := s.ask(t, http.MethodGet, s.API+"/users/@me", ""); status != http.StatusTooManyRequests {
		t.Errorf("the first call ends with status %d, want the fault's 429", status)
	}
	if _, answer := s.ask(t, http.MethodGet, s.API+"/users/@me", ""); answer["id"] != s.Bot {
		t.Errorf("the bot is %v", answer)
	}
	if _, answer := s.ask(t, http.MethodGet, s.API+"/guilds/"+s.Team, ""); s.Team == "" || answer["id"] != s.Team {
		t.Errorf("the server %q is %v", s.Team, answer)
	}
	if _, answer := s.ask(t, http.MethodGet, s.API+"/gateway", ""); answer["url"] != s.Gateway {
		t.Errorf("the API says that the gateway is at %v", answer)
	}
	_, said := s.ask(t, http.MethodPost, s.URL+"/simulate/say", `{"channel":"general","user":"mara","text":"hello"}`)
	if said["ok"] != true {
		t.Fatalf("mara says nothing: %v", said)
	}
	_, answer := s.ask(t, http.MethodGet, s.URL+"/simulate/messages?channel=general", "")
	list, _ := answer["list"].([]any)
	if len(list) != 1 {
		t.Fatalf("people see %v", list)
	}
	m, _ := list[0].(map[string]any)
	if m["id"] != said["id"] || m["content"] != "hello" {
		t.Errorf("people see %v", list)
	}
	channel, _ := m["channel"].(string)
	if channel == "" || s.Channels["general"] != channel {
		t.Errorf("its channels are %v, and general is %q", s.Channels, channel)
	}
	id, _ := said["id"].(string)
	if _, m := s.ask(t, http.MethodGet, s.API+"/channels/"+channel+"/messages/"+id, ""); m["id"] != id || m["content"] != "" {
		t.Errorf("without the intent, the bot gets %v", m)
	}
	s.interrupted(t)
}
