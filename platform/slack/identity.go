package slack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/internal/whoami"
	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// A botSelf is who the bot is, in the form of auth.test and of the note in the store.
type botSelf struct {
	Workspace  string `json:"team_id"`
	Enterprise string `json:"enterprise_id,omitempty"`
	URL        string `json:"url,omitempty"`
	User       string `json:"user_id"`
	Name       string `json:"user"`
	Bot        string `json:"bot_id,omitempty"`
	App        string `json:"app_id,omitempty"`
}

// ErrAnotherBot is returned where the store had another bot for this token.
var ErrAnotherBot = errors.New("slack: the token is another bot's than at the last start; start again, the new one is remembered now")

// Enter asks Slack who the bot is (auth.test, bots.info) and remembers it in
// the store. Call it again after an error for which [Unreachable] reports true;
// after others the token or the configuration must be corrected, and the
// error says how.
func (p *Platform) Enter(ctx context.Context) error {
	now, err := p.whoAmI(ctx)
	if err != nil {
		return p.refusedAtStart(ctx, fmt.Errorf("slack: %w", whoami.MarkFailed(err)))
	}
	if err := p.self().Remember(ctx, now, keepApp); err != nil {
		return err
	}
	if !p.known {
		p.setIdentity(now)
	} else if p.identity.ID != earshot.AuthorID(now.User) || p.workspace != earshot.WorkspaceID(now.Workspace) {
		return ErrAnotherBot
	}
	return p.self().Introduce(ctx, p.workspace, p.identity)
}

// Recall reads from the store who the bot was when Slack was last asked with this
// token. It reports whether that is known.
func (p *Platform) Recall(ctx context.Context) (bool, error) {
	was, ok, err := p.self().Recall(ctx)
	if ok {
		p.setIdentity(was)
	}
	return ok, err
}

// Unreachable reports whether an error of [Platform.Enter] says nothing about
// the token: Slack did not answer, or something between answered in its place,
// such as a proxy with a page of its own. Then asking again may help. What did not
// come from asking Slack, such as an error of the store, is never of this kind.
func Unreachable(err error) bool {
	if ok, _ := whoami.FailureCause(err); !ok {
		return false
	}
	var (
		api    *slackapi.Error
		status *slackapi.StatusError
		other  *configError
	)
	switch {
	case errors.As(err, &other):
		return false
	case errors.As(err, &api):
		return slackapi.Passes(api.Code)
	case errors.As(err, &status):
		return status.Status != http.StatusNotFound // which is a wrong slack.api_url
	}
	return true
}

// A configError is one for which asking again does not help.
type configError struct{ error }

// Unwrap returns what is wrong.
func (e *configError) Unwrap() error { return e.error }

// setIdentity sets who the bot is: its user id, by which it is mentioned, and as
// aliases its bot id and app id, which messages may have as their author.
func (p *Platform) setIdentity(s botSelf) {
	p.workspace, p.enterprise, p.url, p.app = earshot.WorkspaceID(s.Workspace), s.Enterprise, s.URL, s.App
	p.identity = earshot.Identity{ID: earshot.AuthorID(s.User), Name: s.Name}
	for _, alias := range []string{s.Bot, s.App} {
		if alias != "" {
			p.identity.Aliases = append(p.identity.Aliases, earshot.AuthorID(alias))
		}
	}
	p.known = true
	p.client.ShareRates(s.Workspace + " " + s.User)
}

// whoAmI asks Slack.
func (p *Platform) whoAmI(ctx context.Context) (botSelf, error) {
	var me botSelf
	raw, err := p.client.Call(ctx, "auth.test", nil)
	if err != nil {
		return me, err
	}
	if err := json.Unmarshal(raw, &me); err != nil || me.User == "" || me.Workspace == "" {
		return me, fmt.Errorf("auth.test: %w: it does not say who the bot is", slackapi.ErrAnswer)
	}
	me.App = "" // bots.info has it
	if me.Bot == "" {
		// A bot's token is known by its prefix. A server that is not Slack's may
		// leave the id out.
		if strings.HasPrefix(p.o.BotToken.Reveal(), "xoxb-") {
			p.o.Log.Warn("the server does not tell the bot's id: messages that have no other author are not recognised as our own")
			return me, nil
		}
		return me, &configError{errors.New("auth.test: the token is a person's and not a bot's: set SLACK_BOT_TOKEN to the Bot User OAuth Token (xoxb-…)")}
	}
	raw, err = p.client.Call(ctx, "bots.info", url.Values{"bot": {me.Bot}})
	if err != nil {
		p.o.Log.Warn("slack does not tell the bot's app", "err", err)
		return me, ctx.Err()
	}
	var info struct {
		Bot struct {
			App string `json:"app_id"`
		} `json:"bot"`
	}
	if json.Unmarshal(raw, &info) == nil {
		me.App = info.Bot.App
	}
	return me, nil
}

// self is what the store remembers of the bot.
func (p *Platform) self() whoami.Memory[botSelf] {
	return whoami.Memory[botSelf]{
		Platform: earshot.Slack, Token: p.o.BotToken, Store: p.o.Store,
		Whole: func(s botSelf) bool { return s.User != "" && s.Workspace != "" },
	}
}

// keepApp keeps the app's id where Slack gave it before and not this time.
func keepApp(was botSelf, now *botSelf) {
	if now.App == "" && was.Bot == now.Bot {
		now.App = was.App
	}
}
