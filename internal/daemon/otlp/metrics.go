package otlp

import (
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
)

// convert returns Prometheus' families as OTLP's metrics, under the same names and with
// the labels as attributes. Counters and histograms count from began.
func convert(families []*dto.MetricFamily, began, now time.Time) []*metricspb.Metric {
	var list []*metricspb.Metric
	for _, f := range families {
		m := &metricspb.Metric{Name: f.GetName(), Description: f.GetHelp(), Unit: unitOf(f.GetName())}
		switch f.GetType() {
		case dto.MetricType_COUNTER:
			m.Data = &metricspb.Metric_Sum{Sum: &metricspb.Sum{
				AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE, IsMonotonic: true,
				DataPoints: numbers(f, began, now),
			}}
		case dto.MetricType_HISTOGRAM:
			m.Data = &metricspb.Metric_Histogram{Histogram: &metricspb.Histogram{
				AggregationTemporality: metricspb.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
				DataPoints:             histograms(f, began, now),
			}}
		case dto.MetricType_SUMMARY:
			m.Data = &metricspb.Metric_Summary{Summary: &metricspb.Summary{DataPoints: summaries(f, began, now)}}
		default:
			m.Data = &metricspb.Metric_Gauge{Gauge: &metricspb.Gauge{DataPoints: numbers(f, time.Time{}, now)}}
		}
		list = append(list, m)
	}
	return list
}

// unitOf returns the unit that a metric's name ends with, as OTLP writes it.
func unitOf(name string) string {
	name = strings.TrimSuffix(name, "_total")
	switch {
	case strings.HasSuffix(name, "_seconds"):
		return "s"
	case strings.HasSuffix(name, "_bytes"):
		return "By"
	}
	return ""
}

func numbers(f *dto.MetricFamily, began, now time.Time) []*metricspb.NumberDataPoint {
	var list []*metricspb.NumberDataPoint
	for _, m := range f.GetMetric() {
		value := m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue() // one of them is there
		list = append(list, &metricspb.NumberDataPoint{
			Attributes: labels(m), StartTimeUnixNano: Nanoseconds(began), TimeUnixNano: Nanoseconds(now), Value: &metricspb.NumberDataPoint_AsDouble{AsDouble: value},
		})
	}
	return list
}

func histograms(f *dto.MetricFamily, began, now time.Time) []*metricspb.HistogramDataPoint {
	var list []*metricspb.HistogramDataPoint
	for _, m := range f.GetMetric() {
		h := m.GetHistogram()
		p := &metricspb.HistogramDataPoint{
			Attributes: labels(m), StartTimeUnixNano: Nanoseconds(began), TimeUnixNano: Nanoseconds(now), Count: h.GetSampleCount(), Sum: new(h.GetSampleSum()),
		}
		var below uint64 // Prometheus' buckets have what is in the smaller ones too
		for _, b := range h.GetBucket() {
			p.ExplicitBounds = append(p.ExplicitBounds, b.GetUpperBound())
			p.BucketCounts = append(p.BucketCounts, b.GetCumulativeCount()-below)
			below = b.GetCumulativeCount()
		}
		p.BucketCounts = append(p.BucketCounts, h.GetSampleCount()-below)
		list = append(list, p)
	}
	return list
}

func summaries(f *dto.MetricFamily, began, now time.Time) []*metricspb.SummaryDataPoint {
	var list []*metricspb.SummaryDataPoint
	for _, m := range f.GetMetric() {
		s := m.GetSummary()
		p := &metricspb.SummaryDataPoint{
			Attributes: labels(m), StartTimeUnixNano: Nanoseconds(began), TimeUnixNano: Nanoseconds(now), Count: s.GetSampleCount(), Sum: s.GetSampleSum(),
		}
		for _, q := range s.GetQuantile() {
			p.QuantileValues = append(p.QuantileValues, &metricspb.SummaryDataPoint_ValueAtQuantile{Quantile: q.GetQuantile(), Value: q.GetValue()})
		}
		list = append(list, p)
	}
	return list
}

func labels(m *dto.Metric) []*commonpb.KeyValue {
	var list []*commonpb.KeyValue
	for _, l := range m.GetLabel() {
		list = append(list, String(l.GetName(), l.GetValue()))
	}
	return list
}

// Nanoseconds returns a time as OTLP writes it, the zero time as 0.
func Nanoseconds(t time.Time) uint64 {
	if t.IsZero() {
		return 0
	}
	return uint64(max(t.UnixNano(), 0)) //nolint:gosec // not negative
}
