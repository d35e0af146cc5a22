package metrics

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// The metrics that are read from [Sources].
var (
	depthDesc    = prometheus.NewDesc("earshot_queue_turns", "Turns in the store that are not over, of all replicas, by state.", []string{"state"}, nil)
	oldestDesc   = prometheus.NewDesc("earshot_queue_oldest_seconds", "Age of the oldest turn in the store that is neither over nor parked, of all replicas; 0 where there is none.", nil, nil)
	triedDesc    = prometheus.NewDesc("earshot_queue_oldest_attempts", "How often that turn was claimed.", nil, nil)
	limitDesc    = prometheus.NewDesc("earshot_day_limit_used_ratio", "How much of a limit of the day (limits.day) is used, by all replicas: of several channels or people the one that has used most.", []string{"limit"}, nil)
	upDesc       = prometheus.NewDesc("earshot_platform_up", "1 while the platform is within reach, else 0.", nil, nil)
	outDesc      = prometheus.NewDesc("earshot_platform_signed_out", "1 while the platform refuses the bot's token, else 0.", nil, nil)
	callsDesc    = prometheus.NewDesc("earshot_api_calls_total", "Requests to the platform's API, by method and result: ok, limited or failed.", []string{"method", "result"}, nil)
	waitsDesc    = prometheus.NewDesc("earshot_api_waits_total", "Calls that were held back, or not made, because of a rate limit.", []string{"method"}, nil)
	indexDesc    = prometheus.NewDesc("earshot_search_index_bytes", "Memory of the search indexes that are loaded, by their own estimate.", nil, nil)
	unreadDesc   = prometheus.NewDesc("earshot_history_waiting", "Channels and threads whose history waits to be read in the background, or is being read.", nil, nil)
	waitTimeDesc = prometheus.NewDesc("earshot_api_wait_seconds_total", "How long calls were held back together.", []string{"method"}, nil)
)

// A collector reads its metrics from Sources.
type collector struct{ Sources }

// Describe implements [prometheus.Collector].
func (collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{depthDesc, oldestDesc, triedDesc, limitDesc, upDesc, outDesc, callsDesc, waitsDesc, waitTimeDesc, indexDesc, unreadDesc} {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (s collector) Collect(to chan<- prometheus.Metric) {
	s.depth(to)
	s.oldest(to)
	s.limits(to)
	if s.Indexed != nil {
		to <- prometheus.MustNewConstMetric(indexDesc, prometheus.GaugeValue, float64(s.Indexed()))
	}
	if s.Unread != nil {
		to <- prometheus.MustNewConstMetric(unreadDesc, prometheus.GaugeValue, float64(s.Unread()))
	}
	flag := func(d *prometheus.Desc, read func() bool) {
		if read == nil {
			return
		}
		v := 0.0
		if read() {
			v = 1
		}
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	flag(upDesc, s.Up)
	flag(outDesc, s.SignedOut)
	if s.Calls == nil {
		return
	}
	for _, c := range s.Calls() {
		count := func(d *prometheus.Desc, v float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
		}
		count(callsDesc, float64(c.Calls-c.Limited-c.Failed), c.Method, "ok")
		count(callsDesc, float64(c.Limited), c.Method, "limited")
		count(callsDesc, float64(c.Failed), c.Method, "failed")
		count(waitsDesc, float64(c.Waits), c.Method)
		count(waitTimeDesc, c.Waited.Seconds(), c.Method)
	}
}

func (s collector) limits(to chan<- prometheus.Metric) {
	if s.Limits == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	shares, err := s.Limits(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(limitDesc, fmt.Errorf("the store does not answer: %w", err))
		return
	}
	for limit, share := range shares {
		to <- prometheus.MustNewConstMetric(limitDesc, prometheus.GaugeValue, float64(share)/100, limit)
	}
}

func (s collector) depth(to chan<- prometheus.Metric) {
	if s.Depth == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	depth, err := s.Depth(ctx, waiting...)
	if err != nil {
		to <- prometheus.NewInvalidMetric(depthDesc, fmt.Errorf("the store does not answer: %w", err))
		return
	}
	for _, state := range waiting {
		to <- prometheus.MustNewConstMetric(depthDesc, prometheus.GaugeValue, float64(depth[state]), string(state))
	}
}

func (s collector) oldest(to chan<- prometheus.Metric) {
	if s.Oldest == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	t, ok, err := s.Oldest(ctx, unfinished...)
	if err != nil {
		to <- prometheus.NewInvalidMetric(oldestDesc, fmt.Errorf("the store does not answer: %w", err))
		return
	}
	age := 0.0
	if ok {
		age = s.Now().UTC().Sub(t.Opened.UTC()).Seconds()
	}
	to <- prometheus.MustNewConstMetric(oldestDesc, prometheus.GaugeValue, max(age, 0))
	to <- prometheus.MustNewConstMetric(triedDesc, prometheus.GaugeValue, float64(t.Tries+t.Ends))
}
