package config

import (
	"fmt"
	"net"
	"strings"
)

// A Slack says how the bot lives on Slack. Its tokens are among [Keys].
type Slack struct {
	APIURL         string `yaml:"api_url" env:"EARSHOT_SLACK_API_URL" doc:"where Slack's Web API is, such as an emulator's. Empty: Slack."`
	Listen         string `yaml:"listen" env:"EARSHOT_LISTEN" doc:"an address such as :8080 at which events are taken by HTTP, under /slack/events. Empty: by Socket Mode only."`
	Sockets        int    `yaml:"sockets" env:"EARSHOT_SLACK_SOCKETS" doc:"how many Socket Mode connections are held, where SLACK_APP_TOKEN is set."`
	Tier           string `yaml:"tier" env:"EARSHOT_SLACK_TIER" doc:"how often Slack lets history be read: internal (apps of your own, and those in Slack's Marketplace) or distributed (1 call a minute, 15 messages)."`
	Overflow       string `yaml:"overflow" env:"EARSHOT_SLACK_OVERFLOW" doc:"what a turn does when the rate is used up: queue (wait, as long as it may) or degrade (use what is stored, marked as stale)."`
	ShareRates     string `yaml:"share_rates" env:"EARSHOT_SLACK_SHARE_RATES" doc:"whether processes over one store share the app's rates through it: auto (where the store is PostgreSQL), always or never."`
	StaleServeTTL  int    `yaml:"stale_serve_ttl" env:"EARSHOT_SLACK_STALE_SERVE_TTL" doc:"for how many seconds what is stored is used in place of a fetch that the rate forbids; older than that it counts as missing."`
	ReconcileHours int    `yaml:"reconcile_hours" env:"EARSHOT_SLACK_RECONCILE_HOURS" doc:"after a downtime, channels in which something was said within so many hours are caught up with. 0: only when a turn needs them."`
	Reply          string `yaml:"reply" env:"EARSHOT_SLACK_REPLY" doc:"how an answer appears: update (a placeholder that becomes the answer), stream (Slack's streaming calls) or post (at once, when it is whole)."`
	Placeholder    string `yaml:"placeholder" env:"EARSHOT_SLACK_PLACEHOLDER" doc:"what stands there until the answer does."`
	AgentView      bool   `yaml:"agent_view" env:"EARSHOT_SLACK_AGENT_VIEW" doc:"the app's manifest has agent_view, as that of slack.md: each message of a direct message begins a thread of its own. It is also noticed when Slack tells of it, until the next start."`
	OnLeave        string `yaml:"on_leave" env:"EARSHOT_SLACK_ON_LEAVE" doc:"what happens to what was heard in a channel that the bot is removed from, and in a workspace that uninstalls it: keep or purge."`
	ThreadHistory  int    `yaml:"thread_history_limit" env:"SLACK_INTEGRATION_THREAD_HISTORY_LIMIT" doc:"how many messages the policy delta shows of a thread."`
	ThreadContext  int    `yaml:"thread_context_limit" env:"slackThreadContextLimit" doc:"how many messages the policy thread shows of a thread."`
}

// What the Slack settings may be.
const (
	TierInternal    = "internal"
	TierDistributed = "distributed"

	OverflowQueue   = "queue"
	OverflowDegrade = "degrade"

	ShareAuto   = "auto"
	ShareAlways = "always"
	ShareNever  = "never"

	ReplyUpdate = "update"
	ReplyStream = "stream"
	ReplyPost   = "post"

	LeaveKeep  = "keep"
	LeavePurge = "purge"
)

func defaultSlack() Slack {
	return Slack{
		Sockets: 2, Tier: TierInternal, Overflow: OverflowQueue, ShareRates: ShareAuto, StaleServeTTL: 600, ReconcileHours: 72,
		Reply: ReplyUpdate, Placeholder: "…", OnLeave: LeaveKeep, ThreadHistory: 50, ThreadContext: 15,
	}
}

// checkListen checks an address to listen at, "" for none.
func checkListen(key, addr, such string, bad func(key, format string, args ...any)) {
	if addr == "" {
		return
	}
	if _, port, err := net.SplitHostPort(addr); err != nil || port == "" {
		bad(key, "must be an address with a port, such as %s", such)
	}
}

// CheckSlackKeys returns what is missing for the bot to live on Slack, each
// naming the variable and where its value stands, or nil.
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
			bad(key, "%s: it begins with %s and stands under %s in your app's settings (docs/slack.md)", what, prefix, from)
		}
	}
	token("SLACK_BOT_TOKEN", k.SlackBotToken.Reveal(), "xoxb-", "OAuth & Permissions")
	if !k.SlackAppToken.Empty() {
		token("SLACK_APP_TOKEN", k.SlackAppToken.Reveal(), "xapp-", "Basic Information, App-Level Tokens")
	}
	switch {
	case c.Slack.Listen != "" && k.SlackSigningSecret.Empty():
		bad("SLACK_SIGNING_SECRET", "is not set: events that come by HTTP are not taken without it. It stands under Basic Information, App Credentials")
	case c.Slack.Listen == "" && k.SlackAppToken.Empty():
		bad("SLACK_APP_TOKEN", "is not set, and neither is slack.listen (--listen): there is no way for events to come in. Set the one for Socket Mode, or the other and SLACK_SIGNING_SECRET for HTTP")
	}
	return problems
}
