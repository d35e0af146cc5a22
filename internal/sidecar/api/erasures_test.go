package api_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

func TestAMessageIsDeletedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "the code is 4711"), said(1, "Bob", "thanks"))
	for _, c := range []struct {
		as, path string
		status   int
	}{
		{"read", "/v1/channels/C1/messages/m0", http.StatusForbidden},
		{"T2", "/v1/channels/C1/messages/m0", http.StatusNotFound},
		{"C1", "/v1/channels/C1/messages/m9", http.StatusNotFound},
		{"C1", "/v1/channels/C1/messages/m0", http.StatusNoContent},
		{"C1", "/v1/channels/C1/messages/m0", http.StatusNotFound},
	} {
		if status, _, body := w.call(t, c.as, http.MethodDelete, c.path, nil); status != c.status {
			t.Errorf("%s as %s: %d %s", c.path, c.as, status, body)
		}
	}
	if m, err := w.store.Message(t.Context(), ops.Scope(), "m0"); err != nil || !m.Deleted || m.Text != "" {
		t.Errorf("the message is still there: %+v %v", m, err)
	}
}

func TestAPersonAndAChannelAreErased(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.tell(t, said(0, "Alice", "the code is 4711"), said(1, "Bob", "thanks"), said(2, "Alice", "welcome"))
	type erasure struct {
		ID      int64
		Ended   string
		Code    string
		Removed struct{ Messages int }
	}
	erase := func(as, path string) (int, erasure) {
		t.Helper()
		status, _, body := w.call(t, as, http.MethodDelete, path, nil)
		var e erasure
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			t.Fatalf("%s: %d %s: %v", path, status, body, err)
		}
		return status, e
	}
	if status, e := erase("T1", "/v1/authors/U-Alice?dry_run=true"); status != http.StatusOK || e.ID != 0 || e.Removed.Messages != 2 {
		t.Errorf("counted: %d %+v", status, e)
	}
	if status, e := erase("C1", "/v1/authors/U-Alice"); status != http.StatusForbidden || e.Code != "channels_only" {
		t.Errorf("a key for one channel erases in the workspace: %d %+v", status, e)
	}
	if status, _ := erase("T1", "/v1/authors/U-Nobody"); status != http.StatusNotFound {
		t.Errorf("a person of whom nothing is stored: %d", status)
	}
	status, e := erase("C1", "/v1/authors/U-Alice?channel=C1")
	if status != http.StatusOK || e.ID == 0 || e.Ended == "" || e.Removed.Messages != 2 {
		t.Errorf("erased: %d %+v", status, e)
	}
	_, _, mine := w.call(t, "C1", http.MethodGet, "/v1/erasures/1", nil)
	_, _, foreign := w.call(t, "T2", http.MethodGet, "/v1/erasures/1", nil)
	_, _, unknown := w.call(t, "T2", http.MethodGet, "/v1/erasures/9", nil)
	if !strings.Contains(mine, `"author":"U-Alice"`) || foreign != unknown {
		t.Errorf("mine %s\nforeign %s\nunknown %s", mine, foreign, unknown)
	}
	if status, e := erase("C1", "/v1/channels/C1"); status != http.StatusOK || e.Removed.Messages != 1 {
		t.Errorf("the channel: %d %+v", status, e)
	}
	if _, _, body := w.call(t, "all", http.MethodGet, "/v1/channels", nil); strings.Contains(body, "ops") {
		t.Errorf("the channel's name is still there: %s", body)
	}
}
