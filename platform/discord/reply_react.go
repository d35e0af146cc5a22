package discord

import (
	"context"
	"fmt"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot/bot"
)

// React implements [bot.Reactor]: Create Reaction. A message that only one person sees
// exists on Discord as the answer to an interaction alone, so a person is told
// something by an emoji at their message.
func (p *Platform) React(ctx context.Context, at bot.Place, emoji string) error {
	if err := p.knowHome(ctx, at.Channel.ID); err != nil {
		return &bot.PostError{Retry: again, Err: fmt.Errorf("where channel %s is: %w", at.Channel.ID, err)}
	}
	_, err := p.client.Call(ctx, rest.AddReaction, []any{p.home(at.Channel.ID, at.Anchor), at.Anchor.ID, emoji}, nil, nil)
	return postError(err)
}
