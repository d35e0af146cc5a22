package discord

import (
	"cmp"
	"slices"
	"strings"
	"sync"
	"time"
)

// An EventCount is how often events of one type came, for the operator.
type EventCount struct {
	Type  string // such as MESSAGE_CREATE
	Count int
	// Used says that such events have an effect.
	Used bool
}

// maxTypes is how many types are counted apart.
const maxTypes = 200

// eventCounts counts what came in, and how often the event of each shard that is being
// handled has failed. The zero value is ready to use.
type eventCounts struct {
	mu    sync.Mutex // guards what follows
	types map[string]*EventCount
	tries recent[string, int] // by delivery
	last  time.Time
}

// count counts an event.
func (h *eventCounts) count(kind string, used bool, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.types == nil {
		h.types = map[string]*EventCount{}
	}
	h.last = now
	if !used {
		kind = word(kind)
	}
	x := h.types[kind]
	if x == nil && len(h.types) >= maxTypes {
		kind = "other"
		x = h.types[kind]
	}
	if x == nil {
		x = &EventCount{Type: kind, Used: used}
		h.types[kind] = x
	}
	x.Count++
}

// word returns a type of Discord's as it may be shown: it comes from outside.
func word(s string) string {
	if s == "" || len(s) > 64 || strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		return "other"
	}
	return s
}

// failed counts a failure of an event, and returns how many there were.
func (h *eventCounts) failed(delivery string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.tries.most = 1000
	n, _ := h.tries.get(delivery)
	h.tries.put(delivery, n+1)
	return n + 1
}

// EventCounts returns how often each type of event came, sorted by type, and when the
// last event came.
func (p *Platform) EventCounts() ([]EventCount, time.Time) {
	p.counts.mu.Lock()
	defer p.counts.mu.Unlock()
	list := make([]EventCount, 0, len(p.counts.types))
	for _, x := range p.counts.types {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b EventCount) int { return cmp.Compare(a.Type, b.Type) })
	return list, p.counts.last
}
