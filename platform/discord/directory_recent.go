package discord

import "iter"

// A recent is a map of bounded size that keeps what was used last. It holds two
// generations: once the young one is full, it becomes the old one, and what was not
// used since is dropped. The zero value needs most. It is not safe for concurrent use.
type recent[K comparable, V any] struct {
	most       int // of each generation
	young, old map[K]V
}

func (r *recent[K, V]) get(k K) (V, bool) {
	v, ok := r.young[k]
	if ok {
		return v, true
	}
	if v, ok = r.old[k]; ok {
		r.put(k, v)
	}
	return v, ok
}

func (r *recent[K, V]) put(k K, v V) {
	if _, ok := r.young[k]; !ok && len(r.young) >= r.most || r.young == nil {
		r.old, r.young = r.young, map[K]V{}
	}
	r.young[k] = v
}

func (r *recent[K, V]) drop(k K) {
	delete(r.young, k)
	delete(r.old, k)
}

// all iterates over what is kept, in no order. A key that was changed may come twice.
func (r *recent[K, V]) all() iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, m := range []map[K]V{r.young, r.old} {
			for k, v := range m {
				if !yield(k, v) {
					return
				}
			}
		}
	}
}
