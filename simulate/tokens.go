package simulate

import (
	"fmt"
	"slices"
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
	s.endedTokens[s.o.App.BotToken] = tokenExpired
}

// RevokeToken has somebody revoke the bot's token (auth.revoke): calls with it answer
// token_revoked, and after tokens_revoked no event comes.
func (s *Slack) RevokeToken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emit(object{"type": "tokens_revoked", "tokens": object{"oauth": []any{}, "bot": []any{s.o.App.UserID}}, "event_ts": s.now()})
	s.endedTokens[s.o.App.BotToken] = tokenRevoked
}

// RestoreToken makes the bot's token work again, as when what Slack had refused it for
// is mended.
func (s *Slack) RestoreToken() {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.endedTokens, s.o.App.BotToken)
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
	s.endedTokens[s.o.App.BotToken] = code
	s.lastID++
	s.o.App.BotToken = fmt.Sprintf("xoxb-simulated-%d", s.lastID)
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
