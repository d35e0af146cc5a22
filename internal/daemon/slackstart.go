package daemon

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/earshot-ai/earshot/platform/slack"
)

// Between two questions to a Slack that does not answer at the start.
const (
	enterFirst = time.Second
	enterMost  = 30 * time.Second
)

// liveSlack makes what needs to know who the bot is, and returns what of it
// runs.
func (d *Daemon) liveSlack(ctx context.Context, o Options, s *slackBot) ([]func(context.Context) error, error) {
	if err := d.openHistory(ctx, o, s); err != nil {
		return nil, err
	}
	if err := d.openBot(ctx, o, s, s.named(o.Config)); err != nil {
		return nil, err
	}
	calls := &meter{store: d.Store, log: d.log, counted: s.counted}
	parts := []func(context.Context) error{
		d.bot.Run, s.Filler.Run, calls.run,
		func(ctx context.Context) error { return d.tendSlack(ctx, s) },
	}
	if !o.Config.Keys.SlackAppToken.Empty() {
		parts = append(parts, func(ctx context.Context) error { return s.Listen(ctx, d.bot.Handle) })
	}
	return parts, nil
}

// awaitSlack waits until Slack says who the bot is, and then runs what needs
// to know it.
func (d *Daemon) awaitSlack(ctx context.Context, o Options, s *slackBot) error {
	if err := d.reenterSlack(ctx, s); err != nil {
		return err
	}
	parts, err := d.liveSlack(ctx, o, s)
	if err != nil {
		return err
	}
	s.known.Store(true)
	return together(ctx, append(parts, s.Probe)...)
}

// keepSlack asks Slack who the bot is where it has not said so yet, and then
// for a sign of life whenever it does not answer.
func (d *Daemon) keepSlack(ctx context.Context, s *slackBot) error {
	if !s.entered {
		if err := d.reenterSlack(ctx, s); err != nil {
			return err
		}
	}
	return s.Probe(ctx)
}

// reenterSlack asks Slack who the bot is until it answers. The error is one of
// the token or the configuration, or ctx's.
func (d *Daemon) reenterSlack(ctx context.Context, s *slackBot) error {
	for back := enterFirst; ; back = min(2*back, enterMost) {
		if err := pause(ctx, back+rand.N(back/2)); err != nil {
			return err
		}
		err := s.Enter(ctx)
		switch {
		case err == nil:
			d.log.Info("slack answers")
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !slack.Unreachable(err):
			return err
		}
		d.log.Warn("slack is unreachable", "again", min(2*back, enterMost), "err", err)
	}
}

// tendSlack takes what was kept, and then looks now and then whether something
// is to be erased.
func (d *Daemon) tendSlack(ctx context.Context, s *slackBot) error {
	if err := s.Admit(ctx, d.bot.Handle); err != nil {
		return err
	}
	for {
		if err := pause(ctx, s.confirm); err != nil {
			return err
		}
		if err := s.Confirm(ctx); err != nil && ctx.Err() == nil {
			d.log.Warn("what was left is not erased yet", "err", err)
		}
	}
}

// pause waits, or returns ctx's error.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// reach says whether Slack answers, and whether the bot is known.
func (s *slackBot) reach() reach {
	r := reach{platform: "slack", known: s.known.Load()}
	r.since, r.down = s.Down()
	return r
}
