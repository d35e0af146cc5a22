package discord_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
)

// A server answers paths of the API, each with a status, a space and a body; others
// as Discord does where there is no such route.
type server map[string]string

func (s server) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, ok := s[r.URL.Path]
	if !ok {
		answer = `404 {"message":"404: Not Found","code":0}`
	}
	status, body, _ := strings.Cut(answer, " ")
	codes := map[string]int{"200": http.StatusOK, "400": http.StatusBadRequest, "401": http.StatusUnauthorized, "403": http.StatusForbidden, "404": http.StatusNotFound, "500": http.StatusInternalServerError}
	return &http.Response{StatusCode: codes[status], Header: http.Header{}, Request: r, Body: io.NopCloser(strings.NewReader(body))}, nil
}

func (s server) open(t *testing.T, change func(o *discord.Options)) *discord.Platform {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Error(err)
		}
	})
	s["/users/@me"] = `200 {"id":"1","username":"eve"}`
	o := discord.Options{APIURL: "http://discord.test", Token: secret.New("not-a-real-one"), Store: st, HTTPClient: &http.Client{Transport: s}}
	if change != nil {
		change(&o)
	}
	p, err := discord.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTheApplicationOfAServerWithoutItsRoute asks servers that are not Discord's which
// application the bot is of.
func TestTheApplicationOfAServerWithoutItsRoute(t *testing.T) {
	t.Parallel()
	p := server{"/oauth2/applications/@me": `200 {"id":"7"}`}.open(t, nil)
	if got := p.Application(); got != "7" {
		t.Errorf("by the older route: application %q, want 7", got)
	}
	p = server{"/applications/@me": `200 {"id":"7","flags":"many"}`}.open(t, nil)
	if got := p.Application(); got != "7" || !p.Content() {
		t.Errorf("with flags of another kind: application %q, reads messages: %t", got, p.Content())
	}
	if got := (server{}).open(t, nil).Application(); got != "1" {
		t.Errorf("without a route: application %q, want the bot's id", got)
	}
}

// TestAServerWithoutARouteForTheGateway connects where the gateway's URL is set.
func TestAServerWithoutARouteForTheGateway(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	dialed := ""
	p := server{}.open(t, func(o *discord.Options) {
		o.GatewayURL = "ws://gateway.test:1"
		o.Dialer = &websocket.Dialer{NetDialContext: func(_ context.Context, _, address string) (net.Conn, error) {
			dialed = address
			cancel()
			return nil, errors.New("refused")
		}}
	})
	handle := func(context.Context, bot.Event) (bot.Outcome, error) { return bot.Outcome{}, nil }
	if err := p.Listen(ctx, handle); err != nil || dialed != "gateway.test:1" {
		t.Errorf("Listen: %v, and connected to %q, want gateway.test:1", err, dialed)
	}
}

// TestAnEventOfAChannelThatIsRefusedHoldsNothingUp has the look-up of an event's
// channel refused for another reason than that it is unknown.
func TestAnEventOfAChannelThatIsRefusedHoldsNothingUp(t *testing.T) {
	t.Parallel()
	p := server{
		"/channels/abc": `400 {"message":"Invalid Form Body","code":50035}`,
		"/channels/5":   `403 {"message":"Verify your account","code":40002}`,
	}.open(t, nil)
	handle := func(_ context.Context, e bot.Event) (bot.Outcome, error) {
		t.Errorf("passed on: %+v", e.Message)
		return bot.Outcome{}, nil
	}
	for _, channel := range []string{"abc", "5", "6"} {
		for kind, data := range map[string]string{
			"MESSAGE_CREATE": `{"id":"175928847299117063","channel_id":"` + channel + `","guild_id":"9","author":{"id":"2"},"content":"hi"}`,
			"MESSAGE_DELETE": `{"id":"175928847299117063","channel_id":"` + channel + `","guild_id":"9"}`,
		} {
			if err := p.Take(t.Context(), kind, []byte(data), handle); err != nil {
				t.Errorf("%s in channel %s comes again: %v", kind, channel, err)
			}
		}
	}
}

// TestAnEventOfAChannelThatIsNeverAnsweredIsGivenUp has the look-up of one channel fail
// each time, while others are heard.
func TestAnEventOfAChannelThatIsNeverAnsweredIsGivenUp(t *testing.T) {
	t.Parallel()
	p := server{"/channels/5": "500 broken"}.open(t, nil)
	handle := func(_ context.Context, e bot.Event) (bot.Outcome, error) {
		t.Errorf("passed on: %+v", e.Message)
		return bot.Outcome{}, nil
	}
	tries := 1
	for ; p.Take(t.Context(), "MESSAGE_CREATE", []byte(`{"id":"175928847299117063","channel_id":"5","guild_id":"9","author":{"id":"2"},"content":"hi"}`), handle) != nil; tries++ {
		if tries > 1000 {
			t.Fatal("it comes again and again")
		}
	}
	if tries < 5 {
		t.Errorf("it was given up after %d tries", tries)
	}
}

// TestRolesThatAGuildDoesNotTellAreAskedFor mentions the bot by its role in a guild of
// which little is told, and some of that in another form.
func TestRolesThatAGuildDoesNotTellAreAskedFor(t *testing.T) {
	t.Parallel()
	p := server{"/guilds/9/roles": `200 [{"id":"3","name":"eve","tags":{"bot_id":"1"}}]`}.open(t, nil)
	mentioned := false
	handle := func(_ context.Context, e bot.Event) (bot.Outcome, error) {
		mentioned = p.Identity().MentionedIn(&e.Message)
		return bot.Outcome{}, nil
	}
	for _, e := range [][2]string{
		{"GUILD_CREATE", `{"id":"9","unavailable":"no","channels":[{"id":"4","type":0,"name":"general"}]}`},
		{"MESSAGE_CREATE", `{"id":"175928847299117063","channel_id":"4","guild_id":"9","author":{"id":"2","username":"mara"},"content":"<@&3> hi","mention_roles":["3"]}`},
	} {
		if err := p.Take(t.Context(), e[0], []byte(e[1]), handle); err != nil {
			t.Fatal(err)
		}
	}
	if !mentioned {
		t.Error("the bot's role does not mention it")
	}
}

// TestAPostThatAProxyRefusesIsMadeLater tells Discord's refusal of a post from that of
// a proxy before it, which has no code and is passing.
func TestAPostThatAProxyRefusesIsMadeLater(t *testing.T) {
	t.Parallel()
	for answer, again := range map[string]bool{
		"403 <html>error code: 1020</html>":                  true,
		"401 <html>error code: 1020</html>":                  true,
		`403 {"message":"Missing Permissions","code":50013}`: false,
	} {
		p := server{
			"/channels/4":          `200 {"id":"4","type":0,"guild_id":"9","name":"general"}`,
			"/channels/4/messages": answer,
		}.open(t, nil)
		at := bot.Place{Channel: earshot.Channel{Platform: earshot.Discord, Workspace: "9", ID: "4", Kind: earshot.KindChannel}, Anchor: earshot.Message{ID: "175928847299117063"}}
		_, err := p.Post(t.Context(), bot.Draft{Place: at, Key: "k", Text: "hi"})
		var refused *bot.PostError
		if !errors.As(err, &refused) || refused.Retry > 0 != again {
			t.Errorf("%s: got %v, want that it is tried again: %t", answer, err, again)
		}
	}
}
