package inspect

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/platform/local"
)

// How a stream looks for news. Turns and messages come from the store, so that a
// page shows what every replica does; answers that are being written are known to
// the process that writes them.
const (
	eventsPause = 500 * time.Millisecond
	eventsBeat  = 15 * time.Second
	eventsWrite = 30 * time.Second // for one write
	maxStreams  = 200              // of all visitors
	ownStreams  = 40               // of one, so that others have some
)

// events is the stream that keeps pages up to date: server-sent events named turn,
// message and draft. With a channel in the query its messages are told, else those of
// none. Nothing of a message but its id is in an event; a draft has its text.
func (s *server) events(w http.ResponseWriter, v *visit) {
	var at *earshot.Channel
	if v.query("channel") != "" {
		c, err := s.Reader.To(v.caller).Find(v.Context(), v.place())
		if err != nil {
			s.writeError(w, v, err, asJSON)
			return
		}
		at = &c
	}
	if !s.streams.take(v.caller.ID) {
		http.Error(w, "too many pages are open", http.StatusTooManyRequests)
		return
	}
	defer s.streams.give(v.caller.ID)
	n := &changeFinder{server: s, visit: v, channel: at}
	if err := n.begin(); err != nil {
		s.writeError(w, v, err, asJSON)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // proxies would hold the events back
	stop := n.watch()
	defer stop()
	n.stream(w)
}

// changeFinder finds what has changed since it looked.
type changeFinder struct {
	*server
	visit   *visit
	channel *earshot.Channel
	told    map[earshot.TurnID]earshot.TurnState
	seq     int64

	mu     sync.Mutex // guards drafts
	drafts []draftEvent
	wake   chan struct{}
}

// A draftEvent is an answer that is being written.
type draftEvent struct {
	Channel earshot.ChannelID `json:"channel"`
	Anchor  earshot.MessageID `json:"anchor"`
	Thread  earshot.MessageID `json:"thread"`
	Text    string            `json:"text"`
	Done    bool              `json:"done"`
}

// begin notes how things are, so that only changes are told.
func (n *changeFinder) begin() error {
	n.told, n.wake = map[earshot.TurnID]earshot.TurnState{}, make(chan struct{}, 1)
	list, err := n.latest()
	for _, t := range list {
		n.told[t.ID] = t.State
	}
	if err == nil && n.channel != nil {
		n.seq, err = n.Reader.Sequence(n.visit.Context(), n.visit.caller, *n.channel, 0)
	}
	return err
}

// latest returns the newest turns that the visitor sees.
func (n *changeFinder) latest() ([]earshot.QueuedTurn, error) {
	return n.Reader.NewestTurns(n.visit.Context(), n.visit.caller, 50)
}

// watch collects drafts of the channel; stop ends it.
func (n *changeFinder) watch() (stop func()) {
	if n.Chat == nil || n.channel == nil {
		return func() {}
	}
	return n.Chat.Watch(func(u local.Update) {
		if u.Channel.Scope() != n.channel.Scope() {
			return
		}
		if d := u.Draft; d != nil {
			e := draftEvent{u.Channel.ID, d.Anchor, d.Thread, d.Text, d.Done}
			n.mu.Lock()
			if last := len(n.drafts) - 1; last >= 0 && n.drafts[last].Anchor == e.Anchor {
				n.drafts[last] = e
			} else {
				n.drafts = append(n.drafts, e)
			}
			n.mu.Unlock()
		}
		select {
		case n.wake <- struct{}{}:
		default: // it will look anyway
		}
	})
}

// stream writes events until the visitor leaves, or is not let in any more.
func (n *changeFinder) stream(w http.ResponseWriter) {
	out := http.NewResponseController(w)
	tick := time.NewTicker(eventsPause)
	defer tick.Stop()
	beat := time.Now()
	said := ": hello\n\n"
	for {
		if said != "" {
			// A reader who has gone silent does not keep a stream.
			_ = out.SetWriteDeadline(time.Now().Add(eventsWrite)) // not every writer has one
			if _, err := w.Write([]byte(said)); err != nil || out.Flush() != nil {
				return
			}
		}
		select {
		case <-n.visit.Context().Done():
			return
		case <-n.wake:
		case <-tick.C:
		}
		var err error
		if said, err = n.look(); err != nil {
			if n.visit.Context().Err() == nil {
				n.log.Error("look for news", "err", err)
			}
			return // the page opens the stream again
		}
		if time.Since(beat) >= eventsBeat {
			if _, err := n.caller(n.visit.Request); err != nil {
				return
			}
			said += ": nothing new\n\n"
			beat = time.Now()
		}
	}
}

// look returns what is new as events.
func (n *changeFinder) look() (string, error) {
	var b bytes.Buffer
	tell := func(kind string, v any) error {
		data, err := json.Marshal(v)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, data)
		return err
	}
	n.mu.Lock()
	drafts := n.drafts
	n.drafts = nil
	n.mu.Unlock()
	var problem error
	for _, d := range drafts {
		problem = cmp.Or(problem, tell("draft", d))
	}
	list, err := n.latest()
	if err != nil {
		return "", err
	}
	seen := map[earshot.TurnID]earshot.TurnState{}
	for _, t := range list {
		seen[t.ID] = t.State
		if n.told[t.ID] != t.State {
			problem = cmp.Or(problem, tell("turn", map[string]any{"id": t.ID, "state": t.State, "channel": t.Conversation.Scope.Channel}))
		}
	}
	n.told = seen
	if n.channel != nil {
		seq, err := n.Reader.Sequence(n.visit.Context(), n.visit.caller, *n.channel, n.seq)
		if err != nil {
			return "", err
		}
		if seq != n.seq {
			n.seq = seq
			problem = cmp.Or(problem, tell("message", map[string]any{"channel": n.channel.ID, "seq": seq}))
		}
	}
	return b.String(), problem
}

// streamCounter counts the open streams. The zero value is ready to use.
type streamCounter struct {
	mu   sync.Mutex // guards what follows
	open int
	of   map[string]int // by the visitor's id
}

func (x *streamCounter) take(of string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.open >= maxStreams || x.of[of] >= ownStreams {
		return false
	}
	if x.of == nil {
		x.of = map[string]int{}
	}
	x.open++
	x.of[of]++
	return true
}

func (x *streamCounter) give(of string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.open--
	if x.of[of]--; x.of[of] == 0 {
		delete(x.of, of)
	}
}
