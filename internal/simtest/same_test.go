package simtest

import (
	"fmt"
	"strings"
	"testing"
)

// TestTheSameSeedGivesTheSameTrace plays seeds twice: every effect of every
// process must happen again, at the same moment. Where two goroutines of the
// daemon begin at the same moment of the bubble and do the same thing, such as
// two sockets that are opened again, the scheduler may still choose: one seed in
// ten differs, and more where the machine is busy.
func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	t.Parallel()
	const plays, allowed = 20, 8
	var differ []string
	for seed := uint64(1); seed <= plays; seed++ {
		first, second := play(t, seed).detail, play(t, seed).detail
		for i := range max(len(first), len(second)) {
			if i >= len(first) || i >= len(second) || first[i] != second[i] {
				around := func(list []string) string {
					return strings.Join(list[min(max(i-5, 0), len(list)):min(i+3, len(list))], "\n")
				}
				differ = append(differ, fmt.Sprintf("seed %d, line %d of %d and %d:\n%s\n\n%s", seed, i, len(first), len(second), around(first), around(second)))
				break
			}
		}
	}
	if len(differ) > allowed {
		t.Errorf("%d of %d seeds differ when they are played twice:\n%s", len(differ), plays, strings.Join(differ, "\n\n"))
	}
}
