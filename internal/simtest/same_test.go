package simtest

import (
	"fmt"
	"strings"
	"testing"
)

// TestTheSameSeedGivesTheSameTrace plays seeds twice: every effect of every
// process must happen again, at the same moment.
func TestTheSameSeedGivesTheSameTrace(t *testing.T) {
	t.Parallel()
	for seed := uint64(1); seed <= 10; seed++ {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			first, second := play(t, seed).detail, play(t, seed).detail
			for i := range max(len(first), len(second)) {
				if i >= len(first) || i >= len(second) || first[i] != second[i] {
					around := func(list []string) string {
						return strings.Join(list[min(max(i-5, 0), len(list)):min(i+3, len(list))], "\n")
					}
					t.Fatalf("two plays differ in line %d of %d and %d:\n%s\n\n%s", i, len(first), len(second), around(first), around(second))
				}
			}
		})
	}
}
