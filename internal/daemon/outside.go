package daemon

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// Outside replaces the clock, randomness and the network, so that a test can run
// a whole daemon under a clock and a seed of its own. A zero field leaves the
// real one. A demo gives the daemon its scripted model by it.
type Outside struct {
	Model      llm.Model                                                      // in place of the configured models; it gets retries and a breaker too
	Summariser llm.Model                                                      // in place of the configured model that summarises
	Tools      []toolbox.Toolbox                                              // beside the configured servers of tools
	Client     *http.Client                                                   // for calls of the platform's API
	Dial       func(ctx context.Context, n, address string) (net.Conn, error) // for the platform's sockets
	Now        func() time.Time                                               // this machine's wall clock; timers run on the real one
	Jitter     func(most time.Duration) time.Duration                         // a random time below most
	Owner      string                                                         // see bot.Options.Owner
	NewKey     func() string                                                  // see bot.Options.NewKey
}

// clock returns the time that is written into the store and compared with times there.
func (x Outside) clock() time.Time {
	if x.Now == nil {
		return time.Now()
	}
	return x.Now()
}

// offBy returns the machine's clock, off by what a file says at that moment, such as 1h;
// for tests of replicas whose clocks differ. A file that cannot be read is no difference.
func offBy(file string) func() time.Time {
	return func() time.Time {
		text, _ := os.ReadFile(file)
		d, _ := time.ParseDuration(strings.TrimSpace(string(text)))
		return time.Now().Add(d)
	}
}

// now returns the clock as the parts take it, nil for the real one.
func (x Outside) now() func() earshot.Time {
	if x.Now == nil {
		return nil
	}
	return func() earshot.Time { return earshot.TimeOf(x.Now()) }
}

// jitter returns a random time below most, which is above 0.
func (x Outside) jitter(most time.Duration) time.Duration {
	if x.Jitter == nil {
		return rand.N(most)
	}
	return x.Jitter(most)
}

// fraction returns the randomness as the parts take it that want a number below 1, nil
// for the real one.
func (x Outside) fraction() func() float64 {
	if x.Jitter == nil {
		return nil
	}
	return func() float64 { return x.Jitter(time.Second).Seconds() }
}

// ambientModel makes the model that decides where the bot reads along, nil where it is the
// one that answers. Its calls are added to calls.
func (x Outside) ambientModel(c config.Config, models []ModelInfo, learn func(llm.Response), calls *[]*modelCalls, log *slog.Logger) (llm.Model, error) {
	info, ok := ambientModel(c, models)
	if !ok || x.Model != nil {
		return nil, nil
	}
	own := newCalls([]ModelInfo{info})
	*calls = append(*calls, own...)
	return newModel(c, []ModelInfo{info}, learn, own, log)
}

// ambientModel returns which model decides where the bot reads along; false where it is
// the one that answers.
func ambientModel(c config.Config, models []ModelInfo) (info ModelInfo, ok bool) {
	if !c.ReadsAlong() || c.Answer.AmbientModel == "" || models[0].Provider == providers.Offline {
		return info, false
	}
	return ModelInfo{Provider: models[0].Provider, Name: c.Answer.AmbientModel, Why: "answer.ambient_model"}, true
}

// model makes the model that answers, as newModel does.
func (x Outside) model(c config.Config, list []ModelInfo, learn func(llm.Response), calls []*modelCalls, log *slog.Logger) (llm.Model, error) {
	if x.Model == nil {
		return newModel(c, list, learn, calls, log)
	}
	o := &model.RetryOptions{Logger: log, Jitter: x.fraction()}
	info := list[0]
	m := measuredModel{x.Model, info.Name, learn, calls[0]}
	return model.Fallback(log, model.Retry(model.Break(m, model.NewBreaker(info.Provider, nil)), o)), nil
}
