package slackapi

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// An Error is Slack's answer that it refuses a call. Its text names the remedy
// where there is one.
type Error struct {
	Method   string // such as chat.postMessage
	Code     string // Slack's, such as channel_not_found
	Needed   string // with missing_scope: the scopes that would do
	Provided string // with missing_scope: those that the token has
}

func (e *Error) Error() string {
	s := e.Method + ": " + e.Code
	if r := e.remedy(); r != "" {
		s += ": " + r
	}
	return s
}

func (e *Error) remedy() string {
	const install = "under OAuth & Permissions of the app, and install it again"
	token := "the bot token (SLACK_BOT_TOKEN, xoxb-…)"
	if e.Method == OpenConnection {
		token = "the app-level token (SLACK_APP_TOKEN, xapp-…)"
	}
	switch e.Code {
	case "invalid_refresh_token":
		return "the refresh token no longer works: install the app again and set SLACK_REFRESH_TOKEN to the new one"
	case "invalid_client_id", "bad_client_secret":
		return "SLACK_CLIENT_ID and SLACK_CLIENT_SECRET are not the app's: they are under Basic Information, App Credentials"
	case "invalid_auth", "not_authed":
		return token + " is not valid: copy it again from the app's page"
	case "token_revoked", "token_expired", "account_inactive":
		return token + " no longer works: install the app again and copy the new one"
	case "not_allowed_token_type":
		return token + " is of another kind than this call needs"
	case "missing_scope":
		if e.Needed == "" {
			return "a scope is missing: compare the app's scopes with docs/slack.md, " + install
		}
		return "add the scope " + e.Needed + " " + install
	case "not_in_channel":
		return "invite the bot to the channel"
	case "unknown_method":
		return "the server at the API URL does not know this call"
	}
	return ""
}

// EndsToken reports whether a refusal with a code is of the token itself, whichever call
// is made with it (docs.slack.dev, auth.test, Errors).
func EndsToken(code string) bool {
	switch code {
	case "invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive":
		return true
	}
	return false
}

// IsSignedOut reports whether err is Slack's refusal of the token.
func IsSignedOut(err error) bool {
	var api *Error
	return errors.As(err, &api) && EndsToken(api.Code)
}

// A LimitedError says that a call was not made, or was refused, because of a rate
// limit. Slack did nothing.
type LimitedError struct {
	Method string
	After  time.Duration // when the next one may be made, from now
}

func (e *LimitedError) Error() string {
	return fmt.Sprintf("%s: limited, again in %s", e.Method, e.After.Round(time.Millisecond))
}

// A StatusError is an answer that is not the API's, but of a gateway or a broken
// server. Whether a call that writes took effect is not known.
type StatusError struct {
	Method string
	Status int // of HTTP
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: the server answered with status %d", e.Method, e.Status)
}

// IsRefused reports whether err is an [*Error] with one of the codes.
func IsRefused(err error, codes ...string) bool {
	var api *Error
	return errors.As(err, &api) && slices.Contains(codes, api.Code)
}

// Passes reports whether a refusal with a code ends by itself: Slack is down, or is
// moving the workspace to an organisation (docs.slack.dev, auth.test, Errors).
func Passes(code string) bool {
	switch code {
	case "internal_error", "fatal_error", "service_unavailable", "request_timeout", "team_added_to_org", "org_login_required":
		return true
	}
	return false
}

// ErrAnswer is wrapped where an answer is not the expected JSON or is larger than
// 16 MiB. Whether a call that writes took effect is not known.
var ErrAnswer = errors.New("the answer cannot be read")
