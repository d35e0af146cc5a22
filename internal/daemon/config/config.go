// Package config holds the settings of the bot: one struct, read from a YAML file
// and from the environment, which wins.
//
//	c, err := config.Load("earshot.yaml", os.Environ())
//
// Start with [Config] and [Default], which holds every default. [Load] reports
// every problem at once, each with its key and what to do about it. Secrets
// come from the environment, or from files that it names, and never from the
// YAML file. docs/configuration.md is generated from the struct's tags.
package config

import (
	"cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/secret"
	"github.com/earshot-ai/earshot/summarize"
)

// A Config holds all settings. The tags are the keys of the YAML file (yaml), the
// variables that override them (env), the documentation (doc), and which are taken up while
// the bot runs (live).
type Config struct {
	Agent     Agent     `yaml:"agent" doc:"who the bot is"`
	Store     string    `yaml:"store" env:"EARSHOT_DB" doc:"the database: a path, sqlite:PATH, postgres://…, host=… dbname=… or memory:. Empty: a file in your data directory."`
	Platform  string    `yaml:"platform" env:"EARSHOT_PLATFORM" doc:"the platform that the bot is on: local, slack or discord."`
	Policy    string    `yaml:"policy" env:"EARSHOT_POLICY" doc:"how a prompt is made: a built-in policy's name, or a policy file."`
	Counter   string    `yaml:"counter" env:"EARSHOT_COUNTER" doc:"how tokens are counted: auto (o200k, times a factor that is learned for each model from what its provider reports), o200k, bytes4, or o200k times a factor of your own, as in o200k*1.15."`
	Budget    Budget    `yaml:"budget" doc:"tokens of a prompt"`
	Context   Context   `yaml:"context" doc:"what a prompt shows besides messages, and whose words"`
	Answer    Answer    `yaml:"answer" doc:"what is answered besides mentions and direct messages"`
	Links     Links     `yaml:"links" doc:"links in answers"`
	Channels  []Rule    `yaml:"channels" live:"yes" doc:"rules: what holds in some channels in place of what holds in all; see channels.md. A list of {match, instructions, instructions_only, policy, budget, answer, limits, tools, may_ask, hosts, may_mention}, of which the first holds whose match does. A block by channel id, as in {C0123: {may_mention: thread}}, is the same as rules for these ids, in the order of the ids."`
	Limits    Limits    `yaml:"limits" doc:"the limits of one turn, and of a day"`
	Lease     Lease     `yaml:"lease" doc:"how replicas share conversations"`
	Model     Model     `yaml:"model" doc:"which model answers"`
	Summary   Summary   `yaml:"summary" doc:"summaries of long conversations; see memory.md"`
	Search    Search    `yaml:"search" doc:"search, and by meaning besides words; see embeddings.md"`
	Tools     Tools     `yaml:"tools" doc:"what the bot can do besides reading its channel; see tools-of-your-own.md"`
	Approve   Approvals `yaml:"approve" doc:"who agrees before a tool changes something; see approvals.md"`
	Local     Local     `yaml:"local" doc:"the platform without a network"`
	Slack     Slack     `yaml:"slack" doc:"the bot on Slack; see slack.md"`
	Discord   Discord   `yaml:"discord" doc:"the bot on Discord; see discord.md"`
	Retention Retention `yaml:"retention" doc:"how long messages are kept; see retention.md"`
	API       API       `yaml:"api" doc:"the HTTP API for bots in any language; see http.md"`
	Inspect   Inspect   `yaml:"inspect" doc:"the web page that shows what the model saw; see inspector.md"`
	Health    Health    `yaml:"health" doc:"probes and metrics; see operations.md"`
	Otel      Otel      `yaml:"otel" doc:"traces and metrics for a collector of OpenTelemetry; see observability.md"`
	Log       Log       `yaml:"log" doc:"the log"`
	Keys      Keys      `yaml:"-"`

	// Gone are variables that are set and were settings once, each with what holds now.
	// They count for nothing, and do not keep a bot from starting.
	Gone []string `yaml:"-"`

	// Fault names a point at which the process kills itself, for tests of what
	// survives it.
	Fault string `yaml:"-" env:"EARSHOT_FAULT"`
	// Clock names a file that says by how much this machine's clock is off, for tests of
	// replicas whose clocks differ.
	Clock string `yaml:"-" env:"EARSHOT_CLOCK"`
}

// CounterAuto is the counter that is learned.
const CounterAuto = "auto"

// An Agent is who the bot is.
type Agent struct {
	ID           string   `yaml:"id" env:"EARSHOT_AGENT_ID" doc:"its user id on the platform."`
	Name         string   `yaml:"name" env:"EARSHOT_AGENT_NAME" doc:"what people call it; a mention is @ and this name."`
	Aliases      []string `yaml:"aliases" env:"EARSHOT_AGENT_ALIASES" doc:"further ids that are the bot's own."`
	Instructions string   `yaml:"instructions" live:"yes" env:"EARSHOT_INSTRUCTIONS" doc:"your own system text. No text from chat is ever put into it."`
	Kind         string   `yaml:"kind" env:"EARSHOT_AGENT_KIND" doc:"what answers: model; or an agent of your own at agent.url, by a protocol: http, a2a (Agent2Agent), ag-ui, or openai (its API, behind which is an agent). See agents.md."`
	URL          string   `yaml:"url" env:"EARSHOT_AGENT_URL" doc:"where an agent of your own is asked; for a2a the address below which its agent card stands, or that of the card; for openai the base URL, to which chat/completions is appended, or one that ends in /responses."`
	History      string   `yaml:"history" env:"EARSHOT_AGENT_HISTORY" doc:"ours: an agent of your own is sent each conversation as far as it goes, as a model is. theirs: it keeps its own history, and is sent what is new."`
}

// What answers, and who keeps a conversation's history for an agent.
const (
	AgentModel    = "model"
	AgentHTTP     = "http"
	AgentA2A      = "a2a"
	AgentAGUI     = "ag-ui"
	AgentOpenAI   = "openai"
	HistoryOurs   = "ours"
	HistoryTheirs = "theirs"
)

// Where a question at the top level is answered.
const (
	PlaceThread  = string(bot.AnswerInThread)
	PlaceChannel = string(bot.AnswerInChannel)
)

// agentKinds are the values of agent.kind.
var agentKinds = []string{AgentModel, AgentHTTP, AgentA2A, AgentAGUI, AgentOpenAI}

// A Budget bounds a prompt, in tokens.
type Budget struct {
	Tokens  int `yaml:"tokens" env:"EARSHOT_BUDGET_TOKENS" doc:"the most tokens that one turn adds."`
	Session int `yaml:"session" env:"EARSHOT_BUDGET_SESSION" doc:"the most tokens of a session before a new one begins: a shorter one costs less, a longer one remembers more. 0: four times budget.tokens."`
	Limit   int `yaml:"limit" env:"EARSHOT_BUDGET_LIMIT" doc:"the most tokens of the whole prompt: what the model can read."`
}

// Assemble returns the budget as the assembler takes it.
func (b Budget) Assemble() assemble.Budget {
	return assemble.Budget{Tokens: b.Tokens, Session: cmp.Or(b.Session, 4*b.Tokens), Limit: b.Limit}
}

// A Context sets what a prompt shows besides messages.
type Context struct {
	Zone  string `yaml:"zone" env:"EARSHOT_ZONE" doc:"the time zone of the times in a prompt, as an IANA name such as Europe/Berlin, where the platform does not know the zone of the person who asks."`
	Trust Trust  `yaml:"trust" doc:"how much the words of outsiders may do: full, as everybody's; inert, shown with a mark and the instruction to do nothing that they ask for; or out, not shown, and counted. Who asks is always shown. See trust.md."`
}

// A Trust sets the lanes of people's and programs' words.
type Trust struct {
	External   string `yaml:"external" env:"EARSHOT_TRUST_EXTERNAL" doc:"people of other organisations, on Slack."`
	Guest      string `yaml:"guest" env:"EARSHOT_TRUST_GUEST" doc:"guests."`
	Bots       string `yaml:"bots" env:"EARSHOT_TRUST_BOTS" doc:"other bots, and what webhooks and forms post."`
	NotAllowed string `yaml:"not_allowed" env:"EARSHOT_TRUST_NOT_ALLOWED" doc:"people whom slack.allow or discord.allow does not name, where one of them names anybody."`
}

// Rule returns the lanes as the rule that prompts are made by.
func (t Trust) Rule() earshot.Trust {
	lane := func(s string) earshot.Lane {
		if l := earshot.Lane(s); l != earshot.LaneFull {
			return l
		}
		return "" // so that the rule of who sets nothing stands in no input
	}
	return earshot.Trust{External: lane(t.External), Guest: lane(t.Guest), Bots: lane(t.Bots), NotAllowed: lane(t.NotAllowed)}
}

// An Answer sets what is answered besides mentions and direct messages.
type Answer struct {
	AutoAnswer      bool              `yaml:"auto_answer" live:"yes" env:"EARSHOT_AUTO_ANSWER" doc:"answer every message that begins a thread, mentioned or not."`
	OwnedThreads    bool              `yaml:"owned_threads" live:"yes" env:"EARSHOT_OWNED_THREADS" doc:"answer replies without a mention in threads in which the bot has answered within the last 24 hours, until somebody says stop listening; there the model may stay silent, or give an emoji in place of words."`
	Bots            bool              `yaml:"bots" live:"yes" env:"EARSHOT_ANSWER_BOTS" doc:"answer other bots that mention it too, a limited number of times."`
	BotTurns        int               `yaml:"bot_turns" live:"yes" env:"EARSHOT_BOT_TURNS" doc:"how many turns other bots may have within answer.bot_minutes in one conversation, and one bot in one channel."`
	BotMinutes      int               `yaml:"bot_minutes" live:"yes" env:"EARSHOT_BOT_MINUTES" doc:"over how many minutes answer.bot_turns and answer.form_turns count."`
	Forms           bool              `yaml:"forms" live:"yes" env:"EARSHOT_ANSWER_FORMS" doc:"answer a workflow's form that mentions it as if a person had asked, on Slack: what Workflow Builder or a webhook posts."`
	FormTurns       int               `yaml:"form_turns" live:"yes" env:"EARSHOT_FORM_TURNS" doc:"how many turns one form may have within answer.bot_minutes in one channel."`
	Groups          bool              `yaml:"groups" env:"EARSHOT_ANSWER_GROUPS" doc:"answer a mention of a user group that the bot is in as a mention of the bot, on Slack."`
	Reactions       []string          `yaml:"reactions" env:"EARSHOT_ANSWER_REACTIONS" doc:"emoji that ask it: who gives one to a message asks, with the message as the question, once for a message. On Slack names such as eyes, on Discord the emoji itself or the name of the server's own."`
	Ambient         string            `yaml:"ambient" live:"yes" env:"EARSHOT_ANSWER_AMBIENT" doc:"whether it reads along in the channels of answer.ambient_channels, and a model decides about what people say to nobody: off, react (it may give an emoji) or speak (and answer). An error or a doubt is silence."`
	AmbientChannels []string          `yaml:"ambient_channels" live:"yes" env:"EARSHOT_AMBIENT_CHANNELS" doc:"the ids of the channels where it reads along."`
	AmbientHourly   int               `yaml:"ambient_hourly" live:"yes" env:"EARSHOT_AMBIENT_HOURLY" doc:"how many answers and emoji it gives within an hour in one channel where it reads along. The model that decides is asked ten times as often at most."`
	AmbientModel    string            `yaml:"ambient_model" env:"EARSHOT_AMBIENT_MODEL" doc:"the model that decides there, a cheap one of model.provider. Empty: the model that answers."`
	EditMinutes     int               `yaml:"edit_minutes" live:"yes" env:"EARSHOT_EDIT_MINUTES" doc:"for how many minutes after a message was posted an edit that adds a mention of the bot asks it, once. 0: no edit asks."`
	Each            bool              `yaml:"each" live:"yes" env:"EARSHOT_ANSWER_EACH" doc:"answer each of several messages that arrive while a turn runs. Otherwise the last one is answered, and the model reads the others with it."`
	FreshMinutes    int               `yaml:"fresh_minutes" env:"EARSHOT_FRESH_MINUTES" doc:"how old a message may be, in minutes, to be answered after a downtime; older ones are stored and not answered."`
	AwayNotice      bool              `yaml:"away_notice" env:"EARSHOT_AWAY_NOTICE" doc:"tell a person whose question of the last 24 hours was too old to be answered, at most once an hour and channel: on Slack in a line that only they see, on Discord by an emoji at the question."`
	PreviewWait     float64           `yaml:"preview_wait" live:"yes" env:"EARSHOT_PREVIEW_WAIT" doc:"how long, in seconds after it was said, a question with a link waits for the link's preview, which Slack and Discord send a moment later; 0 does not wait."`
	PostMinutes     int               `yaml:"post_minutes" env:"EARSHOT_POST_MINUTES" doc:"how long, in minutes, a finished answer waits for a platform that accepts no posts; after that the turn has failed."`
	MayMention      string            `yaml:"may_mention" live:"yes" env:"EARSHOT_MAY_MENTION" doc:"whom an answer may mention, by @ and a name: asker, thread (and who wrote in the thread, or what the question replies to) or channel (and who wrote what the model was shown). Everybody else is a name there; bots, groups and everybody at once are never mentioned."`
	Place           string            `yaml:"place" live:"yes" env:"EARSHOT_ANSWER_PLACE" doc:"where a question at a channel's top level is answered: thread or channel. Empty: on Slack in a thread, on Discord as discord.thread says."`
	Language        string            `yaml:"language" live:"yes" env:"EARSHOT_LANGUAGE" doc:"the language of the bot's own sentences, such as its apologies and its buttons: en, de, es, fr, ja or pt. Answers are in whatever language the model answers."`
	Words           map[string]string `yaml:"words" live:"yes" doc:"sentences of the bot's own in your words, by their keys, which language.md lists."`
	Forget          bool              `yaml:"forget" live:"yes" env:"EARSHOT_ANSWER_FORGET" doc:"whether a person may have the bot erase what they said, by the command forget, in all channels of their workspace."`
	Cite            bool              `yaml:"cite" live:"yes" env:"EARSHOT_ANSWER_CITE" doc:"let the model cite messages that it was shown: the answer links to them, on Slack and Discord."`
	WhileWaiting    string            `yaml:"while_waiting" env:"EARSHOT_WHILE_WAITING" doc:"what becomes of later questions of a conversation while a person is asked whether a tool may act: answer them, or hold them until that is decided, where approve.expire_minutes is at most 120."`
	Feedback        string            `yaml:"feedback" env:"EARSHOT_FEEDBACK" doc:"how people say what they think of an answer, which earshot feedback lists: reactions (a thumb up or down that they give it), buttons (below each answer, and a field for words; reactions count too) or off."`
	Ask             []string          `yaml:"ask" live:"yes" env:"EARSHOT_ANSWER_ASK" doc:"the ids of the channels where the model may ask who asked it, and wait for the answer as long as approve.expire_minutes says, twice for a question at most; \"*\" is everywhere."`
	SendFile        []string          `yaml:"send_file" live:"yes" env:"EARSHOT_ANSWER_SEND_FILE" doc:"the ids of the channels where the model may send files of text beside its answer, two for a question at most; \"*\" is everywhere. Slack needs the scope files:write for it, Discord the permission Attach Files."`
	Parallel        int               `yaml:"parallel" env:"EARSHOT_PARALLEL" doc:"how many conversations are answered at the same time. Those that wait for the platform are not counted; there may be three times as many of them."`
}

// Approvals set who agrees to calls of tools that need a person's yes.
type Approvals struct {
	By            []string `yaml:"by" env:"EARSHOT_APPROVE_BY" doc:"who may agree: asker (who asked the question), members (everybody in the channel), and ids of people, of user groups on Slack and of roles on Discord."`
	ExpireMinutes int      `yaml:"expire_minutes" env:"EARSHOT_APPROVE_MINUTES" doc:"for how many minutes somebody may agree. After that the call is not made."`
}

// Links sets which links of an answer are links.
type Links struct {
	Hosts []string `yaml:"hosts" live:"yes" env:"EARSHOT_LINK_HOSTS" doc:"hosts to which the links in an answer stay links, with their subdomains, such as grafana.example.com. A link that somebody wrote in what the model was shown stays one too; every other address is shown as code."`
}

// Limits bound one turn, and what models use on a day.
type Limits struct {
	Day            DayLimits `yaml:"day" doc:"what models may use on a day"`
	Rounds         int       `yaml:"rounds" env:"EARSHOT_ROUNDS" doc:"the most rounds of tool calls."`
	Seconds        int       `yaml:"seconds" env:"EARSHOT_SECONDS" doc:"the most seconds from claiming a turn to its answer."`
	MaxTokens      int       `yaml:"max_tokens" env:"EARSHOT_MAX_TOKENS" doc:"the most tokens of one answer of the model."`
	HistorySeconds int       `yaml:"history_seconds" env:"EARSHOT_HISTORY_SECONDS" doc:"the most seconds that a turn waits for history which is not stored yet; the prompt says what is not there in time, and it is fetched in the background."`
}

// A Lease sets how replicas share conversations.
type Lease struct {
	Seconds int `yaml:"seconds" env:"EARSHOT_LEASE_SECONDS" doc:"after how many seconds without a heartbeat the conversations of a replica are taken over."`
}

// A Model sets which model answers.
type Model struct {
	Provider string           `yaml:"provider" env:"EARSHOT_MODEL_PROVIDER" doc:"anthropic, gemini, openai (or any server with its API) or offline. Empty: the first whose key or base URL is set, else offline, which on Slack and Discord must be asked for by name."`
	Name     string           `yaml:"name" env:"EARSHOT_MODEL" doc:"the model's name at its provider. Empty: the provider's general model, which earshot models names. It changes between versions of Earshot, because providers shut models down; set a name to keep a model. With agent.kind openai: the model that the agent is asked for; empty: agent."`
	BaseURL  string           `yaml:"base_url" env:"EARSHOT_MODEL_BASE_URL" doc:"the base URL of the provider's API, such as that of a gateway or of your own server. Empty: the provider's own variable, else the provider."`
	Fallback Fallback         `yaml:"fallback" doc:"the model that is asked when the first one fails"`
	Prices   map[string]Price `yaml:"prices" doc:"by model name: the price of a million tokens (input, output, cache_read, cache_write), in a currency of your choice, for earshot costs."`
}

// A Fallback is the model that is asked when the first one fails. Without a
// provider there is none.
type Fallback struct {
	Provider string `yaml:"provider" env:"EARSHOT_FALLBACK_PROVIDER" doc:"as model.provider. Empty: no fallback."`
	Name     string `yaml:"name" env:"EARSHOT_FALLBACK_MODEL" doc:"as model.name."`
	BaseURL  string `yaml:"base_url" env:"EARSHOT_FALLBACK_BASE_URL" doc:"as model.base_url."`
}

// A Summary sets how long conversations are summarised between turns. Without a
// provider no model is asked.
type Summary struct {
	Provider string `yaml:"provider" env:"EARSHOT_SUMMARY_PROVIDER" doc:"the provider of the model that summarises, a cheap one: anthropic, gemini or openai (or any server with its API). Empty: no model is asked, and a summary is a digest of what stands in the messages."`
	Name     string `yaml:"name" env:"EARSHOT_SUMMARY_MODEL" doc:"as model.name."`
	BaseURL  string `yaml:"base_url" env:"EARSHOT_SUMMARY_BASE_URL" doc:"as model.base_url."`
	Turns    int    `yaml:"turns" env:"EARSHOT_SUMMARY_TURNS" doc:"a conversation is summarised, the older half of it, once it has more turns than this after its summary. A long turn counts as several, one for each 500 tokens or so."`
}

// Search sets how messages are found.
type Search struct {
	MemoryMB   int        `yaml:"memory_mb" env:"EARSHOT_SEARCH_MB" doc:"the most megabytes of the search indexes that the process keeps in memory, about 3,000 messages each. The channels that were not searched for longest leave it; their next search builds their index again, which takes about half a second for 100,000 messages."`
	Embeddings Embeddings `yaml:"embeddings" doc:"a server that turns texts into vectors by their meaning"`
}

// Embeddings set which model encodes messages and questions. Without one nothing is
// encoded, and search goes by words.
type Embeddings struct {
	URL        string `yaml:"url" env:"EARSHOT_EMBEDDINGS_URL" doc:"the base URL of a server with OpenAI's API of embeddings: what stands before /embeddings, such as http://127.0.0.1:11434/v1 for Ollama. It reads the text of the channels that are searched. Empty: OPENAI_BASE_URL, else OpenAI, with OPENAI_API_KEY."`
	Model      string `yaml:"model" env:"EARSHOT_EMBEDDINGS_MODEL" doc:"the model that encodes, such as nomic-embed-text or text-embedding-3-small. Empty: none. Where it is changed, messages are encoded anew."`
	Dimensions int    `yaml:"dimensions" env:"EARSHOT_EMBEDDINGS_DIMENSIONS" doc:"how many numbers a vector has, of models that can shorten theirs: a message takes as many bytes in the store. 0: as many as the model makes."`
}

// A Price is the price of a million tokens.
type Price struct {
	Input      float64 `yaml:"input" json:"input" doc:"tokens that are not read from the cache"`
	Output     float64 `yaml:"output" json:"output" doc:"tokens of answers"`
	CacheRead  float64 `yaml:"cache_read" json:"cache_read" doc:"tokens that are read from the provider's cache"`
	CacheWrite float64 `yaml:"cache_write" json:"cache_write" doc:"tokens that are written to it"`
}

// A Local sets up the platform without a network.
type Local struct {
	Listen      string `yaml:"listen" env:"EARSHOT_LOCAL_LISTEN" doc:"a loopback address for the HTTP front, such as 127.0.0.1:8484. Empty: the terminal only."`
	Placeholder bool   `yaml:"placeholder" env:"EARSHOT_LOCAL_PLACEHOLDER" doc:"post a placeholder before the model is asked, and replace it by the answer. Otherwise the answer is posted once it is complete."`
}

// A Health sets where probes and metrics are served.
type Health struct {
	Listen string `yaml:"listen" env:"EARSHOT_HEALTH" doc:"an address, such as 127.0.0.1:9464, for /healthz, /readyz and /metrics (Prometheus). They have no authentication: do not expose the address to the internet. Empty: they are not served there."`
}

// An Otel sets what is sent to a collector of OpenTelemetry. Without an endpoint nothing
// is.
type Otel struct {
	Endpoint string `yaml:"endpoint" env:"OTEL_EXPORTER_OTLP_ENDPOINT" doc:"the base URL of a collector that takes OTLP over HTTP, such as http://127.0.0.1:4318; /v1/traces and /v1/metrics are appended. Empty: nothing is sent."`
	Content  bool   `yaml:"content" env:"EARSHOT_OTEL_CONTENT" doc:"put into the traces what people and the model wrote: prompts, answers, arguments of tools. Whoever reads the traces reads the chat, and a deletion in the chat does not reach them."`
	Service  string `yaml:"service" env:"OTEL_SERVICE_NAME" doc:"what this bot is called among the services there."`
}

// A Log sets what is logged, and how.
type Log struct {
	Level  string `yaml:"level" env:"EARSHOT_LOG_LEVEL" doc:"debug, info, warn or error. Text of messages is logged at debug only."`
	Format string `yaml:"format" env:"EARSHOT_LOG_FORMAT" doc:"text or json."`
}

// Keys are read from the environment only. Each secret may also be in a file: the
// variable with _FILE appended to its name holds the path.
type Keys struct {
	Providers map[string]ProviderKey // by the provider's name; those of which a variable is set

	AgentKey secret.Secret `env:"EARSHOT_AGENT_KEY" doc:"what is sent to the agent at agent.url as a bearer token, where it needs one."`

	LocalToken secret.Secret `env:"EARSHOT_LOCAL_TOKEN" doc:"the token that callers of the local HTTP front must send. Empty: one is generated and printed at each start."`

	InspectToken secret.Secret `env:"EARSHOT_INSPECT_TOKEN" doc:"the token that opens the inspector as an operator who sees everything, at least 16 characters. Empty: one is generated and printed at each start."`

	EmbeddingsKey secret.Secret `env:"EARSHOT_EMBEDDINGS_KEY" doc:"the key of the server at search.embeddings.url, where it needs one."`

	OtelHeaders secret.Secret `env:"OTEL_EXPORTER_OTLP_HEADERS" doc:"headers for the collector at otel.endpoint, such as Authorization=Bearer%20KEY: name=value, divided by commas, the values percent-encoded."`

	SlackBotToken         secret.Secret `env:"SLACK_BOT_TOKEN" doc:"the app's bot token, xoxb-…. Not needed with SLACK_REFRESH_TOKEN."`
	SlackRefreshToken     secret.Secret `env:"SLACK_REFRESH_TOKEN" doc:"of an app with token rotation: the refresh token, xoxe-1-…, that the installation gave. Later ones are kept in the store, encrypted."`
	SlackClientID         secret.Secret `env:"SLACK_CLIENT_ID" doc:"the app's client id, with SLACK_REFRESH_TOKEN or slack.install.url."`
	SlackClientSecret     secret.Secret `env:"SLACK_CLIENT_SECRET" doc:"its client secret, likewise. The kept tokens are encrypted with it."`
	SlackAppToken         secret.Secret `env:"SLACK_APP_TOKEN" doc:"its app-level token, xapp-…, for Socket Mode."`
	SlackSigningSecret    secret.Secret `env:"SLACK_SIGNING_SECRET" doc:"its signing secret, for events by HTTP."`
	SlackSigningSecretOld secret.Secret `env:"SLACK_SIGNING_SECRET_OLD" doc:"the previous signing secret, while it is being replaced; both are valid."`

	TokenKey    secret.Secret `env:"EARSHOT_TOKEN_KEY" doc:"with slack.install.url: encrypts the tokens of the workspaces that install the app; 32 random bytes in base64 or hexadecimal digits, as openssl rand -base64 32 prints them. Keep it apart from the database."`
	TokenKeyOld secret.Secret `env:"EARSHOT_TOKEN_KEY_OLD" doc:"the previous one, for one start after it was replaced: what it has encrypted is encrypted anew."`

	DiscordBotToken secret.Secret `env:"DISCORD_BOT_TOKEN" doc:"the token of the application's bot."`
}

// A ProviderKey is what the environment has of a provider of models.
type ProviderKey struct {
	Key secret.Secret
	URL string // another base URL; "" is the provider's own
}

// Default returns the configuration with every default.
func Default() Config {
	b := assemble.DefaultBudget()
	return Config{
		Agent:     Agent{ID: "earshot", Name: "earshot", Kind: AgentModel, History: HistoryOurs},
		Platform:  PlatformLocal,
		Policy:    assemble.Standard().Name,
		Counter:   CounterAuto,
		Budget:    Budget{Tokens: b.Tokens, Limit: b.Limit},
		Context:   Context{Zone: "UTC", Trust: Trust{External: "full", Guest: "full", Bots: "full", NotAllowed: "full"}},
		Answer:    Answer{BotTurns: 3, BotMinutes: 10, Forms: true, FormTurns: 20, Groups: true, Ambient: AmbientOff, AmbientHourly: 3, EditMinutes: 5, FreshMinutes: 10, AwayNotice: true, PreviewWait: 1.5, PostMinutes: 15, MayMention: MentionAsker, WhileWaiting: WaitingAnswer, Feedback: FeedbackReactions, Language: words.English, Forget: true, Parallel: 64},
		Approve:   Approvals{By: []string{bot.ApproveAsker}, ExpireMinutes: 60},
		Limits:    Limits{Rounds: 8, Seconds: 120, MaxTokens: 4096, HistorySeconds: 3},
		Search:    Search{MemoryMB: 256},
		Tools:     Tools{Budget: 4000},
		Lease:     Lease{Seconds: 7},
		Summary:   Summary{Turns: summarize.DefaultTurns},
		Slack:     defaultSlack(),
		Discord:   defaultDiscord(),
		Retention: Retention{Days: KeepForever},
		API:       defaultAPI(),
		Otel:      Otel{Service: "earshot"},
		Log:       Log{Level: "info", Format: "text"},
	}
}
