package discord

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/internal/settings"
	"github.com/earshot-ai/earshot/secret"
)

// How an answer is posted: Options.Reply.
const (
	ReplyUpdate = "update" // a placeholder, which is then edited once a second
	ReplyPost   = "post"   // the finished text
)

// How whoever asked learns of an answer: Options.Notify.
const (
	NotifyEdit = "edit" // by the placeholder that becomes the answer: Discord notifies nobody of an edit
	NotifyPost = "post" // the placeholder is deleted, and the answer is a reply that notifies them
)

// Where a mention at a channel's top level is answered: Options.Thread.
const (
	ThreadOff       = "off"        // below the question, as a reply
	ThreadOnMention = "on_mention" // in a thread of its own
)

// A Store is the part of an [earshot.Store] that the platform uses. The bot records
// messages and turns by itself.
type Store interface {
	Message(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.Message, error)
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
	Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error)
	Record(ctx context.Context, s earshot.Scope, messages ...earshot.Message) ([]earshot.RecordResult, error)
	React(ctx context.Context, s earshot.Scope, x earshot.ReactionEvent) (earshot.RecordResult, error)
	Range(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, from, to earshot.Position) iter.Seq2[earshot.Message, error]
	PutCoverage(ctx context.Context, s earshot.Scope, list ...earshot.Coverage) error
	Channel(ctx context.Context, s earshot.Scope) (earshot.Channel, error)
	FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error)
	PutChannel(ctx context.Context, c earshot.Channel) error
	Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error)
	PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error
	Posted(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.QueuedTurn, error)
	QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error)
	Resume(ctx context.Context, p earshot.Platform, key string) ([]byte, error)
	Erase(ctx context.Context, s earshot.Scope) error
	earshot.Notes
}

// An Allow says where the bot listens and whom it answers. An empty list allows all.
type Allow struct {
	// Channels are ids of channels, categories or threads. What is said elsewhere is
	// not stored. Direct messages are not bound by it.
	Channels []string
	// Roles and Users are ids of those who are answered: one of either is enough.
	// What others say is stored, and not answered. In direct messages nobody has a
	// role, and webhooks and bots have none anywhere.
	Roles, Users []string
}

// Options configure a platform. Token and Store are required; zero values of the
// rest mean the defaults.
type Options struct {
	APIURL     string // default: discordapi.DefaultURL
	GatewayURL string // default: as the API says
	Token      secret.Secret
	Store      Store

	Shards   int   // how many there are; 0: as many as Discord recommends
	ShardIDs []int // those of this process; none: all

	Reply  string // default: [ReplyUpdate]
	Notify string // default: [NotifyEdit]
	Thread string // default: [ThreadOff]
	Allow  Allow
	// Purge erases a channel from the store when it is deleted or the bot can no
	// longer see it, and a guild's channels when the bot is removed from it.
	Purge bool

	// Missed is called with a time in which events were lost, so that what was said
	// then can be read from history. It must not block. nil: not called.
	Missed func(from, to time.Time)
	// Up is called once all shards of this process receive events, after Missed. What
	// was said before is missed or was received by then. It must not block. nil: not
	// called.
	Up func()
	// Acknowledged is called for each event that is durable, with the time since it
	// arrived. It must not block. nil: not called.
	Acknowledged func(after time.Duration)
	// Refused is called for each delivery of an event that was not acknowledged, because
	// it could not be kept; it is handled again. It must not block. nil: it is logged.
	Refused func(err error)
	// Left is called with a channel that the bot no longer sees. nil: not called.
	Left func(ctx context.Context, s earshot.Scope) error
	// Joined is called with a guild before the first event of it is passed on. nil:
	// not called.
	Joined func(ctx context.Context, w earshot.WorkspaceID) error

	// Choose takes what somebody chose at a message of the bot, as [bot.Bot.Choose] does:
	// several at a time, beside the events, and each once, within a minute. nil: nobody
	// can choose anything.
	Choose func(ctx context.Context, c bot.Chosen) (private string, err error)
	// Command does what somebody says by a command, and returns what they alone are told:
	// several at a time, beside the events, and each once. nil: there are no commands.
	Command func(ctx context.Context, x bot.Command) (private string, err error)
	// Say returns a sentence of the bot's own as it is said in a channel, as [bot.Bot.Say] does:
	// for what people are told by the platform itself. Default: in English.
	Say func(ctx context.Context, s earshot.Scope, key string, with ...string) string

	// Reactions are the emoji, by their names, that ask the bot: who gives one to a
	// message asks, with the message as the question. Empty: none does.
	Reactions []string

	HTTPClient *http.Client      // default: one of its own, with time-outs
	Dialer     *websocket.Dialer // default: the network, by way of the environment's proxy
	Now        func() time.Time  // default: time.Now
	Jitter     func(most time.Duration) time.Duration
	Log        *slog.Logger // nil discards
}

// withDefaults returns the options with defaults, or an error that names every
// problem.
func (o Options) withDefaults() (Options, error) {
	problems := settings.Problems{Platform: earshot.Discord}
	o.APIURL = cmp.Or(o.APIURL, discordapi.DefaultURL)
	problems.API(o.APIURL, "https://host/api/v10")
	o.APIURL = strings.TrimSuffix(o.APIURL, "/")
	problems.Gateway(o.GatewayURL, "wss://host")
	if o.Token.Empty() {
		problems.Add("there is no token: set DISCORD_BOT_TOKEN to the token on the Bot page of the application (discord.com/developers)")
	}
	if flaw := o.Token.Flaw(); flaw != "" {
		problems.Add("the token %s: set it to what Discord shows, alone", flaw)
	}
	if o.Store == nil {
		problems.Add("there is no store")
	}
	if o.Shards < 0 {
		problems.Add("%d shards are not possible", o.Shards)
	}
	if len(o.ShardIDs) > 0 && o.Shards == 0 {
		problems.Add("where this process holds some of the shards only, it must be said how many there are")
	}
	for i, id := range o.ShardIDs {
		if id < 0 || o.Shards > 0 && id >= o.Shards {
			problems.Add("shard %d: of %d shards the ids are 0 to %d", id, o.Shards, o.Shards-1)
		}
		if slices.Contains(o.ShardIDs[:i], id) {
			problems.Add("shard %d is named twice", id)
		}
	}
	problems.OneOf("reply", &o.Reply, ReplyUpdate, ReplyPost)
	problems.OneOf("notify", &o.Notify, NotifyEdit, NotifyPost)
	problems.OneOf("thread", &o.Thread, ThreadOff, ThreadOnMention)
	for _, f := range []struct {
		name string
		ids  []string
	}{{"channel", o.Allow.Channels}, {"role", o.Allow.Roles}, {"user", o.Allow.Users}} {
		for _, id := range f.ids {
			if n, err := strconv.ParseUint(id, 10, 64); err != nil || n == 0 {
				problems.Add("the %s %q of the allow-list is no id: copy it in Discord with developer mode on", f.name, id)
			}
		}
	}
	settings.Outside(&o.HTTPClient, &o.Now, &o.Jitter, &o.Log)
	settings.Or(&o.Dialer, &websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: 15 * time.Second})
	settings.Hooks(o.Log, &o.Missed, &o.Acknowledged, &o.Refused, &o.Left)
	if o.Joined == nil {
		o.Joined = func(context.Context, earshot.WorkspaceID) error { return nil }
	}
	if o.Up == nil {
		o.Up = func() {}
	}
	return o, problems.Err()
}
