package main

import (
	"context"
	"io/fs"
	"os"
	"strings"

	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/testdata"
)

type simulateCmd struct {
	Slack   simulateSlackCmd   `cmd:"" help:"Serve a fake Slack on this machine: Web API, events and sockets."`
	Discord simulateDiscordCmd `cmd:"" help:"Serve a fake Discord on this machine: REST API and gateway."`
}

type simulateSlackCmd struct {
	Listen     string   `placeholder:"ADDR" default:"127.0.0.1:0" help:"A loopback address (default: a free port)."`
	Events     string   `placeholder:"URL" help:"The bot's URL for events, such as http://127.0.0.1:8080/slack/events."`
	Clicks     string   `placeholder:"URL" help:"The bot's URL for clicks at buttons, such as http://127.0.0.1:8080/slack/interactions."`
	SocketMode bool     `help:"Send events by Socket Mode, not to a URL."`
	Tier       string   `enum:"internal,distributed,unlimited" default:"internal" help:"How often the bot may call: internal (50 a minute), distributed (1 a minute, 15 messages) or unlimited."`
	Fault      []string `sep:"none" placeholder:"FAULT" help:"A fault to inject: KIND[@METHOD][,times=N][,skip=N][,chance=P][,wait=D]. May be repeated."`
	Seed       uint64   `placeholder:"N" help:"The seed of everything random."`
	Content    string   `placeholder:"DIR" help:"The workspace to start with: bundled, or a folder with a Slack export (default: two channels and three people)."`
}

func (c *simulateSlackCmd) Run(ctx context.Context, a *app) error {
	for _, by := range []struct{ flag, url string }{{"--events", c.Events}, {"--clicks", c.Clicks}} {
		if c.SocketMode && by.url != "" {
			return usagef("Slack sends events and clicks to URLs or by Socket Mode, never both; leave out --socket-mode if your bot listens at %s, and %s if it connects with SLACK_APP_TOKEN", plain.Line(by.url, 200), by.flag)
		}
	}
	faults, err := parseFaults(c.Fault, simulate.ParseFault)
	if err != nil {
		return err
	}
	content, err := c.content()
	if err != nil {
		return err
	}
	tiers := map[string]simulate.Tier{"internal": simulate.TierInternal, "distributed": simulate.TierDistributed, "unlimited": simulate.TierUnlimited}
	s, err := simulate.NewSlack(&simulate.SlackOptions{
		Listen: c.Listen, Seed: c.Seed, Tier: tiers[c.Tier], EventsURL: c.Events, InteractionsURL: c.Clicks, SocketMode: c.SocketMode, Export: content,
		Log: a.logger(config.Log{}, false),
	})
	if err != nil {
		return usagef("%v", err)
	}
	defer s.Close() //nolint:errcheck // nothing of it is kept
	if content == nil {
		populate(s)
	}
	s.Inject(faults...)
	if err := c.announce(a, s); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// content returns what was said before, nil for nothing.
func (c *simulateSlackCmd) content() (fs.FS, error) {
	switch c.Content {
	case "":
		return nil, nil
	case "bundled":
		return fs.Sub(testdata.Workspace, "workspace")
	}
	if info, err := os.Stat(c.Content); err != nil || !info.IsDir() {
		return nil, usagef("--content %s: there is no such folder; name one with a Slack export, or bundled", c.Content)
	}
	return os.DirFS(c.Content), nil
}

// populate makes a workspace of two channels and three people, two of whom
// have one display name.
func populate(s *simulate.Slack) {
	bot := s.App().UserID
	mara := s.AddUser(simulate.User{ID: "U0MARA", Name: "mara", RealName: "Mara Vos", DisplayName: "Mara"})
	sam := s.AddUser(simulate.User{ID: "U0SAM", Name: "sam", RealName: "Sam Okafor", DisplayName: "Sam"})
	other := s.AddUser(simulate.User{ID: "U0SAML", Name: "sam.l", RealName: "Sam Lindqvist", DisplayName: "Sam"})
	s.AddChannel(simulate.Channel{ID: "C0GENERAL", Name: "general", Members: []string{mara, sam, other, bot}})
	s.AddChannel(simulate.Channel{ID: "C0RANDOM", Name: "random", Members: []string{mara, sam, other}})
}

// announce says where it serves, and what a bot needs to talk to it.
func (c *simulateSlackCmd) announce(a *app, s *simulate.Slack) error {
	api, app := s.URL()+"/api/", s.App()
	env := [][2]string{
		{"EARSHOT_SLACK_API_URL", api}, {"SLACK_BOT_TOKEN", app.BotToken}, {"SLACK_APP_TOKEN", app.AppToken}, {"SLACK_SIGNING_SECRET", app.SigningSecret},
	}
	return a.announceFake("Slack", s.URL(), app.UserID, s.Team().ID, "Events go "+c.way()+". ", env, map[string]any{"api_url": api, "team": s.Team().ID, "bot": app.BotID, "app": app.ID})
}

// parseFaults reads the faults of a command line.
func parseFaults(texts []string, parse func(string) (simulate.Fault, error)) ([]simulate.Fault, error) {
	var faults []simulate.Fault
	for _, text := range texts {
		f, err := parse(text)
		if err != nil {
			return nil, usagef("%v", err)
		}
		faults = append(faults, f)
	}
	return faults, nil
}

// announceFake says where a fake serves, and the variables that a bot needs to talk to it;
// about is what else --json has.
func (a *app) announceFake(title, url, bot, workspace, events string, env [][2]string, about map[string]any) error {
	if a.json {
		values := map[string]string{}
		for _, e := range env {
			values[e[0]] = e[1]
		}
		about["url"], about["bot_user"], about["workspace"], about["env"] = url, bot, workspace, values
		return a.writeJSON(about)
	}
	a.printf("%s\n", terminal.Strong("a "+title+" on "+url))
	a.printf("Its workspace is %s; a key of a sidecar that hears it: %s\n", workspace, terminal.Mark("earshot key create --name bot --workspace "+workspace))
	a.printf("The bot is <@%s>. It needs:\n\n", bot)
	for _, e := range env {
		a.printf("export %s=%s\n", e[0], e[1])
	}
	a.printf("\n%sHave somebody say something:\n\n", events)
	a.printf("curl -s %s/simulate/say -H 'Content-Type: application/json' -d '{\"channel\":\"general\",\"user\":\"mara\",\"text\":\"<@%s> hello\"}'\n", url, bot)
	a.printf("curl -s '%s/simulate/messages?channel=general'\n", url)
	return nil
}

// way says how events reach the bot.
func (c *simulateSlackCmd) way() string {
	switch {
	case c.SocketMode:
		return "by Socket Mode"
	case c.Events != "":
		return "to " + plain.Line(strings.TrimSpace(c.Events), 200)
	}
	return "nowhere until POST /simulate/subscribe names a URL"
}
