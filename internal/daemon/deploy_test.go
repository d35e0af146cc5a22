package daemon_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/model/modeltest"
)

// metricNames finds the metrics in an expression of PromQL.
var metricNames = regexp.MustCompile(`\b(earshot|process|go)_\w+`)

// dashboard returns the expressions of deploy/grafana by the titles of their panels.
func dashboard(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../../deploy/grafana/earshot.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			ID      int
			Type    string
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	found, ids := map[string]string{}, map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || found[p.Title] != "" || p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("the panel %q is there twice, or shows nothing", p.Title)
		}
		ids[p.ID] = true
		for _, x := range p.Targets { // a row has none
			found[p.Title] += x.Expr + "\n"
		}
	}
	return found
}

// alerts returns the expressions of deploy/prometheus by the names of their alerts.
func alerts(t *testing.T) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../../deploy/prometheus/alerts.yml")
	if err != nil {
		t.Fatal(err)
	}
	var rules struct {
		Groups []struct {
			Rules []struct {
				Alert, Expr string
				Labels      struct{ Severity string }
				Annotations struct{ Summary, Remedy string }
			}
		}
	}
	if err := yaml.Unmarshal(data, &rules); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, g := range rules.Groups {
		for _, r := range g.Rules {
			if r.Alert == "" || found[r.Alert] != "" || r.Labels.Severity == "" || r.Annotations.Summary == "" || r.Annotations.Remedy == "" {
				t.Errorf("the alert %q is there twice, or says too little", r.Alert)
			}
			found[r.Alert] = r.Expr
		}
	}
	return found
}

// TestWhatIsShippedForOperatorsNamesMetricsThatExist reads the dashboard, the alerts and
// the page of operations beside what a bot exports that has answered, with the HTTP API.
func TestWhatIsShippedForOperatorsNamesMetricsThatExist(t *testing.T) {
	t.Parallel()
	x := newSlackWorld(t, modeltest.StartScripted(t, usageScript), byHTTP, nil, "EARSHOT_HEALTH=127.0.0.1:0", "EARSHOT_API=127.0.0.1:0")
	x.start()
	x.Say(x.general, x.ann, x.at("is it raining?"))
	x.ends(earshot.TurnDone)
	x.settled()
	if res, err := http.Get("http://" + x.daemon.API + "/v1/me"); err != nil { // refused, and counted
		t.Fatal(err)
	} else if err := res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	families := scraped(t, x.daemon)
	if families["earshot_requests_total"] == nil || families["earshot_api_calls_total"] == nil {
		t.Fatalf("the bot has not done all that is counted: %v", slices.Sorted(maps.Keys(families)))
	}
	shown := map[string]bool{}
	for _, file := range []map[string]string{dashboard(t), alerts(t)} {
		if len(file) < 10 {
			t.Errorf("only %d expressions were found", len(file))
		}
		for what, expr := range file {
			names := metricNames.FindAllString(expr, -1)
			if len(names) == 0 {
				t.Errorf("%s asks for no metric: %s", what, expr)
			}
			for _, name := range names {
				family := name
				if families[family] == nil {
					family = strings.TrimSuffix(name, "_bucket")
				}
				if families[family] == nil {
					t.Errorf("%s asks for %s, which is not exported", what, name)
				}
				shown[family] = true
			}
		}
	}
	page, err := os.ReadFile("../../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range families {
		if !strings.HasPrefix(name, "earshot_") {
			continue
		}
		if !regexp.MustCompile("(?m)^\\| `" + name + "[`{]").Match(page) {
			t.Errorf("docs/operations.md does not say what %s is", name)
		}
		if !shown[name] {
			t.Errorf("neither the dashboard nor an alert shows %s", name)
		}
	}
}
