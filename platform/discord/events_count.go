package discord

import (
	"strings"
	"time"
)

// An EventCount is how often events of one type came, for the operator.
type EventCount struct {
	Type  string // such as MESSAGE_CREATE
	Count int
	// Used says that such events have an effect.
	Used bool
}

// count counts an event.
func (p *Platform) count(kind string, used bool) {
	if !used {
		kind = word(kind)
	}
	p.counts.Count(kind, used, p.o.Now())
}

// word returns a type of Discord's as it may be shown: it comes from outside.
func word(s string) string {
	if s == "" || len(s) > 64 || strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") != "" {
		return "other"
	}
	return s
}

// maxFailing is of how many deliveries it is remembered how often they failed.
const maxFailing = 1000

// failed counts a failure of an event that is being handled, and returns how many there
// were.
func (p *Platform) failed(delivery string) int {
	n, _ := p.failures.Get(delivery)
	p.failures.Put(delivery, n+1)
	return n + 1
}

// EventCounts returns how often each type of event came, sorted by type, and when the
// last event came.
func (p *Platform) EventCounts() (list []EventCount, last time.Time) {
	events, last := p.counts.List()
	for _, x := range events {
		list = append(list, EventCount(x))
	}
	return list, last
}
