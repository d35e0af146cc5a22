// Package slack is the adapter of Slack: events come in by HTTP or Socket
// Mode and leave as [bot.Event], replies go out by the Web API, history and
// files are read for those who ask.
//
// Start with [Open], or with [New] where Slack may be unreachable at the start,
// then [Platform.Handler] or [Platform.Listen] for what comes in. All calls go
// through one [slackapi.Client], which keeps to Slack's rate limits and counts the
// calls ([Platform.Calls]).
//
//	p, err := slack.Open(ctx, slack.Options{
//		BotToken:       secret.New(os.Getenv("SLACK_BOT_TOKEN")),
//		SigningSecrets: []secret.Secret{secret.New(os.Getenv("SLACK_SIGNING_SECRET"))},
//		Store:          store,
//	})
//	b := bot.New(bot.Options{Platform: p, Identity: p.Identity(), …})
//	http.Handle("/slack/events", p.Handler(b.Handle))
//	err = b.Run(ctx) // answers, until ctx ends
//
// A Platform is one workspace, the one that its token was made in: events of
// others are acknowledged and not kept. Many workspaces have a Platform each: an
// [Installer] lets them install the app, [Installations] keep their tokens, and a [Door]
// takes what comes for all of them. Slack's JSON is decoded by
// platform/slack/slackmsg, because a library that decodes an event
// whole loses the message to one malformed block
// (docs/decisions/050-slack-client.md).
//
// For who changes the package, the files by their first word:
//
//	identity      who the bot is: asked of Slack, remembered in the store
//	events        what comes in: events.go says what is made of each type (a new
//	              event type goes into its table); http, socket and forms are the
//	              ways in; inbox keeps what comes before the identity is known;
//	              choices takes clicks at our buttons
//	reply         what goes out, as [bot.Platform] asks: post, update, choices,
//	              stream, status line, removal; find looks for a post whose call failed;
//	              reserve keeps a placeholder's last call free
//	history       for backfill; files for media
//	names         of people, channels and groups
//	membership    channels joined and left, the app removed, and what is erased then
//	install       how workspaces install the app, and where their tokens are kept
//	door          what comes in for many workspaces
//	check         what "earshot check" looks at
//
// Underneath, and without knowing this package: slackapi makes every call and has
// the rates, the repetition of calls and the errors; internal/socket holds Socket
// Mode's connections; internal/signature checks requests; markup writes Markdown.
package slack

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
	"github.com/earshot-ai/earshot/secret"
)

// A Platform is one Slack workspace as its bot sees it. It is safe for
// concurrent use.
type Platform struct {
	o      Options
	client *slackapi.Client

	rotator *rotator // nil: tokens do not end

	names   *nameResolver
	replies *replies

	// Who the bot is. Enter or Recall sets it, before anything reads it.
	identity   earshot.Identity
	user       earshot.AuthorID // which people mention now; identity.ID is the first that it had
	workspace  earshot.WorkspaceID
	enterprise string // the organisation's id, "" where there is none
	url        string // of the workspace, such as https://example.slack.com/
	app        string // the app's id, "" where Slack does not tell it
	known      bool   // Enter or Recall has succeeded

	gate deliveryGate

	warnGroups sync.Once // logs that members of groups cannot be read

	agent atomic.Bool // the app has agent_view, as options or an event said

	stop func()        // closes gone
	gone chan struct{} // closed when the app was removed from the workspace
}

// New returns a platform and asks Slack nothing. Until [Platform.Admit],
// [Platform.Handler] and [Platform.Listen] store what is delivered without looking
// at it. The error names every problem of the options.
func New(o Options) (*Platform, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Platform{o: o, replies: newReplies(o.Now()), gone: make(chan struct{})}
	p.o.Missed = func(from, to time.Time) {
		p.replies.missEvents(to)
		o.Missed(from, to)
	}
	p.client = newClient(p.o, func(ctx context.Context, refused secret.Secret) error { return p.rotator.Renew(ctx, refused) })
	if o.Rotation.on() {
		p.rotator = &rotator{Rotation: o.Rotation, client: p.client, store: o.Rotation.Store, now: o.Now}
		if p.rotator.store == nil {
			p.rotator.store = o.Store
		}
	}
	p.names = newNames(p)
	p.agent.Store(o.AgentView)
	p.stop = sync.OnceFunc(func() { close(p.gone) })
	return p, nil
}

// Open asks Slack who the bot is (auth.test, bots.info) and returns its platform,
// which handles deliveries at once. Where the token is not valid or lacks a scope,
// the error says what to do.
func Open(ctx context.Context, o Options) (*Platform, error) {
	p, err := New(o)
	if err != nil {
		return nil, err
	}
	if err := p.Enter(ctx); err != nil {
		return nil, err
	}
	p.gate.open()
	return p, nil
}

// newClient returns the client that makes every call of a platform.
func newClient(o Options, renew func(context.Context, secret.Secret) error) *slackapi.Client {
	if !o.Rotation.on() {
		renew = nil
	}
	return slackapi.New(slackapi.Options{
		URL: o.APIURL, Token: o.BotToken, Distributed: o.Tier == Distributed, ReadsFailOverLimit: o.Overflow == Degrade, Rates: o.Rates, Back: o.Missed, Renew: renew,
		HTTP: o.HTTPClient, Now: o.Now, Jitter: o.Jitter, Log: o.Log,
	})
}

// Identity returns who the bot is in this workspace.
func (p *Platform) Identity() earshot.Identity { return p.identity }

// Workspace returns the team that the token was made in.
func (p *Platform) Workspace() earshot.WorkspaceID { return p.workspace }

// Scopes returns the scopes of the token, sorted, as Slack's last answer had them;
// none where Slack does not say.
func (p *Platform) Scopes() []string { return p.client.Scopes() }

// Calls returns the calls of each method since Open, sorted by method.
func (p *Platform) Calls() []earshot.CallCount { return p.client.Calls() }

// Down reports since when Slack does not answer; ok is false where it does, or was
// not asked yet.
func (p *Platform) Down() (since time.Time, ok bool) { return p.client.Down() }

// SignedOut returns why Slack refuses a token of the bot's, what to do, and since when;
// ok is false where it accepts them, or was not asked yet.
func (p *Platform) SignedOut() (why string, since time.Time, ok bool) { return p.client.SignedOut() }

// Probe calls Slack every few seconds while it is down or refuses the bot's token, until
// ctx ends, so that [Platform.Down] and [Platform.SignedOut] are soon false again. It
// returns ctx's error.
// Where tokens rotate, it keeps the token valid, too.
func (p *Platform) Probe(ctx context.Context) error {
	if p.rotator == nil {
		return p.client.Probe(ctx)
	}
	both, ctx := errgroup.WithContext(ctx)
	both.Go(func() error { return p.client.Probe(ctx) })
	both.Go(func() error {
		return p.rotator.Run(ctx, func(err error) { p.o.Log.Error("the token is not exchanged", "err", err) })
	})
	return both.Wait()
}

// scope returns a channel of the workspace.
func (p *Platform) scope(c earshot.ChannelID) earshot.Scope {
	return earshot.Scope{Platform: earshot.Slack, Workspace: p.workspace, Channel: c}
}
