package discord

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/secret"
)

// How an answer is posted: Options.Reply.
const (
	ReplyUpdate = "update" // a placeholder, which is then edited once a second
	ReplyPost   = "post"   // the finished text
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
	Newest(ctx context.Context, s earshot.Scope, part earshot.Part, upTo earshot.Position, limit int) ([]earshot.Message, error)
	Record(ctx context.Context, s earshot.Scope, messages ...earshot.Message) ([]earshot.Recorded, error)
	React(ctx context.Context, s earshot.Scope, id earshot.MessageID, emoji string, by int) (earshot.Recorded, error)
	Channel(ctx context.Context, s earshot.Scope) (earshot.Channel, error)
	Channels(ctx context.Context) ([]earshot.ChannelInfo, error)
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
	// What others say is stored, and not answered.
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
	Thread string // default: [ThreadOff]
	Allow  Allow
	// Purge erases a channel from the store when it is deleted or the bot can no
	// longer see it, and a guild's channels when the bot is removed from it.
	Purge bool

	// Missed is called with a time in which events were lost, so that what was said
	// then can be read from history. It must not block. nil: not called.
	Missed func(from, to time.Time)
	// Acknowledged is called for each event that is durable, with the time since it
	// arrived. It must not block. nil: not called.
	Acknowledged func(after time.Duration)
	// Left is called with a channel that the bot no longer sees. nil: not called.
	Left func(ctx context.Context, s earshot.Scope) error
	// Joined is called with a guild before the first event of it is passed on. nil:
	// not called.
	Joined func(ctx context.Context, w earshot.WorkspaceID) error

	HTTPClient *http.Client      // default: one of its own, with time-outs
	Dialer     *websocket.Dialer // default: the network, by way of the environment's proxy
	Now        func() time.Time  // default: time.Now
	Jitter     func(most time.Duration) time.Duration
	Log        *slog.Logger // nil discards
}
