package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// What earshot health says of a probe, and its exit status.
func TestHealthIsWhatTheProbeAnswers(t *testing.T) {
	t.Parallel()
	probe := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/readyz" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		fmt.Fprintln(w, "store: ok")
	}))
	t.Cleanup(probe.Close)
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	for name, tt := range map[string]struct {
		args, out, err string
		status         int
	}{
		"200 is healthy":                {probe.URL + "/healthz", "store: ok\n", "", exitOK},
		"in JSON":                       {probe.URL + "/healthz --json", `"status": 200`, "", exitOK},
		"503 is not":                    {probe.URL + "/readyz", "store: ok\n", "answers 503 Service Unavailable", exitFailed},
		"nor is what cannot be reached": {gone.URL + "/healthz", "", "ask the probe: ", exitFailed},
		"an address is no URL":          {"127.0.0.1:9464", "", "is not the URL of a probe; name one such as", exitUsage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			status := run(t.Context(), append([]string{"earshot", "health"}, strings.Fields(tt.args)...), nil, strings.NewReader(""), &out, &errs)
			if status != tt.status || !strings.Contains(out.String(), tt.out) || !strings.Contains(errs.String(), tt.err) {
				t.Errorf("got status %d, %q and %q, want %d, %q and %q", status, out.String(), errs.String(), tt.status, tt.out, tt.err)
			}
		})
	}
}
