// Package otlptest has a collector that takes OTLP over HTTP, for tests: it decodes what
// it is sent by OpenTelemetry's own messages.
package otlptest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"
)

// A Collector keeps what it is sent. It is safe for concurrent use.
type Collector struct {
	URL string

	mu      sync.Mutex // guards the rest
	spans   []*tracepb.Span
	metrics map[string]*metricspb.Metric // the newest of each name
	heads   []http.Header
	text    strings.Builder
	bad     []string
	answer  func(http.ResponseWriter, *http.Request) bool
}

// New starts a collector, until the test ends. It fails the test for what a collector
// would not take.
func New(t *testing.T) *Collector {
	t.Helper()
	c := &Collector{metrics: map[string]*metricspb.Metric{}}
	s := httptest.NewServer(c)
	c.URL = s.URL
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
		for _, b := range c.bad {
			t.Error(b)
		}
	})
	return c
}

// Answer has f answer requests, before they are read. It reports whether it has.
func (c *Collector) Answer(f func(http.ResponseWriter, *http.Request) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answer = f
}

// ServeHTTP implements [http.Handler].
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	answer := c.answer
	c.mu.Unlock()
	if answer != nil && answer(w, r) {
		return
	}
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heads = append(c.heads, r.Header)
	if err == nil {
		err = c.take(r, body)
	}
	if err != nil {
		c.bad = append(c.bad, err.Error())
		w.WriteHeader(http.StatusBadRequest)
	}
}

func (c *Collector) take(r *http.Request, body []byte) error {
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/x-protobuf" {
		return fmt.Errorf("%s %s of %q", r.Method, r.URL, r.Header.Get("Content-Type"))
	}
	var m proto.Message
	traces, metrics := &tracepb.TracesData{}, &metricspb.MetricsData{}
	switch {
	case strings.HasSuffix(r.URL.Path, "/v1/traces"):
		m = traces
	case strings.HasSuffix(r.URL.Path, "/v1/metrics"):
		m = metrics
	default:
		return fmt.Errorf("nothing is at %s", r.URL)
	}
	if err := proto.Unmarshal(body, m); err != nil {
		return fmt.Errorf("%s: %w", r.URL, err)
	}
	if len(m.ProtoReflect().GetUnknown()) > 0 {
		return fmt.Errorf("%s: unknown fields", r.URL)
	}
	c.text.WriteString(prototext.Format(m))
	for _, rs := range traces.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			c.spans = append(c.spans, ss.GetSpans()...)
		}
	}
	for _, rm := range metrics.GetResourceMetrics() {
		for _, sm := range rm.GetScopeMetrics() {
			for _, one := range sm.GetMetrics() {
				c.metrics[one.GetName()] = one
			}
		}
	}
	return nil
}

// Spans returns what has arrived, in that order.
func (c *Collector) Spans() []*tracepb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]*tracepb.Span(nil), c.spans...)
}

// Metric returns the newest metric of a name, nil for none.
func (c *Collector) Metric(name string) *metricspb.Metric {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.metrics[name]
}

// Headers returns those of each request.
func (c *Collector) Headers() []http.Header {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]http.Header(nil), c.heads...)
}

// Text returns all that has arrived, as text.
func (c *Collector) Text() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.text.String()
}

// Facts returns attributes as texts.
func Facts(list []*commonpb.KeyValue) map[string]string {
	facts := map[string]string{}
	for _, a := range list {
		switch v := a.GetValue().GetValue().(type) {
		case *commonpb.AnyValue_StringValue:
			facts[a.GetKey()] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			facts[a.GetKey()] = fmt.Sprint(v.IntValue)
		case *commonpb.AnyValue_DoubleValue:
			facts[a.GetKey()] = fmt.Sprint(v.DoubleValue)
		case *commonpb.AnyValue_ArrayValue:
			var texts []string
			for _, x := range v.ArrayValue.GetValues() {
				texts = append(texts, x.GetStringValue())
			}
			facts[a.GetKey()] = strings.Join(texts, ",")
		}
	}
	return facts
}
