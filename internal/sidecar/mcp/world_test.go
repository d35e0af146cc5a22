package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp"
	"github.com/earshot-ai/earshot/internal/sidecar/mcp/mcptest"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// A world is a server over HTTP, with a key of each reach.
type world struct {
	store   earshot.Store
	service *sidecar.Service
	reader  *explain.Reader
	gate    *access.Gate
	url     string
	turns   map[earshot.Scope]earshot.TurnID

	all, team, one, capability string // bearer tokens: everything, T1, T1's C1, a turn in T1's C1
}

func newWorld(t testing.TB, change ...func(*mcp.Options)) *world {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	must(t, err)
	t.Cleanup(func() { _ = st.Close() })
	return newWorldOver(t, st, change...)
}

// newWorldOver is newWorld over a store.
func newWorldOver(t testing.TB, st earshot.Store, change ...func(*mcp.Options)) *world {
	t.Helper()
	var err error
	w := &world{store: st, turns: mcptest.Fill(t, st)}
	w.gate, err = access.Open(st, access.Options{Rates: access.Rates{Principal: access.Rate{PerSecond: -1}, Channel: access.Rate{PerSecond: -1}}})
	must(t, err)
	w.service = sidecar.New(st, search.New(st, nil), w.gate, sidecar.Options{})
	w.reader = explain.New(st, search.New(st, nil), explain.Options{})
	key := func(name string, spec access.KeySpec) string {
		spec.Name, spec.ReadOnly = name, true
		secret, _, err := access.CreateKey(t.Context(), st, spec)
		must(t, err)
		return secret.Reveal()
	}
	w.all = key("all", access.KeySpec{})
	w.team = key("team", access.KeySpec{Workspaces: []earshot.WorkspaceID{"T1"}})
	w.one = key("one", access.KeySpec{Workspaces: []earshot.WorkspaceID{"T1"}, Channels: []earshot.ChannelID{"C1"}})
	p, err := w.gate.Authenticate(t.Context(), w.team)
	must(t, err)
	at := mcptest.Deploys.Scope()
	w.capability, err = w.gate.Mint(t.Context(), p, access.CapabilityScope{
		Scope: at, At: earshot.Position{Time: 3_000_000, ID: "3.000000"}, Conversation: earshot.ConversationID{Agent: "U0BOT", Scope: at, Name: "1.000000"},
	})
	must(t, err)
	o := mcp.Options{Service: w.service, Reader: w.reader, Gate: w.gate, Version: "test"}
	for _, f := range change {
		f(&o)
	}
	srv := httptest.NewServer(mcp.New(o))
	t.Cleanup(srv.Close)
	w.url = srv.URL
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// post sends a message as a client does, and returns status, header and body.
func (w *world) post(t testing.TB, token, body string, header ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+mcp.Path, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
		if header[i] == "Host" {
			req.Host = header[i+1]
		}
	}
	res, err := http.DefaultClient.Do(req)
	must(t, err)
	defer res.Body.Close()
	out, err := io.ReadAll(res.Body)
	must(t, err)
	return res.StatusCode, res.Header, string(out)
}

// tool calls a tool with arguments as raw JSON.
func (w *world) tool(t testing.TB, token, name, args string) string {
	t.Helper()
	quoted, err := json.Marshal(name)
	must(t, err)
	_, _, out := w.post(t, token, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`+string(quoted)+`,"arguments":`+args+`}}`)
	return out
}

// A bearer adds a token to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// overHTTP connects a client with a token.
func (w *world) overHTTP(t testing.TB, token string) *sdk.ClientSession {
	t.Helper()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(),
		&sdk.StreamableClientTransport{Endpoint: w.url + mcp.Path, HTTPClient: &http.Client{Transport: bearer(token)}}, nil)
	must(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// overStreams connects a client to a server on two streams, whose caller is p.
func (w *world) overStreams(t testing.TB, p access.Principal) *sdk.ClientSession {
	t.Helper()
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- mcp.Serve(ctx, w.service, w.reader, p, "test", in, out, nil)
	}()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	must(t, err)
	t.Cleanup(func() {
		_ = c.Close()
		_ = toServer.Close()
		if err := <-ended; err != nil {
			t.Errorf("Serve ended with %v", err)
		}
		stop()
	})
	return c
}

// same reports whether two answers are the same bytes.
func same(a, b string) bool { return bytes.Equal([]byte(a), []byte(b)) }

// newWorldOf returns a server over the same store with another gate.
func newWorldOf(t testing.TB, w *world, gate *access.Gate) *world {
	t.Helper()
	searcher := search.New(w.store, nil)
	maker := contexts.New(w.store, searcher, contexts.Options{AllowChannel: gate.AllowChannel})
	service := sidecar.New(w.store, searcher, gate, sidecar.Options{Maker: maker})
	srv := httptest.NewServer(mcp.New(mcp.Options{Service: service, Reader: explain.New(w.store, searcher, explain.Options{Maker: maker}), Gate: gate, Version: "test"}))
	t.Cleanup(srv.Close)
	other := *w
	other.gate, other.url = gate, srv.URL
	return &other
}
