package config

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/otlp"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/internal/zones"
	"github.com/earshot-ai/earshot/tokens"
)

// Platforms are the values of platform.
var Platforms = []string{PlatformLocal, PlatformSlack, PlatformDiscord}

// AnyPlatform names the platforms, in a sentence: "a, b or c".
func AnyPlatform() string {
	last := len(Platforms) - 1
	return strings.Join(Platforms[:last], ", ") + " or " + Platforms[last]
}

// Whether the bot reads along.
const (
	AmbientOff   = "off"
	AmbientReact = "react"
	AmbientSpeak = "speak"
)

// Whom an answer may mention.
const (
	MentionAsker   = string(bot.MentionAsker)
	MentionThread  = string(bot.MentionThread)
	MentionChannel = string(bot.MentionChannel)
)

// What becomes of later questions while a person is asked something.
const (
	WaitingAnswer = "answer"
	WaitingHold   = "hold"
)

// How people say what they think of an answer.
const (
	FeedbackOff       = "off"
	FeedbackReactions = "reactions"
	FeedbackButtons   = "buttons"
)

// The platforms.
const (
	PlatformLocal   = "local"
	PlatformSlack   = "slack"
	PlatformDiscord = "discord"
)

// Check returns every problem of c, or nil. Each error names its key and the
// remedy. Policies, stores and keys are checked when they are used.
func (c Config) Check() []error {
	var problems []error
	bad := func(key, format string, args ...any) {
		problems = append(problems, fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...)))
	}
	for _, t := range []struct{ key, value string }{{"agent.id", c.Agent.ID}, {"agent.name", c.Agent.Name}} {
		if strings.TrimSpace(t.value) == "" || strings.ContainsFunc(t.value, func(r rune) bool { return r < ' ' }) {
			bad(t.key, "must be a name in one line")
		}
	}
	c.checkChoices(bad)
	if _, err := tokens.For(c.Counter); err != nil && c.Counter != CounterAuto {
		bad("counter", "%v, or %s", err, CounterAuto)
	}
	c.checkNumbers(bad)
	if _, err := zones.Load(c.Context.Zone); err != nil || c.Context.Zone == "" {
		bad("context.zone", "%q is no time zone; use an IANA name, such as Europe/Berlin, or UTC", c.Context.Zone)
	}
	c.checkURLs(bad)
	checkListen("slack.listen", c.Slack.Listen, ":8080", bad)
	checkListen("health.listen", c.Health.Listen, "127.0.0.1:9464", bad)
	c.checkDiscord(bad)
	c.checkSlackAllow(bad)
	c.checkSlackInstall(bad)
	c.checkPrices(bad)
	checkWords("answer", c.Answer.Language, c.Answer.Words, bad)
	c.checkDayLimits(bad)
	c.checkRetention(bad)
	c.checkAPI(bad)
	c.checkInspect(bad)
	c.checkOtel(bad)
	c.checkTools(bad)
	c.checkRules(bad)
	if c.Local.Listen != "" && !IsLoopback(c.Local.Listen) {
		bad("local.listen", "must be a loopback address with a port, such as 127.0.0.1:8484 (port 0: any free one)")
	}
	return problems
}

// A problemReport adds a problem with a key.
type problemReport func(key, format string, args ...any)

// checkChoices checks the settings that have a list of values.
func (c Config) checkChoices(bad problemReport) {
	oneOf := func(key, value string, of ...string) {
		if !slices.Contains(of, value) {
			bad(key, "%q is unknown; use one of %s", value, strings.Join(of, ", "))
		}
	}
	oneOf("platform", c.Platform, Platforms...)
	oneOf("answer.may_mention", c.Answer.MayMention, MentionAsker, MentionThread, MentionChannel)
	oneOf("answer.while_waiting", c.Answer.WhileWaiting, WaitingAnswer, WaitingHold)
	oneOf("answer.feedback", c.Answer.Feedback, FeedbackOff, FeedbackReactions, FeedbackButtons)
	if c.Answer.WhileWaiting == WaitingHold && c.Approve.ExpireMinutes > 120 {
		bad("approve.expire_minutes", "is %d, more than the 120 for which answer.while_waiting may hold questions; set it lower, or answer.while_waiting to %s", c.Approve.ExpireMinutes, WaitingAnswer)
	}
	if slices.ContainsFunc(c.Approve.By, func(who string) bool { return strings.TrimSpace(who) == "" }) {
		bad("approve.by", "has an empty entry; write asker, members, or ids")
	}
	oneOf("agent.kind", c.Agent.Kind, agentKinds...)
	c.checkAgentKey(bad)
	oneOf("agent.history", c.Agent.History, HistoryOurs, HistoryTheirs)
	switch {
	case c.Agent.Kind == AgentModel && c.Agent.URL != "":
		bad("agent.url", "has no effect while agent.kind is %s; set agent.kind to the agent's protocol, or remove it", AgentModel)
	case agentURLs[c.Agent.Kind] != "" && c.Agent.URL == "":
		bad("agent.url", "is missing; set it to %s", agentURLs[c.Agent.Kind])
	case c.Agent.Kind != AgentModel && c.Answer.Ambient != AmbientOff:
		bad("answer.ambient", "needs a model that decides, and agent.kind is %s; set answer.ambient to %s", c.Agent.Kind, AmbientOff)
	}
	if c.Answer.Place != "" {
		oneOf("answer.place", c.Answer.Place, PlaceThread, PlaceChannel)
	}
	oneOf("answer.ambient", c.Answer.Ambient, AmbientOff, AmbientReact, AmbientSpeak)
	if c.Answer.Ambient != AmbientOff && len(c.Answer.AmbientChannels) == 0 {
		bad("answer.ambient_channels", "is empty; name the ids of the channels where the bot reads along, or set answer.ambient to off")
	}
	checkLinkHosts("links.hosts", c.Links.Hosts, bad)
	for _, l := range []struct{ who, lane string }{{"external", c.Context.Trust.External}, {"guest", c.Context.Trust.Guest}, {"bots", c.Context.Trust.Bots}, {"not_allowed", c.Context.Trust.NotAllowed}} {
		oneOf("context.trust."+l.who, l.lane, string(earshot.LaneFull), string(earshot.LaneInert), string(earshot.LaneOut))
	}
	oneOf("slack.tier", c.Slack.Tier, TierInternal, TierDistributed)
	oneOf("slack.overflow", c.Slack.Overflow, OverflowQueue, OverflowDegrade)
	oneOf("slack.reply", c.Slack.Reply, ReplyUpdate, ReplyStream, ReplyPost)
	oneOf("slack.install.on_uninstall", c.Slack.Install.OnUninstall, LeaveKeep, LeavePurge)
	oneOf("slack.on_leave", c.Slack.OnLeave, LeaveKeep, LeavePurge)
	oneOf("discord.reply", c.Discord.Reply, ReplyUpdate, ReplyPost)
	oneOf("discord.notify", c.Discord.Notify, NotifyEdit, NotifyPost)
	oneOf("discord.thread", c.Discord.Thread, ThreadOff, ThreadOnMention)
	oneOf("discord.on_leave", c.Discord.OnLeave, LeaveKeep, LeavePurge)
	oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	oneOf("log.format", c.Log.Format, "text", "json")
	if c.Model.Provider != "" {
		oneOf("model.provider", c.Model.Provider, append(providers.Names(), providers.Offline)...)
	}
	if c.Model.Fallback.Provider != "" {
		oneOf("model.fallback.provider", c.Model.Fallback.Provider, append(providers.Names(), providers.Offline)...)
	} else if c.Model.Fallback.Name != "" || c.Model.Fallback.BaseURL != "" {
		bad("model.fallback.provider", "is missing; name the provider, or leave the fallback out")
	}
	if c.Summary.Provider != "" {
		oneOf("summary.provider", c.Summary.Provider, providers.Names()...)
	} else if c.Summary.Name != "" || c.Summary.BaseURL != "" {
		bad("summary.provider", "is missing; name the provider, or leave out name and base_url for summaries without a model")
	}
	e := c.Search.Embeddings
	if e.Model == "" && (e.URL != "" || e.Dimensions != 0) {
		bad("search.embeddings.model", "is missing; name the model that encodes, or leave out search.embeddings")
	}
	if own := c.Keys.Providers[providers.OpenAI]; e.Model != "" && e.URL == "" && own.URL == "" && own.Key.Empty() {
		bad("search.embeddings.url", "is missing; set the server's base URL, or OPENAI_API_KEY for OpenAI")
	}
}

// checkNumbers checks the range of each number.
func (c Config) checkNumbers(bad problemReport) {
	for _, n := range []struct {
		key             string
		value, low, top int
	}{
		{"budget.tokens", c.Budget.Tokens, 1, 10_000_000}, {"budget.session", c.Budget.Session, 0, 10_000_000}, {"budget.limit", c.Budget.Limit, 1, 10_000_000},
		{"answer.bot_turns", c.Answer.BotTurns, 1, 1000}, {"answer.bot_minutes", c.Answer.BotMinutes, 1, 60 * 24},
		{"answer.form_turns", c.Answer.FormTurns, 1, 1000}, {"answer.edit_minutes", c.Answer.EditMinutes, 0, 60 * 24},
		{"answer.ambient_hourly", c.Answer.AmbientHourly, 1, 1000},
		{"approve.expire_minutes", c.Approve.ExpireMinutes, 1, 60 * 24 * 7},
		{"answer.fresh_minutes", c.Answer.FreshMinutes, 1, 60 * 24 * 30},
		{"answer.post_minutes", c.Answer.PostMinutes, 1, 60 * 24}, {"answer.parallel", c.Answer.Parallel, 1, 10_000},
		{"limits.rounds", c.Limits.Rounds, 1, 100}, {"limits.seconds", c.Limits.Seconds, 1, 3600},
		{"limits.max_tokens", c.Limits.MaxTokens, 1, 1_000_000}, {"limits.history_seconds", c.Limits.HistorySeconds, 1, 60},
		{"lease.seconds", c.Lease.Seconds, 1, 300}, {"summary.turns", c.Summary.Turns, 2, 10_000},
		{"search.memory_mb", c.Search.MemoryMB, 1, 100_000}, {"search.embeddings.dimensions", c.Search.Embeddings.Dimensions, 0, earshot.MaxDimensions},
		{"tools.budget", c.Tools.Budget, 1, 1_000_000},
		{"api.open_minutes", c.API.OpenMinutes, 1, 24 * 60}, {"api.rates.caller", c.API.Rates.Caller, 0, 1_000_000},
		{"discord.shards", c.Discord.Shards, 0, 100_000},
		{"slack.thread_history_limit", c.Slack.ThreadHistory, 1, 10_000}, {"slack.thread_context_limit", c.Slack.ThreadContext, 1, 10_000},
	} {
		if n.value < n.low || n.value > n.top {
			bad(n.key, "is %d; use a number from %d to %d", n.value, n.low, n.top)
		}
	}
	if s := c.Answer.PreviewWait; !(s >= 0 && s <= 10) {
		bad("answer.preview_wait", "is %g; use seconds from 0 to 10", s)
	}
}

func (c Config) checkURLs(bad problemReport) {
	type row struct{ key, value string }
	urls := []row{
		{"model.base_url", c.Model.BaseURL}, {"model.fallback.base_url", c.Model.Fallback.BaseURL}, {"summary.base_url", c.Summary.BaseURL}, {"search.embeddings.url", c.Search.Embeddings.URL},
		{"slack.api_url", c.Slack.APIURL}, {"discord.api_url", c.Discord.APIURL},
	}
	for _, p := range providers.All {
		urls = append(urls, row{p.URL, c.Keys.Providers[p.Name].URL})
	}
	for _, u := range urls {
		if u.value == "" {
			continue
		}
		// A URL may hold a password: it is not repeated.
		if !goodURL(u.value) {
			bad(u.key, "is not of the form https://host/path")
		}
	}
	if c.Model.BaseURL != "" && (c.Model.Provider == "" || c.Model.Provider == providers.Offline) {
		bad("model.base_url", "needs model.provider: one of %s", strings.Join(providers.Names(), ", "))
	}
}

// otelHeaders is the variable with the headers for the collector.
const otelHeaders = "OTEL_EXPORTER_OTLP_HEADERS"

func (c Config) checkOtel(bad problemReport) {
	if c.Otel.Endpoint == "" {
		return
	}
	if !goodURL(c.Otel.Endpoint) {
		bad("otel.endpoint", "is not of the form http://host:4318") // it may hold a password: it is not repeated
	}
	if _, err := otlp.ParseHeaders(c.Keys.OtelHeaders.Reveal()); err != nil {
		bad(otelHeaders, "%v", err)
	}
}

// checkLinkHosts checks that hosts are names alone.
func checkLinkHosts(key string, hosts []string, bad problemReport) {
	for _, h := range hosts {
		if h == "" || strings.ContainsAny(h, "/:@*? \t\n") || strings.HasPrefix(h, ".") {
			bad(key, "%q is no host; write its name alone, such as grafana.example.com: it stands for its subdomains too", h)
		}
	}
}

// checkWords checks the language of the bot's sentences, and those in its operator's words.
func checkWords(at, language string, own map[string]string, bad problemReport) {
	if err := words.CheckLanguage(language); err != nil {
		bad(at+".language", "%v", err)
	}
	for _, key := range slices.Sorted(maps.Keys(own)) {
		if err := words.Check(words.Key(key), own[key]); err != nil {
			bad(at+".words."+key, "%v", err)
		}
	}
}

// maxPrice bounds the price of a million tokens.
const maxPrice = 1_000_000

func (c Config) checkPrices(bad problemReport) {
	for _, name := range slices.Sorted(maps.Keys(c.Model.Prices)) {
		p := c.Model.Prices[name]
		switch least, most := min(p.Input, p.Output, p.CacheRead, p.CacheWrite), max(p.Input, p.Output, p.CacheRead, p.CacheWrite); {
		case least < 0:
			bad("model.prices."+name, "must not be negative")
		case !(most <= maxPrice):
			bad("model.prices."+name, "has a price that is no number up to %d; write the price of a million tokens", maxPrice)
		}
	}
}

// IsLoopback reports whether addr is a host and port that only this machine can
// reach.
func IsLoopback(addr string) bool {
	host, port, err := net.SplitHostPort(addr)
	if err != nil || port == "" {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// agentURLs say what agent.url is, for each protocol.
var agentURLs = map[string]string{
	AgentHTTP:   "the address at which the agent is asked, such as http://localhost:9000/turn",
	AgentA2A:    "the address of the agent, below which its agent card stands, such as http://localhost:9000",
	AgentAGUI:   "the address at which the agent is run, such as http://localhost:9000/agent",
	AgentOpenAI: "the base URL of the agent's API, such as http://localhost:9000/v1",
}
