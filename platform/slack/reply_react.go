package slack

import (
	"context"
	"fmt"
	"net/url"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/emoji"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// React implements [bot.Reactor]: reactions.add, which takes an emoji by its name and
// needs the scope reactions:write.
func (p *Platform) React(ctx context.Context, at bot.Place, char string) error {
	name, ok := emoji.Name(char)
	if !ok {
		return &bot.PostError{Err: fmt.Errorf("%q has no name here", char)}
	}
	_, err := p.client.Call(ctx, "reactions.add", url.Values{"channel": {string(at.Channel.ID)}, "timestamp": {string(at.Anchor.ID)}, "name": {name}})
	if err == nil || slackapi.IsRefused(err, "already_reacted") {
		return nil
	}
	return postError(err)
}
