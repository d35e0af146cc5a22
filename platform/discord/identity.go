package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
	"github.com/earshot-ai/earshot/platform/internal/whoami"
)

// A botSelf is who the bot is, in the form of the note in the store.
type botSelf struct {
	User string `json:"user"`
	Name string `json:"name"`
	App  string `json:"app"`
}

// ErrAnotherBot is returned where the store had another bot for this token.
var ErrAnotherBot = errors.New("discord: the token is another bot's than at the last start; start again, the new one is remembered now")

// Enter asks Discord who the bot is (/users/@me, /applications/@me) and remembers it
// in the store. Call it again after an error for which [IsUnreachable] reports true;
// after others the token or the configuration must be corrected, and the error says
// how.
func (p *Platform) Enter(ctx context.Context) error {
	now, content, err := p.whoAmI(ctx)
	if err != nil {
		return fmt.Errorf("discord: %w", whoami.MarkFailed(err))
	}
	ids, err := p.self().AddIDs(ctx, now.App, now.ids(), now.former)
	if err == nil {
		err = p.self().Remember(ctx, now, nil)
	}
	if err != nil {
		return err
	}
	if !p.known {
		p.setIdentity(now, ids)
	} else if p.user != earshot.AuthorID(now.User) {
		return ErrAnotherBot
	}
	if !content {
		p.refuseContent()
	}
	return p.self().Introduce(ctx, discordmsg.DirectMessages, p.identity, p.user)
}

// Recall reads from the store who the bot was when Discord was last asked with this
// token. It reports whether that is known.
func (p *Platform) Recall(ctx context.Context) (bool, error) {
	was, ok, err := p.self().Recall(ctx)
	if err != nil || !ok {
		return false, err
	}
	ids, err := p.self().IDs(ctx, was.App)
	if err != nil {
		return false, err
	}
	p.setIdentity(was, ids)
	return true, nil
}

// IsUnreachable reports whether an error of [Platform.Enter] says nothing about the
// token: Discord did not answer, or something between answered in its place, such as a
// proxy with a page of its own. Then asking again may help. What did not come from
// asking Discord, such as an error of the store, is never of this kind.
func IsUnreachable(err error) bool {
	ok, cause := whoami.FailureCause(err)
	return ok && mayAnswer(cause)
}

// mayAnswer reports whether Discord may answer later what it did not answer.
func mayAnswer(err error) bool {
	var api *discordapi.Error
	switch {
	case errors.Is(err, discordapi.ErrToken):
		return false
	case errors.As(err, &api):
		// Discord's own refusals have a code. Without one it may be a proxy's page,
		// but a 404 is a wrong discord.api_url.
		return api.Code == 0 && api.Status != http.StatusNotFound
	}
	return true
}

// ids returns the bot's user id, by which it is mentioned, and the application's id,
// which is another one for bots made before 2017. The role that Discord makes for the bot
// differs by guild: [directory.names] knows it.
func (s botSelf) ids() []earshot.AuthorID {
	ids := []earshot.AuthorID{earshot.AuthorID(s.User)}
	if s.App != "" && s.App != s.User {
		ids = append(ids, earshot.AuthorID(s.App))
	}
	return ids
}

// former returns the ids of the bot of another token, where that is of the same
// application.
func (s botSelf) former(was botSelf) []earshot.AuthorID {
	if was.App != s.App {
		return nil
	}
	return was.ids()
}

// setIdentity sets who the bot is. Its id is the first that it had over the store, so
// that it goes on with its conversations; the others are its aliases.
func (p *Platform) setIdentity(s botSelf, ids []earshot.AuthorID) {
	p.app, p.user = s.App, earshot.AuthorID(s.User)
	p.identity = whoami.Identity(s.Name, ids, s.ids())
	p.known = true
}

// whoAmI asks Discord. content is false where the application's settings say that the
// gateway will refuse MESSAGE_CONTENT.
func (p *Platform) whoAmI(ctx context.Context) (me botSelf, content bool, err error) {
	raw, err := p.client.Call(ctx, rest.GetCurrentUser, nil, nil, nil)
	if err != nil {
		return me, false, err
	}
	me = parseUser(raw)
	if me.User == "" {
		return me, false, fmt.Errorf("GET /users/@me: %w: it does not say who the bot is", discordapi.ErrNotAnswered)
	}
	raw, err = p.client.Call(ctx, rest.GetCurrentApplication, nil, nil, nil)
	if unknownRoute(err) { // another server than Discord's, which has the older route at most
		raw, err = p.client.Call(ctx, rest.GetBotApplicationInfo, nil, nil, nil)
	}
	if unknownRoute(err) {
		me.App = me.User // as for every bot made since 2017
		return me, true, nil
	}
	if err != nil {
		return me, false, err
	}
	var app struct {
		ID    string          `json:"id"`
		Flags json.RawMessage `json:"flags"`
	}
	if json.Unmarshal(raw, &app) != nil || app.ID == "" {
		return me, false, fmt.Errorf("GET /applications/@me: %w: it does not say which application the bot is of", discordapi.ErrNotAnswered)
	}
	me.App = app.ID
	var f *discord.ApplicationFlags
	if json.Unmarshal(app.Flags, &f) != nil {
		return me, true, nil // of another kind: the gateway will tell
	}
	return me, f == nil || f.Has(discord.ApplicationFlagGatewayMessageContent) || f.Has(discord.ApplicationFlagGatewayMessageContentLimited), nil
}

// unknownRoute reports whether the server does not have a route.
func unknownRoute(err error) bool {
	var api *discordapi.Error
	return errors.As(err, &api) && api.Status == http.StatusNotFound
}

// parseUser reads a user object of ours. People see the global name where there is one.
func parseUser(raw []byte) botSelf {
	var u struct {
		ID     string `json:"id"`
		Name   string `json:"username"`
		Global string `json:"global_name"`
	}
	if json.Unmarshal(raw, &u) != nil {
		return botSelf{}
	}
	if u.Global != "" {
		u.Name = u.Global
	}
	return botSelf{User: u.ID, Name: u.Name}
}

// self is what the store remembers of the bot.
func (p *Platform) self() whoami.Memory[botSelf] {
	return whoami.Memory[botSelf]{
		Platform: earshot.Discord, Token: p.o.Token, Store: p.o.Store,
		Whole: func(s botSelf) bool { return s.User != "" && s.App != "" },
	}
}
