package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// healthCmd asks a probe: the check of a container, whose image has no other program.
type healthCmd struct {
	URL string `arg:"" optional:"" placeholder:"URL" default:"http://127.0.0.1:9464/healthz" help:"The probe (default: ${default})."`
}

// How long a probe may take, and how much of its answer is read.
const (
	probePatience = 5 * time.Second
	probeBytes    = 64 << 10
)

func (c *healthCmd) Run(ctx context.Context, a *app) error {
	at, err := url.Parse(c.URL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return usagef("%q is not the URL of a probe; name one such as http://127.0.0.1:9464/healthz", c.URL)
	}
	ctx, stop := context.WithTimeout(ctx, probePatience)
	defer stop()
	ask, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(ask)
	if err != nil {
		return fmt.Errorf("ask the probe: %w", err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, probeBytes))
	if err != nil {
		return fmt.Errorf("read the probe's answer: %w", err)
	}
	text = bytes.TrimSpace(text)
	if a.json {
		err = a.writeJSON(map[string]any{"url": c.URL, "status": answer.StatusCode, "answer": string(text)})
	} else {
		a.printf("%s\n", text)
	}
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s", c.URL, answer.Status)
	}
	return err
}
