package daemon

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/metrics"
	"github.com/earshot-ai/earshot/internal/words"
	"github.com/earshot-ai/earshot/platform/backfill"
)

// A relay passes what a platform tells on to the bot and to backfill. It is made
// before them, because they need the bot's identity, which only the platform knows,
// and because each of them calls the other. Slack's adapter stores events until it is
// told to admit them, and Discord's does not listen before; both are after connect.
type relay struct {
	meters *metrics.Metrics
	to     atomic.Pointer[receivers]
}

type receivers struct {
	bot      *bot.Bot
	history  gapObserver
	commands *commands
}

// Missing is what must know of events that did not come: a [backfill.Filler] or
// [histories].
type gapObserver interface {
	Missed(from, to time.Time)
	Left(ctx context.Context, s earshot.Scope) error
}

// connect says where to pass things on.
func (r *relay) connect(b *bot.Bot, history gapObserver, c *commands) {
	r.to.Store(&receivers{b, history, c})
}

// Handle implements [slack.Handler] and [discord.Handler].
func (r *relay) Handle(ctx context.Context, e bot.Event) (bot.Outcome, error) {
	to := r.to.Load()
	if to == nil {
		return bot.Outcome{}, errors.New("an event came before the bot's identity was known")
	}
	return to.bot.Handle(ctx, e)
}

// Choose takes what somebody chose at a message of the bot.
func (r *relay) Choose(ctx context.Context, c bot.Chosen) (string, error) {
	to := r.to.Load()
	if to == nil {
		return "", errors.New("a choice came before the bot's identity was known")
	}
	return to.bot.Choose(ctx, c)
}

// Command does what somebody says by a command of the platform.
func (r *relay) Command(ctx context.Context, x bot.Command) (string, error) {
	to := r.to.Load()
	if to == nil {
		return "", errors.New("a command came before the bot's identity was known")
	}
	return to.commands.do(ctx, x)
}

// Say returns a sentence of the bot's own as it is said in a channel.
func (r *relay) Say(ctx context.Context, s earshot.Scope, key string, with ...string) string {
	to := r.to.Load()
	if to == nil {
		return words.Table{}.Say(words.Key(key), with...)
	}
	return to.bot.Say(ctx, s, key, with...)
}

// takeFound takes a message that backfill found in history.
func (r *relay) takeFound(ctx context.Context, c earshot.Channel, f backfill.HistoryMessage) error {
	_, err := r.Handle(ctx, bot.Event{Event: f.Event, Channel: c, Key: f.Key})
	return err
}

// noteMissed takes a period in which events may have been missed. Before connect
// backfill need not hear of it: it begins with the assumption that everything
// since the newest stored message was missed.
func (r *relay) noteMissed(from, to time.Time) {
	if !from.IsZero() { // nobody knows since when
		r.meters.Gap(to.Sub(from))
	}
	if x := r.to.Load(); x != nil {
		x.history.Missed(from, to)
	}
}

// leaveChannel takes a channel that the bot was removed from. Before connect nobody
// answers there.
func (r *relay) leaveChannel(ctx context.Context, scope earshot.Scope) error {
	to := r.to.Load()
	if to == nil {
		return nil
	}
	to.bot.Left(scope)
	return to.history.Left(ctx, scope)
}
