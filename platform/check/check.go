// Package check says what the check of a platform finds: [Finding], told by a [Report].
// A check posts [Text] and waits for it to come back as an event, by [HeardMessages].
//
// Unstable: what this package exports may change with any version.
package check

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// A State says what a finding means.
type State string

// The states of a finding. Bad: the bot does not work. Poor: it works less well.
// Unknown: it was not tested, or the platform did not say.
const (
	Good    State = "good"
	Poor    State = "poor"
	Bad     State = "bad"
	Unknown State = "unknown"
)

// A Finding is what a check found of one thing.
type Finding struct {
	What   string `json:"what"`
	State  State  `json:"state"`
	Found  string `json:"found"`
	Costs  string `json:"costs,omitempty"`  // what does not work like this
	Remedy string `json:"remedy,omitempty"` // what to do about it
}

// Text is what a check posts.
const Text = "Earshot checks that it can post here. This message removes itself."

// A Report is called with each finding, one after the other.
type Report func(Finding)

// Say tells a finding.
func (tell Report) Say(what string, state State, found, costs, remedy string) {
	tell(Finding{What: what, State: state, Found: found, Costs: costs, Remedy: remedy})
}

// Good tells that a thing is as it should be.
func (tell Report) Good(what, found string) { tell.Say(what, Good, found, "", "") }

// maxHeard is how many messages a check remembers.
const maxHeard = 10_000

// HeardMessages are the messages that came as events while a check runs. It is safe for
// concurrent use.
type HeardMessages struct {
	news chan struct{} // has a value after each message

	mu  sync.Mutex // guards ids
	ids map[string]bool
}

// NewHeardMessages returns one without messages.
func NewHeardMessages() *HeardMessages {
	return &HeardMessages{news: make(chan struct{}, 1), ids: map[string]bool{}}
}

// Note notes a message by its id.
func (h *HeardMessages) Note(id string) {
	h.mu.Lock()
	if len(h.ids) < maxHeard {
		h.ids[id] = true
	}
	h.mu.Unlock()
	select {
	case h.news <- struct{}{}:
	default:
	}
}

func (h *HeardMessages) has(id string) (ok bool, others int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.ids[id], len(h.ids)
}

// Await waits for a message and tells that it came, or else what its absence costs and
// what to do about it.
func (h *HeardMessages) Await(ctx context.Context, id string, patience time.Duration, tell Report, absent Finding) {
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		heard, others := h.has(id)
		if heard {
			tell.Good(absent.What, "the message came back as an event")
			return
		}
		select {
		case <-h.news:
		case <-ctx.Done():
			return
		case <-late.C:
			absent.State, absent.Found = Bad, fmt.Sprintf("no event came within %s", patience)
			if others > 0 {
				absent.Found += fmt.Sprintf(", though %d others did", others)
			}
			tell(absent)
			return
		}
	}
}
