package discord

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/disgoorg/disgo/discord"
	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot/platform/check"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
)

// permissions are what the bot needs, as an invite link asks for them.
const permissions = discord.PermissionViewChannel | discord.PermissionSendMessages | discord.PermissionSendMessagesInThreads |
	discord.PermissionCreatePublicThreads | discord.PermissionReadMessageHistory | discord.PermissionAddReactions | discord.PermissionAttachFiles

// InviteURL returns the link by which somebody with Manage Server adds an
// application's bot to a server, with the permissions that it needs.
func InviteURL(app string) string {
	return "https://discord.com/oauth2/authorize?" + url.Values{"client_id": {app}, "scope": {"bot applications.commands"}, "permissions": {strconv.FormatInt(int64(permissions), 10)}}.Encode()
}

// A CheckRequest says what is checked besides the token, the intents and the servers.
type CheckRequest struct {
	// Channels are ids of channels or threads in which a message may be posted, which
	// is removed again. None: nothing is posted anywhere.
	Channels []string
	Commands bool // that the bot is to have commands
	// Patience is how long the gateway and an event are waited for. Default: 15 s.
	Patience time.Duration
}

// Check tests whether a bot with these options works on Discord: the token, the
// intents, the gateway, the servers that it is in, and, in the channels that r names,
// what it may do there, a post, the event of the post, and its removal. It calls tell
// with each finding, one after the other. It posts only in those channels and stores
// no message.
func Check(ctx context.Context, o Options, r CheckRequest, tell check.Report) {
	if r.Patience <= 0 {
		r.Patience = 15 * time.Second
	}
	p, err := Open(ctx, o)
	if err != nil {
		tell(openFinding(err))
		return
	}
	c := &checking{Platform: p, Report: tell, request: r}
	c.Good("bot token", fmt.Sprintf("it is %s, application %s", p.identity.Name, p.app))
	c.intents(ctx)
	c.servers(ctx)
	if r.Commands {
		c.commands(ctx)
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	heard := c.listen(ctx)
	defer heard.running.Wait()
	defer stop()
	if len(r.Channels) == 0 {
		c.Say("channels", check.Unknown, "none was named, so that nothing was posted", "", "name one with --channel; a message is posted there and removed")
	}
	for _, id := range r.Channels {
		c.channel(ctx, id, heard)
	}
}

// openFinding returns the finding where [Open] fails. An error that says nothing about the
// token must not lead to a new one.
func openFinding(err error) check.Finding {
	if !errors.Is(err, discordapi.ErrToken) && !errors.Is(err, ErrAnotherBot) {
		return check.Finding{
			What: "bot token", State: check.Bad, Found: err.Error(), Costs: "the bot hears and answers nothing until Discord answers",
			Remedy: "see whether this machine reaches Discord (network, proxy, discord.api_url, discordstatus.com), then check again",
		}
	}
	return check.Finding{What: "bot token", State: check.Bad, Found: err.Error(), Costs: "the bot cannot run", Remedy: "copy the token from the application's page Bot into DISCORD_BOT_TOKEN"}
}

// A checking is one run of [Check].
type checking struct {
	*Platform
	check.Report
	request CheckRequest
}

// ask makes a call and decodes its answer.
func (c *checking) ask(ctx context.Context, into any, e *rest.Endpoint, query url.Values, params ...any) error {
	raw, err := c.client.Call(ctx, e, params, query, nil)
	if err == nil && json.Unmarshal(raw, into) != nil {
		err = fmt.Errorf("%s %s: %w in a form that can be read", e.Method, e.Route, discordapi.ErrNotAnswered)
	}
	return err
}

// What the bot lacks without the intent.
const (
	contentCosts  = "it reads messages that mention it and direct messages; the rest of a channel has no text"
	contentRemedy = "switch on Message Content Intent on the application's page Bot (discord.com/developers/applications), and save"
)

// intents looks at what the application's settings say.
func (c *checking) intents(ctx context.Context) {
	var app struct {
		Flags    discord.ApplicationFlags `json:"flags"`
		Endpoint string                   `json:"interactions_endpoint_url"`
	}
	err := c.ask(ctx, &app, rest.GetCurrentApplication, nil)
	if app.Endpoint != "" { // Discord sends clicks to one of both (Receiving and Responding, Receiving an Interaction)
		c.Say("setting Interactions Endpoint URL", check.Poor, "it is set", "clicks on the bot's buttons go there, and the bot does not hear of them",
			"empty it on the application's page General Information (discord.com/developers/applications), and save")
	}
	switch {
	case err != nil:
		c.Say("setting Message Content Intent", check.Unknown, err.Error(), "", "")
	case app.Flags.Has(discord.ApplicationFlagGatewayMessageContent):
		c.Good("setting Message Content Intent", "it is on, and reviewed by Discord")
	case app.Flags.Has(discord.ApplicationFlagGatewayMessageContentLimited):
		c.Good("setting Message Content Intent", "it is on; Discord reviews it once many people can see the bot")
	default:
		c.Say("setting Message Content Intent", check.Poor, "it is off", contentCosts, contentRemedy)
	}
}

// maxServers is how many servers are counted.
const maxServers = 51 * guildPage

// servers looks at where the bot is, and tells how it comes to be elsewhere.
func (c *checking) servers(ctx context.Context) {
	const named = 10
	list, err := c.Guilds(ctx, maxServers)
	more := ""
	if len(list) == maxServers {
		more = "at least "
	}
	var names []string
	for _, g := range list[:min(len(list), named)] {
		names = append(names, g.Name)
	}
	switch {
	case err != nil:
		c.Say("servers", check.Unknown, err.Error(), "", "")
	case len(list) == 0:
		c.Say("servers", check.Poor, "the bot is in none", "it hears nothing, and nobody can write to it", "open the invite link and choose a server")
	case len(list) > named:
		c.Good("servers", fmt.Sprintf("it is in %s%d, such as %s", more, len(list), strings.Join(names, ", ")))
	default:
		c.Good("servers", fmt.Sprintf("it is in %d: %s", len(list), strings.Join(names, ", ")))
	}
	c.Good("invite link", InviteURL(c.app))
}

// refusedThere reports whether Discord says that the bot may not do something, and not
// that it could not tell.
func refusedThere(err error) bool {
	var api *discordapi.Error
	return errors.As(err, &api) && api.Status < 500
}
