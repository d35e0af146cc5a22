package slack

import (
	"context"
	"net/url"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// Remove implements [bot.Remover]: chat.delete. A stream is forgotten. A bot may
// delete its own messages, unless the workspace keeps all (cant_delete_message,
// compliance_exports_prevent_deletion: docs.slack.dev, chat.delete).
func (p *Platform) Remove(ctx context.Context, at bot.Place, id earshot.MessageID) error {
	_, err := p.client.Call(ctx, slackapi.Delete, url.Values{"channel": {string(at.Channel.ID)}, "ts": {string(id)}})
	if err != nil && !slackapi.Refused(err, "message_not_found") {
		return undone(err)
	}
	if s := p.out.stream(at.Channel.ID, id); s != nil {
		p.out.drop(s)
	}
	p.out.settled(at)
	return nil
}
