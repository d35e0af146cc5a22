package access

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	b, now := newBuckets[string](Rate{PerSecond: 1, Burst: 1}), time.Unix(1, 0)
	if _, _, ok := b.take("busy", now); !ok {
		t.Fatal("the first was refused")
	}
	for n := range 3 * maxBuckets {
		b.take(strconv.Itoa(n), now)
		if n%1000 == 0 { // who comes again and again is not forgotten
			if _, _, ok := b.take("busy", now); ok {
				t.Fatal("a flood of others gave the busy one a new bucket")
			}
		}
	}
	if len(b.of) != maxBuckets || b.recent.Len() != maxBuckets {
		t.Errorf("got %d and %d buckets, want %d", len(b.of), b.recent.Len(), maxBuckets)
	}
}

func TestAKeyThatHasExpiredGivesItsNameFree(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	now := time.Unix(1777636800, 0)
	spec := KeySpec{Name: "bot", Expires: earshot.TimeOf(now.Add(time.Hour))}
	if _, _, err := createKey(t.Context(), st, spec, now); err != nil {
		t.Fatal(err)
	}
	if _, _, err := createKey(t.Context(), st, KeySpec{Name: "bot"}, now.Add(59*time.Minute)); !errors.Is(err, earshot.ErrConflict) {
		t.Errorf("before it expires: got %v, want ErrConflict", err)
	}
	_, k, err := createKey(t.Context(), st, KeySpec{Name: "bot"}, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	list, err := Keys(t.Context(), st)
	if err != nil || len(list) != 1 || list[0].ID != k.ID {
		t.Errorf("got %v and %v, want the new key alone", list, err)
	}
}
