// Package otlp sends spans and metrics to a collector of OpenTelemetry, as OTLP over
// HTTP in protobuf. It knows nothing of turns: who calls it makes the spans.
//
//	e := otlp.New(otlp.Options{Endpoint: "http://127.0.0.1:4318"})
//	go e.Run(ctx)
//	e.Add(&tracepb.Span{…})
//
// Start with [New], [Exporter.Add] and [Exporter.Run]. A collector that is slow or away
// holds up nobody: Add never waits, what waits for the collector is bounded in bytes,
// and what does not fit is left out and counted. The log says so once a minute.
package otlp

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/earshot-ai/earshot/secret"
)

// How much is sent, and when.
const (
	maxWaiting   = 8 << 20 // bytes of spans that wait for the collector
	maxBatch     = 2 << 20 // bytes of spans in a request, but for a single longer one; collectors take 4 MB and more
	spansEvery   = 5 * time.Second
	metricsEvery = time.Minute
	maxPause     = time.Minute      // after requests that failed, before the next one
	patience     = 10 * time.Second // with one request
	lastWords    = 3 * time.Second  // for what waits when the process ends
	logEvery     = time.Minute
)

// Options are what an Exporter is made of. Endpoint is required.
type Options struct {
	Endpoint  string               // base URL: /v1/traces and /v1/metrics are appended
	Headers   []Header             // of every request
	Resource  []*commonpb.KeyValue // what describes the process
	Version   string               // of the program
	Transport http.RoundTripper    // default: [http.DefaultTransport]
	Log       *slog.Logger         // nil discards
}

// An Exporter sends what it is given to a collector. It is safe for concurrent use.
type Exporter struct {
	Gather prometheus.Gatherer // the metrics; nil sends none. It is set before Run

	options Options
	client  *http.Client
	scope   *commonpb.InstrumentationScope
	wake    chan struct{} // there is a batch
	began   time.Time

	// Those of the goroutine that sends.
	next   time.Time     // no earlier is a request made
	pause  time.Duration // before the one after the next failure
	logged time.Time     // when the log last said that something is wrong

	mu      sync.Mutex // guards the rest
	waiting []*tracepb.Span
	bytes   int // of waiting
	lost    int // spans, since the log said so
}

// New returns an Exporter. Nothing is sent before Run.
func New(o Options) *Exporter {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Exporter{
		options: o, wake: make(chan struct{}, 1), began: time.Now(),
		scope:  &commonpb.InstrumentationScope{Name: "github.com/earshot-ai/earshot", Version: o.Version},
		client: &http.Client{Transport: o.Transport, CheckRedirect: refuseRedirect}, // the headers are for this address
	}
}

func refuseRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// Add gives a span that has ended to the collector. It never waits: a span for which
// there is no room is left out. The caller does not change it any more.
func (e *Exporter) Add(s *tracepb.Span) {
	size := proto.Size(s)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.bytes+size > maxWaiting {
		e.lost++
		return
	}
	e.waiting, e.bytes = append(e.waiting, s), e.bytes+size
	if e.bytes >= maxBatch {
		select {
		case e.wake <- struct{}{}:
		default:
		}
	}
}

// Run sends until ctx ends, and then for three seconds at the most what is left.
func (e *Exporter) Run(ctx context.Context) error {
	spans, metrics := time.NewTicker(spansEvery), time.NewTicker(metricsEvery)
	defer spans.Stop()
	defer metrics.Stop()
	for {
		select {
		case <-ctx.Done():
			last, end := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
			defer end()
			e.sendSpans(last)
			e.sendMetrics(last)
			return nil
		case <-e.wake:
			e.sendSpans(ctx)
		case <-spans.C:
			e.sendSpans(ctx)
		case <-metrics.C:
			e.sendMetrics(ctx)
		}
	}
}

// sendSpans sends what waits. A batch that the collector cannot take now stays.
func (e *Exporter) sendSpans(ctx context.Context) {
	for !time.Now().Before(e.next) {
		batch := e.batch()
		if len(batch) == 0 {
			break
		}
		// An ExportTraceServiceRequest has the bytes of a TracesData, and its package
		// would bring gRPC.
		err := e.post(ctx, "/v1/traces", &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
			Resource: e.resource(), ScopeSpans: []*tracepb.ScopeSpans{{Scope: e.scope, Spans: batch}},
		}}})
		if ctx.Err() != nil {
			return // it was broken off, and is sent with the last ones
		}
		e.sent(batch, err)
	}
	e.complain(nil)
}

// sendMetrics sends the metrics as they are. Those of the next minute have all that these
// have, so nothing is kept where they fail.
func (e *Exporter) sendMetrics(ctx context.Context) {
	if e.Gather == nil || time.Now().Before(e.next) {
		return
	}
	families, _ := e.Gather.Gather() // what cannot be read now is not there
	err := e.post(ctx, "/v1/metrics", &metricspb.MetricsData{ResourceMetrics: []*metricspb.ResourceMetrics{{
		Resource: e.resource(), ScopeMetrics: []*metricspb.ScopeMetrics{{Scope: e.scope, Metrics: convert(families, e.began, time.Now())}},
	}}})
	e.sent(nil, err)
}

func (e *Exporter) resource() *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: e.options.Resource}
}

// batch returns the oldest spans that wait, as many as a request may have.
func (e *Exporter) batch() []*tracepb.Span {
	e.mu.Lock()
	defer e.mu.Unlock()
	n, bytes := 0, 0
	for ; n < len(e.waiting); n++ {
		if bytes += proto.Size(e.waiting[n]); bytes > maxBatch && n > 0 {
			break
		}
	}
	return e.waiting[:n:n]
}

// sent notes how a request ended: its spans are forgotten, unless the collector may take
// them later.
func (e *Exporter) sent(batch []*tracepb.Span, err error) {
	var later notNow
	if errors.As(err, &later) {
		e.pause = min(max(2*e.pause, spansEvery), maxPause)
		e.next = time.Now().Add(min(max(e.pause, later.after), maxPause))
	} else {
		e.pause = 0
		e.forget(batch, err != nil)
	}
	if err != nil {
		e.complain(err)
	}
}

// forget takes the oldest spans out of those that wait.
func (e *Exporter) forget(batch []*tracepb.Span, lost bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range batch {
		e.bytes -= proto.Size(s)
	}
	if lost {
		e.lost += len(batch)
	}
	clear(e.waiting[:len(batch)])
	e.waiting = e.waiting[len(batch):]
}

// complain tells the log once a minute what is wrong: an error, or that spans were left
// out.
func (e *Exporter) complain(err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err == nil && e.lost == 0 || !e.logged.IsZero() && time.Since(e.logged) < logEvery {
		return
	}
	facts := []any{"lost_spans", e.lost}
	if err != nil {
		facts = append(facts, "err", secret.Hide(err)) // the URL may have a key in it
	}
	e.options.Log.Warn("traces and metrics do not get to the collector", facts...)
	e.logged, e.lost = time.Now(), 0
}

// Waiting returns how many bytes of spans wait for the collector.
func (e *Exporter) Waiting() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.bytes
}
