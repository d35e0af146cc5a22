package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/api"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// A world is a sidecar over an empty store in memory, with callers that tests
// make up.
type world struct {
	store  earshot.Store
	server *httptest.Server
	gate   gate
	clock  *clock // of the service
}

// A clock goes as time does, and can be put forward.
type clock struct {
	mu    sync.Mutex
	ahead time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.ahead)
}

func (c *clock) forward(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead += d
}

// gate knows callers by their bearer.
type gate map[string]access.Principal

func (g gate) Authenticate(_ context.Context, bearer string) (access.Principal, error) {
	p, ok := g[bearer]
	if !ok {
		return p, access.ErrUnauthenticated
	}
	return p, nil
}

func (gate) Allow(access.Principal, earshot.Scope) (time.Duration, bool) { return 0, true }

func (gate) Allowance(access.Principal) (access.Allowance, bool) { return access.Allowance{}, false }

func (gate) Mint(context.Context, access.Principal, access.CapabilityScope) (string, error) {
	return "ec_test", nil
}

// newWorld returns a world with a caller for each reach: all, T1 (a workspace), C1
// (a channel of T1) and T2; for C1 also one that may only read, and a capability, tools.
func newWorld(t testing.TB) *world {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	reach := func(name, workspace, channel string) access.Principal {
		p := access.Principal{ID: "key:" + name, Name: name, Kind: access.Key}
		if workspace != "" {
			p.Reach.Workspaces = []earshot.WorkspaceID{earshot.WorkspaceID(workspace)}
		}
		if channel != "" {
			p.Reach.Channels = []earshot.ChannelID{earshot.ChannelID(channel)}
		}
		return p
	}
	read, fixed := reach("read", "T1", "C1"), reach("C1", "T1", "C1")
	read.ReadOnly = true
	fixed.Kind, fixed.ReadOnly = access.Capability, true
	fixed.Fixed = &access.CapabilityScope{Scope: earshot.Scope{Platform: "slack", Workspace: "T1", Channel: "C1"}}
	g := gate{"read": read, "tools": fixed, "all": reach("all", "", ""), "T1": reach("T1", "T1", ""), "C1": reach("C1", "T1", "C1"), "T2": reach("T2", "T2", "")}
	clock := &clock{}
	service := sidecar.New(st, search.New(st, nil), g, sidecar.Options{Now: clock.now})
	srv := httptest.NewServer(api.New(api.Options{Service: service, Reader: explain.New(st, search.New(st, nil), explain.Options{Now: clock.now}), Gate: g, Version: "test"}))
	t.Cleanup(srv.Close)
	return &world{st, srv, g, clock}
}

// call makes a request as a caller, with a body that is JSON text or a value, and
// returns the answer.
func (w *world) call(t testing.TB, as, method, path string, body any) (int, http.Header, string) {
	t.Helper()
	return w.callWith(t, as, method, path, body, nil)
}

// callWith is call with headers besides.
func (w *world) callWith(t testing.TB, as, method, path string, body any, headers http.Header) (int, http.Header, string) {
	t.Helper()
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	default:
		raw, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		in = bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, w.server.URL+path, in)
	if err != nil {
		t.Fatal(err)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	maps.Copy(req.Header, headers)
	if as != "" {
		req.Header.Set("Authorization", "Bearer "+as)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(out)
}
