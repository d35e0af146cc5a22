package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/platform/check"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// A CheckRequest says what is checked besides tokens and scopes.
type CheckRequest struct {
	// Channel is where a message may be posted, which is removed again: an id
	// or a name. "" posts nowhere.
	Channel string
	// TokenAlone looks at the token and its scopes alone, and tries no way for events.
	TokenAlone bool
	// Serve starts an HTTP front for events and returns what stops it; nil where
	// events come by Socket Mode only.
	Serve func(http.Handler) (stop func(), err error)
	// Patience is how long an event is waited for. Default: 15 s.
	Patience time.Duration
}

// Check tests whether a bot with these options works on Slack: the token, its scopes,
// Socket Mode or the HTTP front, and, in the channel that r names, posting, the event
// of the post, and its removal. It calls tell with each finding, one after the other.
// It posts only in that channel and stores no message.
func Check(ctx context.Context, o Options, r CheckRequest, tell check.Report) {
	if r.Patience <= 0 {
		r.Patience = 15 * time.Second
	}
	p, err := Open(ctx, o)
	if err != nil {
		tell.Say("bot token", check.Bad, err.Error(), "the bot cannot run", "")
		return
	}
	c := &checking{Platform: p, Report: tell, request: r, heard: check.NewHeardMessages()}
	c.Good("bot token", fmt.Sprintf("it is %s in workspace %s", p.identity.Name, p.workspace))
	c.scopes()
	if r.TokenAlone {
		return
	}
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	ways := c.socket(ctx, &running) + c.front()
	defer c.stopFront()
	if ways == 0 {
		c.Say("events", check.Bad, "there is no way for events to come in", "nothing is heard",
			"set SLACK_APP_TOKEN for Socket Mode, or slack.listen and SLACK_SIGNING_SECRET for HTTP")
	}
	if r.Channel == "" {
		c.Say("posting and events", check.Unknown, "not tried, because no channel was named", "", "name one with --channel; a message is posted there and removed")
		return
	}
	c.channel(ctx, ways)
}

// A checking is one run of Check.
type checking struct {
	*Platform
	check.Report
	request CheckRequest
	unserve func()
	heard   *check.HeardMessages
}

func (c *checking) scopes() {
	scopes := c.Scopes()
	if len(scopes) == 0 {
		c.Say("scopes", check.Unknown, "the server does not tell which scopes the token has", "", "")
		return
	}
	missing := lackingScopes(scopes)
	if len(missing) == 0 {
		c.Good("scopes", fmt.Sprintf("all %d are there", len(ScopeNeeds())))
	}
	for _, n := range missing {
		state := check.Poor
		if n.Vital {
			state = check.Bad
		}
		c.Say("scope "+n.Scope, state, "missing", n.Costs, "add it under OAuth & Permissions and install the app again")
	}
}

// socket opens Socket Mode and listens. It returns the number of ways for events that
// work: 0 or 1.
func (c *checking) socket(ctx context.Context, running *sync.WaitGroup) int {
	if c.o.AppToken.Empty() {
		return 0
	}
	up, ended := make(chan struct{}, 1), make(chan error, 1)
	c.o.Missed = func(time.Time, time.Time) { // called once the first connection is up
		select {
		case up <- struct{}{}:
		default:
		}
	}
	running.Go(func() { ended <- c.Listen(ctx, c.hear) })
	late := time.NewTimer(c.request.Patience)
	defer late.Stop()
	var err error
	select {
	case <-up:
		c.Good("app-level token", "Socket Mode can be opened")
		return 1
	case err = <-ended:
	case <-late.C:
		err = fmt.Errorf("no connection is up within %s", c.request.Patience)
	}
	if err != nil {
		c.Say("app-level token", check.Bad, err.Error(), "no events come by Socket Mode",
			"make one with connections:write under Basic Information, App-Level Tokens, and switch Socket Mode on")
	}
	return 0
}

// front starts the HTTP front.
func (c *checking) front() int {
	if c.request.Serve == nil {
		return 0
	}
	if len(c.o.SigningSecrets) == 0 {
		c.Say("signing secret", check.Bad, "SLACK_SIGNING_SECRET is not set", "no events are taken by HTTP", "copy it from Basic Information, App Credentials")
		return 0
	}
	stop, err := c.request.Serve(c.Handler(c.hear))
	if err != nil {
		c.Say("HTTP front", check.Bad, err.Error(), "no events come by HTTP", "stop the bot that runs there, or choose another address")
		return 0
	}
	c.unserve = stop
	c.Good("HTTP front", "it listens; the app's Request URLs must lead there: that of events to /slack/events, that of interactivity to /slack/interactions")
	return 1
}

func (c *checking) stopFront() {
	if c.unserve != nil {
		c.unserve()
	}
}

// hear notes the messages that came as events.
func (c *checking) hear(_ context.Context, e bot.Event) (bot.Outcome, error) {
	c.heard.Note(string(e.Message.ID))
	return bot.Outcome{}, nil
}

// channel posts in the channel that was named, and waits for the event.
func (c *checking) channel(ctx context.Context, ways int) {
	id, name, member, err := c.find(ctx, c.request.Channel)
	switch {
	case err != nil:
		c.Say("channel", check.Bad, err.Error(), "", "name a channel of this workspace by its id, as the channel's details show it")
		return
	case !member:
		c.Say("channel", check.Bad, "the bot is no member of "+name, "nothing is heard there", "invite it there: /invite @"+c.identity.Name)
		return
	}
	c.Good("channel", name+" ("+id+")")
	if _, err := c.client.Call(ctx, slackapi.History, url.Values{"channel": {id}, "limit": {"1"}}); err != nil {
		c.Say("history", check.Poor, err.Error(), "what was said before the bot listened is not known", "")
	} else {
		c.Good("history", "it can be read")
	}
	raw, err := c.client.Call(ctx, slackapi.Post, url.Values{"channel": {id}, "text": {check.Text}, "unfurl_links": {"false"}, "unfurl_media": {"false"}})
	var posted struct {
		TS string `json:"ts"`
	}
	if err == nil && (json.Unmarshal(raw, &posted) != nil || posted.TS == "") {
		err = fmt.Errorf("%s: %w: it has no ts", slackapi.Post, slackapi.ErrAnswer)
	}
	if err != nil {
		c.Say("posting", check.Bad, err.Error(), "nothing can be answered", "")
		return
	}
	c.Good("posting", "a message was posted in "+name)
	if ways > 0 {
		c.heard.Await(ctx, posted.TS, c.request.Patience, c.Report, check.Finding{
			What: "events", Costs: "nothing is heard",
			Remedy: "subscribe to the bot events of docs/slack.md under Event Subscriptions; with HTTP, see that the Request URL is verified there; with Socket Mode, that no other process holds the app's connections",
		})
	}
	if _, err := c.client.Call(ctx, slackapi.Delete, url.Values{"channel": {id}, "ts": {posted.TS}}); err != nil {
		c.Say("removing", check.Poor, err.Error(), "the message of this check stays", "remove it by hand")
		return
	}
	c.Good("removing", "the message is gone again")
}

var channelID = regexp.MustCompile(`^[CGD][A-Z0-9]{5,}$`)

// find looks a channel up by id or name.
func (c *checking) find(ctx context.Context, want string) (id, name string, member bool, err error) {
	type channel struct {
		ID     string `json:"id"`
		Name   string `json:"name"`
		Member bool   `json:"is_member"`
		IM     bool   `json:"is_im"`
	}
	found := func(x channel) (string, string, bool, error) {
		if x.Name == "" {
			return x.ID, x.ID, x.Member || x.IM, nil
		}
		return x.ID, "#" + x.Name, x.Member || x.IM, nil
	}
	want = strings.TrimPrefix(want, "#")
	if channelID.MatchString(want) {
		raw, err := c.client.Call(ctx, "conversations.info", url.Values{"channel": {want}})
		var answer struct{ Channel channel }
		if err == nil {
			err = json.Unmarshal(raw, &answer)
		}
		if err != nil {
			return "", "", false, err
		}
		return found(answer.Channel)
	}
	const maxPages = 50
	args := url.Values{"types": {"public_channel,private_channel"}, "exclude_archived": {"true"}, "limit": {"200"}}
	for range maxPages {
		raw, err := c.client.Call(ctx, "conversations.list", args)
		if err != nil {
			return "", "", false, err
		}
		var page struct {
			Channels []channel
			Metadata struct {
				Next string `json:"next_cursor"`
			} `json:"response_metadata"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return "", "", false, fmt.Errorf("conversations.list: %w", slackapi.ErrAnswer)
		}
		for _, x := range page.Channels {
			if x.Name == want {
				return found(x)
			}
		}
		if page.Metadata.Next == "" {
			break
		}
		args.Set("cursor", page.Metadata.Next)
	}
	return "", "", false, errors.New("there is no channel of that name that the bot can see")
}

// lackingScopes returns the scopes that a token lacks.
func lackingScopes(scopes []string) []ScopeNeed {
	var out []ScopeNeed
	for _, n := range ScopeNeeds() {
		if !slices.Contains(scopes, n.Scope) {
			out = append(out, n)
		}
	}
	return out
}
