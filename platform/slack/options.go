package slack

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/secret"
)

// DefaultAPIURL is where Slack's Web API is.
const DefaultAPIURL = slackapi.DefaultURL

// What an app may ask of history: Options.Tier.
const (
	Internal    = "internal"    // apps of one workspace, and of the Marketplace
	Distributed = "distributed" // sold elsewhere: 1 request a minute, 15 objects
)

// What becomes of a read of history over its limit: Options.Overflow.
const (
	Queue   = "queue"   // it waits, as long as its context allows
	Degrade = "degrade" // it fails at once with [*slackapi.LimitedError]
)

// How an answer appears: Options.Reply.
const (
	ReplyUpdate = "update" // a placeholder, then its change
	ReplyStream = "stream" // Slack's streaming calls
	ReplyPost   = "post"   // the finished text
)

// A Store is what the platform reads and writes of a store besides what the
// bot records.
type Store interface {
	Message(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.Message, error)
	Record(ctx context.Context, s earshot.Scope, messages ...earshot.Message) ([]earshot.Recorded, error)
	React(ctx context.Context, s earshot.Scope, id earshot.MessageID, emoji string, by int) (earshot.Recorded, error)
	Channel(ctx context.Context, s earshot.Scope) (earshot.Channel, error)
	Channels(ctx context.Context) ([]earshot.ChannelInfo, error)
	PutChannel(ctx context.Context, c earshot.Channel) error
	Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error)
	PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error
	Erase(ctx context.Context, s earshot.Scope) error
	earshot.Notes
}

// Options are what a platform is made of. BotToken and Store are required, and
// SigningSecrets for [Platform.Handler] or AppToken for [Platform.Listen]; zero
// values of the rest mean the defaults.
type Options struct {
	APIURL         string // default: [DefaultAPIURL]
	BotToken       secret.Secret
	AppToken       secret.Secret
	SigningSecrets []secret.Secret // two during a rotation
	Store          Store

	// Rates are where all processes of the app and workspace book their calls.
	// nil: this process is the only one.
	Rates slackapi.Rates

	Tier     string // default: [Internal]
	Overflow string // default: [Queue]
	Reply    string // default: [ReplyUpdate]
	// Purge erases what is stored of a channel when the bot is removed from
	// it, and of all channels when the app is uninstalled. Otherwise it stays.
	Purge bool
	// Confirm is how long after Slack has said that the bot is gone it is asked
	// again, before anything is erased. Default: a minute.
	Confirm time.Duration

	// AgentView says that the app's manifest has agent_view: every message of a
	// person at the top level of a DM begins a thread of its own. Events tell it
	// too, so it need not be set.
	AgentView bool

	// Sockets is how many connections Listen holds, at most 10. Default: 2.
	Sockets int
	// Missed is told of a time in which no socket was up, so that what was
	// said then can be read from history. It must not block; nil is fine.
	Missed func(from, to time.Time)
	// Acknowledged is told of each event that was acknowledged, and how long
	// after it came. It must not block; nil is fine.
	Acknowledged func(after time.Duration)
	// Left is told of a channel that the bot is no longer in: what is said there
	// is not heard. nil is fine.
	Left func(ctx context.Context, s earshot.Scope) error

	HTTPClient *http.Client     // default: one of its own, with time-outs
	Dial       Dial             // opens the connections of sockets; nil: the network, by way of the environment's proxy
	Now        func() time.Time // default: time.Now
	// Jitter returns a random time below most, which is above 0. Waits grow by
	// it. Default: random.
	Jitter func(most time.Duration) time.Duration
	Log    *slog.Logger // nil discards
}

// A Dial opens a network connection, as [net.Dialer.DialContext] does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// withDefaults returns the options completed, or every problem that they have.
func (o Options) withDefaults() (Options, error) {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.APIURL == "" {
		o.APIURL = DefaultAPIURL
	}
	if u, err := url.Parse(o.APIURL); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		problem("slack: the API URL is not of the form https://host/api/")
	}
	if !strings.HasSuffix(o.APIURL, "/") {
		o.APIURL += "/"
	}
	if o.BotToken.Empty() {
		problem("slack: there is no bot token: set SLACK_BOT_TOKEN to the Bot User OAuth Token (xoxb-…) of the app")
	}
	if o.Store == nil {
		problem("slack: there is no store")
	}
	if len(o.SigningSecrets) > 2 {
		problem("slack: %d signing secrets are too many: two during a rotation, one otherwise", len(o.SigningSecrets))
	}
	for _, f := range []struct {
		name    string
		value   *string
		allowed []string // the first is the default
	}{
		{"tier", &o.Tier, []string{Internal, Distributed}},
		{"overflow", &o.Overflow, []string{Queue, Degrade}},
		{"reply", &o.Reply, []string{ReplyUpdate, ReplyStream, ReplyPost}},
	} {
		if *f.value == "" {
			*f.value = f.allowed[0]
		}
		known := false
		for _, a := range f.allowed {
			known = known || *f.value == a
		}
		if !known {
			problem("slack: %s %q is none of %s", f.name, *f.value, strings.Join(f.allowed, ", "))
		}
	}
	if o.Sockets == 0 {
		o.Sockets = 2
	}
	if o.Sockets < 0 || o.Sockets > maxSockets {
		problem("slack: %d sockets: 1 to %d are possible", o.Sockets, maxSockets)
	}
	if o.Confirm <= 0 {
		o.Confirm = time.Minute
	}
	if o.HTTPClient == nil {
		o.HTTPClient = &http.Client{Timeout: 30 * time.Second}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = rand.N[time.Duration]
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Left == nil {
		o.Left = func(context.Context, earshot.Scope) error { return nil }
	}
	if o.Acknowledged == nil {
		o.Acknowledged = func(time.Duration) {}
	}
	if o.Missed == nil {
		o.Missed = func(time.Time, time.Time) {}
	}
	return o, errors.Join(problems...)
}

// maxSockets is how many connections Slack allows an app.
const maxSockets = 10
