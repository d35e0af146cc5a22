package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// The bodies of contexts, commits, tools, capabilities and inputs: whatever they
// are, the answer is a refusal or what was asked for, and never a failure of ours.
func FuzzBodiesOfTurns(f *testing.F) {
	w := newWorld(f)
	w.tell(f, said(0, "Alice", "staging is down"), said(1, "Bob", "<@U0BOT> why?"))
	status, _, body := w.call(f, "C1", http.MethodPost, "/v1/context", object{"channel": "C1", "anchor": "m1", "agent": "U0BOT", "open": true})
	if status != http.StatusOK || !strings.Contains(body, `"turn":{"id":1`) {
		f.Fatalf("%d %s", status, body)
	}
	asked := w.asks(f, "fuzz", "one")[0]
	routes := []struct{ as, method, path string }{
		{"C1", http.MethodPost, "/v1/context"}, {"C1", http.MethodPost, "/v1/turns/1/commit"}, {"C1", http.MethodPost, "/v1/turns/1/renew"}, {"C1", http.MethodPost, "/v1/turns/1/approvals"}, {"C1", http.MethodPost, "/v1/turns/1/wait"}, {"C1", http.MethodPost, "/v1/assemble"}, {"C1", http.MethodPost, approvalAt(string(asked.ID))}, {"C1", http.MethodPost, "/v1/capabilities"}, {"tools", http.MethodPost, "/v1/tools/channel_context"}, {"tools", http.MethodPost, "/v1/tools/channel_messages"}, {"C1", http.MethodPut, fmt.Sprintf("/v1/turns/%d/feedback", asked.Turn)},
	}
	for i, seed := range []string{
		`{"channel":"C1","anchor":"m1","agent":"U0BOT","policy":"delta","budget":{"tokens":100},"counter":"bytes4","zone":"Europe/Berlin","open":true,"again":true,"hold":9,"tools":true}`,
		`{"reply":{"text":"x","ids":["r1"],"time":"1700000005.000100"},"usage":{"input":1},"entries":[{"role":"assistant","calls":[{"id":"c","name":"n","args":"{}"}]},{"role":"tool","call":"c","text":"{}"}],"metadata":{"a":"b","c":null}}`,
		`{"hold":60,"posting":true}`,
		`{"call":"c1","tool":"deploy","arguments":{"to":"staging"},"asker":"U1","expires_in_seconds":60}`, `{}`,
		`{"identity":{"id":"U0","name":"e"},"channel":{"id":"C1"},"anchor":"m","messages":[{"id":"m","time":"2026-03-02T10:00:00Z","author":{"id":"U1"},"text":"hi"}]}`,
		`{"author":"UAnn","good":false,"reason":"it is down"}`, `{"decision":"agree","sha256":"x","by":"UAnn","reason":"go on"}`,
		`{"channel":{"id":"C1","workspace":"T1"},"anchor":"m1","minutes":5}`,
		`{"intent":"staging","since":"2026-03-02"}`, `{"message_ids":["m0"]}`,
		`{"channel":"C1","message":{"id":"x","time":"2026-03-02T10:00:00Z","author":{"id":"U1"},"text":"hi"}}`,
		`{}`, ``, `[]`, `null`, `{"channel":`, strings.Repeat(`{"a":`, 70), "\xff", `{"reply":{"text":"\ud800"}}`,
	} {
		f.Add(i%len(routes), seed)
	}
	f.Fuzz(func(t *testing.T, n int, body string) {
		r := routes[((n%len(routes))+len(routes))%len(routes)]
		status, _, answer := w.call(t, r.as, r.method, r.path, body)
		switch status {
		case http.StatusOK, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusRequestEntityTooLarge:
		default:
			t.Errorf("%s answers %d %s to %q", r.path, status, answer, body)
		}
		if status != http.StatusOK && !strings.Contains(answer, fmt.Sprintf(`"status":%d`, status)) {
			t.Errorf("%s answers %s", r.path, answer)
		}
	})
}
