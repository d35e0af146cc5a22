package access

import (
	"strconv"
	"testing"
	"time"
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
