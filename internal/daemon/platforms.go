package daemon

import (
	"context"
	"strings"

	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/platform/slack"
)

// A platformKind is what a daemon needs of one platform.
type platformKind struct {
	// app says how the bot becomes an app there; nil where there are none.
	app func() AppGuide
	// open makes the adapter, with the bot on it.
	open func(context.Context, sharedParts) (platform, error)
	// check tells what the platform lacks; nil where no network lies between.
	check func(ctx context.Context, o Options, channels []string, tell func(Finding)) error
	// keys returns which of its keys are missing.
	keys func(config.Config) []error
	// api returns the base URL that replaces the platform's own; "" for none.
	api func(config.Config) string
	// placeholder is what a reply says until the model has answered; "" where it is
	// posted only then.
	placeholder func(config.Config) string
}

// An AppGuide says how a bot becomes an app of its platform.
type AppGuide struct {
	Title string
	Steps string
	Link  string
}

// AppOf returns the guide of the platform that c names; the zero AppGuide where nothing is
// to be made.
func AppOf(c config.Config) AppGuide {
	if app := kindOf(c).app; app != nil {
		return app()
	}
	return AppGuide{}
}

// kindOf returns the row of the platform that c names. Of a name that is none, which
// Check refuses, it is the local one's, which lacks nothing.
func kindOf(c config.Config) platformKind {
	kinds := platformKinds()
	if k, ok := kinds[c.Platform]; ok {
		return k
	}
	return kinds[config.PlatformLocal]
}

// platformKinds has a row for each of config.Platforms.
func platformKinds() map[string]platformKind {
	return map[string]platformKind{
		config.PlatformLocal: {
			open: openLocal,
			keys: func(config.Config) []error { return nil },
			api:  func(config.Config) string { return "" },
			placeholder: func(c config.Config) string {
				if c.Local.Placeholder {
					return "…"
				}
				return ""
			},
		},
		config.PlatformSlack: {
			app: func() AppGuide {
				return AppGuide{
					"Make the app",
					"Open the link, choose the workspace, Create, then Install to Workspace. Under Basic Information, App-Level Tokens: Generate, with the scope connections:write.",
					slack.ManifestURL(),
				}
			},
			open: openSlack,
			check: func(ctx context.Context, o Options, channels []string, tell func(Finding)) error {
				return CheckSlack(ctx, o, strings.Join(channels[:min(1, len(channels))], ""), tell)
			},
			keys:        config.Config.CheckSlackKeys,
			api:         func(c config.Config) string { return c.Slack.APIURL },
			placeholder: func(c config.Config) string { return placeholderFor(c.Slack.Reply, c.Slack.Placeholder) },
		},
		config.PlatformDiscord: {
			app: func() AppGuide {
				return AppGuide{
					"Make the application",
					"Open the link: New Application; on its page Bot, Reset Token, and switch on Message Content Intent. earshot check prints the link that invites it.",
					"https://discord.com/developers/applications",
				}
			},
			open:        openDiscord,
			check:       CheckDiscord,
			keys:        config.Config.CheckDiscordKeys,
			api:         func(c config.Config) string { return c.Discord.APIURL },
			placeholder: func(c config.Config) string { return placeholderFor(c.Discord.Reply, c.Discord.Placeholder) },
		},
	}
}

// placeholderFor returns the placeholder of a platform, unless its replies are posted whole.
func placeholderFor(reply, placeholder string) string {
	if reply == config.ReplyPost {
		return ""
	}
	return placeholder
}
