package slack

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/internal/settings"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/secret"
)

// DefaultAPIURL is where Slack's Web API is.
const DefaultAPIURL = slackapi.DefaultURL

// How often the app may read history: Options.Tier.
const (
	Internal    = "internal"    // apps of one workspace, and of the Marketplace
	Distributed = "distributed" // commercially distributed elsewhere: 1 request a minute, 15 messages
)

// What a read of history does when its rate is used up: Options.Overflow.
const (
	Queue   = "queue"   // it waits, as long as its context allows
	Degrade = "degrade" // it fails at once with [*slackapi.LimitedError]
)

// How an answer is posted: Options.Reply.
const (
	ReplyUpdate = "update" // a placeholder, which is then updated
	ReplyStream = "stream" // Slack's streaming calls
	ReplyPost   = "post"   // the finished text
)

// A Store is the part of an [earshot.Store] that the platform uses. The bot records
// messages and turns by itself.
type Store interface {
	Message(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.Message, error)
	Record(ctx context.Context, s earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error)
	React(ctx context.Context, s earshot.Scope, x earshot.ReactionEvent) (earshot.RecordResult, error)
	Reactors(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) (map[earshot.MessageID][]earshot.Reactor, error)
	Channel(ctx context.Context, s earshot.Scope) (earshot.Channel, error)
	FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error)
	PutChannel(ctx context.Context, c earshot.Channel) error
	Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error)
	PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error
	Erase(ctx context.Context, s earshot.Scope) error
	MoveChannel(ctx context.Context, from earshot.Scope, to earshot.ChannelID) error
	TokenStore
}

// Allow says who is answered. Empty lists allow everybody.
type Allow struct {
	// Users are ids of people and of other bots, Groups those of user groups whose members
	// are allowed: one of either is enough. What others say is stored, and not answered.
	Users, Groups []string
}

// Options configure a platform. BotToken and Store are required, and SigningSecrets for
// [Platform.Handler] or AppToken for [Platform.Listen]; zero values of the rest mean
// the defaults.
type Options struct {
	APIURL   string        // default: [DefaultAPIURL]
	BotToken secret.Secret // not needed with Rotation
	Rotation Rotation      // of an app whose tokens end
	// Workspace is the one in which the token was made, where that is known, as of an
	// [Installation]; [Platform.Enter] refuses a token of another. "": the token says.
	Workspace      earshot.WorkspaceID
	AppToken       secret.Secret
	SigningSecrets []secret.Secret // of which one must fit; two during a rotation
	Store          Store

	// Rates are where all processes of the app and workspace book their calls.
	// nil: this process is the only one.
	Rates slackapi.Rates

	Tier     string // default: [Internal]
	Overflow string // default: [Queue]
	Reply    string // default: [ReplyUpdate]
	// Purge erases a channel from the store when the bot is removed from it, and all
	// channels when the app is uninstalled. Otherwise they stay.
	Purge bool
	// Confirm is after what time Slack must confirm that the bot is gone before
	// anything is erased. Default: a minute.
	Confirm time.Duration

	// NoGroups does not take the mention of a user group that has the bot as a member for
	// a mention of the bot.
	NoGroups bool

	Allow Allow // who is answered

	// AgentView says that the app's manifest has agent_view: every message of a
	// person at the top level of a DM begins a thread. It need not be set, because
	// the first event that only such apps get shows it too.
	AgentView bool

	// Sockets is how many connections Listen holds, at most 10. Default: 2.
	Sockets int
	// Missed is called with a time in which no socket was up, so that what was said
	// then can be read from history. It must not block. nil: not called.
	Missed func(from, to time.Time)
	// Acknowledged is called for each event that was acknowledged, with the time
	// since it arrived. It must not block. nil: not called.
	Acknowledged func(after time.Duration)
	// Refused is called for each delivery of an event that was not acknowledged, because
	// it could not be kept; Slack sends it again. It must not block. nil: it is logged.
	Refused func(err error)
	// Left is called with a channel that the bot is no longer a member of. After an
	// error the event comes again. nil: not called.
	Left func(ctx context.Context, s earshot.Scope) error
	// Moved is called with a channel that has another id now, once what is stored of it
	// is moved, and before Left is called with the old one. After an error the event
	// comes again. nil: not called.
	Moved func(ctx context.Context, from earshot.Scope, to earshot.ChannelID) error

	// Uninstalled is called once Slack has said twice, with Confirm between, that the app was
	// removed from the workspace, and Purge does not count for that. After an error it is
	// called again. nil: all channels are left, and erased with Purge.
	Uninstalled func(ctx context.Context) error

	// Choose is called with what somebody chose at a message of ours, once each time they
	// click or send a form, and returns once that is durable, within 2.5 s: Slack waits for
	// three. What it returns only they see; after an error they are told to try again. Who
	// Allow does not name is told so, and Choose is not called. nil: nothing is stored, which they are told.
	Choose func(ctx context.Context, c bot.Chosen) (private string, err error)
	// Welcome says in one sentence, when the bot is added to a channel, what it records there.
	// Prompts are questions that Slack offers who opens its direct messages: the first four.
	Welcome bool
	Prompts []string
	// Command is called with what somebody did by the app's slash command, or at its page, and
	// returns within 2.5 s what they alone are told. Who Allow does not name is told so, and
	// Command is not called. nil: there are no commands, which they are told.
	Command func(ctx context.Context, x bot.Command) (private string, err error)
	// Say returns a sentence of the bot's own as it is said in a channel, as [bot.Bot.Say] does:
	// for what people are told by the platform itself. Default: in English.
	Say func(ctx context.Context, s earshot.Scope, key string, with ...string) string

	// Reactions are the emoji, by their names, that ask the bot: who gives one to a
	// message asks, with the message as the question. Empty: none does.
	Reactions []string

	HTTPClient *http.Client     // default: one of its own, with time-outs
	Dial       Dial             // opens the connections of sockets; nil: the network, by way of the environment's proxy
	Now        func() time.Time // default: time.Now
	// Jitter returns a random time below most, which is above 0. Waits grow by
	// it. Default: random.
	Jitter func(most time.Duration) time.Duration
	Log    *slog.Logger // nil discards
}

// installed returns the token that the installation gave: the same at each start. Of a
// workspace that is known it is the workspace's id, whose note is found without a token.
func (o Options) installed() secret.Secret {
	if o.Workspace != "" {
		return secret.New("workspace " + string(o.Workspace))
	}
	if o.Rotation.on() {
		return o.Rotation.RefreshToken
	}
	return o.BotToken
}

// A Dial opens a network connection, as [net.Dialer.DialContext] does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// withDefaults returns the options with defaults, or an error that names every
// problem.
func (o Options) withDefaults() (Options, error) {
	problems := settings.Problems{Platform: earshot.Slack}
	o.APIURL = cmp.Or(o.APIURL, DefaultAPIURL)
	problems.API(o.APIURL, "https://host/api/")
	if !strings.HasSuffix(o.APIURL, "/") {
		o.APIURL += "/"
	}
	switch r := o.Rotation; {
	case r.on() && (r.ClientID.Empty() || r.ClientSecret.Empty()):
		problems.Add("a refresh token needs the app's client id and secret: set SLACK_CLIENT_ID and SLACK_CLIENT_SECRET")
	case !r.on() && o.BotToken.Empty():
		problems.Add("there is no bot token: set SLACK_BOT_TOKEN to the Bot User OAuth Token (xoxb-…) of the app")
	}
	for _, s := range []secret.Secret{o.BotToken, o.AppToken, o.Rotation.ClientID, o.Rotation.ClientSecret, o.Rotation.RefreshToken} {
		if flaw := s.Flaw(); flaw != "" {
			problems.Add("a token %s: set it to what Slack shows, alone", flaw)
		}
	}
	if o.Store == nil {
		problems.Add("there is no store")
	}
	if len(o.SigningSecrets) > 2 {
		problems.Add("%d signing secrets are too many: two during a rotation, one otherwise", len(o.SigningSecrets))
	}
	problems.OneOf("tier", &o.Tier, Internal, Distributed)
	problems.OneOf("overflow", &o.Overflow, Queue, Degrade)
	problems.OneOf("reply", &o.Reply, ReplyUpdate, ReplyStream, ReplyPost)
	o.Sockets = cmp.Or(o.Sockets, 2)
	if o.Sockets < 0 || o.Sockets > maxSockets {
		problems.Add("%d sockets: 1 to %d are possible", o.Sockets, maxSockets)
	}
	if o.Confirm <= 0 {
		o.Confirm = time.Minute
	}
	settings.Outside(&o.HTTPClient, &o.Now, &o.Jitter, &o.Log)
	settings.Hooks(o.Log, &o.Missed, &o.Acknowledged, &o.Refused, &o.Left)
	if o.Moved == nil {
		o.Moved = func(context.Context, earshot.Scope, earshot.ChannelID) error { return nil }
	}
	return o, problems.Err()
}

// maxSockets is how many connections Slack allows an app.
const maxSockets = 10
