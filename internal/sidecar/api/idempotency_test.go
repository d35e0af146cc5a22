package api_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestAnIdempotencyKeyIsKeptOrRefused sends each POST of the document twice with one
// key: where it is taken, the second changes nothing.
func TestAnIdempotencyKeyIsKeptOrRefused(t *testing.T) {
	t.Parallel()
	refused := map[string]string{
		"make-capability":     "another capability",
		"create-conversation": "send idempotency_key in the body", "post-conversation-message": "send message_id in the body",
	}
	for _, op := range documented(t) {
		if op.method != http.MethodPost {
			continue
		}
		m := newMatrix(t)
		home := m.territories[0]
		send := func() (int, string) {
			t.Helper()
			r := requests[op.id](home)
			as := "workspace"
			if r.one {
				as = "channel"
			}
			req := httptest.NewRequestWithContext(t.Context(), op.method, r.path, strings.NewReader(r.body))
			req.Header.Set("Authorization", "Bearer "+m.callers[as].bearer)
			req.Header.Set("Idempotency-Key", "k1")
			req.Host = "localhost"
			w := httptest.NewRecorder()
			m.handler.ServeHTTP(w, req)
			return w.Code, w.Body.String()
		}
		before := m.state(t, home)
		status, got := send()
		if instead := refused[op.id]; instead != "" {
			if status != http.StatusBadRequest || !strings.Contains(got, "idempotency_key") || !strings.Contains(got, instead) || m.state(t, home) != before {
				t.Errorf("%s: %d %s", op.id, status, got)
			}
			continue
		}
		after := m.state(t, home)
		again, _ := send()
		if now := m.state(t, home); status != http.StatusOK || again != http.StatusOK || now != after {
			t.Errorf("%s: %d, then %d\nafter %s\nagain %s", op.id, status, again, after, now)
		}
	}
}
