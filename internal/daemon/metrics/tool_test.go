package metrics_test

import (
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/internal/daemon/metrics"
)

func TestCallsOfToolsAreCountedByServerAndTool(t *testing.T) {
	t.Parallel()
	m := metrics.New("test")
	m.Tool("github", "list_issues", time.Second, false)
	m.Tool("github", "list_issues", time.Second, true)
	m.Tool("files", "read", time.Second, false)
	text, _ := scrape(t, m, metrics.Sources{})
	for _, want := range []string{
		`earshot_tool_calls_total{result="ok",server="github",tool="list_issues"} 1`, `earshot_tool_calls_total{result="failed",server="github",tool="list_issues"} 1`,
		`earshot_tool_calls_total{result="ok",server="files",tool="read"} 1`, `earshot_tool_call_seconds_sum{server="github",tool="list_issues"} 2`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is missing", want)
		}
	}
}
