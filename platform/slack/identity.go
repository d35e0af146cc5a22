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
	if err := p.refreshed(ctx); err != nil {
		return err
	}
	now, err := p.whoAmI(ctx)
	if err != nil {
		return p.refusedAtStart(ctx, fmt.Errorf("slack: %w", whoami.MarkFailed(err)))
	}
	if w := p.o.Workspace; w != "" && now.Workspace != string(w) {
		return fmt.Errorf("slack: the token of workspace %s is of another one: install the app there again", w)
	}
	ids, err := p.self().AddIDs(ctx, now.appKey(), now.ids(), now.former)
	if err == nil {
		err = p.self().Remember(ctx, now, keepApp)
	}
	if err != nil {
		return err
	}
	if !p.known {
		p.setIdentity(now, ids)
	} else if p.user != earshot.AuthorID(now.User) || p.workspace != earshot.WorkspaceID(now.Workspace) {
		return ErrAnotherBot
	}
	return p.self().Introduce(ctx, p.workspace, p.identity, p.user)
}

// refreshed gets a token where tokens rotate. An exchange that fails can wait while the
// token that there is works.
func (p *Platform) refreshed(ctx context.Context) error {
	if p.rotator == nil {
		return nil
	}
	err := p.rotator.Refresh(ctx)
	switch {
	case err == nil:
		return nil
	case p.rotator.Usable():
		p.o.Log.Warn("the token is not exchanged yet", "err", err)
		return nil
	case errors.Is(err, errSealed):
		return err
	}
	return p.refusedAtStart(ctx, fmt.Errorf("slack: %w", whoami.MarkFailed(err)))
}

// Recall reads from the store who the bot was when Slack was last asked with this
// token. It reports whether that is known.
func (p *Platform) Recall(ctx context.Context) (bool, error) {
	was, ok, err := p.self().Recall(ctx)
	if err != nil || !ok {
		return false, err
	}
	ids, err := p.self().IDs(ctx, was.appKey())
	if err != nil {
		return false, err
	}
	p.setIdentity(was, ids)
	return true, nil
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

// ids returns what messages may have as the bot's id: its user id, by which it is
// mentioned, its bot id and the app's.
func (s botSelf) ids() []earshot.AuthorID {
	var ids []earshot.AuthorID
	for _, id := range []string{s.User, s.Bot, s.App} {
		if id != "" {
			ids = append(ids, earshot.AuthorID(id))
		}
	}
	return ids
}

// appKey names the app in its workspace: by its id, and where Slack does not tell that,
// by the bot's name.
func (s botSelf) appKey() string {
	if s.App == "" {
		return s.Workspace + "/@" + s.Name
	}
	return s.Workspace + "/" + s.App
}

// former returns the ids of the bot of another token, where that is of the same app.
func (s botSelf) former(was botSelf) []earshot.AuthorID {
	if was.Workspace != s.Workspace || was.App != s.App && was.App != "" && s.App != "" || (was.App == "" || s.App == "") && was.Name != s.Name {
		return nil
	}
	return was.ids()
}

// setIdentity sets who the bot is. Its id is the first that it had over the store, so
// that it goes on with its conversations after the app was installed again; the others
// are its aliases.
func (p *Platform) setIdentity(s botSelf, ids []earshot.AuthorID) {
	p.workspace, p.enterprise, p.url, p.app = earshot.WorkspaceID(s.Workspace), s.Enterprise, s.URL, s.App
	p.user = earshot.AuthorID(s.User)
	p.identity = whoami.Identity(s.Name, ids, s.ids())
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
		if strings.HasPrefix(strings.TrimPrefix(p.client.Token().Reveal(), "xoxe."), "xoxb-") {
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

// ForgetTokens removes from the store the tokens that the platform has exchanged. Call it
// when they are used no more.
func (p *Platform) ForgetTokens(ctx context.Context) error {
	if p.rotator == nil {
		return nil
	}
	if err := p.rotator.store.DropNote(ctx, p.rotator.key()); err != nil {
		return fmt.Errorf("slack: forget the tokens: %w", err)
	}
	return nil
}

// ForgetSelf removes from the store who the bot is in a workspace of [Options.Workspace].
func ForgetSelf(ctx context.Context, st Store, w earshot.WorkspaceID) error {
	return (&Platform{o: Options{Workspace: w, Store: st}}).self().Forget(ctx)
}

// self is what the store remembers of the bot.
func (p *Platform) self() whoami.Memory[botSelf] {
	return whoami.Memory[botSelf]{
		Platform: earshot.Slack, Token: p.o.installed(), Store: p.o.Store,
		Whole: func(s botSelf) bool { return s.User != "" && s.Workspace != "" },
	}
}

// keepApp keeps the app's id where Slack gave it before and not this time.
func keepApp(was botSelf, now *botSelf) {
	if now.App == "" && was.Bot == now.Bot {
		now.App = was.App
	}
}
