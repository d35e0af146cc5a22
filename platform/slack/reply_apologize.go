package slack

import (
	"context"
	"errors"
	"net/url"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/slack/markup"
)

// Apologize implements [bot.Apologizer]: chat.postEphemeral. In a thread it is
// seen only where the thread has replies already (docs.slack.dev,
// chat.postEphemeral), so what would begin a thread is said in the channel.
func (p *Platform) Apologize(ctx context.Context, at bot.Place, text string) error {
	who := at.Asker()
	if who.Kind != earshot.Human || who.ID == "" {
		return &bot.PostError{Err: errors.New("the question is no person's")}
	}
	args := url.Values{"channel": {string(at.Channel.ID)}, "user": {string(who.ID)}}
	if at.Thread != "" {
		args.Set("thread_ts", string(at.Thread))
	}
	if _, err := p.send(ctx, p.client.Call, "chat.postEphemeral", args, markup.Write(text)); err != nil {
		return postError(err)
	}
	return nil
}
