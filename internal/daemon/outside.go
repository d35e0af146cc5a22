package daemon

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
)

// Outside replaces what a daemon gets from the machine and the network, so that
// a test can run a whole one under a clock and a seed of its own. Zero fields
// mean the real thing.
type Outside struct {
	Model  llm.Model                                                      // in place of those of Config, with retries and breaker
	Client *http.Client                                                   // for calls of a platform's API
	Dial   func(ctx context.Context, n, address string) (net.Conn, error) // for a platform's sockets
	Now    func() time.Time                                               // the wall clock; timers are not affected
	Jitter func(most time.Duration) time.Duration                         // a random time below most
	Owner  string                                                         // see bot.Options.Owner
	NewKey func() string                                                  // see bot.Options.NewKey
}

// now returns the clock of the vocabulary, nil for the real one.
func (x Outside) now() func() earshot.Time {
	if x.Now == nil {
		return nil
	}
	return func() earshot.Time { return earshot.TimeOf(x.Now()) }
}

// model makes the model that answers, as newModel does.
func (x Outside) model(c config.Config, list []ModelInfo, learn func(llm.Response), log *slog.Logger) (llm.Model, error) {
	if x.Model == nil {
		return newModel(c, list, learn, log)
	}
	o := &model.RetryOptions{Logger: log}
	if x.Jitter != nil {
		o.Jitter = func() float64 { return x.Jitter(time.Second).Seconds() }
	}
	info := list[0]
	m := measured{x.Model, info.Name, learn}
	return model.Fallback(log, model.Retry(model.Break(m, model.NewBreaker(info.Provider, nil)), o)), nil
}
