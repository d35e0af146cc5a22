package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/earshot-ai/earshot"
)

// An index of few docs looks through them where a larger one has postings. Both must say
// the same of every term, on either side of the bound, with edited and deleted messages.
func TestPostingsAreWhatTheDocsSay(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	x := New()
	for seq := range int64(4 * maxUnposted) {
		m := earshot.Terms{ID: earshot.MessageID(fmt.Sprint("m", random.IntN(3*maxUnposted))), Seq: seq + 1, Time: earshot.Time(seq + 1), Author: "a", Deleted: random.IntN(10) == 0}
		for range random.IntN(80) {
			m.Terms = append(m.Terms, fmt.Sprint("w", random.IntN(40)*random.IntN(40)))
		}
		if random.IntN(20) == 0 { // more often than a posting counts
			m.Terms = append(m.Terms, slices.Repeat([]string{"again"}, 100)...)
		}
		x.Add(m)
		for n := range uint32(len(x.words.ends)) {
			older, last := x.postingsOf(n)
			got := slices.Concat(older, last)
			if want := x.scan(n); !slices.Equal(got, want) {
				t.Fatalf("%d docs: the postings of %s are %x, want %x", len(x.docs), x.words.name(n), got, want)
			}
			live := 0
			for _, p := range got {
				if !x.docs[p>>tfBits].dead {
					live++
				}
			}
			if x.live(n) != live {
				t.Fatalf("%d docs: %d live ones have %s, want %d", len(x.docs), x.live(n), x.words.name(n), live)
			}
		}
	}
}

func TestADictionaryFindsWhatItHas(t *testing.T) {
	t.Parallel()
	d := newDictionary()
	if n, ok := d.find("w0"); ok {
		t.Errorf("an empty one has a term %d", n)
	}
	for i := range 5000 {
		name := fmt.Sprint("w", i)
		if n, isNew := d.add(name); n != uint32(i) || !isNew {
			t.Fatalf("%s is term %d, new %t", name, n, isNew)
		}
		if i%700 == 0 {
			d.clip()
		}
	}
	for i := range 5000 {
		name := fmt.Sprint("w", i)
		if n, ok := d.find(name); n != uint32(i) || !ok || string(d.name(n)) != name {
			t.Fatalf("%s is term %d, found %t", name, n, ok)
		}
		if n, isNew := d.add(name); n != uint32(i) || isNew {
			t.Fatalf("%s again is term %d, new %t", name, n, isNew)
		}
	}
	if n, ok := d.find("w5000"); ok {
		t.Errorf("what nobody added is term %d", n)
	}
}
