// Package metrics is what a process tells Prometheus of itself: what it has
// counted since it began, and what waits in its store.
//
//	m := metrics.New(metrics.Sources{Depth: store.Depth, Version: version})
//	m.Turn(earshot.TurnDone, usage)
//	http.Handle("/metrics", m.Handler(log))
//
// Start with [New]. Names and units follow Prometheus' conventions. Labels have
// few values, all of them words of ours or of a platform's API: no channel, no
// person, nothing that was said.
package metrics

import (
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/earshot-ai/earshot"
)

// Sources are asked whenever somebody reads. Nil fields tell nothing. They are
// safe for concurrent use.
type Sources struct {
	// Depth counts the turns in these states.
	Depth func(ctx context.Context, states ...earshot.TurnState) (map[earshot.TurnState]int, error)
	// Calls are what was asked of the platform since the start, each method once.
	Calls func() []earshot.CallCount
	// Up reports whether the platform is within reach.
	Up func() bool
	// Version is the program's.
	Version string
}

// waiting are the states of turns that wait for somebody. Those that are over
// are counted as they end, so that reading costs the same however many there
// are.
var waiting = []earshot.TurnState{earshot.TurnOpen, earshot.TurnClaimed, earshot.TurnGenerating, earshot.TurnPosting, earshot.TurnParked}

// outcomes are the states in which turns end.
var outcomes = []earshot.TurnState{earshot.TurnDone, earshot.TurnFailed, earshot.TurnParked, earshot.TurnDropped}

// Metrics counts what happens. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	turns    *prometheus.CounterVec
	tokens   *prometheus.CounterVec
	gaps     prometheus.Counter
	missed   prometheus.Counter
	acks     prometheus.Histogram
}

// The kinds of tokens. The cache's share of what models read is cache_read over
// the sum of cache_read, cache_write and input.
const (
	kindInput      = "input"
	kindOutput     = "output"
	kindCacheRead  = "cache_read"
	kindCacheWrite = "cache_write"
)

// New returns metrics of which nothing has happened yet. Each is there from the
// beginning, at 0, so that its first event is seen as a rise.
func New(s Sources) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		turns: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "earshot_turns_total", Help: "Turns that ended in this process, by outcome.",
		}, []string{"outcome"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "earshot_tokens_total", Help: "Tokens as the providers report them: input (read afresh), output, cache_read, cache_write.",
		}, []string{"kind"}),
		gaps: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "earshot_coverage_gaps_total", Help: "Times in which events may have been missed, while the process ran.",
		}),
		missed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "earshot_coverage_gap_seconds_total", Help: "How long these times were together.",
		}),
		acks: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "earshot_acknowledgement_seconds", Help: "From an event's arrival to its acknowledgement, when it is stored.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2, 3, 5, 10},
		}),
	}
	for _, o := range outcomes {
		m.turns.WithLabelValues(string(o))
	}
	for _, k := range []string{kindInput, kindOutput, kindCacheRead, kindCacheWrite} {
		m.tokens.WithLabelValues(k)
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "earshot_build_info", Help: "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": s.Version, "goversion": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(m.turns, m.tokens, m.gaps, m.missed, m.acks, build, source{s},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Turn counts a turn that ended, and its tokens.
func (m *Metrics) Turn(outcome earshot.TurnState, u earshot.Usage) {
	m.turns.WithLabelValues(string(outcome)).Inc()
	for kind, n := range map[string]int{kindInput: u.Input, kindOutput: u.Output, kindCacheRead: u.CacheRead, kindCacheWrite: u.CacheWrite} {
		m.tokens.WithLabelValues(kind).Add(float64(max(n, 0))) // what a provider reports is not ours
	}
}

// Gap counts a time in which events may have been missed.
func (m *Metrics) Gap(long time.Duration) {
	m.gaps.Inc()
	m.missed.Add(max(long, 0).Seconds())
}

// Acknowledged counts an event that was acknowledged so long after it came.
func (m *Metrics) Acknowledged(after time.Duration) { m.acks.Observe(after.Seconds()) }

// Handler serves the metrics. What a source cannot tell is left out and logged.
func (m *Metrics) Handler(log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError),
		MaxRequestsInFlight: 4, Timeout: 10 * time.Second,
	})
}
