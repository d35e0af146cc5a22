package simulate_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"github.com/earshot-ai/earshot/simulate"
)

// Tokens, the bot's user and a private channel's id change by order, and calls answer as
// Slack's do.
func TestTokensAndIDsChangeByOrder(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{App: simulate.App{ClientID: "1.2", ClientSecret: "secret", RefreshToken: "xoxe-1-first"}})
	do := func(act, body string) map[string]any {
		t.Helper()
		answer := order(t, w.Slack, http.MethodPost, act, body, "application/json")
		if answer["ok"] != true {
			t.Errorf("%s: %v", act, answer)
		}
		return answer
	}
	is := func(token, want string) {
		t.Helper()
		code := ""
		if _, err := slack.New(token, slack.OptionAPIURL(w.URL()+"/api/")).AuthTestContext(t.Context()); err != nil {
			code = err.Error()
		}
		if code != want {
			t.Errorf("auth.test with %s: %q, want %q", token, code, want)
		}
	}
	first := w.App().BotToken
	do("expire_token", `{}`)
	is(first, "token_expired")
	do("restore_token", `{}`)
	is(first, "")
	do("revoke_token", `{}`)
	is(first, "token_revoked")
	do("restore_token", `{}`)
	second, _ := do("rotate_token", `{}`)["bot_token"].(string)
	is(first, "token_expired")
	is(second, "")

	// The refresh token works until the one that it was exchanged for is used.
	for _, refresh := range []string{"xoxe-1-first", "xoxe-1-first"} {
		got, err := slack.RefreshOAuthV2TokenContext(t.Context(), http.DefaultClient, "1.2", "secret", refresh, slack.OAuthOptionAPIURL(w.URL()+"/api/"))
		if err != nil || got.ExpiresIn != 43200 || !strings.HasPrefix(got.AccessToken, "xoxe.xoxb-") {
			t.Fatalf("an exchange: %+v, %v", got, err)
		}
		is(got.AccessToken, "")
	}
	is(second, "")

	third := do("reinstall", `{}`)
	is(second, "account_inactive")
	token, _ := third["bot_token"].(string)
	is(token, "")
	if id, _ := third["user_id"].(string); id == "" || id == "U0EARSHOT" || id != w.App().UserID {
		t.Errorf("the bot's user is %q", id)
	}
}
