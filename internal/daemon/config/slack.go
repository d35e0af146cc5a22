package config

import (
	"fmt"
	"net"
	"net/url"
	"strings"

	"github.com/earshot-ai/earshot/secret"
)

// A Slack sets how the bot works on Slack. Its tokens are in [Keys].
type Slack struct {
	APIURL        string       `yaml:"api_url" env:"EARSHOT_SLACK_API_URL" doc:"the URL of Slack's Web API, such as that of an emulator. Empty: Slack's own."`
	Listen        string       `yaml:"listen" env:"EARSHOT_LISTEN" doc:"an address, such as :8080, at which events are received by HTTP, under /slack/events, and clicks under /slack/interactions. Empty: Socket Mode only."`
	Tier          string       `yaml:"tier" env:"EARSHOT_SLACK_TIER" doc:"Slack's rate limit for reading history: internal (your own apps, and those in Slack's Marketplace) or distributed (1 call a minute, 15 messages)."`
	Overflow      string       `yaml:"overflow" env:"EARSHOT_SLACK_OVERFLOW" doc:"what a turn does when that limit is reached: queue (wait, as long as the turn may take) or degrade (use what is stored, marked as stale; what is older than ten minutes counts as missing)."`
	Reply         string       `yaml:"reply" env:"EARSHOT_SLACK_REPLY" doc:"how an answer appears: update (a placeholder that becomes the answer), stream (Slack's streaming calls) or post (once it is complete)."`
	Placeholder   string       `yaml:"placeholder" env:"EARSHOT_SLACK_PLACEHOLDER" doc:"the text of the placeholder."`
	AgentView     bool         `yaml:"agent_view" env:"EARSHOT_SLACK_AGENT_VIEW" doc:"whether the app's manifest has agent_view, as the one in slack.md: each message of a direct message begins a thread. Slack's events tell it too, which is remembered until the next start."`
	Allow         SlackAllow   `yaml:"allow" doc:"whom the bot answers; ids, and everybody where both lists are empty"`
	Install       SlackInstall `yaml:"install" doc:"one bot for many workspaces, which install the app by themselves; see slack.md"`
	Welcome       bool         `yaml:"welcome" env:"EARSHOT_SLACK_WELCOME" doc:"whether the bot says in one sentence, when it is added to a channel, what it records there and how to be forgotten."`
	Prompts       []string     `yaml:"prompts" doc:"up to four questions that Slack offers who opens the bot's direct messages."`
	OnLeave       string       `yaml:"on_leave" env:"EARSHOT_SLACK_ON_LEAVE" doc:"what happens to the stored messages of a channel that the bot is removed from, and of a workspace that uninstalls the app: keep or purge."`
	ThreadHistory int          `yaml:"thread_history_limit" env:"SLACK_INTEGRATION_THREAD_HISTORY_LIMIT" doc:"how many messages of a thread the policy delta shows."`
	ThreadContext int          `yaml:"thread_context_limit" env:"slackThreadContextLimit" doc:"how many messages of a thread the policy thread shows."`
}

// A SlackAllow says whom the bot answers.
type SlackAllow struct {
	Users  []string `yaml:"users" env:"EARSHOT_SLACK_ALLOW_USERS" doc:"people and other bots who are answered. What others say is stored and not answered."`
	Groups []string `yaml:"groups" env:"EARSHOT_SLACK_ALLOW_GROUPS" doc:"user groups whose members are answered too. Needs the scope usergroups:read, without which nobody is a member."`
}

// A SlackInstall says how workspaces install the app.
type SlackInstall struct {
	URL         string `yaml:"url" env:"EARSHOT_SLACK_INSTALL_URL" doc:"where people reach the bot's HTTP front from outside, such as https://bot.example.com: they install the app at /slack/install below it. Needs slack.listen and EARSHOT_TOKEN_KEY, and no bot token. Empty: the bot is one workspace's."`
	OnUninstall string `yaml:"on_uninstall" env:"EARSHOT_SLACK_ON_UNINSTALL" doc:"what happens to what is stored of a workspace that removes the app: purge (all of it is erased, once Slack has confirmed the removal) or keep. Its tokens are erased in both cases."`
}

// checkSlackInstall checks where workspaces install the app.
func (c Config) checkSlackInstall(bad problemReport) {
	at := c.Slack.Install.URL
	if at == "" {
		return
	}
	u, err := url.Parse(at)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && !(u.Scheme == "http" && IsLoopback(u.Host)) {
		bad("slack.install.url", "must be https://HOST, without a query: Slack sends people back there, and the browser keeps the cookie of an installation to https")
	}
}

// Installs reports whether workspaces install the app by themselves.
func (c Config) Installs() bool { return c.Slack.Install.URL != "" }

// TokenKeys returns what encrypts the tokens of installations. The error names the
// variable and the remedy, and no key.
func (k Keys) TokenKeys() (*secret.Keyring, error) {
	for _, key := range []struct {
		name  string
		value secret.Secret
	}{{"EARSHOT_TOKEN_KEY", k.TokenKey}, {"EARSHOT_TOKEN_KEY_OLD", k.TokenKeyOld}} {
		switch _, err := secret.NewKeyring(key.value); {
		case key.value.Empty() && key.name == "EARSHOT_TOKEN_KEY":
			return nil, fmt.Errorf("%s is not set: the tokens of workspaces are encrypted with it. Make one with `openssl rand -base64 %d`, and keep it apart from the database", key.name, secret.KeyBytes)
		case !key.value.Empty() && err != nil:
			return nil, fmt.Errorf("%s: %w", key.name, err)
		}
	}
	if k.TokenKeyOld.Empty() {
		return secret.NewKeyring(k.TokenKey)
	}
	return secret.NewKeyring(k.TokenKey, k.TokenKeyOld)
}

// checkSlackAllow checks the prompts, and that the lists of whom the bot answers hold ids.
func (c Config) checkSlackAllow(bad problemReport) {
	if n := len(c.Slack.Prompts); n > 4 {
		bad("slack.prompts", "has %d questions; Slack shows four", n)
	}
	for _, list := range []struct {
		key, first string
		ids        []string
	}{{"slack.allow.users", "UWB", c.Slack.Allow.Users}, {"slack.allow.groups", "S", c.Slack.Allow.Groups}} {
		for _, id := range list.ids {
			if len(id) < 2 || !strings.Contains(list.first, id[:1]) || strings.Trim(id, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != "" {
				bad(list.key, "%q is no id; in Slack, take Copy member ID or Copy group ID from a profile's menu", id)
			}
		}
	}
}

// The values of the Slack settings.
const (
	TierInternal    = "internal"
	TierDistributed = "distributed"

	OverflowQueue   = "queue"
	OverflowDegrade = "degrade"

	ReplyUpdate = "update"
	ReplyStream = "stream"
	ReplyPost   = "post"

	LeaveKeep  = "keep"
	LeavePurge = "purge"
)

func defaultSlack() Slack {
	return Slack{
		Tier: TierInternal, Overflow: OverflowQueue,
		Reply: ReplyUpdate, Placeholder: "…", OnLeave: LeaveKeep, ThreadHistory: 50, ThreadContext: 15,
		Install: SlackInstall{OnUninstall: LeavePurge},
	}
}

// checkListen checks an address to listen on; "" means none.
func checkListen(key, addr, example string, bad problemReport) {
	if addr == "" {
		return
	}
	if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
		bad(key, "must be an address with a port, such as %s", example)
	}
}

// CheckSlackKeys returns what is missing for the bot to work on Slack, or nil. Each
// error names the variable and where to find its value.
func (c Config) CheckSlackKeys() []error {
	k := c.Keys
	var problems []error
	bad := func(key, format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s %s", key, fmt.Sprintf(format, args...)))
	}
	token := func(key, value, prefix, from string) {
		if !strings.HasPrefix(value, prefix) {
			what := "is not such a token"
			if value == "" {
				what = "is not set"
			}
			bad(key, "%s: it begins with %s; find it under %s in your app's settings (docs/slack.md)", what, prefix, from)
		}
	}
	switch {
	case c.Installs():
		problems = append(problems, c.checkInstallKeys()...)
	case !k.SlackRefreshToken.Empty():
		token("SLACK_REFRESH_TOKEN", k.SlackRefreshToken.Reveal(), "xoxe-", "OAuth & Permissions")
		for _, s := range []struct {
			key   string
			value secret.Secret
		}{{"SLACK_CLIENT_ID", k.SlackClientID}, {"SLACK_CLIENT_SECRET", k.SlackClientSecret}} {
			if s.value.Empty() {
				bad(s.key, "is not set, and SLACK_REFRESH_TOKEN needs it: find it under Basic Information, App Credentials")
			}
		}
	case strings.HasPrefix(k.SlackBotToken.Reveal(), "xoxe."):
		bad("SLACK_REFRESH_TOKEN", "is not set: the bot token is of an app with token rotation and works for twelve hours (docs/slack.md)")
	default:
		token("SLACK_BOT_TOKEN", k.SlackBotToken.Reveal(), "xoxb-", "OAuth & Permissions")
	}
	if !k.SlackAppToken.Empty() {
		token("SLACK_APP_TOKEN", k.SlackAppToken.Reveal(), "xapp-", "Basic Information, App-Level Tokens")
	}
	switch {
	case c.Installs() && c.Slack.Listen == "":
		bad("slack.listen", "(--listen) is not set: people who install the app at slack.install.url are answered there")
	case c.Slack.Listen != "" && k.SlackSigningSecret.Empty():
		bad("SLACK_SIGNING_SECRET", "is not set: events by HTTP are refused without it. Find it under Basic Information, App Credentials")
	case c.Slack.Listen == "" && k.SlackAppToken.Empty():
		bad("SLACK_APP_TOKEN", "is not set, and neither is slack.listen (--listen): there is no way for events to arrive. Set SLACK_APP_TOKEN for Socket Mode, or slack.listen and SLACK_SIGNING_SECRET for HTTP")
	}
	return problems
}

// checkInstallKeys returns what is missing for workspaces to install the app.
func (c Config) checkInstallKeys() (problems []error) {
	k := c.Keys
	for _, s := range []struct {
		key   string
		value secret.Secret
	}{{"SLACK_CLIENT_ID", k.SlackClientID}, {"SLACK_CLIENT_SECRET", k.SlackClientSecret}} {
		if s.value.Empty() {
			problems = append(problems, fmt.Errorf("%s is not set, and slack.install.url needs it: find it under Basic Information, App Credentials", s.key))
		}
	}
	if _, err := k.TokenKeys(); err != nil {
		problems = append(problems, err)
	}
	for _, s := range []struct {
		key   string
		value secret.Secret
	}{{"SLACK_BOT_TOKEN", k.SlackBotToken}, {"SLACK_REFRESH_TOKEN", k.SlackRefreshToken}} {
		if !s.value.Empty() {
			problems = append(problems, fmt.Errorf("%s is set beside slack.install.url: a bot is one workspace's, with its token, or of those that install the app; unset one of them, and install the app in that workspace too", s.key))
		}
	}
	return problems
}
