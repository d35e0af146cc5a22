package slackapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/secret"
)

// Exchange is the method by which an app with token rotation gets its tokens.
const Exchange = "oauth.v2.access"

// Tokens are what an exchange gives.
type Tokens struct {
	Access, Refresh secret.Secret
	Lasts           time.Duration // how long Access works
}

// Exchange exchanges a refresh token for new tokens (docs.slack.dev, Using token
// rotation). It is sent once: after an error the refresh token still works, unless Slack
// says otherwise.
func (c *Client) Exchange(ctx context.Context, id, clientSecret, refresh secret.Secret) (Tokens, error) {
	body := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh.Reveal()}}.Encode()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.URL+Exchange, strings.NewReader(body))
	if err != nil {
		return Tokens{}, fmt.Errorf("%s: %w", Exchange, secret.Hide(err, refresh))
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", "earshot")
	r.SetBasicAuth(id.Reveal(), clientSecret.Reveal())
	c.calls.Sent(Exchange)
	raw, err := c.answer(Exchange, nil, refresh, r)
	c.note(Exchange, err)
	if err != nil {
		return Tokens{}, err
	}
	var answer struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		Lasts   int64  `json:"expires_in"`
	}
	if json.Unmarshal(raw, &answer) != nil || answer.Access == "" || answer.Refresh == "" || answer.Lasts <= 0 {
		return Tokens{}, fmt.Errorf("%s: %w: it has no new tokens", Exchange, ErrAnswer)
	}
	return Tokens{secret.New(answer.Access), secret.New(answer.Refresh), time.Duration(answer.Lasts) * time.Second}, nil
}

// Token returns the bot's token.
func (c *Client) Token() secret.Secret { return *c.token.Load() }

// SetToken replaces the bot's token, for calls that are made from then on.
func (c *Client) SetToken(t secret.Secret) { c.token.Store(&t) }

// renewed makes a call again with another token, where Slack has refused it because the
// bot's token has ended and another one is to be had: it has done nothing.
func (c *Client) renewed(ctx context.Context, used secret.Secret, refused error, call func() (json.RawMessage, error)) (json.RawMessage, error) {
	err := c.o.Renew(ctx, used)
	var api *Error
	switch {
	case err == nil:
		return call()
	case errors.As(err, &api) && !Passes(api.Code):
		c.bot.Refused(c.o.Now(), api.Code+": "+api.remedy())
	}
	c.o.Log.Error("slack gives no new token", "err", err)
	return nil, refused
}
