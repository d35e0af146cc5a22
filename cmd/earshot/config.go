package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type configCmd struct {
	Explain configExplainCmd `cmd:"" help:"Say what holds in a channel, and which line says so."`
}

type configExplainCmd struct {
	Channel string `arg:"" help:"The channel's name or id." predictor:"channel"`
	Config  string `short:"c" placeholder:"FILE" help:"The configuration of the bot (default: $$EARSHOT_CONFIG, else none)." type:"path"`
}

// explainedJSON is what holds in a channel, as --json writes it.
type explainedJSON struct {
	Channel  explainedChannel `json:"channel"`
	Rule     *explainedRule   `json:"rule"`        // null: none matches
	Unsure   []explainedRule  `json:"passed_over"` // those before it that need what is not known of the channel
	Settings []config.Setting `json:"settings"`
}

type explainedChannel struct {
	Platform  earshot.Platform    `json:"platform"`
	Workspace earshot.WorkspaceID `json:"workspace"` // "" where nothing of the channel is stored
	ID        earshot.ChannelID   `json:"id"`
	Name      string              `json:"name"`
	Kind      earshot.ChannelKind `json:"kind"`
	Shared    bool                `json:"shared"`
}

type explainedRule struct {
	Rule    string   `json:"rule"`
	At      string   `json:"at"`
	Unknown []string `json:"unknown,omitempty"` // of the channel: workspace, name, kind
}

func (c *configExplainCmd) Run(ctx context.Context, a *app) error {
	cfg, err := a.config(c.Config)
	if err := a.mayStart(cfg, err); err != nil {
		return err
	}
	_, sources, err := config.LoadSources(cmp.Or(c.Config, a.getenv("EARSHOT_CONFIG")), a.environ)
	if err != nil {
		return err
	}
	ch, err := c.channel(ctx, a, cfg)
	if err != nil {
		return err
	}
	e := cfg.For(ch)
	out := explainedJSON{
		Channel: explainedChannel{ch.Platform, ch.Workspace, ch.ID, ch.Name, ch.Kind, ch.Shared},
		Unsure:  []explainedRule{}, Settings: e.Settings(sources),
	}
	for i, r := range cfg.Channels {
		if i == e.Rule {
			out.Rule = &explainedRule{Rule: r.At, At: sources[r.At]}
			break
		}
		if unknown := r.Match.Unknown(ch); len(unknown) > 0 {
			out.Unsure = append(out.Unsure, explainedRule{Rule: r.At, At: sources[r.At], Unknown: unknown})
		}
	}
	if a.json {
		return a.writeJSON(out)
	}
	a.printExplained(out)
	return nil
}

// anID is what looks like a channel's id of Slack or Discord.
var anID = regexp.MustCompile(`^[A-Z][A-Z0-9]{2,}$|^[0-9]{15,20}$`)

// channel returns the stored channel that is named. Of one that is not stored, or where there
// is no store, no more is known than its id.
func (c *configExplainCmd) channel(ctx context.Context, a *app, cfg config.Config) (earshot.Channel, error) {
	unknown := earshot.Channel{Platform: earshot.Platform(cfg.Platform), ID: earshot.ChannelID(c.Channel)}
	isID := anID.MatchString(c.Channel) || slices.ContainsFunc(cfg.Channels, func(r config.Rule) bool { return slices.Contains(r.Match.ID, c.Channel) })
	var nothing *usageError
	st, err := a.openFilled(ctx)
	if err != nil && isID && errors.As(err, &nothing) {
		return unknown, nil
	}
	if err != nil {
		return unknown, err
	}
	defer st.Close()
	found, err := channelsOf(st).find(ctx, c.Channel, nil)
	if err != nil && isID && errors.As(err, &nothing) {
		return unknown, nil
	}
	return found.Channel, err
}

// printExplained writes what holds in a channel, for people.
func (a *app) printExplained(e explainedJSON) {
	c := e.Channel
	about := "nothing of it is stored: no more is known than its id"
	if c.Workspace != "" {
		kinds := config.KindsOf(earshot.Channel{Kind: c.Kind, Shared: c.Shared})
		about = strings.Join(append([]string{plain.ID(string(c.Platform)), plain.ID(string(c.Workspace)), plain.ID(string(c.ID))}, kinds...), " · ")
	}
	a.printf("%s  %s\n", terminal.Strong(plain.Line(cmp.Or(c.Name, string(c.ID)), 60)), terminal.Faint(about))
	if e.Rule == nil {
		a.printf("no rule matches: what holds in all channels holds here\n")
	} else {
		a.printf("the rule %s holds (%s)\n", e.Rule.Rule, e.Rule.At)
	}
	for _, r := range e.Unsure {
		a.printf("%s\n", terminal.Mark(fmt.Sprintf("the rule %s (%s) is passed over: it needs what is not known of the channel (%s)", r.Rule, r.At, joinList(r.Unknown))))
	}
	a.printf("\n")
	t := terminal.NewTable("setting", "value", "from")
	for _, s := range e.Settings {
		from := strings.Join(s.From, ", then ")
		if s.From[0] == config.FromDefault {
			from = terminal.Faint(from)
		}
		t.Row(terminal.Strong(s.Key), settingText(s), from)
	}
	a.printf("%s", t.Render(max(a.width, 140)))
}

// settingText is a value in one line.
func settingText(s config.Setting) string {
	switch v := s.Value.(type) {
	case string:
		return cmp.Or(plain.Line(v, 70), "none")
	case []string:
		if len(v) > 0 {
			return plain.Line(strings.Join(v, ", "), 70)
		}
		if s.Key == "may_ask" {
			return "everybody"
		}
		return "none"
	}
	return fmt.Sprint(s.Value)
}
