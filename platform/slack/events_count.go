package slack

import (
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

// count counts an event.
func (p *Platform) count(kind string, used bool) {
	p.counts.Count(slackapi.Word(kind, "_."), used, p.o.Now())
}

// EventCounts returns how often each type of event came since Open, sorted by type,
// and when the last event came.
func (p *Platform) EventCounts() (list []EventCount, last time.Time) {
	events, last := p.counts.List()
	for _, x := range events {
		list = append(list, EventCount(x))
	}
	return list, last
}
