package metrics_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon/metrics"
)

// scrape reads the metrics with Prometheus' parser and checks them with
// promtool's linter.
func scrape(t *testing.T, m *metrics.Metrics, from metrics.Sources) (text string, families map[string]*dto.MetricFamily) {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler(from, slog.New(slog.DiscardHandler)).ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d: %s", w.Code, w.Body)
	}
	raw, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	text = string(raw)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err = parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("the answer cannot be parsed: %v\n%s", err, text)
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	return text, families
}

func TestEventsAreCounted(t *testing.T) {
	t.Parallel()
	from := metrics.Sources{
		Depth: func(_ context.Context, states ...earshot.TurnState) (map[earshot.TurnState]int, error) {
			for _, s := range states {
				if s == earshot.TurnDone {
					t.Error("the store is asked to count turns that have ended")
				}
			}
			return map[earshot.TurnState]int{earshot.TurnOpen: 3}, nil
		},
		Oldest: func(_ context.Context, states ...earshot.TurnState) (earshot.QueuedTurn, bool, error) {
			if slices.ContainsFunc(states, earshot.TurnState.Final) {
				t.Errorf("the store is asked for the oldest turn of %v", states)
			}
			return earshot.QueuedTurn{Opened: 1_000_000, Tries: 2, Ends: 1}, true, nil
		},
		Now: func() earshot.Time { return 43_500_000 },
		Calls: func() []earshot.CallCount {
			return []earshot.CallCount{{Method: "chat.postMessage", Calls: 10, Limited: 2, Failed: 1, Waits: 4, Waited: 1500 * time.Millisecond}}
		},
		Up:      func() bool { return true },
		Indexed: func() int64 { return 5 << 20 },
		Unread:  func() int { return 6 },
	}
	m := metrics.New("1.2.3")
	m.Turn(earshot.QueuedTurn{State: earshot.TurnDone, Tries: 1}, earshot.Usage{Input: 100, Output: 20, CacheRead: 300, CacheWrite: 40})
	m.Turn(earshot.QueuedTurn{State: earshot.TurnDone, Tries: 2, Ends: 1}, earshot.Usage{Input: 1})
	m.Turn(earshot.QueuedTurn{State: earshot.TurnParked}, earshot.Usage{})
	m.Summary("cheap", false, earshot.Usage{Input: 50, Output: 7})
	m.Summary("cheap", true, earshot.Usage{Input: 5})
	m.Summary(earshot.ByDigest, false, earshot.Usage{})
	m.Request("POST /v1/context", 200, 3*time.Millisecond, false)
	m.Request("GET /v1/turns/events", 200, time.Hour, true)
	m.Request("", 401, time.Microsecond, false)
	m.Gap(90 * time.Second)
	m.Acknowledged(4 * time.Millisecond)
	m.Acknowledged(200 * time.Millisecond)
	text, families := scrape(t, m, from)
	for _, want := range []string{
		`earshot_turns_total{outcome="done"} 2`,
		`earshot_turns_total{outcome="parked"} 1`,
		`earshot_turns_total{outcome="failed"} 0`,
		`earshot_turns_total{outcome="dropped"} 0`,
		`earshot_turn_attempts_bucket{le="0"} 1`,
		`earshot_turn_attempts_bucket{le="1"} 2`,
		`earshot_turn_attempts_bucket{le="3"} 3`,
		`earshot_turn_attempts_sum 4`,
		`earshot_queue_oldest_seconds 42.5`,
		`earshot_queue_oldest_attempts 3`,
		`earshot_tokens_total{kind="input"} 101`,
		`earshot_tokens_total{kind="output"} 20`,
		`earshot_tokens_total{kind="cache_read"} 300`,
		`earshot_tokens_total{kind="cache_write"} 40`,
		`earshot_summaries_total{by="model",outcome="stored"} 1`,
		`earshot_summaries_total{by="model",outcome="failed"} 1`,
		`earshot_summaries_total{by="digest",outcome="stored"} 1`,
		`earshot_summaries_total{by="digest",outcome="failed"} 0`,
		`earshot_summary_tokens_total{kind="input"} 55`,
		`earshot_summary_tokens_total{kind="output"} 7`,
		`earshot_queue_turns{state="open"} 3`,
		`earshot_search_index_bytes 5.24288e+06`,
		`earshot_history_waiting 6`,
		`earshot_queue_turns{state="generating"} 0`,
		`earshot_api_calls_total{method="chat.postMessage",result="ok"} 7`,
		`earshot_api_calls_total{method="chat.postMessage",result="limited"} 2`,
		`earshot_api_calls_total{method="chat.postMessage",result="failed"} 1`,
		`earshot_api_waits_total{method="chat.postMessage"} 4`,
		`earshot_api_wait_seconds_total{method="chat.postMessage"} 1.5`,
		`earshot_coverage_gaps_total 1`,
		`earshot_coverage_gap_seconds_total 90`,
		`earshot_acknowledgement_seconds_bucket{le="0.005"} 1`,
		`earshot_acknowledgement_seconds_bucket{le="0.25"} 2`,
		`earshot_acknowledgement_seconds_count 2`,
		`earshot_requests_total{route="POST /v1/context",status="200"} 1`,
		`earshot_requests_total{route="GET /v1/turns/events",status="200"} 1`,
		`earshot_requests_total{route="none",status="401"} 1`,
		`earshot_request_seconds_bucket{route="POST /v1/context",le="0.005"} 1`,
		`earshot_request_seconds_count{route="none"} 1`,
		`earshot_platform_up 1`,
		`version="1.2.3"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if strings.Contains(text, `earshot_request_seconds_count{route="GET /v1/turns/events"}`) {
		t.Error("the time of a stream counts as a request's")
	}
	if f := families["earshot_acknowledgement_seconds"]; f == nil || f.GetType() != dto.MetricType_HISTOGRAM {
		t.Errorf("the acknowledgement time is %v, want a histogram", f)
	}
	if families["process_resident_memory_bytes"] == nil || families["go_goroutines"] == nil {
		t.Error("the standard metrics of a Go process are missing")
	}
}

func TestOtherMetricsAreServedWhenTheStoreFails(t *testing.T) {
	t.Parallel()
	from := metrics.Sources{
		Depth: func(context.Context, ...earshot.TurnState) (map[earshot.TurnState]int, error) {
			return nil, errors.New("the disk is gone")
		},
		Oldest: func(context.Context, ...earshot.TurnState) (earshot.QueuedTurn, bool, error) {
			return earshot.QueuedTurn{}, false, errors.New("the disk is gone")
		},
	}
	m := metrics.New("")
	m.Turn(earshot.QueuedTurn{State: earshot.TurnFailed}, earshot.Usage{Input: -1})
	text, families := scrape(t, m, from)
	if !strings.Contains(text, `earshot_turns_total{outcome="failed"} 1`) || families["earshot_queue_turns"] != nil || families["earshot_queue_oldest_seconds"] != nil {
		t.Errorf("got %s", text)
	}
}
