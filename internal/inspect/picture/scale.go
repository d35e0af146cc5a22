package picture

import (
	"math"
	"strconv"
	"strings"
)

// A scale maps values onto a length, between round ends.
type scale struct {
	from, to, step float64
}

// bounded returns a value within what scales can compute with.
func bounded(v float64) float64 {
	const most, least = 1e300, 1e-290
	switch {
	case math.Abs(v) < least:
		return 0
	case !finite(v):
		return v
	}
	return min(max(v, -most), most)
}

// scaleOf returns a scale that holds 0 and all values, with at most ticks steps.
func scaleOf(ticks int, whole bool, values ...float64) scale {
	lo, hi := 0.0, 0.0
	for _, v := range values {
		if finite(v) {
			lo, hi = min(lo, bounded(v)), max(hi, bounded(v))
		}
	}
	if lo == hi {
		hi = 1
	}
	step := round((hi - lo) / float64(ticks))
	if whole {
		step = max(step, 1)
	}
	s := scale{math.Floor(lo/step) * step, math.Ceil(hi/step) * step, step}
	if !finite(s.from) || !finite(s.to) || s.to <= s.from {
		s = scale{lo, hi, (hi - lo) / 2}
	}
	return s
}

// round returns the next greater of 1, 2 and 5 times a power of ten.
func round(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	if !finite(p) || p == 0 {
		return v
	}
	for _, m := range []float64{1, 2, 5} {
		if v <= m*p*1.0001 {
			return m * p
		}
	}
	return 10 * p
}

// at returns where a value stands, as a share of the scale.
func (s scale) at(v float64) float64 { return (bounded(v) - s.from) / (s.to - s.from) }

// ticks are the round values of the scale.
func (s scale) ticks() []float64 {
	n := int(math.Round((s.to - s.from) / s.step))
	if n < 1 || n > 20 {
		return []float64{s.from, s.to}
	}
	out := make([]float64, 0, n+1)
	for i := range n + 1 {
		out = append(out, s.from+float64(i)*s.step)
	}
	return out
}

// finite reports whether v is a number that can be drawn.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// whole reports whether all values are whole numbers.
func whole(values []float64) bool {
	for _, v := range values {
		if finite(v) && v != math.Trunc(v) {
			return false
		}
	}
	return true
}

// tick writes a round value in few characters: 1.5k, 20M.
func tick(v float64) string { return short(v, 4) }

// short writes a value with a number of digits.
func short(v float64, digits int) string {
	for _, u := range []struct {
		of   float64
		mark string
	}{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if a := math.Abs(v); a >= u.of && a < 1e15 {
			return strconv.FormatFloat(v/u.of, 'g', digits, 64) + u.mark
		}
	}
	return strconv.FormatFloat(v, 'g', digits, 64)
}

// Figure writes a value for people: whole numbers with commas, others with up to four
// decimals, and "–" for what is no number.
func Figure(v float64) string {
	switch {
	case !finite(v):
		return "–"
	case math.Abs(v) >= 1e15:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case v == math.Trunc(v):
		return commas(strconv.FormatFloat(v, 'f', 0, 64))
	case math.Abs(v) < 1:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	s := strconv.FormatFloat(v, 'f', 4, 64)
	i := strings.IndexByte(s, '.')
	return commas(s[:i]) + strings.TrimRight(s[i:], "0")
}

// commas groups the digits of a whole number.
func commas(s string) string {
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// percent writes a share.
func percent(part, whole float64) string {
	switch v := 100 * part / whole; {
	case !finite(v):
		return "–"
	case v > 0 && v < 1:
		return "<1 %"
	default:
		return strconv.FormatFloat(v, 'f', 0, 64) + " %"
	}
}
