package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

func TestMeIsTheCallerWithoutASecret(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := map[string]any{"body_bytes": float64(1 << 20), "events": float64(1000)}
	for as, want := range map[string]map[string]any{
		"all":   {"id": "all", "name": "all", "kind": "key", "reaches": "every workspace", "read_only": false, "limits": none},
		"T1":    {"id": "T1", "name": "T1", "kind": "key", "reaches": "workspace T1", "workspaces": []any{"T1"}, "read_only": false, "limits": none},
		"read":  {"id": "read", "name": "read", "kind": "key", "reaches": "channel C1 of workspace T1", "workspaces": []any{"T1"}, "channels": []any{"C1"}, "read_only": true, "limits": none},
		"tools": {"id": "C1", "kind": "capability", "reaches": "channel C1 of workspace T1", "workspaces": []any{"T1"}, "channels": []any{"C1"}, "read_only": true, "limits": none},
	} {
		status, _, raw := w.call(t, as, http.MethodGet, "/v1/me", nil)
		var got map[string]any
		if err := json.Unmarshal([]byte(raw), &got); err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %s", as, status, raw)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s (-got +want):\n%s", as, diff)
		}
	}
}

// TestAWrongWorkspaceIsToldWhatTheKeyReaches tells of a message in a workspace that is
// not the key's, in each form, and asks for what is there.
func TestAWrongWorkspaceIsToldWhatTheKeyReaches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	slack := `{"type":"event_callback","team_id":"T2","event_id":"E1","event":{"type":"message","channel":"C1","user":"U1","text":"hi","ts":"1700000000.000100"}}`
	for _, c := range [][3]string{
		{"POST", "/v1/events", strings.Replace(batch(saidIn("C1", "m1", "hi")), `"workspace":"T1"`, `"workspace":"T2"`, 1)},
		{"POST", "/v1/events?platform=slack", slack},
		{"PUT", "/v1/agents/U9", `{"name":"helper","workspace":"T2"}`},
		{"PUT", "/v1/channels/C1", `{"name":"ops","workspace":"T2"}`},
		{"POST", "/v1/context", `{"channel":{"id":"C1","workspace":"T2"},"anchor":"m1"}`},
		{"GET", "/v1/channels/C1/messages?workspace=T2", ""},
	} {
		var body any
		if c[2] != "" {
			body = c[2]
		}
		status, _, got := w.call(t, "T1", c[0], c[1], body)
		if status != http.StatusNotFound || !strings.Contains(got, "you reach workspace T1, as GET /v1/me says") {
			t.Errorf("%s %s: %d %s", c[0], c[1], status, got)
		}
	}
	if status, _, got := w.call(t, "all", http.MethodPut, "/v1/agents/U9", `{"name":"helper"}`); status != http.StatusBadRequest || !strings.Contains(got, "workspace is required, because this key reaches every workspace") {
		t.Errorf("no workspace with a key for all: %d %s", status, got)
	}
}

func TestAReachOfManyIsSaidShortly(t *testing.T) {
	t.Parallel()
	var many []earshot.ChannelID
	for i := range 7 {
		many = append(many, earshot.ChannelID(fmt.Sprint("C", i)))
	}
	r := access.Reach{Workspaces: []earshot.WorkspaceID{"T1", "T2"}, Channels: many}
	if got, want := r.String(), "channels C0, C1, C2, C3, C4, 2 more of workspaces T1, T2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
