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
	raw, err := c.access(ctx, id, clientSecret, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh.Reveal()}}, refresh)
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

// access calls [Exchange] once. Slack refuses of its arguments what stands in hidden.
func (c *Client) access(ctx context.Context, id, clientSecret secret.Secret, args url.Values, hidden secret.Secret) (json.RawMessage, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.o.URL+Exchange, strings.NewReader(args.Encode()))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Exchange, secret.Hide(err, hidden))
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("User-Agent", "earshot")
	r.SetBasicAuth(id.Reveal(), clientSecret.Reveal())
	c.calls.Sent(Exchange)
	raw, err := c.answer(Exchange, nil, hidden, r)
	c.note(Exchange, err)
	return raw, err
}

// Granted is what somebody who installs the app in a workspace grants it
// (docs.slack.dev, oauth.v2.access). Fields that Slack does not tell are zero.
type Granted struct {
	Tokens                  // Refresh and Lasts are zero where tokens do not rotate
	Kind           string   // of the token: bot
	App            string   // the app's id
	Team, TeamName string   // the workspace
	Enterprise     string   // the organisation's id
	EnterpriseWide bool     // it is the organisation that installs the app, and no workspace
	Bot, By        string   // the ids of the bot's user, and of who installs
	Scopes         []string // of the token
}

// Redeem exchanges the code that the redirect of an installation carries. A code works
// once, and for ten minutes.
func (c *Client) Redeem(ctx context.Context, id, clientSecret, code secret.Secret, redirect string) (Granted, error) {
	raw, err := c.access(ctx, id, clientSecret, url.Values{"code": {code.Reveal()}, "redirect_uri": {redirect}}, code)
	if err != nil {
		return Granted{}, err
	}
	var answer struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
		Lasts   int64  `json:"expires_in"`
		Kind    string `json:"token_type"`
		App     string `json:"app_id"`
		Bot     string `json:"bot_user_id"`
		Scope   string `json:"scope"`
		Team    struct {
			ID   string `json:"id"`
			Name string `json:"name"`
		} `json:"team"`
		Enterprise struct {
			ID string `json:"id"`
		} `json:"enterprise"`
		Wide bool `json:"is_enterprise_install"`
		User struct {
			ID string `json:"id"`
		} `json:"authed_user"`
	}
	if json.Unmarshal(raw, &answer) != nil {
		return Granted{}, fmt.Errorf("%s: %w: its fields are of other kinds", Exchange, ErrAnswer)
	}
	g := Granted{
		Tokens: Tokens{secret.New(answer.Access), secret.New(answer.Refresh), time.Duration(answer.Lasts) * time.Second},
		Kind:   answer.Kind, App: answer.App, Team: answer.Team.ID, TeamName: answer.Team.Name,
		Enterprise: answer.Enterprise.ID, EnterpriseWide: answer.Wide, Bot: answer.Bot, By: answer.User.ID,
	}
	if answer.Scope != "" {
		g.Scopes = strings.Split(answer.Scope, ",")
	}
	return g, nil
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
