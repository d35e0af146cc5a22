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

// maxTypes is how many types are counted apart.
const maxTypes = 200

// eventCounts counts what came in. The zero value is ready to use.
type eventCounts struct {
	mu    sync.Mutex // guards what follows
	types map[string]*EventCount
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
