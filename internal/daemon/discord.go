package daemon

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/discord"
	"github.com/earshot-ai/earshot/platform/discord/discordmsg"
)

// openDiscord opens Discord: the adapter is made and asks for the bot's identity,
// and backfill and the bot are made with it. Where Discord does not answer and the
// identity is not stored either, these two are made in Run, once it is known.
func openDiscord(ctx context.Context, s sharedParts) (platform, error) {
	service := &discordService{events: &relay{meters: s.meters}, hears: make(chan struct{})}
	adapter, err := discord.New(service.adapterOptions(s))
	if err != nil {
		return platform{}, err
	}
	s.lists.set(adapter.NotAllowed)
	service.adapter = adapter
	service.platformLink = &platformLink{
		sharedParts: s, platform: earshot.Discord, title: "Discord", remote: adapter, unreachable: discord.IsUnreachable,
		where: service.describeServers, answer: service.answer,
	}
	service.history = newHistories(s, service.backfillOptions)
	p, err := service.open(ctx)
	if err != nil {
		return platform{}, err
	}
	p.connection, p.calls, p.unread, p.forget = service.connection, adapter.Calls, service.history.Waiting, service.history.Left
	return p, nil
}

// A discordService runs one bot on Discord.
type discordService struct {
	*platformLink
	adapter *discord.Platform
	history *histories
	events  *relay
	hears   chan struct{} // closed once all shards of this process are connected
}

// answer makes the bot, whose identity is known, connects it and backfill to the
// adapter's events and returns what is to run.
func (s *discordService) answer(ctx context.Context) ([]func(context.Context) error, error) {
	who := s.identity()
	if err := s.openStored(ctx, who); err != nil {
		return nil, err
	}
	b := s.newBot(discordPlatform{s.adapter, s.history, s}, who)
	s.events.connect(b, s.history, s.newCommands(b, who))
	calls := &callCounter{store: s.store, log: s.options.Log, now: s.options.Outside.clock, read: s.adapter.Calls}
	return []func(context.Context) error{
		b.Run, s.summaries(who), s.summariesOfAgents(who.ID), s.readHistory, calls.Run, s.registerCommands,
		func(ctx context.Context) error { return s.adapter.Listen(ctx, s.events.Handle) },
	}, nil
}

// readHistory runs the histories once the bot hears everything: what is said before
// that is known to be missed only then, and a question among it would be taken for one
// that was heard. A turn reads what it needs at any time.
func (s *discordService) readHistory(ctx context.Context) error {
	select {
	case <-s.hears:
		return s.history.Run(ctx)
	case <-ctx.Done():
		return nil
	}
}

// registerCommands registers the bot's commands, unless the configuration leaves them out. One
// process does for all of several with shards.
func (s *discordService) registerCommands(ctx context.Context) error {
	d := s.options.Config.Discord
	if d.Commands && shardOf(d, discordmsg.DirectMessages) {
		if err := s.adapter.Register(ctx); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// openStored opens the histories of the workspaces that are stored and whose events
// come to this process: what was said there since may have been missed.
func (s *discordService) openStored(ctx context.Context, who earshot.Identity) error {
	w := discordmsg.DirectMessages
	q := earshot.ChannelQuery{Platform: earshot.Discord, Limit: 1}
	for {
		if shardOf(s.options.Config.Discord, w) {
			if err := s.joinGuild(ctx, w); err != nil {
				return err
			}
		}
		next, err := s.store.FindChannels(ctx, q)
		if err != nil || len(next) == 0 {
			return err
		}
		w = next[0].Workspace
		q.After = &earshot.Channel{Platform: earshot.Discord, Workspace: w + "\x01"} // behind its last channel
	}
}

// shardOf reports whether a workspace's events come to this process
// (Discord's documentation, Sharding: direct messages come to the first shard).
func shardOf(d config.Discord, w earshot.WorkspaceID) bool {
	if len(d.ShardIDs) == 0 {
		return true
	}
	guild, _ := strconv.ParseUint(string(w), 10, 64) // "@me" is 0
	return slices.Contains(d.ShardIDs, int((guild>>22)%uint64(d.Shards)))
}

// joinGuild takes a guild before the first event of it: its history is opened, and the
// bot is listed there as an agent.
func (s *discordService) joinGuild(ctx context.Context, w earshot.WorkspaceID) error {
	if _, err := s.history.Of(ctx, w); err != nil {
		return err
	}
	return s.enlist(ctx, earshot.Discord, w, s.identity())
}

// backfillOptions configure what reads the history of a workspace where events were
// missed.
func (s *discordService) backfillOptions(w earshot.WorkspaceID) backfill.Options {
	o, c := s.options, s.options.Config
	return backfill.Options{
		Store: s.store, Source: s.adapter, Platform: earshot.Discord, Workspace: w,
		Handle:       s.takeFound,
		Fresh:        missedAge(c.Answer),
		Tier:         discordTier,
		ThreadsAlone: !s.rules.showsChannels(),
		Floor:        s.floor,
		Now:          o.Outside.now(), Log: o.Log,
	}
}

// takeFound takes a message that backfill found in history, which does not show whether
// its author may ask.
func (s *discordService) takeFound(ctx context.Context, c earshot.Channel, f backfill.HistoryMessage) error {
	refused, err := s.adapter.Refused(ctx, c, f.Message.Author.ID)
	if err != nil {
		return err
	}
	f.Event.Refused = refused
	_, err = s.events.Handle(ctx, bot.Event{Event: f.Event, Channel: c, Key: f.Key})
	return err
}

// discordTier bounds how often the history of one guild is read. Discord's own limits
// are told by its answers, and the adapter keeps to them; this leaves room for posts
// within the 50 requests a second of the whole bot. A page has 100 messages at most.
var discordTier = backfill.Tier{PerMinute: 120, Burst: 20, Objects: 100, Most: 100}

// connection describes the link to Discord.
func (s *discordService) connection() connection {
	c := s.platformLink.connection()
	if !s.adapter.Content() {
		c.lacks = lacksContent
	}
	return c
}

// lacksContent says what is missing where the application may not read messages.
const lacksContent = "without MESSAGE_CONTENT: only messages that mention the bot, and direct messages, are read (docs/discord.md)"

// describeServers says in which servers the bot is, for people, and what it needs.
func (s *discordService) describeServers(ctx context.Context) string {
	const named = 5
	list, err := s.adapter.Guilds(ctx, named+1)
	place := "on Discord"
	switch {
	case err != nil:
	case len(list) == 0:
		place = "on Discord, in no server yet; invite it: " + discord.InviteURL(s.adapter.Application())
	case len(list) > named:
		place = fmt.Sprintf("on Discord, in %s and further servers", joinGuildNames(list[:named]))
	default:
		place = "on Discord, in " + joinGuildNames(list)
	}
	if !s.adapter.Content() {
		place += "; " + lacksContent
	}
	return place
}

// joinGuildNames writes the names of servers as a list.
func joinGuildNames(list []discord.Guild) string {
	var out []string
	for _, g := range list {
		out = append(out, g.Name)
	}
	return strings.Join(out, ", ")
}

// A discordPlatform is Discord as the bot uses it: the adapter, and history from the
// store first.
type discordPlatform struct {
	*discord.Platform
	*histories
	service *discordService
}

// Fill implements [bot.Historian].
func (p discordPlatform) Fill(ctx context.Context, at bot.Place) error {
	if err := p.histories.Fill(ctx, at); err != nil {
		return err
	}
	return p.service.fetchReferences(ctx, at)
}

// How many references are fetched for a turn at most: in all, and how often what was
// fetched may refer to further messages.
const (
	mostReferences  = 40
	referenceRounds = 20
)

// fetchReferences loads what messages near the anchor reply to, and what those reply
// to in turn, where the store does not know it.
func (s *discordService) fetchReferences(ctx context.Context, at bot.Place) error {
	of := s.rules.policy(at.Channel)
	asked := map[earshot.MessageID]bool{}
	for range referenceRounds {
		list, err := gather.Unknown(ctx, s.store, at.Channel, at.Anchor, of, mostReferences)
		if err != nil {
			return err
		}
		// What Discord did not tell stays unknown, and is not asked for twice.
		list = slices.DeleteFunc(list, func(r gather.Reference) bool { return asked[r.ID] })
		if list = list[:min(len(list), mostReferences-len(asked))]; len(list) == 0 {
			return nil
		}
		for _, r := range list {
			asked[r.ID] = true
		}
		if err := s.adapter.FetchReferences(ctx, at.Channel, list); ctx.Err() != nil {
			return nil // there was no time: what is unknown is shown as such
		} else if err != nil {
			return err
		}
	}
	return nil
}
