package bot

import (
	"context"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/words"
)

// say returns a sentence as it is said in the channel of the options.
func (o *Options) say(k words.Key, with ...string) string {
	return words.In(o.Language, o.Words).Say(k, with...)
}

// Say returns a sentence of the bot's own as it is said in a channel, for what the platform tells
// people by itself: key is one of docs/language.md, and with are pairs of a place in it and what
// stands there.
func (b *Bot) Say(ctx context.Context, s earshot.Scope, key string, with ...string) string {
	return b.sayIn(ctx, s, words.Key(key), with...)
}

// sayIn returns a sentence as it is said in a channel; "" for no key. A channel that cannot be
// looked up is one of which nothing is known.
func (b *Bot) sayIn(ctx context.Context, s earshot.Scope, k words.Key, with ...string) string {
	if k == "" {
		return ""
	}
	channel, err := b.store.Channel(ctx, s)
	if err != nil {
		channel = earshot.Channel{Platform: s.Platform, Workspace: s.Workspace, ID: s.Channel}
	}
	return b.in(channel).say(k, with...)
}
