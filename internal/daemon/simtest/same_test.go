package simtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestTheSameSeedGivesTheSameTrace plays each seed twice: every effect of every
// process happens again, at the same moment. Where two goroutines of the daemon start
// at the same moment of the bubble, such as two sockets that reconnect, the scheduler
// decides which is first. So the effects of one moment are compared as a set.
func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 16 seeds; runs without -short")
	}
	t.Parallel()
	for seed := uint64(1); seed <= 8; seed++ {
		first, second := moments(play(t, newScript(seed)).detail), moments(play(t, newScript(seed)).detail)
		if !slices.Equal(first, second) {
			t.Errorf("seed %d is not played twice alike: %s", seed, firstDifference(first, second))
		}
	}
}

// count matches the number of an effect, which counts those of its moment in the order
// in which they came.
var count = regexp.MustCompile(`( effect) \d+:`)

// moments sorts the lines of a trace that have the same time.
func moments(trace []string) []string {
	out := make([]string, len(trace))
	for i, line := range trace {
		out[i] = count.ReplaceAllString(line, "$1:")
	}
	const stamp = len("0000000.000000 ")
	slices.SortStableFunc(out, func(a, b string) int {
		if a[:stamp] == b[:stamp] {
			return strings.Compare(a, b)
		}
		return 0
	})
	return out
}

// firstDifference returns the first lines that differ in two traces, with those before.
func firstDifference(a, b []string) string {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			around := func(list []string) string {
				return strings.Join(list[min(max(i-5, 0), len(list)):min(i+3, len(list))], "\n")
			}
			return fmt.Sprintf("line %d of %d and %d:\n%s\n\n%s", i, len(a), len(b), around(a), around(b))
		}
	}
	return "none"
}
