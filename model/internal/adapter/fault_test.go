package adapter

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header http.Header
		want   time.Duration
	}{
		{http.Header{}, 0},
		{http.Header{"Retry-After": {"30"}}, 30 * time.Second},
		{http.Header{"Retry-After": {" 1.5 "}}, 1500 * time.Millisecond},
		{http.Header{"Retry-After": {"30"}, "Retry-After-Ms": {"250"}}, 250 * time.Millisecond},
		{http.Header{"Retry-After": {"Mon, 02 Mar 2026 09:00:20 GMT"}}, 20 * time.Second},
		{http.Header{"Retry-After": {"Mon, 02 Mar 2026 09:00:20 GMT"}, "Date": {"Mon, 02 Mar 2026 09:00:15 GMT"}}, 5 * time.Second},
		{http.Header{"Retry-After": {"Mon, 02 Mar 2026 08:00:00 GMT"}}, 0},
		{http.Header{"Retry-After": {"-5"}}, 0}, {http.Header{"Retry-After": {"NaN"}}, 0},
		{http.Header{"Retry-After": {"1e300"}}, maxRetryAfter}, {http.Header{"Retry-After": {"soon"}}, 0},
	} {
		if got := retryAfter(c.header, now); got != c.want {
			t.Errorf("%v: got %v, want %v", c.header, got, c.want)
		}
	}
}

func TestRetryable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		status int
		should string
		want   bool
	}{
		{0, "", true}, {200, "", true}, {408, "", true}, {429, "", true}, {500, "", true}, {503, "", true}, {529, "", true},
		{301, "", false}, {400, "", false}, {401, "", false}, {404, "", false}, {413, "", false}, {501, "", false},
		{500, "false", false}, {409, "true", true},
	} {
		if got := isRetryable(c.status, http.Header{"X-Should-Retry": {c.should}}); got != c.want {
			t.Errorf("status %d, should retry %q: got %v, want %v", c.status, c.should, got, c.want)
		}
	}
}
