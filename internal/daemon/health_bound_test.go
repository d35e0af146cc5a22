package daemon_test

import (
	"context"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/earshot-ai/earshot/assemble"
	countedstore "github.com/earshot-ai/earshot/internal/counted"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/store"
)

// TestAmongManyChannelsTheHealthPageIsBounded asks a daemon for the page of its health,
// which looks for gaps in the 100 channels that were active last, as the newest turns
// tell, and for the oldest turn that waits. Among the calls may be those of the daemon's
// own heartbeat and tidying, which are few.
func TestAmongManyChannelsTheHealthPageIsBounded(t *testing.T) {
	t.Parallel()
	file, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "crowd.db"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	st := countedstore.Crowd(t, file, countedstore.CrowdSize())
	countedstore.Queue(t, file, 200)
	c, err := config.Load("", []string{"EARSHOT_API=127.0.0.1:0", "EARSHOT_INSPECT=127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	policy, _ := assemble.ByName(c.Policy)
	ctx, stop := context.WithCancel(t.Context())
	d, err := daemon.OpenSidecar(ctx, daemon.Options{Config: c, Policy: policy, Store: st})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	defer func() {
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
		_ = d.Close()
	}()
	for _, path := range []string{"/health", "/health.json"} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.Inspect+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+d.InspectToken.Reveal())
		st.Reset(nil)
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d", path, res.StatusCode)
		}
		countedstore.CallBound{Calls: 150, Rows: 400}.Check(t, st, path)
	}
}
