package sketch

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/earshot-ai/earshot"
	"pgregory.net/rapid"
)

func all(earshot.MessageID) bool { return true }

// What is put, replaced and taken out in any order is found as a list that is looked
// through finds it.
func TestNearestIsWhatAListFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 63, 64, 65, 130}).Draw(t, "dimensions")
		vector := rapid.Custom(func(t *rapid.T) []int8 { return rapid.SliceOfN(rapid.Int8(), size, size).Draw(t, "numbers") })
		var x Index
		want := map[earshot.MessageID][]int8{}
		for range rapid.IntRange(0, 60).Draw(t, "puts") {
			id := earshot.MessageID(fmt.Sprint("m", rapid.IntRange(0, 20).Draw(t, "id")))
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0:
				x.Put(id, nil)
				delete(want, id)
			case 1:
				x.Put(id, make([]int8, size+64))
				if x.words == (size+63)/64 {
					delete(want, id)
				} else { // the first one sets the length
					x = Index{}
				}
			default:
				v := vector.Draw(t, "vector")
				x.Put(id, v)
				want[id] = v
			}
		}
		if x.Len() != len(want) {
			t.Fatalf("%d messages, want %d", x.Len(), len(want))
		}
		query, n := vector.Draw(t, "query"), rapid.IntRange(0, 25).Draw(t, "n")
		even := func(id earshot.MessageID) bool { return id[len(id)-1]%2 == 0 }
		got := x.Nearest(query, n, even)
		differ := func(id earshot.MessageID) (d int) {
			for i, v := range want[id] {
				if (v > 0) != (query[i] > 0) {
					d++
				}
			}
			return d
		}
		var ids []earshot.MessageID
		for id := range want {
			if even(id) {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, func(a, b earshot.MessageID) int { return cmp.Compare(differ(a), differ(b)) })
		if len(got) != min(n, len(ids)) {
			t.Fatalf("%d are found, want %d", len(got), min(n, len(ids)))
		}
		for i, id := range got {
			if !even(id) || differ(id) != differ(ids[i]) || slices.Contains(got[:i], id) {
				t.Fatalf("found %v; the best are %v", got, ids)
			}
		}
	})
}

func TestVectorsOfAnotherLengthFindNothing(t *testing.T) {
	t.Parallel()
	var x Index
	x.Put("a", make([]int8, 64))
	if got := x.Nearest(make([]int8, 65), 3, all); len(got) != 0 {
		t.Errorf("found %v", got)
	}
	if got := (&Index{}).Nearest(make([]int8, 64), 3, all); len(got) != 0 {
		t.Errorf("an empty index finds %v", got)
	}
}

// 100,000 messages of 1,024 dimensions.
func BenchmarkNearest(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // data of a benchmark
	v := make([]int8, 1024)
	draw := func() []int8 {
		for i := range v {
			v[i] = int8(r.IntN(255) - 127)
		}
		return v
	}
	var x Index
	for i := range 100_000 {
		x.Put(earshot.MessageID(fmt.Sprint(i)), draw())
	}
	draw()
	b.ReportMetric(float64(x.Bytes())/100_000, "bytes/message")
	for b.Loop() {
		x.Nearest(v, 256, all)
	}
}
