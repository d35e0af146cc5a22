package slack

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/earshot-ai/earshot/platform/slack/slackapi"
)

// An EventCount is how often events of one type came, for the operator.
type EventCount struct {
	Type  string // and after a dot its subtype
	Count int
	// Used says that such events have an effect. Others are acknowledged only.
	Used bool
}

// maxTypes is how many types are counted apart, and maxRecent how many deliveries
// are remembered.
const (
	maxTypes  = 200
	maxRecent = 4096
)

// eventCounts counts what came in, and remembers deliveries whose events would have
// an effect each time they come. The zero value is ready to use.
type eventCounts struct {
	mu     sync.Mutex // guards what follows
	types  map[string]*EventCount
	recent map[string]bool
	order  []string // of recent, oldest first
	last   time.Time
}

// count counts an event.
func (h *eventCounts) count(kind string, used bool, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.types == nil {
		h.types = map[string]*EventCount{}
	}
	h.last = now
	kind = slackapi.Word(kind, "_.")
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

// remember adds a delivery, dropping the oldest of too many, and reports whether it
// is new. One without an id always is.
func (h *eventCounts) remember(delivery string) bool {
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

// forget removes a delivery that failed, so that it is new when it comes again.
func (h *eventCounts) forget(delivery string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.recent, delivery)
	h.order = slices.DeleteFunc(h.order, func(id string) bool { return id == delivery })
}

// EventCounts returns how often each type of event came since Open, sorted by type,
// and when the last event came.
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
