package simulate

import (
	"fmt"
	"slices"
	"strings"
)

// Codes with which Slack refuses a token (docs.slack.dev, auth.test, Errors).
const (
	tokenExpired    = "token_expired"
	tokenRevoked    = "token_revoked"
	accountInactive = "account_inactive"
)

// ExpireToken ends the bot's token, as the twelve hours of a token that is rotated do:
// calls with it answer token_expired. Events still come.
func (s *Slack) ExpireToken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endTokens(tokenExpired)
}

// endTokens makes Slack refuse the bot's tokens with a code.
func (s *Slack) endTokens(code string) {
	s.endedTokens[s.o.App.BotToken] = code
	for older := range s.olderTokens {
		s.endedTokens[older] = code
	}
}

// RevokeToken has somebody revoke the bot's token (auth.revoke): calls with it answer
// token_revoked, and after tokens_revoked no event comes.
func (s *Slack) RevokeToken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emit(object{"type": "tokens_revoked", "tokens": object{"oauth": []any{}, "bot": []any{s.o.App.UserID}}, "event_ts": s.now()})
	s.endTokens(tokenRevoked)
}

// RestoreToken makes the bot's token work again, as when what Slack had refused it for
// is mended.
func (s *Slack) RestoreToken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.endedTokens, s.o.App.BotToken)
}

// oauthAccess exchanges a refresh token (docs.slack.dev, Using token rotation). The old
// tokens work until the new refresh token is used, or they end.
func (s *Slack) oauthAccess(r *request) (object, error) {
	a := &s.o.App
	switch {
	case r.client != a.ClientID || a.ClientID == "":
		return nil, fail("invalid_client_id")
	case r.clientSecret != a.ClientSecret:
		return nil, fail("bad_client_secret")
	case r.args["grant_type"] != "refresh_token":
		return nil, fail("invalid_grant_type")
	case s.removed || r.refresh == "" || r.refresh != a.RefreshToken && r.refresh != s.nextRefresh:
		return nil, fail("invalid_refresh_token")
	}
	if r.refresh == s.nextRefresh {
		a.RefreshToken = s.nextRefresh
	}
	name := s.tokenName()
	s.olderTokens[a.BotToken] = true
	a.BotToken, s.nextRefresh = "xoxe.xoxb-"+name, "xoxe-1-"+name
	return object{
		"access_token": a.BotToken, "expires_in": 43200, "refresh_token": s.nextRefresh, "token_type": "bot", "scope": strings.Join(a.Scopes, ","),
		"bot_user_id": a.UserID, "app_id": a.ID, "team": object{"id": s.o.Team.ID, "name": s.o.Team.Name}, "enterprise": nil, "is_enterprise_install": false,
	}, nil
}

// RotateToken gives the bot another token and returns it. The old one answers
// token_expired.
func (s *Slack) RotateToken() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.newToken(tokenExpired)
}

// newToken replaces the bot's token; the old one is refused with a code.
func (s *Slack) newToken(code string) string {
	s.endTokens(code)
	s.o.App.BotToken = "xoxb-" + s.tokenName()
	return s.o.App.BotToken
}

// Reinstall has the app removed and installed again, without an event: it is the same app
// with another bot, whose user has another id, and another token. The new bot's user is in
// the channels that the old one was in. It returns the app as it is then.
func (s *Slack) Reinstall() App {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &s.o.App
	was := s.user(a.UserID)
	was.bot, was.Deleted = "", true
	for _, b := range s.bots {
		if b.ID == a.BotID {
			b.UserID = ""
		}
	}
	s.newToken(accountInactive)
	s.removed = false
	old := a.UserID
	a.UserID, a.BotID = fmt.Sprintf("U0AGAIN%d", s.lastID), fmt.Sprintf("B0AGAIN%d", s.lastID)
	s.install()
	for _, c := range s.channels {
		if i := slices.Index(c.Members, old); i >= 0 {
			c.Members = slices.Clone(c.Members)
			c.Members[i] = a.UserID
		}
	}
	return *a
}
