package slack

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// A Heard is how often an event came, for the operator.
type Heard struct {
	Type  string // and after a dot its subtype
	Count int
	// Used says that something is made of such events. Others are acknowledged
	// and no more.
	Used bool
}

// maxTypes bounds how many types are told apart, and maxRecent how many
// deliveries are remembered that change something each time they come.
const (
	maxTypes  = 200
	maxRecent = 4096
)

// heard is what came in. The zero value is ready to use.
type heard struct {
	mu     sync.Mutex // guards what follows
	types  map[string]*Heard
	recent map[string]bool
	order  []string // of recent, oldest first
	last   time.Time

	// reacting is a semaphore of one, held while a message's reactions are read
	// and written.
	reacting chan struct{}
}

// count counts an event.
func (h *heard) count(kind string, used bool, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.types == nil {
		h.types = map[string]*Heard{}
	}
	h.last = now
	kind = word(kind, "_.")
	x := h.types[kind]
	if x == nil && len(h.types) >= maxTypes {
		kind = "other"
		x = h.types[kind]
	}
	if x == nil {
		x = &Heard{Type: kind, Used: used}
		h.types[kind] = x
	}
	x.Count++
}

// again reports whether a delivery was remembered.
func (h *heard) again(delivery string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.recent[delivery]
}

// remember remembers a delivery, and forgets the oldest.
func (h *heard) remember(delivery string) {
	if delivery == "" {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.recent == nil {
		h.recent = map[string]bool{}
	}
	if h.recent[delivery] {
		return
	}
	if len(h.order) >= maxRecent {
		delete(h.recent, h.order[0])
		h.order = h.order[1:]
	}
	h.recent[delivery] = true
	h.order = append(h.order, delivery)
}

// Heard returns how often each type of event came since Open, by type, and
// when the last one did.
func (p *Platform) Heard() ([]Heard, time.Time) {
	p.heard.mu.Lock()
	defer p.heard.mu.Unlock()
	list := make([]Heard, 0, len(p.heard.types))
	for _, x := range p.heard.types {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b Heard) int { return cmp.Compare(a.Type, b.Type) })
	return list, p.heard.last
}
