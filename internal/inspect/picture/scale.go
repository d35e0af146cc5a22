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

// clampValue returns a value within what scales can compute with.
func clampValue(v float64) float64 {
	const most, least = 1e300, 1e-290
	switch {
	case math.Abs(v) < least:
		return 0
	case !isFinite(v):
		return v
	}
	return min(max(v, -most), most)
}

// scaleOf returns a scale that holds 0 and all values, with at most ticks steps.
func scaleOf(ticks int, whole bool, values ...float64) scale {
	lo, hi := 0.0, 0.0
	for _, v := range values {
		if isFinite(v) {
			lo, hi = min(lo, clampValue(v)), max(hi, clampValue(v))
		}
	}
	if lo == hi {
		hi = 1
	}
	step := roundUp((hi - lo) / float64(ticks))
	if whole {
		step = max(step, 1)
	}
	s := scale{math.Floor(lo/step) * step, math.Ceil(hi/step) * step, step}
	if !isFinite(s.from) || !isFinite(s.to) || s.to <= s.from {
		s = scale{lo, hi, (hi - lo) / 2}
	}
	return s
}

// roundUp returns the next greater of 1, 2 and 5 times a power of ten.
func roundUp(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	if !isFinite(p) || p == 0 {
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
func (s scale) at(v float64) float64 { return (clampValue(v) - s.from) / (s.to - s.from) }

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

// isFinite reports whether v is a number that can be drawn.
func isFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// areWhole reports whether all values are whole numbers.
func areWhole(values []float64) bool {
	for _, v := range values {
		if isFinite(v) && v != math.Trunc(v) {
			return false
		}
	}
	return true
}

// formatTick writes a round value in few characters: 1.5k, 20M.
func formatTick(v float64) string { return formatDigits(v, 4) }

// formatDigits writes a value with a number of digits.
func formatDigits(v float64, digits int) string {
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

// FormatFigure writes a value for people: whole numbers with commas, others with up to four
// decimals, and "–" for what is no number.
func FormatFigure(v float64) string {
	switch {
	case !isFinite(v):
		return "–"
	case math.Abs(v) >= 1e15:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case v == math.Trunc(v):
		return groupDigits(strconv.FormatFloat(v, 'f', 0, 64))
	case math.Abs(v) < 1:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	s := strconv.FormatFloat(v, 'f', 4, 64)
	i := strings.IndexByte(s, '.')
	return groupDigits(s[:i]) + strings.TrimRight(s[i:], "0")
}

// groupDigits groups the digits of a whole number.
func groupDigits(s string) string {
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// formatPercent writes a share.
func formatPercent(part, whole float64) string {
	switch v := 100 * part / whole; {
	case !isFinite(v):
		return "–"
	case v > 0 && v < 1:
		return "<1 %"
	default:
		return strconv.FormatFloat(v, 'f', 0, 64) + " %"
	}
}
