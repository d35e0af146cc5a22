package daemon

import (
	"context"
	"errors"

	"github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/store"
)

// CheckDiscord checks whether the bot can work on Discord as it is configured, and
// calls tell with each finding. It posts in the channels that are named, and nowhere
// else, and removes the posts again. The error is one of the configuration.
func CheckDiscord(ctx context.Context, o Options, channels []string, tell func(Finding)) error {
	if err := errors.Join(o.Config.CheckDiscordKeys()...); err != nil {
		return err
	}
	// The check's own store: the events that it hears are not kept.
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		return err
	}
	defer st.Close()
	settings := discordSettings(o.Config)
	settings.Store, settings.Log = st, o.Log
	discord.Check(ctx, settings, discord.CheckRequest{Channels: channels, Commands: o.Config.Discord.Commands}, tell)
	return nil
}
