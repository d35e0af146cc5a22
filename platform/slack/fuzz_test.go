package slack_test

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack"
	"github.com/earshot-ai/earshot/secret"
)

// FuzzEvents holds the door to its promises: whatever Slack signs is answered
// without a panic; 200 for every object, so that nothing comes again for ever;
// what is handed on has an id, a channel and this workspace; and nothing
// unsigned is.
func FuzzEvents(f *testing.F) {
	f.Fuzz(func(t *testing.T, body string) {
		const key = "a signing secret"
		st := memory(t)
		p := opened(t, &script{}, slack.Options{Store: st, SigningSecrets: []secret.Secret{secret.New(key)}})
		b := hearing(t, st, p)
		h := p.Handler(func(ctx context.Context, e bot.Event) (bot.Outcome, error) {
			if e.Message.ID == "" || e.Channel.ID == "" || e.Channel.Workspace != p.Workspace() || e.Channel.Kind == "" {
				t.Errorf("handed on: %+v", e)
			}
			if !utf8.ValidString(e.Message.Text) || !utf8.ValidString(e.Channel.Name) {
				t.Errorf("not valid UTF-8: %q", e.Message.Text)
			}
			out, err := b.Handle(ctx, e)
			if err != nil {
				t.Errorf("it cannot be kept: %v", err)
			}
			return out, err
		})
		signed := genuine(key, time.Now(), body)
		got := signed.post(t, h).Code
		var object map[string]json.RawMessage
		if len(body) < 1<<20 && json.Unmarshal([]byte(body), &object) == nil && object != nil && got != http.StatusOK {
			t.Errorf("got status %d for an object", got)
		}
		if got := (request{body, signed.stamp, "v0=" + signed.signature[4:]}).post(t, h).Code; got != http.StatusUnauthorized {
			t.Errorf("got status %d for what is not signed", got)
		}
	})
}
