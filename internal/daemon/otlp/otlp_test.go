package otlp_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/earshot-ai/earshot/internal/daemon/otlp"
	"github.com/earshot-ai/earshot/internal/daemon/otlp/otlptest"
)

// run runs an exporter until stop is called, which waits for its last words.
func run(t *testing.T, e *otlp.Exporter) (stop func()) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- e.Run(ctx) }()
	return func() {
		t.Helper()
		end()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	}
}

func TestSpansAndMetricsArrive(t *testing.T) {
	t.Parallel()
	c := otlptest.New(t)
	headers, err := otlp.ParseHeaders("Authorization=Bearer%20k%2C1, X-Tenant = t1,")
	if err != nil {
		t.Fatal(err)
	}
	r := prometheus.NewRegistry()
	count := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "a_seconds_total", Help: "Help."}, []string{"kind"})
	level := prometheus.NewGauge(prometheus.GaugeOpts{Name: "b_bytes"})
	times := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "c_seconds", Buckets: []float64{1, 2}})
	parts := prometheus.NewSummary(prometheus.SummaryOpts{Name: "d", Objectives: map[float64]float64{0.5: 0.1}})
	r.MustRegister(count, level, times, parts)
	count.WithLabelValues("x").Add(3)
	level.Set(7)
	for _, v := range []float64{0.5, 1.5, 1.6, 9} {
		times.Observe(v)
		parts.Observe(v)
	}
	e := otlp.New(otlp.Options{Endpoint: c.URL + "/base/", Headers: headers, Version: "1.2.3", Resource: nil})
	e.Gather = r
	stop := run(t, e)
	e.Add(&tracepb.Span{Name: "one"})
	e.Add(&tracepb.Span{Name: "two"})
	stop()
	var names []string
	for _, s := range c.Spans() {
		names = append(names, s.GetName())
	}
	if diff := cmp.Diff(names, []string{"one", "two"}); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	for _, h := range c.Headers() {
		if h.Get("Authorization") != "Bearer k,1" || h.Get("X-Tenant") != "t1" || h.Get("User-Agent") != "earshot/1.2.3" {
			t.Errorf("the headers are %v", h)
		}
	}
	sum := c.Metric("a_seconds_total")
	if p := sum.GetSum().GetDataPoints(); len(p) != 1 || p[0].GetAsDouble() != 3 || otlptest.Facts(p[0].GetAttributes())["kind"] != "x" || p[0].GetStartTimeUnixNano() == 0 ||
		!sum.GetSum().GetIsMonotonic() || sum.GetSum().GetAggregationTemporality() != metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE ||
		sum.GetUnit() != "s" || sum.GetDescription() != "Help." {
		t.Errorf("the counter is %v", sum)
	}
	if m := c.Metric("b_bytes"); len(m.GetGauge().GetDataPoints()) != 1 || m.GetGauge().GetDataPoints()[0].GetAsDouble() != 7 || m.GetUnit() != "By" {
		t.Errorf("the gauge is %v", m)
	}
	h := c.Metric("c_seconds").GetHistogram().GetDataPoints()
	if len(h) != 1 || h[0].GetCount() != 4 || h[0].GetSum() != 12.6 {
		t.Fatalf("the histogram is %v", h)
	}
	if diff := cmp.Diff(h[0].GetBucketCounts(), []uint64{1, 2, 1}); diff != "" {
		t.Errorf("-got +want\n%s", diff)
	}
	if m := c.Metric("d").GetSummary().GetDataPoints(); len(m) != 1 || m[0].GetCount() != 4 || len(m[0].GetQuantileValues()) != 1 {
		t.Errorf("the summary is %v", m)
	}
}

func TestHeadersAreReadAsTheConventionHasThem(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"secret", "=secret", "a b=secret", "a=%zzsecret", "a=x%0d%0aEvil: secret"} {
		if _, err := otlp.ParseHeaders(bad); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
	if got, err := otlp.ParseHeaders(""); err != nil || got != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// A transport answers as f says, without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func status(code int, headers ...string) *http.Response {
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: code, Header: h, Body: http.NoBody}
}

// A log counts its lines, which may be read while it is written.
type log struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (l *log) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, string(b))
	return len(b), nil
}

// TestACollectorThatIsAwayIsToldOfOnceAMinute: for ten minutes no request succeeds, and
// far more spans come than may wait.
func TestACollectorThatIsAwayIsToldOfOnceAMinute(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(*http.Request) (*http.Response, error)
	}{
		{"refuses the connection", func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }},
		{"hangs", func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, r.Context().Err() }},
		{"is overloaded", func(*http.Request) (*http.Response, error) { return status(http.StatusServiceUnavailable), nil }},
		{"refuses what it is sent", func(*http.Request) (*http.Response, error) { return status(http.StatusBadRequest), nil }},
		{"is elsewhere", func(*http.Request) (*http.Response, error) {
			return status(http.StatusTemporaryRedirect, "Location", "http://elsewhere/"), nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &log{}
				e := otlp.New(otlp.Options{
					Endpoint: "http://collector?key=secret", Log: slog.New(slog.NewTextHandler(l, nil)),
					Transport: transport(func(r *http.Request) (*http.Response, error) {
						if r.URL.RawQuery != "key=secret" || !strings.HasPrefix(r.URL.Path, "/v1/") {
							t.Errorf("it asks %s", r.URL)
						}
						return c.answer(r)
					}),
				})
				e.Gather = prometheus.NewRegistry()
				stop := run(t, e)
				name := strings.Repeat("x", 100<<10)
				for range 600 {
					e.Add(&tracepb.Span{Name: name})
					time.Sleep(time.Second)
				}
				began := time.Now()
				stop()
				if took := time.Since(began); took > 3*time.Second {
					t.Errorf("the end took %s", took)
				}
				if n := len(l.lines); n < 9 || n > 11 {
					t.Errorf("the log has %d lines:\n%s", n, strings.Join(l.lines, ""))
				}
				if strings.Contains(strings.Join(l.lines, ""), "secret") {
					t.Errorf("a secret is shown: %s", l.lines[0])
				}
				if e.Waiting() > 8<<20 {
					t.Errorf("%d bytes wait", e.Waiting())
				}
			})
		})
	}
}

// TestNothingIsLostWhereACollectorIsAwayForAWhile: what it could not take it is sent
// again, when it says.
func TestNothingIsLostWhereACollectorIsAwayForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Duration
		began := time.Now()
		e := otlp.New(otlp.Options{Endpoint: "http://collector", Transport: transport(func(*http.Request) (*http.Response, error) {
			at = append(at, time.Since(began))
			if len(at) == 1 {
				return status(http.StatusTooManyRequests, "Retry-After", "30"), nil
			}
			return status(http.StatusOK), nil
		})})
		stop := run(t, e)
		e.Add(&tracepb.Span{Name: "kept"})
		time.Sleep(2 * time.Minute)
		stop()
		if len(at) != 2 || at[1]-at[0] < 30*time.Second || e.Waiting() != 0 {
			t.Errorf("requests were made at %s, and %d bytes wait", at, e.Waiting())
		}
	})
}
