package daemon

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tokens"
)

// The bounds of a learned factor.
const (
	minAnswers = 5   // fewer teach nothing
	maxAnswers = 100 // of a model: the newest
	maxTurns   = 200 // whose journals are read when the program starts
	minFactor  = 0.5
	maxFactor  = 3.0
	// minChange is the smallest relative change of a factor that is adopted, so
	// that the prompts of a conversation are mostly counted alike.
	minChange = 0.03
)

// A Sample compares our count of tokens with what a model's provider reported,
// over the model's newest answers.
type Sample struct {
	Provider string
	Model    string // as it is named in requests
	Answers  int
	Counted  int // tokens of the requests by the base counter
	Reported int // tokens of the same requests by the provider
}

// Factor returns what the base count must be multiplied with; 1 where nothing
// was counted.
func (s Sample) Factor() float64 {
	if s.Counted == 0 {
		return 1
	}
	return float64(s.Reported) / float64(s.Counted)
}

// Counter returns the spec of the counter that fits the model, such as
// o200k*1.15; the base counter's where the answers are too few.
func (s Sample) Counter() string { return counterSpec(s.next(1)) }

// next returns the factor that replaces current, or current where the change
// is too small or the answers are too few. The offline model teaches nothing: it
// reports an estimate.
func (s Sample) next(current float64) float64 {
	f := min(max(s.Factor(), minFactor), maxFactor)
	if s.Provider == providers.Offline || s.Answers < minAnswers || math.Abs(f/current-1) < minChange {
		return current
	}
	return math.Round(f*100) / 100
}

func counterSpec(factor float64) string {
	if factor == 1 {
		return "o200k"
	}
	return fmt.Sprintf("o200k*%.2f", factor)
}

// A Calibration learns how models count tokens from what their providers
// report. It is read from the journals of turns at the start, so it survives a
// restart, and nothing is kept besides the journals. It is safe for concurrent
// use.
type Calibration struct {
	mu     sync.Mutex // guards models
	models map[modelName]*calibration
}

type modelName struct{ provider, model string }

type calibration struct {
	answers []tokenSample // the newest, in the order of time
	factor  float64       // in use
}

type tokenSample struct{ counted, reported int }

// Calibrate learns from the newest turns of a store. Journal entries that it
// cannot read, such as those of a newer program, are skipped.
func Calibrate(ctx context.Context, st bot.Store) (*Calibration, error) {
	c := &Calibration{models: map[modelName]*calibration{}}
	list, err := st.QueuedTurns(ctx, earshot.TurnQuery{States: []earshot.TurnState{earshot.TurnDone}, Limit: maxTurns})
	if err != nil {
		return nil, fmt.Errorf("list turns: %w", err)
	}
	for _, q := range slices.Backward(list) {
		steps, err := st.Steps(ctx, q.ID)
		if err != nil {
			return nil, fmt.Errorf("journal of turn %d: %w", q.ID, err)
		}
		for _, s := range steps {
			// One step at a time, because a newer program may have written others.
			entries, err := bot.ReadJournal([]earshot.Step{s})
			if err == nil && entries[0].Answer != nil {
				c.learn(*entries[0].Answer)
			}
		}
	}
	return c, nil
}

// learn takes an answer whose request was counted.
func (c *Calibration) learn(a llm.Response) {
	reported := a.Usage.Input + a.Usage.CacheRead + a.Usage.CacheWrite
	if a.Counted == nil || a.Counted.Tokens <= 0 || reported <= 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	name := modelName{a.Provider, a.Counted.Model}
	m := c.models[name]
	if m == nil {
		m = &calibration{factor: 1}
		c.models[name] = m
	}
	m.answers = append(m.answers, tokenSample{a.Counted.Tokens, reported})
	m.answers = m.answers[max(0, len(m.answers)-maxAnswers):]
}

// Samples returns a sample for each model, ordered by provider and name.
func (c *Calibration) Samples() []Sample {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Sample
	for name, m := range c.models {
		out = append(out, m.sample(name))
	}
	slices.SortFunc(out, func(x, y Sample) int {
		return cmp.Or(cmp.Compare(x.Provider, y.Provider), cmp.Compare(x.Model, y.Model))
	})
	return out
}

func (m *calibration) sample(name modelName) Sample {
	s := Sample{Provider: name.provider, Model: name.model, Answers: len(m.answers)}
	for _, a := range m.answers {
		s.Counted += a.counted
		s.Reported += a.reported
	}
	return s
}

// counter returns the counter for the next prompt of a model.
func (c *Calibration) counter(info ModelInfo) assemble.Counter {
	c.mu.Lock()
	defer c.mu.Unlock()
	factor := 1.0
	name := modelName{info.Provider, info.Name}
	if m := c.models[name]; m != nil {
		m.factor = m.sample(name).next(m.factor)
		factor = m.factor
	}
	counter, err := tokens.For(counterSpec(factor))
	if err != nil {
		panic(err) // the factor is within bounds, so the spec is valid
	}
	return counter
}
