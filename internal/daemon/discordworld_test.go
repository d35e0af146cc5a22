package daemon_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/simulate/discord"
	"github.com/earshot-ai/earshot/simulate/discord/openapi"
)

// discordScript returns the model's answers on the fake Discord: every question gets
// one.
func discordScript() string {
	return `{"fixtures": [
	{"match": {"userMessage": "in full"}, "response": {"content": "` + longAnswer + `"}},
	{"match": {"userMessage": "forbidden"}, "response": {"error": {"message": "no such thing", "type": "invalid_request_error"}, "status": 400}},
	{"match": {"userMessage": "?"}, "response": {"content": "Noted."}}
]}`
}

// A discordWorld is a fake Discord with a few people and the daemon's bot, and the
// requests to the model behind it.
type discordWorld struct {
	*discord.Discord
	botWorld

	general             string // a channel that the bot sees
	ann, bob, cyd, self string

	before *atomic.Pointer[func(method, path string)] // called before each request is carried out
}

// newDiscordWorld makes the fake Discord; start starts the daemon in it. Every request
// to it is checked against Discord's OpenAPI description.
func newDiscordWorld(t *testing.T, server string, o *discord.Options, environ ...string) *discordWorld {
	t.Helper()
	var options discord.Options
	if o != nil {
		options = *o
	}
	if options.IdentifyEvery == 0 {
		options.IdentifyEvery = 10 * time.Millisecond
	}
	check := described(t)
	before := new(atomic.Pointer[func(method, path string)])
	options.Observe = func(method, path string, query url.Values, body []byte, contentType string) {
		if check != nil {
			check(method, path, query, body, contentType)
		}
		if f := before.Load(); f != nil {
			(*f)(method, path)
		}
	}
	s, err := discord.New(&options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	x := &discordWorld{Discord: s, botWorld: newBotWorld(t, server), self: s.App().UserID, before: before}
	x.environ = append(append(x.environ, "EARSHOT_PLATFORM=discord", "EARSHOT_DISCORD_API_URL="+s.APIURL(), "EARSHOT_DISCORD_GATEWAY_URL="+s.GatewayURL(),
		"DISCORD_BOT_TOKEN="+s.App().Token), environ...)
	x.ann = s.AddUser(discord.User{Name: "ann", GlobalName: "Ann"})
	x.bob = s.AddUser(discord.User{Name: "bob", GlobalName: "Bob"})
	x.cyd = s.AddUser(discord.User{Name: "cyd", GlobalName: "Cyd"})
	x.general = s.AddChannel(discord.Channel{Name: "general", Topic: "what goes on"})
	return x
}

// described returns what compares each request with Discord's OpenAPI description.
// Without the data for tests nothing is compared, loudly.
func described(t *testing.T) func(method, path string, query url.Values, body []byte, contentType string) {
	t.Helper()
	description.Do(func() {
		if root := os.Getenv("EARSHOT_TEST_DATA"); root != "" {
			validator, errValidator = openapi.Load(os.DirFS(root), "spec/discord-openapi.json")
		} else if os.Getenv("CI") == "true" {
			errValidator = errors.New("EARSHOT_TEST_DATA is not set")
		}
	})
	if errValidator != nil {
		t.Fatal(errValidator)
	}
	if validator == nil {
		t.Log("EARSHOT_TEST_DATA is not set: no request is compared with Discord's description")
		return nil
	}
	return func(method, path string, query url.Values, body []byte, contentType string) {
		if err := validator.Check(method, path, query, body, contentType); err != nil {
			t.Errorf("%s %s is not what Discord describes: %v", method, path, err)
		}
	}
}

var (
	description  sync.Once
	validator    *openapi.Validator // nil without the data
	errValidator error
)

// start runs the daemon until the test or stop ends it.
func (x *discordWorld) start() {
	x.t.Helper()
	x.run()
	x.until("the bot is connected", func() bool { return x.Connections() > 0 && x.Sessions() > 0 })
	x.settled()
}

// until waits until something has happened on the fake Discord.
func (x *discordWorld) until(what string, is func() bool) {
	x.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), enough)
	defer stop()
	if err := x.Until(ctx, is); err != nil {
		x.t.Fatalf("after %s it does not hold that %s", enough, what)
	}
}

// settled waits until the bot has received every event.
func (x *discordWorld) settled() {
	x.t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), enough)
	defer stop()
	if err := x.Settle(ctx); err != nil {
		x.t.Fatal(err)
	}
}

// at returns a text that mentions the bot.
func (x *discordWorld) at(text string) string { return "<@" + x.self + "> " + text }

// said returns the bot's messages in a channel or a thread, as people see them.
func (x *discordWorld) said(channel string) []string {
	var out []string
	for _, m := range x.Messages(channel) {
		if m.Author == x.self && m.Type != 21 {
			out = append(out, m.Content)
		}
	}
	return out
}

// answers returns the bot's replies to a message.
func (x *discordWorld) answers(channel, id string) []discord.Message {
	var out []discord.Message
	for _, m := range x.Messages(channel) {
		if m.Author == x.self && m.Reply == id {
			out = append(out, m)
		}
	}
	return out
}

// wantAnswers compares the texts of the bot's replies to a message.
func (x *discordWorld) wantAnswers(channel, id string, want ...string) {
	x.t.Helper()
	var got []string
	for _, m := range x.answers(channel, id) {
		got = append(got, m.Content)
	}
	if diff := gocmp.Diff(got, want); diff != "" {
		x.t.Errorf("the bot's replies: -got +want\n%s", diff)
	}
}

// wantSaid compares what the bot has said in a channel or a thread.
func (x *discordWorld) wantSaid(channel string, want ...string) {
	x.t.Helper()
	if diff := gocmp.Diff(x.said(channel), want); diff != "" {
		x.t.Errorf("the bot's posts: -got +want\n%s", diff)
	}
}

// ask says something to the bot and waits until it is answered. It returns the
// question's id.
func (x *discordWorld) ask(channel, user, text string) string {
	x.t.Helper()
	id := x.Say(channel, user, x.at(text))
	x.ends(earshot.TurnDone)
	return id
}

// scope is a channel of the first guild.
func (x *discordWorld) scope(channel string) earshot.Scope {
	return earshot.Scope{Platform: earshot.Discord, Workspace: earshot.WorkspaceID(x.Guild()), Channel: earshot.ChannelID(channel)}
}
