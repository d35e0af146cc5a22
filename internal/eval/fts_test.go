package eval

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheFTSPeerRanksAsSQLiteDoes has words in other forms, with accents and without
// spaces between them, and texts that are added after a query.
func TestTheFTSPeerRanksAsSQLiteDoes(t *testing.T) {
	t.Parallel()
	var f fts
	defer f.close()
	for _, text := range []string{"the crane, the ropes", "cranes", "a boat at berth 17", "Café", "荷物 permits", "a boat is paid", "nothing", "a boat at berth 17", "the crane's rope and further words"} {
		f.add(text)
	}
	ask := func(query string, want ...int) {
		t.Helper()
		if diff := cmp.Diff(slices.Collect(f.rank(query)), want); diff != "" || f.err != nil {
			t.Errorf("%q (-got +want), %v:\n%s", query, f.err, diff)
		}
	}
	ask("crane", 1, 0, 8)
	ask("Paying for the berth?", 0, 7, 2, 8)
	ask("the boat, paid?", 5, 0, 8, 7, 2)
	ask("CAFE", 3)
	ask("荷物", 4)
	ask("unheard")
	ask("?!")
	f.add("crane")
	ask("crane", 9, 1, 0, 8)
}
