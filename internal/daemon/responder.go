package daemon

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tokens"
)

// A responder is what the bot answers with, the same on every platform.
type responder struct {
	model      llm.Model
	counter    func() assemble.Counter // for the next prompt
	fileTokens func(llm.Media) int     // nil where the model sees no files
	summariser llm.Model               // nil: summaries are digests
	brains     brains                  // what else answers, by rules
	ambient    llm.Model               // decides where the bot reads along; nil: model
	calls      []*modelCalls           // of the model, its fallback, and the one that decides
	fault      func(point string)      // kills the process at a point, for tests; nil for none
}

// newResponder makes the configured models. The factor of their token counter
// is learned from the answers in the store.
func newResponder(ctx context.Context, o Options, st earshot.Store, models []ModelInfo) (responder, error) {
	learned, err := Calibrate(ctx, st)
	if err != nil {
		return responder{}, fmt.Errorf("calibrate the token counter: %w", err)
	}
	r := responder{
		calls:      newCalls(models),
		counter:    func() assemble.Counter { return learned.counter(models[0]) },
		fileTokens: fileTokens(models[0]),
	}
	if r.model, err = o.Outside.model(o.Config, models, learned.learn, r.calls, o.Log); err != nil {
		return responder{}, err
	}
	if r.brains, err = o.Outside.newBrains(o.Config, learned.learn, &r.calls, o.Log); err != nil {
		return responder{}, err
	}
	if r.ambient, err = o.Outside.ambientModel(o.Config, models, learned.learn, &r.calls, o.Log); err != nil {
		return responder{}, err
	}
	if r.summariser, err = o.Outside.summariser(o.Config, o.Log); err != nil {
		return responder{}, err
	}
	if spec := o.Config.Counter; spec != config.CounterAuto {
		fixed, err := tokens.For(spec)
		if err != nil {
			return responder{}, fmt.Errorf("counter: %w", err)
		}
		r.counter = func() assemble.Counter { return fixed }
	}
	if r.fault, err = faultAt(o.Config.Fault); err != nil {
		return responder{}, err
	}
	return r, nil
}

// agent returns what answers where that is an agent of one's own; nil for a model.
func (r responder) agent(c config.Config) llm.Model {
	if !hasAgent(c) {
		return nil
	}
	return r.model
}

// faultAt returns what kills the process at a point, nil for no point.
func faultAt(point string) (func(string), error) {
	if point == "" {
		return nil, nil
	}
	fault, ok := bot.KillAt(point)
	if !ok {
		points := slices.Concat(bot.FaultPoints(), bot.PlaceholderFaultPoints(), bot.ToolFaultPoints(), bot.ApprovalFaultPoints())
		return nil, fmt.Errorf("EARSHOT_FAULT: %q is no point; use one of %s", point, strings.Join(points, ", "))
	}
	return fault, nil
}

// newBot makes the bot that answers on a platform under an identity.
func (s sharedParts) newBot(p bot.Platform, who earshot.Identity) *bot.Bot {
	o, c := s.options, s.options.Config
	b := bot.New(bot.Options{
		Store: s.store, Platform: p, Identity: who,
		Model: s.responder.model, Agent: s.responder.agent(c), Access: s.agentAccess(), Count: s.responder.counter, FileTokens: s.responder.fileTokens, Fault: s.responder.fault,
		Rules: s.rules.inChannel, Ambient: bot.Ambient{Model: s.responder.ambient}, SendFile: sendsFiles(c), Spending: spending(c), MaxTokens: c.Limits.MaxTokens,
		Approve: bot.Approve{By: c.Approve.By, Expire: time.Duration(c.Approve.ExpireMinutes) * time.Minute, Hold: c.Answer.WhileWaiting == config.WaitingHold},
		Limits: bot.Limits{
			Fresh:    time.Duration(c.Answer.FreshMinutes) * time.Minute,
			Post:     time.Duration(c.Answer.PostMinutes) * time.Minute,
			Parallel: c.Answer.Parallel,
			Generate: time.Duration(c.Limits.Seconds) * time.Second,
			Lease:    time.Duration(c.Lease.Seconds) * time.Second,
			History:  time.Duration(c.Limits.HistorySeconds) * time.Second,
			Rounds:   c.Limits.Rounds,
		},
		Trust: c.Context.Trust.Rule(), AllowList: s.lists.ask,
		Tools: s.toolboxes(), ToolTokens: c.Tools.Budget, Search: s.search, Files: newFiles(c, p), Zone: c.Context.Zone, Placeholder: kindOf(c).placeholder(c), NoAwayNotice: !c.Answer.AwayNotice,
		Log: o.Log, DryRun: o.DryRun, Done: s.turnEnded, Trace: s.traces.hook(), Refused: s.meters.Refusal,
		Owner: o.Outside.Owner, NewKey: o.Outside.NewKey, Jitter: o.Outside.fraction(), Now: o.Outside.now(),
	})
	s.caches.add(b.Clear)
	return b
}

// heard is the store of an adapter, in which an emoji at a message of the bot may say
// something.
func (s sharedParts) heard(choose func(context.Context, bot.Chosen) (string, error)) bot.Store {
	return bot.HearReactions(s.store, bot.Reactions{Feedback: s.options.Config.Answer.Feedback != config.FeedbackOff, Choose: choose})
}

// placesIn returns the channels that a setting names; "*" is all.
func placesIn(list []string) bot.Ask {
	a := bot.Ask{All: slices.Contains(list, "*")}
	for _, id := range list {
		a.Channels = append(a.Channels, earshot.ChannelID(id))
	}
	return a
}

// previewWait returns how long a question waits for the preview of its link: not at all
// on a platform that sends none.
func previewWait(c config.Config) time.Duration {
	if c.Platform != config.PlatformSlack && c.Platform != config.PlatformDiscord {
		return 0
	}
	return time.Duration(c.Answer.PreviewWait * float64(time.Second))
}

// editWindow returns for how long after a message was posted an edit of it asks.
func editWindow(minutes int) time.Duration {
	if minutes == 0 {
		return -1 // none does
	}
	return time.Duration(minutes) * time.Minute
}

// missedAge returns how old a question that was missed in a downtime may be so that the
// bot is given it: it answers the fresh ones, and tells who asked the others.
func missedAge(c config.Answer) time.Duration {
	fresh := time.Duration(c.FreshMinutes) * time.Minute
	if c.AwayNotice {
		return max(fresh, bot.AwayAge)
	}
	return fresh
}

// ownAliases returns the further ids that the operator says are the bot's own.
func ownAliases(c config.Config) []earshot.AuthorID {
	var out []earshot.AuthorID
	for _, a := range c.Agent.Aliases {
		out = append(out, earshot.AuthorID(a))
	}
	return out
}
