package inspect

import (
	"cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/plain"
)

// verdictSymbol returns the sign of a verdict, so that its colour is never all there
// is.
func verdictSymbol(v earshot.Verdict) string {
	switch v {
	case earshot.Full:
		return "●"
	case earshot.Cut:
		return "◐"
	case earshot.Snippet:
		return "◌"
	}
	return "✕"
}

// nameOf returns what people call somebody; the id where there is no name.
func nameOf(a earshot.Author) string {
	return plain.ID(cmp.Or(a.Name, a.FullName, string(a.ID), "somebody"))
}

// role names what a visitor may do.
func role(v *visit) string {
	if v.operator() {
		return "operator"
	}
	return "viewer"
}

// plural writes a number of things: "1 message", "2,000 messages".
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return plain.Number(n) + " " + many
}
