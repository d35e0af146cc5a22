package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/model/modeltest"
	"github.com/earshot-ai/earshot/simulate"
)

// fetched returns a page from the address of probes and metrics.
func fetched(t *testing.T, d *daemon.Daemon, path string) (status int, body string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+d.Health+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	w, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Body.Close()
	raw, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.StatusCode, string(raw)
}

// scraped reads the metrics with Prometheus' parser.
func scraped(t *testing.T, d *daemon.Daemon) map[string]*dto.MetricFamily {
	t.Helper()
	status, body := fetched(t, d, "/metrics")
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(body))
	if err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %v: %s", status, err, body)
	}
	return families
}

// valueOf returns the value of the metric that has these label values.
func valueOf(families map[string]*dto.MetricFamily, name string, labels ...string) float64 {
next:
	for _, m := range families[name].GetMetric() {
		for i, l := range m.GetLabel() {
			if i < len(labels) && l.GetValue() != labels[i] {
				continue next
			}
		}
		return m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
	}
	return -1
}

// usageScript is an answer with a usage.
const usageScript = `{"fixtures": [
	{"match": {"userMessage": "is it raining"}, "response": {"content": "Noted.", "usage": {"prompt_tokens": 21, "completion_tokens": 13, "total_tokens": 34}}}
]}`

// TestMetricsOnSlack reads the metrics after one turn, over both transports.
func TestMetricsOnSlack(t *testing.T) {
	server := modeltest.StartScripted(t, usageScript)
	transports(t, func(t *testing.T, by transport) {
		x := newSlackWorld(t, server, by, nil, "EARSHOT_HEALTH=127.0.0.1:0")
		x.options.Version = "1.2.3"
		x.start()
		x.Say(x.general, x.ann, x.at("is it raining?"))
		x.ends(earshot.TurnDone)
		x.settled()
		for _, probe := range []string{"/healthz", "/readyz"} {
			if status, body := fetched(t, x.daemon, probe); status != http.StatusOK || body != "ok\nslack: reachable\n" {
				t.Errorf("%s: %d %q", probe, status, body)
			}
		}
		x.eventually("the acknowledgements are counted", func() bool {
			return valueOf(scraped(t, x.daemon), "earshot_acknowledgement_seconds") >= 2 // the message, and the mention
		})
		f := scraped(t, x.daemon)
		for _, c := range []struct {
			name   string
			labels []string
			want   float64
		}{
			{"earshot_turns_total", []string{"done"}, 1},
			{"earshot_turns_total", []string{"failed"}, 0},
			{"earshot_queue_turns", []string{"open"}, 0},
			{"earshot_api_calls_total", []string{"chat.postMessage", "ok"}, 1},
			{"earshot_api_calls_total", []string{"chat.postMessage", "failed"}, 0},
			{"earshot_tokens_total", []string{"input"}, 21},
			{"earshot_tokens_total", []string{"output"}, 13},
			{"earshot_tokens_total", []string{"cache_read"}, 0},
			{"earshot_platform_up", nil, 1},
			{"earshot_build_info", nil, 1},
		} {
			if got := valueOf(f, c.name, c.labels...); got != c.want {
				t.Errorf("%s%v: got %v, want %v", c.name, c.labels, got, c.want)
			}
		}
		if _, body := fetched(t, x.daemon, "/metrics"); strings.Contains(body, x.general) || strings.Contains(body, x.ann) || strings.Contains(body, "raining") {
			t.Error("the metrics contain a channel, a person or the text of a message")
		}
	})
}

func TestMetricsOnTheLocalPlatform(t *testing.T) {
	t.Parallel()
	c := defaults(t)
	c.Health.Listen = "127.0.0.1:0"
	d, err := daemon.Open(t.Context(), daemon.Options{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := errors.Join(<-ran, d.Close()); err != nil {
			t.Error(err)
		}
	})
	for _, probe := range []string{"/healthz", "/readyz"} {
		if status, body := fetched(t, d, probe); status != http.StatusOK || body != "ok\n" {
			t.Errorf("%s: %d %q", probe, status, body)
		}
	}
	f := scraped(t, d)
	if got := valueOf(f, "earshot_turns_total", "done"); got != 0 {
		t.Errorf("turns: %v, want 0", got)
	}
	if f["earshot_api_calls_total"] != nil {
		t.Error("it tells of calls to no API")
	}
}

// lines is a log that may be read while it is written.
type lines struct {
	mu  sync.Mutex // guards buf
	buf bytes.Buffer
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// TestAStopIsLogged expects the number of turns that are under way when the daemon
// stops, and how long the stop took.
func TestAStopIsLogged(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, slackScript), byHTTP, nil)
	log := &lines{}
	x.options.Log = slog.New(slog.NewTextHandler(log, nil))
	x.start()
	x.Inject(simulate.Fault{Kind: simulate.ServerError, On: "chat.*"})
	x.Say(x.general, x.ann, x.at("is it raining?"))
	x.eventually("the answer is being posted", func() bool {
		depth, err := x.daemon.Store.Depth(t.Context(), earshot.TurnPosting)
		if err != nil {
			t.Fatal(err)
		}
		return depth[earshot.TurnPosting] == 1
	})
	x.stop()
	_, after, ok := strings.Cut(log.String(), "msg=stopping turns=1\n")
	if !ok || !strings.Contains(after, "msg=stopped took=") {
		t.Errorf("the stop is not logged: %s", log)
	}
}
