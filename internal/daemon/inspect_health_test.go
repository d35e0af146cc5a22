package daemon_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/model/modeltest"
)

// TestTheInspectorShowsWhatWasSentAndHowTheProcessIs asks a model that refuses once,
// and looks at the daemon's page.
func TestTheInspectorShowsWhatWasSentAndHowTheProcessIs(t *testing.T) {
	t.Parallel()
	p := endToEnd{server: modeltest.StartScripted(t, script), provider: "anthropic", url: "ANTHROPIC_BASE_URL", key: "ANTHROPIC_API_KEY"}
	w := p.wire(t, "x-aimock-chaos-ratelimit: 1")
	d := startWith(t, append(p.environ(w, filepath.Join(t.TempDir(), "e.db")), "EARSHOT_INSPECT=127.0.0.1:0"))
	missing := earshot.Coverage{State: earshot.Missing, From: 5, To: 9}
	c, err := d.Chat.Channel(d.ctx, "general")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Store.PutCoverage(d.ctx, c.Scope(), missing); err != nil {
		t.Fatal(err)
	}
	d.say(t, "general", "ann", "staging listens on port 4242")
	q := d.ends(t, d.say(t, "general", "bob", "@earshot which port has staging?"))
	get := func(path string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(d.ctx, http.MethodGet, d.Inspect+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+d.InspectToken.Reveal())
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s, %v", path, res.StatusCode, body, err)
		}
		if strings.Contains(string(body), modeltest.Key) {
			t.Errorf("%s tells the key", path)
		}
		return string(body)
	}
	var requests []string
	for _, step := range requestsOf(d.ctx, t, d, q.ID) {
		requests = append(requests, get(fmt.Sprintf("/turns/%d/steps/%d/request.json", q.ID, step.N)))
	}
	sent := w.sent()
	if len(sent) != len(requests)+1 || strings.Join(sent[1:], "\n") != strings.Join(requests, "\n") {
		t.Errorf("the page has other bytes than were sent:\n%s\nsent\n%s", requests, sent)
	}
	var h inspect.Health
	if err := json.Unmarshal([]byte(get("/health.json")), &h); err != nil {
		t.Fatal(err)
	}
	if len(h.Models) != 1 || h.Models[0].Calls != len(sent) || h.Models[0].Limited != 1 || h.Models[0].InARow != 0 || h.Models[0].Median <= 0 || !strings.HasPrefix(h.Models[0].Why, "status 429") {
		t.Errorf("of the model: %+v", h.Models)
	}
	if len(h.Replicas) != 1 || !h.Replicas[0].Here || !h.Replicas[0].Running || h.Store.Why != "" || h.Turns.States[q.State] != 1 {
		t.Errorf("health is %+v", h)
	}
	if len(h.Gaps) != 1 || h.Gaps[0].Name != "general" || h.Gaps[0].From != 5 || h.Gaps[0].To != 9 {
		t.Errorf("gaps: %+v", h.Gaps)
	}
	if body := get("/health"); !strings.Contains(body, "has refused 1 call in the last hour") {
		t.Errorf("the page is %s", body)
	}
}
