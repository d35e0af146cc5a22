package discord_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/store"
)

// An api answers each call of the API with one of a few bodies.
type api struct{}

func (api) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r}
	body := `{"id":"1","username":"eve","type":0}`
	switch {
	case strings.Contains(r.URL.Path, "/channels/1"):
		body = `{"id":"1","type":0,"guild_id":"9","name":"general"}`
	case strings.Contains(r.URL.Path, "/channels/"), strings.Contains(r.URL.Path, "/guilds/"):
		w.StatusCode, body = http.StatusNotFound, `{"code":10003,"message":"Unknown Channel"}`
	}
	w.Body = http.NoBody
	if body != "" {
		w.Body = struct {
			*strings.Reader
			nothing
		}{strings.NewReader(body), nothing{}}
	}
	return w, nil
}

type nothing struct{}

func (nothing) Close() error { return nil }

// FuzzEvents has any JSON come as an event of any type. Nothing panics, and what is
// passed on can be stored.
func FuzzEvents(f *testing.F) {
	for _, seed := range [][2]string{
		{"MESSAGE_CREATE", `{"id":"175928847299117063","channel_id":"1","guild_id":"9","author":{"id":"2","username":"mara"},"content":"hi","type":0}`},
		{"MESSAGE_CREATE", `{"id":"175928847299117063","channel_id":"1","guild_id":"9","webhook_id":"7","application_id":"8","author":{"id":"7","username":"Luna"},"content":"hi","type":19,"message_reference":{"message_id":"5","channel_id":"1"},"referenced_message":null}`},
		{"MESSAGE_UPDATE", `{"id":"175928847299117063","channel_id":"1","guild_id":"9","embeds":[{"title":"x"}]}`},
		{"MESSAGE_DELETE_BULK", `{"ids":["175928847299117063","1"],"channel_id":"1","guild_id":"9"}`},
		{"MESSAGE_REACTION_ADD", `{"message_id":"175928847299117063","channel_id":"1","guild_id":"9","emoji":{"name":"👍"}}`},
		{"THREAD_DELETE", `{"id":"4","parent_id":"1","guild_id":"9","type":11}`},
		{"THREAD_DELETE", `{"id":"4","parent_id":null,"guild_id":"9","type":11}`},
		{"GUILD_CREATE", `{"id":"9","channels":[{"id":"1","type":15}],"threads":[{"id":"4","type":11,"parent_id":"1"}],"roles":[{"id":"3","tags":{"bot_id":"1"}}]}`},
		{"GUILD_DELETE", `{"id":"9"}`},
		{"GUILD_ROLE_DELETE", `{"guild_id":"9","role_id":"3"}`},
		{"THREAD_MEMBERS_UPDATE", `{"id":"4","guild_id":"9","removed_member_ids":["1"]}`},
		{"INTERACTION_CREATE", clickPayload},
		{"INTERACTION_CREATE", formPayload},
		{"READY", `{"user":{"id":7},"guilds":{}}`},
		{"CHANNEL_UPDATE", `[]`},
		{"VOICE_STATE_UPDATE", `null`},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, kind, data string) {
		st, err := store.Open(t.Context(), "memory:", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		p, err := discord.Open(t.Context(), discord.Options{APIURL: "http://discord.test", Token: secret.New("t"), Store: st, HTTPClient: &http.Client{Transport: api{}}, Purge: true, Choose: func(_ context.Context, c bot.Chosen) (string, error) {
			if c.Scope.Channel == "" || c.Scope.Workspace == "" || c.Message == "" || c.Key == "" || c.Choice == "" || c.By.ID == "" || !utf8.ValidString(c.Words) {
				t.Errorf("chosen: %+v", c)
			}
			return "so", nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		handle := func(ctx context.Context, e bot.Event) (bot.Outcome, error) {
			if e.Message.ID == "" || e.Channel.ID == "" || e.Channel.Workspace == "" || e.Delivery == "" || !utf8.ValidString(e.Message.Text) {
				t.Errorf("passed on: %+v", e)
			}
			a, err := st.Accept(ctx, e.Channel.Scope(), e.Event, nil)
			if errors.Is(err, earshot.ErrInvalid) {
				t.Errorf("the store cannot keep it: %v", err)
			}
			return bot.Outcome{AcceptResult: a}, err
		}
		for range 2 {
			if err := p.Take(t.Context(), kind, []byte(data), handle); errors.Is(err, discord.ErrPanic) {
				t.Fatalf("%s panics: %s", kind, data)
			}
		}
	})
}
