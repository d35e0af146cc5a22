// Package metrics exports what a process does to Prometheus: counters of what
// has happened since it started, and gauges that are read from its store.
//
//	m := metrics.New(version)
//	m.Turn(turn, usage)
//	http.Handle("/metrics", m.Handler(metrics.Sources{Depth: store.Depth}, log))
//
// Start with [New]. Names and units follow Prometheus' conventions. Labels have
// few values, all of them words of ours or of a platform's API: never a channel,
// a person or a message's text.
package metrics

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/earshot-ai/earshot"
)

// Sources are called on every scrape. They must be safe for concurrent use. A
// nil field leaves its metrics out.
type Sources struct {
	// Depth counts the turns in these states.
	Depth func(ctx context.Context, states ...earshot.TurnState) (map[earshot.TurnState]int, error)
	// Oldest returns the turn that was opened first of those in these states; false where
	// there is none.
	Oldest func(ctx context.Context, states ...earshot.TurnState) (earshot.QueuedTurn, bool, error)
	// Now is the clock of the store; it is needed with Oldest.
	Now func() earshot.Time
	// Limits returns how much of each kind of limit of a day is used, in hundredths, of all
	// replicas; of several purses the one that is used most.
	Limits func(ctx context.Context) (map[string]int, error)
	// Calls returns the calls of the platform's API since the start, one entry a
	// method.
	Calls func() []earshot.CallCount
	// Up reports whether the platform is within reach.
	Up func() bool
	// SignedOut reports whether the platform refuses the bot's token.
	SignedOut func() bool
	// Unread counts the channels and threads whose history waits to be read in the
	// background; nil: none does.
	Unread func() int
	// Indexed returns the memory of the search indexes, in bytes.
	Indexed func() int64
}

// outcomes are the states in which turns end. They are counted as turns end, so
// that a scrape costs the same however many there have been. Refusals are counted by
// their reasons.
var outcomes = slices.DeleteFunc(earshot.TurnStates(), func(s earshot.TurnState) bool { return !s.Final() || s == earshot.TurnRefused })

// waiting are the states in which turns wait for a replica, for a person, or when parked
// for an operator. Each scrape asks the store how many there are.
var waiting = slices.DeleteFunc(earshot.TurnStates(), func(s earshot.TurnState) bool { return s.Final() && s != earshot.TurnParked })

// unfinished are the states in which turns wait for a replica, and not for a person.
var unfinished = earshot.ActiveStates()

// Metrics counts events of this process. It is safe for concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	turns    *prometheus.CounterVec
	attempts prometheus.Histogram
	tokens   *prometheus.CounterVec
	summed   *prometheus.CounterVec
	sumsUsed *prometheus.CounterVec
	gaps     prometheus.Counter
	missed   prometheus.Counter
	acks     prometheus.Histogram
	refused  prometheus.Counter
	refusals *prometheus.CounterVec
	ambient  *prometheus.CounterVec
	encoded  prometheus.Counter
	asked    *prometheus.CounterVec
	answered *prometheus.HistogramVec
	tools    *prometheus.CounterVec
	toolTook *prometheus.HistogramVec
	requests *prometheus.CounterVec
	served   *prometheus.HistogramVec
}

// The kinds of tokens. The cache hit ratio is cache_read over the sum of
// cache_read, cache_write and input.
const (
	kindInput      = "input"
	kindOutput     = "output"
	kindCacheRead  = "cache_read"
	kindCacheWrite = "cache_write"
)

// New returns metrics of a program's version. Every counter exists from the
// start, at 0, so that Prometheus sees its first event as an increase.
func New(version string) *Metrics {
	registry := prometheus.NewRegistry()
	made := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return made.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	soon := []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1}
	m := &Metrics{
		registry: registry,
		turns:    counter("earshot_turns_total", "Turns that ended in this process, by outcome.", "outcome"),
		attempts: made.NewHistogram(prometheus.HistogramOpts{
			Name: "earshot_turn_attempts", Help: "How often turns that ended in this process had been claimed, by whichever process.",
			Buckets: []float64{0, 1, 2, 3, 5, 10, 20},
		}),
		tokens:   counter("earshot_tokens_total", "Tokens as the providers report them: input (read afresh), output, cache_read, cache_write.", "kind"),
		summed:   counter("earshot_summaries_total", "Summaries of conversations that were tried in this process: stored or failed, by a model or as a digest.", "by", "outcome"),
		sumsUsed: counter("earshot_summary_tokens_total", "Tokens that summaries used, as the provider reports them; kinds as in earshot_tokens_total.", "kind"),
		gaps:     made.NewCounter(prometheus.CounterOpts{Name: "earshot_coverage_gaps_total", Help: "Times in which events may have been missed, while the process ran."}),
		missed:   made.NewCounter(prometheus.CounterOpts{Name: "earshot_coverage_gap_seconds_total", Help: "How long these times were together."}),
		acks: made.NewHistogram(prometheus.HistogramOpts{
			Name: "earshot_acknowledgement_seconds", Help: "From an event's arrival to its acknowledgement, when it is stored.",
			Buckets: append(slices.Clip(soon), 2, 3, 5, 10),
		}),
		refused:  made.NewCounter(prometheus.CounterOpts{Name: "earshot_events_refused_total", Help: "Deliveries of events that were not acknowledged, because they could not be stored; the platform sends them again."}),
		refusals: counter("earshot_refused_total", "Messages that name the bot and are not to be answered, by reason.", "reason"),
		ambient:  counter("earshot_ambient_total", "Messages that were read along and whose turn ended in this process, by outcome: spoke, reacted, silent, or the state in which the turn ended.", "outcome"),
		encoded:  made.NewCounter(prometheus.CounterOpts{Name: "earshot_embeddings_failed_total", Help: "How often search by meaning went wrong: the encoder failed or was too slow, and search went by words for a while."}),
		asked:    counter("earshot_model_calls_total", "Calls of the models that answer, repeats included, by result: ok, limited or failed.", "provider", "model", "result"),
		answered: made.NewHistogramVec(prometheus.HistogramOpts{
			Name: "earshot_model_call_seconds", Help: "How long these calls took, those that failed included.",
			Buckets: []float64{.1, .25, .5, 1, 2.5, 5, 10, 20, 40, 60, 120},
		}, []string{"provider", "model"}),
		tools: counter("earshot_tool_calls_total", "Calls of tools of one's own, by server, tool and result: ok or failed.", "server", "tool", "result"),
		toolTook: made.NewHistogramVec(prometheus.HistogramOpts{
			Name: "earshot_tool_call_seconds", Help: "How long these calls took, those that failed included.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60},
		}, []string{"server", "tool"}),
		requests: counter("earshot_requests_total", "Requests to the HTTP API, by route and status; none is the route of what was refused before it.", "route", "status"),
		served: made.NewHistogramVec(prometheus.HistogramOpts{
			Name: "earshot_request_seconds", Help: "How long these requests took, by route, streams left out.",
			Buckets: append(slices.Clip(soon), 2.5, 5, 10),
		}, []string{"route"}),
	}
	for _, why := range earshot.Refusals() {
		m.refusals.WithLabelValues(string(why))
	}
	for _, o := range []string{ambientSpoke, ambientReacted, ambientSilent} {
		m.ambient.WithLabelValues(o)
	}
	for _, o := range outcomes {
		m.turns.WithLabelValues(string(o))
	}
	for _, k := range []string{kindInput, kindOutput, kindCacheRead, kindCacheWrite} {
		m.tokens.WithLabelValues(k)
		m.sumsUsed.WithLabelValues(k)
	}
	for _, by := range []string{byModel, earshot.ByDigest} {
		for _, outcome := range []string{summaryStored, summaryFailed} {
			m.summed.WithLabelValues(by, outcome)
		}
	}
	made.NewGauge(prometheus.GaugeOpts{
		Name: "earshot_build_info", Help: "Always 1; the labels say what runs.",
		ConstLabels: prometheus.Labels{"version": version, "goversion": runtime.Version()},
	}).Set(1)
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Turn counts a turn that ended, how often it was tried, and the tokens that it used.
func (m *Metrics) Turn(q earshot.QueuedTurn, u earshot.Usage) {
	m.turns.WithLabelValues(string(q.State)).Inc()
	if q.Ambient() {
		m.ambient.WithLabelValues(ambientOutcome(q)).Inc()
	}
	m.attempts.Observe(float64(q.Tries + q.Ends))
	countUsage(m.tokens, u)
}

// What comes of a message that is read along.
const (
	ambientSpoke   = "spoke"
	ambientReacted = "reacted"
	ambientSilent  = "silent"
)

func ambientOutcome(q earshot.QueuedTurn) string {
	switch {
	case strings.HasPrefix(q.Reason(), earshot.WhySilent):
		return ambientSilent
	case strings.HasPrefix(q.Reason(), earshot.WhyReacted):
		return ambientReacted
	case q.State == earshot.TurnDone:
		return ambientSpoke
	}
	return string(q.State)
}

func countUsage(tokens *prometheus.CounterVec, u earshot.Usage) {
	for kind, n := range map[string]int{kindInput: u.Input, kindOutput: u.Output, kindCacheRead: u.CacheRead, kindCacheWrite: u.CacheWrite} {
		tokens.WithLabelValues(kind).Add(float64(max(n, 0))) // a provider may report nonsense; a counter must not fall
	}
}

// Who makes summaries besides the digest, and what becomes of one that is tried.
const (
	byModel       = "model"
	summaryStored = "stored"
	summaryFailed = "failed"
)

// Summary counts a try to summarise a conversation, and the tokens that it used.
func (m *Metrics) Summary(by string, failed bool, u earshot.Usage) {
	outcome := summaryStored
	if failed {
		outcome = summaryFailed
	}
	if by != earshot.ByDigest {
		by = byModel
	}
	m.summed.WithLabelValues(by, outcome).Inc()
	countUsage(m.sumsUsed, u)
}

// Gap counts a period in which events may have been missed.
func (m *Metrics) Gap(length time.Duration) {
	m.gaps.Inc()
	m.missed.Add(max(length, 0).Seconds())
}

// Acknowledged counts an event and the time from its arrival to its
// acknowledgement.
func (m *Metrics) Acknowledged(after time.Duration) { m.acks.Observe(after.Seconds()) }

// The results of a call of a model.
const (
	CallOK      = "ok"
	CallLimited = "limited" // by the provider, as too many
	CallFailed  = "failed"
)

// Model returns what counts the calls of a configured model.
func (m *Metrics) Model(provider, model string) func(result string, took time.Duration) {
	for _, result := range []string{CallOK, CallLimited, CallFailed} {
		m.asked.WithLabelValues(provider, model, result)
	}
	took := m.answered.WithLabelValues(provider, model)
	return func(result string, after time.Duration) {
		m.asked.WithLabelValues(provider, model, result).Inc()
		took.Observe(after.Seconds())
	}
}

// Tool counts a call of a tool of one's own, and the time that it took. Both names are of
// the configuration and of the server, which bounds them.
func (m *Metrics) Tool(server, tool string, took time.Duration, failed bool) {
	result := CallOK
	if failed {
		result = CallFailed
	}
	m.tools.WithLabelValues(server, tool, result).Inc()
	m.toolTook.WithLabelValues(server, tool).Observe(took.Seconds())
}

// NotEncoded counts that search by meaning went wrong.
func (m *Metrics) NotEncoded() { m.encoded.Inc() }

// Refused counts a delivery of an event that was not acknowledged.
func (m *Metrics) Refused() { m.refused.Inc() }

// Refusal counts a message that names the bot and is not to be answered.
func (m *Metrics) Refusal(why earshot.Refusal) { m.refusals.WithLabelValues(string(why)).Inc() }

// Request counts a request to the API and the time that it took. The route is a
// pattern, such as POST /v1/context, or "" where the request got to none; stream says
// that the time was the client's to choose.
func (m *Metrics) Request(route string, status int, took time.Duration, stream bool) {
	route = cmp.Or(route, "none")
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	if !stream {
		m.served.WithLabelValues(route).Observe(took.Seconds())
	}
}

// Gatherer returns the metrics, with those that are read from the sources. A source that
// fails is left out, and an error.
func (m *Metrics) Gatherer(s Sources) prometheus.Gatherer {
	read := prometheus.NewRegistry()
	read.MustRegister(collector{s})
	return prometheus.Gatherers{m.registry, read}
}

// Handler serves the metrics of [Metrics.Gatherer]. A source that fails is logged.
func (m *Metrics) Handler(s Sources, log *slog.Logger) http.Handler {
	return promhttp.HandlerFor(m.Gatherer(s), promhttp.HandlerOpts{
		ErrorHandling: promhttp.ContinueOnError, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelError),
		MaxRequestsInFlight: 4, Timeout: 10 * time.Second,
	})
}
