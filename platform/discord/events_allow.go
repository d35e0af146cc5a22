package discord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/disgoorg/disgo/rest"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// allowed reports whether what is said in a place is stored: the place, the channel of
// a thread or its category is on the list, or there is none. Direct messages are not
// bound by it.
func (p *Platform) allowed(ctx context.Context, at place) (bool, error) {
	list := p.o.Allow.Channels
	if len(list) == 0 || at.Guild == "" {
		return true, nil
	}
	listed := func(x place) bool {
		return slices.Contains(list, x.ID) || slices.Contains(list, x.Parent) || x.category != "" && slices.Contains(list, x.category)
	}
	if listed(at) {
		return true, nil
	}
	// A channel from the store shows no category.
	for _, id := range []string{at.ID, at.Parent} {
		if id == "" {
			continue
		}
		x, err := p.directory.place(ctx, id)
		if errors.Is(err, errNoAccess) {
			continue
		}
		if err != nil || listed(x) {
			return err == nil, err
		}
	}
	return false, nil
}

// notAllowed returns why an author is not answered, "" where nothing speaks against
// it. Bots and webhooks have no roles.
func (p *Platform) notAllowed(id earshot.AuthorID, roles []string) earshot.Refusal {
	a := p.o.Allow
	if len(a.Roles)+len(a.Users) == 0 || slices.Contains(a.Users, string(id)) ||
		slices.ContainsFunc(roles, func(r string) bool { return slices.Contains(a.Roles, r) }) {
		return ""
	}
	return earshot.RefusedAuthor
}

// Refused returns why the author of a message that was found in history is not
// answered, for [earshot.Event].Refused; "" where nothing speaks against it. History does
// not show an author's roles: where they matter Discord is asked.
func (p *Platform) Refused(ctx context.Context, c earshot.Channel, author earshot.AuthorID) (earshot.Refusal, error) {
	why := p.notAllowed(author, nil)
	guild := guildOf(c)
	if why == "" || len(p.o.Allow.Roles) == 0 || guild == "" || isWebhook(author) {
		return why, nil
	}
	roles, err := p.rolesOf(ctx, guild, author)
	if err != nil {
		return "", err
	}
	return p.notAllowed(author, roles), nil
}

// rolesOf asks Discord for somebody's roles in a guild; who is no member has none.
func (p *Platform) rolesOf(ctx context.Context, guild string, who earshot.AuthorID) ([]string, error) {
	raw, err := p.client.Call(ctx, rest.GetMember, []any{guild, who}, nil, nil)
	if discordapi.IsRefused(err, discordapi.UnknownMember, discordapi.UnknownUser, discordapi.UnknownGuild, discordapi.MissingAccess) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("roles of member %s: %w", who, err)
	}
	m, _ := discordmsg.ReadMember(raw) // what is no member has no roles
	return m.Roles, nil
}

// InGroups implements [bot.GroupReader] for roles.
func (p *Platform) InGroups(ctx context.Context, s earshot.Scope, who earshot.AuthorID, ids []string) (bool, error) {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, err := strconv.ParseUint(id, 10, 64); return err != nil })
	guild := guildOf(earshot.Channel{Workspace: s.Workspace})
	if guild == "" || len(ids) == 0 || isWebhook(who) {
		return false, nil
	}
	within, cancel := context.WithTimeout(ctx, rolesTime)
	defer cancel()
	roles, err := p.rolesOf(within, guild, who)
	return slices.ContainsFunc(ids, func(id string) bool { return slices.Contains(roles, id) }), err
}

// How NotAllowed looks people up: what it has found out is current for a while, and of
// those of whom it knows nothing so many are asked for, for so long.
const (
	rolesTTL  = 10 * time.Minute
	rolesTime = 2 * time.Second
	rolesMost = 20
)

// A knownRefusal is whether somebody is answered in a guild, and until when that is
// current.
type knownRefusal struct {
	refused bool
	until   time.Time
}

// NotAllowed is an [earshot.AllowList]: the people whom the list of who is answered does
// not name. Without a list it names everybody. Roles are told with what somebody says;
// of others Discord is asked, and who cannot be looked up in time is not named.
func (p *Platform) NotAllowed(ctx context.Context, s earshot.Scope, ids []earshot.AuthorID) (map[earshot.AuthorID]bool, error) {
	not := map[earshot.AuthorID]bool{}
	within, cancel := context.WithTimeout(ctx, rolesTime)
	defer cancel()
	asked := 0
	for _, id := range ids {
		who := person{guildOf(earshot.Channel{Workspace: s.Workspace}), string(id)}
		known, ok := p.refusals.Get(who)
		if !ok || p.o.Now().After(known.until) {
			if asked++; asked > rolesMost || within.Err() != nil {
				not[id] = p.notAllowed(id, nil) != ""
				continue
			}
			why, err := p.Refused(within, earshot.Channel{Platform: s.Platform, Workspace: s.Workspace}, id)
			if err != nil {
				if ctx.Err() != nil {
					return nil, context.Cause(ctx)
				}
				not[id] = true
				continue
			}
			known = p.learnRefusal(who, why != "")
		}
		not[id] = known.refused
	}
	return not, nil
}

// learnRefusal remembers whether somebody is answered.
func (p *Platform) learnRefusal(who person, refused bool) knownRefusal {
	known := knownRefusal{refused, p.o.Now().Add(rolesTTL)}
	p.refusals.Put(who, known)
	return known
}
