package discord

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/platform/check"
)

// commands looks at whether the bot's commands are registered. That is done by who serves.
func (c *checking) commands(ctx context.Context) {
	there, err := c.registered(ctx)
	var missing, names []string
	for _, want := range appCommands(func(k words.Key) string { return words.Table{}.Say(k) }) {
		names = append(names, want.Name)
		if !slices.ContainsFunc(there, func(x appCommand) bool { return x.Type == want.Type && x.Name == want.Name }) {
			missing = append(missing, want.Name)
		}
	}
	switch {
	case isRefusal(err):
		c.Say("commands", check.Poor, err.Error(), "people can mention the bot, but /ask and the others do not work", "open the invite link again, or set discord.commands: false")
	case err != nil:
		c.Say("commands", check.Unknown, err.Error(), "", "")
	case len(missing) > 0:
		c.Say("commands", check.Unknown, "not registered yet: "+strings.Join(missing, ", "), "", "earshot serve registers them when it starts")
	default:
		c.Good("commands", strings.Join(names, ", "))
	}
}
