package slack

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// An answer is Slack's answer to a yes-or-no question.
type answer int8

const (
	unknown answer = iota // it did not say
	yes
	no
)

// member asks Slack whether the bot is in a channel. The answer is no only where
// is_member is false or the channel does not exist for the bot (docs.slack.dev,
// conversations.info, Errors). Any other refusal concerns the token, the workspace or
// Slack and says nothing about the channel: the answer is unknown then, with the
// error.
func (p *Platform) member(ctx context.Context, id earshot.ChannelID) (answer, error) {
	raw, err := p.client.Call(ctx, "conversations.info", url.Values{"channel": {string(id)}})
	var (
		api  *slackapi.Error
		info struct {
			Channel struct {
				ID       earshot.ChannelID `json:"id"`
				IsMember *bool             `json:"is_member"`
			} `json:"channel"`
		}
	)
	switch {
	case errors.As(err, &api) && (api.Code == "channel_not_found" || api.Code == "not_in_channel"):
		return no, nil
	case err != nil:
		return unknown, err
	case json.Unmarshal(raw, &info) != nil || info.Channel.ID != id || info.Channel.IsMember == nil:
		return unknown, slackapi.ErrAnswer
	case *info.Channel.IsMember:
		return yes, nil
	}
	return no, nil
}

// installed asks Slack whether the app is still installed. The answer is no only where
// the token was revoked or its account is inactive: invalid_auth is also the answer to
// a machine whose address is not allowed (docs.slack.dev, auth.test, Errors).
func (p *Platform) installed(ctx context.Context) (answer, error) {
	_, err := p.client.Call(ctx, "auth.test", nil)
	var api *slackapi.Error
	switch {
	case err == nil:
		return yes, nil
	case errors.As(err, &api) && (api.Code == "account_inactive" || api.Code == "token_revoked"):
		return no, nil
	}
	return unknown, err
}
