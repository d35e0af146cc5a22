package slack

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/earshot-ai/earshot/secret"
)

// An APIError is Slack's answer that a call was refused. Its text names the
// remedy where there is one.
type APIError struct {
	Method   string // such as chat.postMessage
	Code     string // Slack's, such as channel_not_found
	Needed   string // with missing_scope: the scopes that would do
	Provided string // with missing_scope: those that the token has
}

func (e *APIError) Error() string {
	s := e.Method + ": " + e.Code
	if r := e.remedy(); r != "" {
		s += ": " + r
	}
	return s
}

func (e *APIError) remedy() string {
	const install = "under OAuth & Permissions of the app, and install it again"
	token := "the bot token (SLACK_BOT_TOKEN, xoxb-…)"
	if e.Method == methodOpen {
		token = "the app-level token (SLACK_APP_TOKEN, xapp-…)"
	}
	switch e.Code {
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

// A LimitedError is a call that was not made, or was refused, because of a
// rate limit. Nothing was done by it.
type LimitedError struct {
	Method string
	After  time.Duration // when the next one may be made, from now
}

func (e *LimitedError) Error() string {
	return fmt.Sprintf("%s: limited, again in %s", e.Method, e.After.Round(time.Millisecond))
}

// A StatusError is an answer that is not of the API: a gateway's, or a broken
// server's. Of a writing call it is not known whether it was done.
type StatusError struct {
	Method string
	Status int // of HTTP
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("%s: the server answered with status %d", e.Method, e.Status)
}

// ErrAnswer is an answer that cannot be read, or is larger than [maxAnswer]. Of
// a writing call it is not known whether it was done.
var ErrAnswer = errors.New("the answer cannot be read")

// hide removes secrets and addresses from an error of the network. The
// original stays reachable for errors.Is, which a caller asks for ctx's.
func hide(err error, secrets ...secret.Secret) error {
	for u := (*url.Error)(nil); errors.As(err, &u); {
		err = u.Err
	}
	text := err.Error()
	for _, s := range secrets {
		if !s.Empty() {
			text = strings.ReplaceAll(text, s.Reveal(), secret.Hidden)
		}
	}
	if text == err.Error() {
		return err
	}
	return hidden{text, err}
}

// hidden is an error whose text is another's.
type hidden struct {
	text string
	err  error
}

func (h hidden) Error() string        { return h.text }
func (h hidden) Is(target error) bool { return errors.Is(h.err, target) }
