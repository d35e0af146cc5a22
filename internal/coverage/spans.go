package coverage

import (
	"math"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A Span is a stretch of time, both ends included. One whose From is after its
// To is empty.
type Span struct{ From, To earshot.Time }

// Dawn and Forever are the bounds of all time. No message has the zero Time.
const (
	Dawn    earshot.Time = 1
	Forever earshot.Time = math.MaxInt64
)

// Spans are stretches in ascending order that neither touch nor overlap. They
// are values: no method changes its receiver.
type Spans []Span

// Add returns s and x.
func (s Spans) Add(x Span) Spans {
	if x.From > x.To {
		return s
	}
	var out Spans
	for _, v := range s {
		switch {
		case v.To < x.From-1:
			out = append(out, v)
		case x.To != Forever && x.To+1 < v.From:
			out = append(out, x)
			x = v
		default:
			x = Span{min(x.From, v.From), max(x.To, v.To)}
		}
	}
	return append(out, x)
}

// With returns s and all of t.
func (s Spans) With(t Spans) Spans {
	for _, x := range t {
		s = s.Add(x)
	}
	return s
}

// Without returns s less x.
func (s Spans) Without(x Span) Spans {
	var out Spans
	for _, v := range s {
		if v.To < x.From || x.To < v.From {
			out = append(out, v)
			continue
		}
		if v.From < x.From {
			out = append(out, Span{v.From, x.From - 1})
		}
		if x.To < v.To {
			out = append(out, Span{x.To + 1, v.To})
		}
	}
	return out
}

// Within returns what of s lies in x.
func (s Spans) Within(x Span) Spans {
	var out Spans
	for _, v := range s {
		if from, to := max(v.From, x.From), min(v.To, x.To); from <= to {
			out = append(out, Span{from, to})
		}
	}
	return out
}

// Missing returns what of x is not in s.
func (s Spans) Missing(x Span) Spans {
	if x.From > x.To {
		return nil
	}
	out := Spans{x}
	for _, v := range s {
		out = out.Without(v)
	}
	return out
}

// Holds reports whether t lies in s.
func (s Spans) Holds(t earshot.Time) bool {
	return slices.ContainsFunc(s, func(v Span) bool { return v.From <= t && t <= v.To })
}
