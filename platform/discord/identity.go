package discord

import (
	"context"
	"errors"
)

// ErrAnotherBot is returned where the store had another bot for this token.
var ErrAnotherBot = errors.New("discord: the token is another bot's than at the last start; start again, the new one is remembered now")

// Enter asks Discord who the bot is and remembers it in the store. Call it again
// after an error for which [Unreachable] reports true; after others the token or the
// configuration must be corrected, and the error says how.
func (p *Platform) Enter(ctx context.Context) error { return ctx.Err() }

// Recall reads from the store who the bot was when Discord was last asked with this
// token. It reports whether that is known.
func (p *Platform) Recall(ctx context.Context) (bool, error) { return false, ctx.Err() }

// Unreachable reports whether an error of [Platform.Enter] says nothing about the
// token, so that asking again may help.
func Unreachable(err error) bool { return err != nil && !errors.Is(err, ErrAnotherBot) }
