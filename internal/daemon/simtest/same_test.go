package simtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestTheSameSeedGivesTheSameTrace plays each seed until two plays are the same:
// every effect of every process happens again, at the same moment. Where two
// goroutines of the daemon start at the same moment of the bubble, such as two
// sockets that reconnect, their order depends on the scheduler, most of all on a
// busy machine; so a seed has four plays, and one seed in five may differ in all.
func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("plays 40 seeds and more; runs without -short")
	}
	t.Parallel()
	const seeds, plays, allowed = 20, 4, 4
	var differ []string
	for seed := uint64(1); seed <= seeds; seed++ {
		traces := [][]string{play(t, newScript(seed)).detail}
		for len(traces) < plays && !slices.ContainsFunc(traces[:len(traces)-1], func(x []string) bool { return slices.Equal(x, traces[len(traces)-1]) }) {
			traces = append(traces, play(t, newScript(seed)).detail)
		}
		last := traces[len(traces)-1]
		if !slices.ContainsFunc(traces[:len(traces)-1], func(x []string) bool { return slices.Equal(x, last) }) {
			differ = append(differ, fmt.Sprintf("seed %d: %s", seed, firstDifference(traces[0], last)))
		}
	}
	if len(differ) > allowed {
		t.Errorf("%d of %d seeds were never played twice alike:\n%s", len(differ), seeds, strings.Join(differ, "\n\n"))
	}
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
