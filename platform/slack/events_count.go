package slack

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/platform/slack/slackapi"
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
}

// count counts an event.
func (h *heard) count(kind string, used bool, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.types == nil {
		h.types = map[string]*Heard{}
	}
	h.last = now
	kind = slackapi.Word(kind, "_.")
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

// remember remembers a delivery, forgetting the oldest, and reports whether it
// is new. One without an id always is.
func (h *heard) remember(delivery string) bool {
	if delivery == "" {
		return true
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.recent == nil {
		h.recent = map[string]bool{}
	}
	if h.recent[delivery] {
		return false
	}
	if len(h.order) >= maxRecent {
		delete(h.recent, h.order[0])
		h.order = h.order[1:]
	}
	h.recent[delivery] = true
	h.order = append(h.order, delivery)
	return true
}

// forget makes a delivery new again: it was not taken.
func (h *heard) forget(delivery string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.recent, delivery)
	h.order = slices.DeleteFunc(h.order, func(id string) bool { return id == delivery })
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
