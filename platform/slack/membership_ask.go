package slack

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// An answer is what Slack says to a question of yes or no.
type answer int8

const (
	unknown answer = iota // it did not say
	yes
	no
)

// member asks Slack whether the bot is in a channel. Only what says so plainly
// is a no: is_member false, or that there is no such channel for the bot
// (docs.slack.dev, conversations.info, Errors). Any other refusal is about the
// token, the workspace or Slack, and says nothing of the channel; the error is
// why it is not known.
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

// installed asks Slack whether the bot's token is still good. Only a token that
// was revoked, or whose app is gone, is a no: invalid_auth is also said to a
// machine whose address is not allowed (docs.slack.dev, auth.test, Errors).
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
