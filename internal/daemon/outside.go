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

// Outside replaces the clock, randomness and the network, so that a test can run
// a whole daemon under a clock and a seed of its own. A zero field leaves the
// real one.
type Outside struct {
	Model      llm.Model                                                      // in place of the configured models; it gets retries and a breaker too
	Summariser llm.Model                                                      // in place of the configured model that summarises
	Client     *http.Client                                                   // for calls of the platform's API
	Dial       func(ctx context.Context, n, address string) (net.Conn, error) // for the platform's sockets
	Now        func() time.Time                                               // the wall clock; timers run on the real one
	Jitter     func(most time.Duration) time.Duration                         // a random time below most
	Owner      string                                                         // see bot.Options.Owner
	NewKey     func() string                                                  // see bot.Options.NewKey
}

// now returns the clock as the parts take it, nil for the real one.
func (x Outside) now() func() earshot.Time {
	if x.Now == nil {
		return nil
	}
	return func() earshot.Time { return earshot.TimeOf(x.Now()) }
}

// clock returns the clock, the real one where there is no other.
func (x Outside) clock() func() time.Time {
	if x.Now == nil {
		return time.Now
	}
	return x.Now
}

// model makes the model that answers, as newModel does.
func (x Outside) model(c config.Config, list []ModelInfo, learn func(llm.Response), calls []*modelCalls, log *slog.Logger) (llm.Model, error) {
	if x.Model == nil {
		return newModel(c, list, learn, calls, log)
	}
	o := &model.RetryOptions{Logger: log}
	if x.Jitter != nil {
		o.Jitter = func() float64 { return x.Jitter(time.Second).Seconds() }
	}
	info := list[0]
	m := measured{x.Model, info.Name, learn, calls[0]}
	return model.Fallback(log, model.Retry(model.Break(m, model.NewBreaker(info.Provider, nil)), o)), nil
}
