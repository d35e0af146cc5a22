// Package recent has maps that forget what was not used lately.
package recent

import "sync"

// A Map is a map of bounded size that keeps what was used last. It holds two
// generations: once the young one is full, it becomes the old one, and what was not
// used since is dropped. The zero value needs Most. It is safe for concurrent use.
type Map[K comparable, V any] struct {
	Most int // of each generation

	mu         sync.Mutex // guards what follows
	young, old map[K]V
}

// Get returns the value of a key.
func (m *Map[K, V]) Get(k K) (V, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.get(k)
}

func (m *Map[K, V]) get(k K) (V, bool) {
	v, ok := m.young[k]
	if ok {
		return v, true
	}
	if v, ok = m.old[k]; ok {
		m.put(k, v)
	}
	return v, ok
}

// Put sets the value of a key, and returns the one that it had.
func (m *Map[K, V]) Put(k K, v V) (was V, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	was, ok = m.get(k)
	m.put(k, v)
	return was, ok
}

// Add sets the value of a key that has none.
func (m *Map[K, V]) Add(k K, v V) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, ok := m.get(k); !ok {
		m.put(k, v)
	}
}

func (m *Map[K, V]) put(k K, v V) {
	if _, ok := m.young[k]; !ok && len(m.young) >= m.Most || m.young == nil {
		m.old, m.young = m.young, map[K]V{}
	}
	m.young[k] = v
}

// Drop forgets a key.
func (m *Map[K, V]) Drop(k K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.young, k)
	delete(m.old, k)
}

// Keys returns the keys of which is reports true, in no order. One that was changed may
// be there twice. is must not use the map.
func (m *Map[K, V]) Keys(is func(K, V) bool) (keys []K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, values := range []map[K]V{m.young, m.old} {
		for k, v := range values {
			if is(k, v) {
				keys = append(keys, k)
			}
		}
	}
	return keys
}
