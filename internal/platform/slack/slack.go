// Package slack is the adapter of Slack: events come in by HTTP or Socket
// Mode and leave as [bot.Event], replies go out by the Web API, history and
// files are read for those who ask.
//
// Start with [Open], then [Platform.Handler] or [Platform.Listen] for what
// comes in. Everything that is asked of Slack goes through one client, which
// keeps to Slack's limits and counts ([Platform.Calls]).
//
//	p, err := slack.Open(ctx, slack.Options{BotToken: token, SigningSecrets: secrets, Store: store})
//	b := bot.New(bot.Options{Platform: p, Identity: p.Identity(), …})
//	http.Handle("/slack/events", p.Handler(b.Handle))
//
// A Platform is one workspace, the one that its token was made in: events of
// others are acknowledged and not kept. Slack's JSON is read by
// internal/platform/slack/slackmsg, because a library that decodes an event
// whole loses the message to one malformed block
// (docs/decisions/050-slack-client.md).
package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
)

// A Platform is one Slack workspace as its bot sees it. It is safe for
// concurrent use.
type Platform struct {
	o      Options
	client *client

	names *names
	heard heard
	out   *out

	identity   earshot.Identity
	workspace  earshot.WorkspaceID
	enterprise string // the organisation's id, "" where there is none
	url        string // of the workspace, such as https://example.slack.com/

	agent atomic.Bool // the app has agent_view, as events tell

	stop func()        // closes gone
	gone chan struct{} // closed when the app was removed from the workspace
}

// Open asks Slack who the bot is (auth.test, bots.info) and returns its
// platform. The error names what to do where the token is not valid or lacks a
// scope.
func Open(ctx context.Context, o Options) (*Platform, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Platform{o: o, client: newClient(o), out: newOut(o.Now()), gone: make(chan struct{})}
	p.o.Missed = func(from, to time.Time) {
		p.out.miss(to)
		o.Missed(from, to)
	}
	p.names, p.heard.reacting = newNames(p), make(chan struct{}, 1)
	p.agent.Store(o.AgentView)
	p.stop = sync.OnceFunc(func() { close(p.gone) })
	if err := p.whoAmI(ctx); err != nil {
		return nil, fmt.Errorf("slack: %w", err)
	}
	// Who reads the store later knows by this which of the bots was this one.
	self := earshot.Author{ID: p.identity.ID, Name: p.identity.Name, Kind: earshot.Bot}
	if err := o.Store.PutAuthors(ctx, earshot.Slack, p.workspace, self); err != nil {
		return nil, fmt.Errorf("slack: store the bot: %w", err)
	}
	return p, nil
}

// whoAmI learns the bot's ids: its user id, by which it is mentioned, and as
// aliases its bot id and its app id, by which it may be told as an author.
func (p *Platform) whoAmI(ctx context.Context) error {
	raw, err := p.client.call(ctx, "auth.test", nil)
	if err != nil {
		return err
	}
	var me struct {
		URL          string `json:"url"`
		User         string `json:"user"`
		UserID       string `json:"user_id"`
		TeamID       string `json:"team_id"`
		EnterpriseID string `json:"enterprise_id"`
		BotID        string `json:"bot_id"`
	}
	if err := json.Unmarshal(raw, &me); err != nil || me.UserID == "" || me.TeamID == "" {
		return fmt.Errorf("auth.test: %w: it does not say who the bot is", ErrAnswer)
	}
	p.workspace, p.enterprise, p.url = earshot.WorkspaceID(me.TeamID), me.EnterpriseID, me.URL
	p.identity = earshot.Identity{ID: earshot.AuthorID(me.UserID), Name: me.User}
	if me.BotID == "" {
		// A bot's token says so itself; a server that is not Slack's may leave
		// the id out.
		if strings.HasPrefix(p.o.BotToken.Reveal(), "xoxb-") {
			p.o.Log.Warn("the server does not tell the bot's id: what only tells that is not known as our own")
			return nil
		}
		return errors.New("auth.test: the token is a person's and not a bot's: set SLACK_BOT_TOKEN to the Bot User OAuth Token (xoxb-…)")
	}
	p.identity.Aliases = []earshot.AuthorID{earshot.AuthorID(me.BotID)}
	raw, err = p.client.call(ctx, "bots.info", url.Values{"bot": {me.BotID}})
	if err != nil {
		p.o.Log.Warn("slack does not tell the bot's app", "err", err)
		return ctx.Err()
	}
	var info struct {
		Bot struct {
			AppID string `json:"app_id"`
		} `json:"bot"`
	}
	if json.Unmarshal(raw, &info) == nil && info.Bot.AppID != "" {
		p.identity.Aliases = append(p.identity.Aliases, earshot.AuthorID(info.Bot.AppID))
	}
	return nil
}

// Identity returns who the bot is in this workspace.
func (p *Platform) Identity() earshot.Identity { return p.identity }

// Workspace returns the team that the token was made in.
func (p *Platform) Workspace() earshot.WorkspaceID { return p.workspace }

// Scopes returns what the token may do, sorted, as Slack's last answer told;
// none where Slack does not tell.
func (p *Platform) Scopes() []string { return p.client.granted() }

// Calls returns how often each method was called since Open, by method.
func (p *Platform) Calls() []Call { return p.client.counted() }

// scope returns a channel of the workspace.
func (p *Platform) scope(c earshot.ChannelID) earshot.Scope {
	return earshot.Scope{Platform: earshot.Slack, Workspace: p.workspace, Channel: c}
}
