package daemon

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/slack"
)

// How long to wait before asking again a Slack that does not answer at the
// start.
const (
	firstRetry   = time.Second
	longestRetry = 30 * time.Second
)

// An identified says who the bot is, as far as it is known at the start.
type identified struct {
	identity  earshot.Identity
	location  string // for people
	known     bool   // from Slack or from the store
	confirmed bool   // by Slack
}

// identify asks Slack who the bot is, and the store where Slack does not
// answer. The error is one of the token or the configuration.
func (s *slackService) identify(ctx context.Context) (identified, error) {
	soon, cancel := context.WithTimeout(ctx, s.options.Patience)
	defer cancel()
	err := s.adapter.Enter(soon)
	switch {
	case err == nil:
		who := s.identity()
		return identified{who, s.location(who), true, true}, nil
	case ctx.Err() != nil:
		return identified{}, ctx.Err()
	case !slack.Unreachable(err):
		return identified{}, err
	}
	s.options.Log.Warn("slack is unreachable; it is asked again until it answers", "err", err)
	known, err := s.adapter.Recall(ctx)
	if err != nil {
		return identified{}, err
	}
	if !known {
		who := earshot.Identity{Name: s.options.Config.Agent.Name}
		return identified{who, "Slack does not answer: events are stored, and answered once it does", false, false}, nil
	}
	who := s.identity()
	return identified{who, s.location(who) + ", as it was at the last start: Slack does not answer", true, false}, nil
}

// identity returns who the bot is by Slack, with the aliases that an operator
// set.
func (s *slackService) identity() earshot.Identity {
	who := s.adapter.Identity()
	who.Aliases = slices.Concat(who.Aliases, aliases(s.options.Config))
	return who
}

func (s *slackService) location(who earshot.Identity) string {
	return fmt.Sprintf("it is @%s in the Slack workspace %s", who.Name, s.adapter.Workspace())
}

// answerOnceKnown waits until Slack says who the bot is, and then runs all that
// needs to know it.
func (s *slackService) answerOnceKnown(ctx context.Context) error {
	if err := s.retryIdentify(ctx); err != nil {
		return err
	}
	run, err := s.answer(ctx)
	if err != nil {
		return err
	}
	return together(ctx, append(run, s.adapter.Probe)...)
}

// probe asks Slack who the bot is where it has not confirmed that yet, and then
// for a sign of life whenever it does not answer.
func (s *slackService) probe(ctx context.Context, confirmed bool) error {
	if !confirmed {
		if err := s.retryIdentify(ctx); err != nil {
			return err
		}
	}
	return s.adapter.Probe(ctx)
}

// retryIdentify asks Slack who the bot is until it answers. The error is one of
// the token or the configuration, or ctx's.
func (s *slackService) retryIdentify(ctx context.Context) error {
	for wait := firstRetry; ; wait = min(2*wait, longestRetry) {
		if err := pause(ctx, wait+rand.N(wait/2)); err != nil {
			return err
		}
		err := s.adapter.Enter(ctx)
		switch {
		case err == nil:
			s.options.Log.Info("slack answers")
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !slack.Unreachable(err):
			return err
		}
		s.options.Log.Warn("slack is unreachable", "again", min(2*wait, longestRetry), "err", err)
	}
}
