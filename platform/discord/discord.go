// Package discord is the adapter of Discord: events come in by the gateway and leave
// as [bot.Event], replies go out by the REST API, history and files are read for
// those who ask.
//
// A Platform is one application with its bot, in all the guilds that it is in. A
// guild is a workspace; direct messages are the workspace
// [discordmsg.DirectMessages]. A platform thread is a thread of its channel
// ([discordmsg.Channel.Where]).
//
// For who changes the package, the files by their first word:
//
//	identity      who the bot is: asked of Discord, remembered in the store
//	events        what comes in: events.go says what is made of each type
//	directory     guilds, channels, threads, roles and names, as events tell them
//	proxies       webhooks that post again what a person wrote
//	reply         what goes out, as [bot.Platform] asks
//	choices       buttons: how they are shown, and who has chosen
//	commands      what people do by commands, and how those are registered
//	history       for backfill; files for media
//	membership    guilds and channels joined and left
//	check         what "earshot check" looks at
//
// Underneath: discordapi makes every call, internal/gateway holds the connections,
// discordmsg decodes.
package discord

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
	"github.com/earshot-ai/earshot/platform/internal/recent"
)

// A Platform is Discord as a bot sees it. It is safe for concurrent use.
type Platform struct {
	o      Options
	client *discordapi.Client

	directory   *directory
	replies     *postingReplies         // see reply_reserve.go
	failures    recent.Map[string, int] // by delivery
	entered     recent.Map[earshot.WorkspaceID, struct{}]
	subjects    recent.Map[string, toldSubject] // by thread
	reacted     atomic.Int64                    // when the last reaction came, in microseconds
	refusals    recent.Map[person, knownRefusal]
	withdrawals withdrawals
	proxyUse    *proxyUse
	blind       atomic.Bool // Discord has refused MESSAGE_CONTENT
	held        atomic.Pointer[[]*gateway.Shard]

	unreadMu    sync.Mutex // held while a span is changed and written
	unreadSpans recent.Map[earshot.Scope, unreadSpan]

	// Who the bot is. Enter or Recall sets it, before anything reads it.
	identity earshot.Identity
	user     earshot.AuthorID // which people mention now; identity.ID is the first that it had
	app      string           // the application's id
	known    bool             // Enter or Recall has succeeded
}

// New returns a platform and asks Discord nothing. The error names every problem of
// the options. Call [Platform.Enter] or [Platform.Recall] before anything else.
func New(o Options) (*Platform, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Platform{o: o, client: newClient(o), replies: newReplies(), proxyUse: newProxyUse()}
	p.entered.Most, p.unreadSpans.Most, p.failures.Most, p.subjects.Most = maxGuilds, maxPlaces, maxFailing, maxPlaces
	p.refusals.Most = maxPeople
	p.directory = newDirectory(p)
	return p, nil
}

// Open asks Discord who the bot is and returns its platform. Where the token is not
// valid, the error says what to do.
func Open(ctx context.Context, o Options) (*Platform, error) {
	p, err := New(o)
	if err != nil {
		return nil, err
	}
	if err := p.Enter(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// newClient returns the client that makes every call of a platform.
func newClient(o Options) *discordapi.Client {
	return discordapi.New(discordapi.Options{URL: o.APIURL, Token: o.Token, HTTP: o.HTTPClient, Now: o.Now, Log: o.Log})
}

// Identity returns who the bot is.
func (p *Platform) Identity() earshot.Identity { return p.identity }

// Application returns the application's id, of which invite links are made.
func (p *Platform) Application() string { return p.app }

// silentFor is how long a shard may be without a session before Discord counts as
// down: a session that is resumed takes a few seconds.
const silentFor = 30 * time.Second

// Down reports since when Discord does not answer, or a shard of this process receives
// no events; ok is false where neither is so, or Discord was not asked yet.
func (p *Platform) Down() (since time.Time, ok bool) {
	if since, ok = p.client.Down(); ok {
		return since, true
	}
	for _, s := range p.shards() {
		if at, down := s.Down(); down && p.o.Now().Sub(at) >= silentFor && (!ok || at.Before(since)) {
			since, ok = at, true
		}
	}
	return since, ok
}

// shards returns the shards that Listen holds.
func (p *Platform) shards() []*gateway.Shard {
	if list := p.held.Load(); list != nil {
		return *list
	}
	return nil
}

// Calls returns the calls of each route since New, sorted by route.
func (p *Platform) Calls() []earshot.CallCount { return p.client.Calls() }

// SignedOut returns why Discord refuses the token, what to do, and since when; ok is false
// where it accepts it, or was not asked yet.
func (p *Platform) SignedOut() (why string, since time.Time, ok bool) { return p.client.SignedOut() }

// Probe calls Discord every few seconds while it is down or refuses the token, until ctx
// ends, so that [Platform.Down] and [Platform.SignedOut] are soon false again. It returns
// ctx's error.
func (p *Platform) Probe(ctx context.Context) error { return p.client.Probe(ctx, p.Down) }
