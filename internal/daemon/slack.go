package daemon

import (
	"cmp"
	"context"
	"net/http"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/pause"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/platform/slack"
)

// Where Slack posts events, and clicks at buttons: its settings have a Request URL for each.
// Both paths take both.
const (
	slackPath         = "/slack/events"
	slackInteractions = "/slack/interactions"
)

// openSlack opens Slack: the adapter is made and asks for the bot's identity,
// and backfill and the bot are made with it. Where Slack does not answer and the
// identity is not stored either, these two are made in Run, once it is known;
// until then the adapter stores events as they come.
func openSlack(ctx context.Context, s sharedParts) (platform, error) {
	c := s.options.Config
	if c.Installs() {
		return openSlackSpaces(ctx, s)
	}
	service, err := newSlackService(s, func(o slack.Options) slack.Options { return o })
	if err != nil {
		return platform{}, err
	}
	s.lists.set(service.adapter.NotAllowed)
	p, err := service.open(ctx)
	if err != nil {
		return platform{}, err
	}
	p.calls, p.unread, p.forget, p.missed = service.calls, service.history.Waiting, service.history.Left, service.events.noteMissed
	if c.Slack.Listen != "" {
		mux := http.NewServeMux()
		taken := service.adapter.Handler(service.events.Handle)
		mux.Handle("POST "+slackPath, taken)
		mux.Handle("POST "+slackInteractions, taken)
		probes{store: s.store, disk: s.disk, connection: service.connection, log: s.options.Log}.addTo(mux)
		p.listen, p.path, p.handler = c.Slack.Listen, slackPath, mux
	}
	return p, nil
}

// newSlackService makes the adapter of one workspace, with the options of the configuration
// as change returns them.
func newSlackService(s sharedParts, change func(slack.Options) slack.Options) (*slackService, error) {
	events := &relay{meters: s.meters}
	adapter, err := slack.New(change(slackOptions(s, events)))
	if err != nil {
		return nil, err
	}
	service := &slackService{adapter: adapter, events: events}
	service.history = newHistories(s, service.backfillOptions)
	service.platformLink = &platformLink{
		sharedParts: s, platform: earshot.Slack, title: "Slack", remote: adapter, unreachable: slack.Unreachable, answer: service.answer,
		where: func(context.Context) string { return "in the Slack workspace " + string(adapter.Workspace()) },
	}
	return service, nil
}

// A slackService runs one bot on Slack.
type slackService struct {
	*platformLink
	adapter *slack.Platform
	events  *relay
	history *histories // of one workspace
}

// answer makes backfill and the bot, whose identity is known, connects both to
// the adapter's events and returns what is to run.
func (s *slackService) answer(ctx context.Context) ([]func(context.Context) error, error) {
	who := s.identity()
	if _, err := s.history.Of(ctx, s.adapter.Workspace()); err != nil {
		return nil, err
	}
	if err := s.enlist(ctx, earshot.Slack, s.adapter.Workspace(), who); err != nil {
		return nil, err
	}
	b := s.newBot(slackPlatform{s.adapter, s.history}, who)
	s.events.connect(b, s.history, s.newCommands(b, who))
	calls := &callCounter{store: s.store, log: s.options.Log, now: s.options.Outside.clock, read: s.calls}
	run := []func(context.Context) error{b.Run, s.summaries(who), s.history.Run, calls.Run, func(ctx context.Context) error { return s.receive(ctx, b) }}
	if s.options.Config.Installs() {
		return run, nil // what there is once for all workspaces is slackSpaces's
	}
	run = append(run, s.summariesOfAgents(who.ID))
	if !s.options.Config.Keys.SlackAppToken.Empty() {
		run = append(run, func(ctx context.Context) error { return s.adapter.Listen(ctx, b.Handle) })
	}
	return run, nil
}

// takeFound takes a message that backfill found in history, which does not show whether
// its author may ask.
func (s *slackService) takeFound(ctx context.Context, c earshot.Channel, f backfill.HistoryMessage) error {
	f.Event.Refused = cmp.Or(f.Event.Refused, s.adapter.Refused(ctx, f.Message.Author.ID))
	return s.events.takeFound(ctx, c, f)
}

// backfillOptions configure what reads history where events were missed.
func (s *slackService) backfillOptions(w earshot.WorkspaceID) backfill.Options {
	o, c := s.options, s.options.Config
	tier := backfill.Internal
	if c.Slack.Tier == config.TierDistributed {
		tier = backfill.Distributed
	}
	return backfill.Options{
		Store: s.store, Source: s.adapter, Platform: earshot.Slack, Workspace: w,
		Handle:       s.takeFound,
		Fresh:        missedAge(c.Answer),
		Tier:         tier,
		Degrade:      c.Slack.Overflow == config.OverflowDegrade,
		ThreadsAlone: !s.rules.showsChannels(),
		Floor:        s.floor,
		Now:          o.Outside.now(), Log: o.Log,
	}
}

// receive lets the adapter pass on events, those first that it has stored, and
// then retries every minute or so to erase channels that the bot was removed
// from.
func (s *slackService) receive(ctx context.Context, b *bot.Bot) error {
	if err := s.adapter.Admit(ctx, b.Handle); err != nil {
		return err
	}
	for {
		if err := pause.For(ctx, s.options.Confirm); err != nil {
			return err
		}
		if err := s.adapter.Confirm(ctx); err != nil && ctx.Err() == nil {
			s.options.Log.Warn("channels that the bot was removed from are not erased yet", "err", err)
		}
	}
}

// calls returns the calls of Slack's API since the start, one entry a method, with the
// workspace once it is known.
func (s *slackService) calls() []earshot.CallCount {
	list := s.adapter.Calls()
	for i := range list {
		list[i].Workspace = s.adapter.Workspace()
	}
	return list
}

// A slackPlatform is Slack as the bot uses it: the adapter, and history from
// the store first.
type slackPlatform struct {
	*slack.Platform
	*histories
}
