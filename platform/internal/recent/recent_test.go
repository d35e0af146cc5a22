package recent_test

import (
	"testing"

	"github.com/earshot-ai/earshot/platform/internal/recent"
)

func TestWhatIsUsedStaysInABoundedMap(t *testing.T) {
	t.Parallel()
	r := recent.Map[int, int]{Most: 10}
	r.Put(-1, 42)
	for i := range 1000 {
		r.Put(i, i)
		if v, ok := r.Get(-1); !ok || v != 42 {
			t.Fatalf("after %d others: got %d, %v, want 42", i+1, v, ok)
		}
		if v, ok := r.Get(i); !ok || v != i {
			t.Fatalf("%d is not there at once: %d, %v", i, v, ok)
		}
	}
	if n := len(r.Keys(func(int, int) bool { return true })); n > 20 {
		t.Errorf("%d entries, want at most 20", n)
	}
	if _, ok := r.Get(5); ok {
		t.Error("5 is there, although a thousand came after it")
	}
	r.Drop(-1)
	if _, ok := r.Get(-1); ok {
		t.Error("what was dropped is there")
	}
}
