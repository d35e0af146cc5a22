package backfill

import (
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A span is a stretch of time, both ends included.
type span struct{ from, to earshot.Time }

// The bounds of all time. Nothing was said at the zero Time.
const (
	dawn    earshot.Time = 1
	forever earshot.Time = math.MaxInt64
)

// spans are stretches in ascending order, which neither meet nor overlap. They
// are values: no method changes its receiver.
type spans []span

// add returns s and x.
func (s spans) add(x span) spans {
	if x.from > x.to {
		return s
	}
	var out spans
	for _, v := range s {
		switch {
		case v.to < x.from-1:
			out = append(out, v)
		case x.to != forever && x.to+1 < v.from:
			out = append(out, x)
			x = v
		default:
			x = span{min(x.from, v.from), max(x.to, v.to)}
		}
	}
	return append(out, x)
}

// with returns s and all of t.
func (s spans) with(t spans) spans {
	for _, x := range t {
		s = s.add(x)
	}
	return s
}

// without returns s less x.
func (s spans) without(x span) spans {
	var out spans
	for _, v := range s {
		if v.to < x.from || x.to < v.from {
			out = append(out, v)
			continue
		}
		if v.from < x.from {
			out = append(out, span{v.from, x.from - 1})
		}
		if x.to < v.to {
			out = append(out, span{x.to + 1, v.to})
		}
	}
	return out
}

// within returns what of s lies in x.
func (s spans) within(x span) spans {
	var out spans
	for _, v := range s {
		if from, to := max(v.from, x.from), min(v.to, x.to); from <= to {
			out = append(out, span{from, to})
		}
	}
	return out
}

// missing returns what of x is not in s.
func (s spans) missing(x span) spans {
	if x.from > x.to {
		return nil
	}
	out := spans{x}
	for _, v := range s {
		out = out.without(v)
	}
	return out
}

// holds reports whether t lies in s.
func (s spans) holds(t earshot.Time) bool {
	return slices.ContainsFunc(s, func(v span) bool { return v.from <= t && t <= v.to })
}
