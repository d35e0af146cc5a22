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
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tokens"
)

// What a factor is learned from, and how far it goes.
const (
	enough    = 5   // answers at least
	looked    = 200 // turns that are looked at when the program starts
	kept      = 100 // answers of a model that count: the newest
	minFactor = 0.5
	maxFactor = 3.0
	// step is by how much a factor must be off before another is used: a
	// conversation's prompts are counted alike while little changes.
	step = 0.03
)

// A Sample compares what was counted with what a model has reported, over its
// newest answers.
type Sample struct {
	Provider string
	Model    string // by the name that it is asked by
	Answers  int
	Counted  int // tokens of the requests by the base counter
	Reported int // tokens that the provider says it has read
}

// Factor is by how much the base counter is off.
func (s Sample) Factor() float64 {
	if s.Counted == 0 {
		return 1
	}
	return float64(s.Reported) / float64(s.Counted)
}

// Counter returns the spec of the counter that fits the model, such as
// o200k*1.15; the base counter where too little is known.
func (s Sample) Counter() string { return spec(s.next(1)) }

// next returns the factor that is used after the factor using. What the offline
// model reports is a guess of its own, and nothing to learn from.
func (s Sample) next(using float64) float64 {
	f := min(max(s.Factor(), minFactor), maxFactor)
	if s.Provider == config.Offline || s.Answers < enough || math.Abs(f/using-1) < step {
		return using
	}
	return math.Round(f*100) / 100
}

func spec(factor float64) string {
	if factor == 1 {
		return "o200k"
	}
	return fmt.Sprintf("o200k*%.2f", factor)
}

// A Calibration learns how models count from what their providers report. What
// it is made of stands in the journals of the turns: it is there after a
// restart, and goes where they are erased. It is safe for concurrent use.
type Calibration struct {
	mu     sync.Mutex // guards what follows
	models map[modelName]*calibrated
}

type modelName struct{ provider, model string }

type calibrated struct {
	answers []answered // the newest, oldest first
	using   float64
}

type answered struct{ counted, reported int }

// Calibrate reads what the newest turns of a store tell of. What a newer program
// may have written otherwise is left out.
func Calibrate(ctx context.Context, st bot.Store) (*Calibration, error) {
	c := &Calibration{models: map[modelName]*calibrated{}}
	list, err := st.QueuedTurns(ctx, earshot.TurnQuery{States: []earshot.TurnState{earshot.TurnDone}, Limit: looked})
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

// learn takes an answer that was measured.
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
		m = &calibrated{using: 1}
		c.models[name] = m
	}
	m.answers = append(m.answers, answered{a.Counted.Tokens, reported})
	m.answers = m.answers[max(0, len(m.answers)-kept):]
}

// Samples returns what is known, by provider and model.
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

func (m *calibrated) sample(name modelName) Sample {
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
		m.using = m.sample(name).next(m.using)
		factor = m.using
	}
	counter, err := tokens.For(spec(factor))
	if err != nil {
		panic(err) // the factor is bounded
	}
	return counter
}
