package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

// A retentionJSON says how long messages are kept, and what was removed, as --json
// writes it.
type retentionJSON struct {
	Days     string             `json:"days"`            // of what has no rule of its own
	Keep     []config.Retaining `json:"keep"`            // the rules of workspaces and channels
	Since    string             `json:"since,omitempty"` // when a daemon was first started with these rules; "" for those of the configuration
	Channels []retainedJSON     `json:"channels"`        // in which something was removed
}

// A retainedJSON says what retention has removed from a channel.
type retainedJSON struct {
	Platform  earshot.Platform    `json:"platform"`
	Workspace earshot.WorkspaceID `json:"workspace"`
	Channel   earshot.ChannelID   `json:"channel"`
	Days      string              `json:"days"` // the rule that was applied last
	Applied   string              `json:"applied"`
	Before    string              `json:"before,omitempty"` // what was said before it is removed; "" for all
	Messages  int                 `json:"messages"`         // removed in all
	Sessions  int                 `json:"sessions"`
	Summaries int                 `json:"summaries"`
	Files     int                 `json:"files"`
	Names     int                 `json:"names"`

	applied earshot.Time
}

// retention returns the rules of the daemon that runs, or else of the configuration,
// and what they have removed.
func (l turnStore) retention(ctx context.Context, cfg config.Config, running bool) (retentionJSON, error) {
	out := retentionJSON{Days: cfg.Retention.Days, Keep: cfg.Retention.Keep, Channels: []retainedJSON{}}
	if running {
		rules, err := daemon.RulesOf(ctx, l.store)
		if err != nil {
			return out, err
		}
		if out.Days, out.Keep = config.KeepForever, nil; rules != nil {
			out.Days, out.Keep, out.Since = rules.Retention.Days, rules.Retention.Keep, rules.Since.String()
		}
	}
	if out.Keep == nil {
		out.Keep = []config.Retaining{}
	}
	done, err := daemon.RetainedIn(ctx, l.store)
	for _, r := range done {
		out.Channels = append(out.Channels, retainedJSON{
			Platform: r.Platform, Workspace: r.Workspace, Channel: r.Channel, Days: r.Days, Applied: r.Applied.String(), Before: r.Floor.String(),
			Messages: r.Removed.Messages, Sessions: r.Removed.Sessions, Summaries: r.Removed.Summaries, Files: r.Removed.Files,
			Names: r.Removed.Names, applied: r.Applied,
		})
	}
	return out, err
}

// lines returns the rules, and what they have removed, for people.
func (r retentionJSON) lines(width int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "keeps   messages %s", formatRetentionDays(r.Days))
	for _, x := range r.Keep {
		fmt.Fprintf(&b, "; in %s %s", plain.Line(strings.Join(strings.Fields(x.Workspace+" "+x.Channel), " "), 60), formatRetentionDays(x.Days))
	}
	b.WriteString("\n")
	if len(r.Channels) == 0 {
		return b.String()
	}
	t := terminal.NewTable("retention", "workspace", "kept", "applied", "messages", "sessions", "files").Right(4, 5, 6)
	for _, c := range r.Channels {
		t.Row(plain.Line(string(c.Channel), 30), plain.Line(string(c.Workspace), 20), formatRetentionDays(c.Days), plain.Minute(c.applied),
			plain.Number(c.Messages), plain.Number(c.Sessions), plain.Number(c.Files))
	}
	return b.String() + "\n" + t.Render(width)
}

// formatRetentionDays says a rule in words.
func formatRetentionDays(days string) string {
	switch days {
	case config.KeepForever, "":
		return "forever"
	case config.KeepNone:
		return "in memory only"
	case "1":
		return "1 day"
	}
	return plain.Line(days, 10) + " days"
}
