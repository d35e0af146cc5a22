package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkSidecar asks the real program for the context of the last message of a
// thread of 1,000, 200 times a second whatever it answers, and times each request
// from when it was due: one that had to wait for others counts as it was for its
// caller. Use -benchtime 6000x for half a minute.
func BenchmarkSidecar(b *testing.B) {
	binary, err := built()
	if err != nil {
		b.Fatal(err)
	}
	db := filepath.Join(b.TempDir(), "load.db")
	var key, problems bytes.Buffer
	if code := run(b.Context(), []string{"earshot", "key", "create", "--db", db, "--name", "bot", "--workspace", "T1"}, nil, strings.NewReader(""), &key, &problems); code != 0 {
		b.Fatalf("key create: %s", &problems)
	}
	p := startSidecar(b, binary, db)
	defer p.kill()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}
	call := func(method, path string, body any) error {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		r, err := http.NewRequestWithContext(b.Context(), method, p.url+path, bytes.NewReader(raw))
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(key.String()))
		r.Header.Set("Content-Type", "application/json")
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("%s: %d %s", path, answer.StatusCode, text)
		}
		return err
	}
	var events []any
	for i := range 1000 {
		m := map[string]any{
			"id": fmt.Sprintf("m%03d", i), "time": time.Date(2026, 3, 2, 9, 0, i, 0, time.UTC), "author": map[string]any{"id": fmt.Sprintf("u%d", i%7)},
			"text": fmt.Sprintf("message %d about import %d and its rows: word%d, word%d, and nobody knows yet", i, i%13, i%101, i%57),
		}
		if i > 0 {
			m["thread"] = "m000"
		}
		events = append(events, map[string]any{"type": "message", "channel": map[string]any{"id": "C1"}, "message": m})
	}
	context := func() error {
		return call(http.MethodPost, "/v1/context", map[string]any{"channel": "C1", "agent": "BOT", "anchor": "m999"})
	}
	for _, err := range []error{
		call(http.MethodPut, "/v1/agents/BOT", map[string]any{"name": "helper"}),
		call(http.MethodPost, "/v1/events", map[string]any{"events": events}), context(),
	} {
		if err != nil {
			b.Fatal(err)
		}
	}
	took := make(chan time.Duration, b.N)
	b.ResetTimer()
	start := time.Now()
	for i := range b.N {
		due := start.Add(time.Duration(i) * time.Second / 200)
		time.Sleep(time.Until(due))
		go func() {
			if err := context(); err != nil {
				b.Error(err)
			}
			took <- time.Since(due)
		}()
	}
	var all []time.Duration
	for range b.N {
		all = append(all, <-took)
	}
	b.StopTimer()
	slices.Sort(all)
	for _, at := range []int{50, 95, 99} {
		b.ReportMetric(float64(all[len(all)*at/100].Microseconds())/1000, fmt.Sprintf("ms/p%d", at))
	}
}
