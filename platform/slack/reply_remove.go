package slack

import (
	"context"
	"net/url"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// Remove implements [bot.Remover]: chat.delete. A bot may delete its own
// messages, unless the workspace keeps all messages (cant_delete_message,
// compliance_exports_prevent_deletion: docs.slack.dev, chat.delete).
func (p *Platform) Remove(ctx context.Context, at bot.Place, id earshot.MessageID) error {
	_, err := p.client.Call(ctx, slackapi.Delete, url.Values{"channel": {string(at.Channel.ID)}, "ts": {string(id)}})
	if err != nil && !slackapi.IsRefused(err, "message_not_found") {
		return postError(err)
	}
	p.replies.streams.Drop(streamKey{at.Channel.ID, id})
	p.replies.release(at)
	return nil
}
