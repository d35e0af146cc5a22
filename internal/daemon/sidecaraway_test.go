package daemon_test

import (
	"context"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// TestASidecarKnowsWhenItWasAway: what lies between its end and its next start is a gap
// in the channels whose events it was told, unless that was a short pause.
func TestASidecarKnowsWhenItWasAway(t *testing.T) {
	t.Parallel()
	c, err := config.Load("", []string{"EARSHOT_API=127.0.0.1:0", "EARSHOT_DB=" + filepath.Join(t.TempDir(), "away.db")})
	if err != nil {
		t.Fatal(err)
	}
	policy, _ := assemble.ByName(c.Policy)
	at := earshot.Scope{Platform: "api", Workspace: "T1", Channel: "C1"}
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	// run runs a sidecar at a time, tells it a message, and returns the gaps that it has
	// noted.
	run := func(now time.Time, id string) (gaps []earshot.Coverage) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		d, err := daemon.OpenSidecar(ctx, daemon.Options{Config: c, Policy: policy, Outside: daemon.Outside{Now: func() time.Time { return now }}})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		ran := make(chan error, 1)
		go func() { ran <- d.Run(ctx) }()
		defer func() {
			stop()
			if err := <-ran; err != nil {
				t.Error(err)
			}
		}()
		key, _, err := access.CreateKey(ctx, d.Store, access.KeySpec{Name: id, Workspaces: []earshot.WorkspaceID{"T1"}})
		if err != nil {
			t.Fatal(err)
		}
		body := `{"events":[{"type":"message","channel":"C1","message":{"id":"` + id + `","time":"` + now.Format(time.RFC3339) + `","author":{"id":"U1"},"text":"x"}}]}`
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+d.API+"/v1/events", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+key.Reveal())
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != http.StatusOK {
			t.Fatal(res.Status)
		}
		list, err := d.Store.Coverage(ctx, at)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if e.State != earshot.Known && e.From != 0 {
				gaps = append(gaps, e)
			}
		}
		return gaps
	}
	if gaps := run(noon, "m1"); len(gaps) > 0 {
		t.Errorf("at the first start: %+v", gaps)
	}
	if gaps := run(noon.Add(5*time.Second), "m2"); len(gaps) > 0 {
		t.Errorf("after a short pause: %+v", gaps)
	}
	gaps := run(noon.Add(10*time.Minute), "m3")
	if len(gaps) != 1 || gaps[0].From != earshot.TimeOf(noon.Add(5*time.Second)) || gaps[0].To != earshot.TimeOf(noon.Add(10*time.Minute)) || gaps[0].State != earshot.Missing {
		t.Errorf("after ten minutes: %+v", gaps)
	}
}
