package api

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// How a stream of turns looks for news. Everything comes from the store, so that a
// stream shows the turns of every replica.
const (
	streamPause = 500 * time.Millisecond
	streamBeat  = 15 * time.Second // how often an idle stream says that it lives
	maxStreams  = 8                // of one caller at the same time
	maxWaits    = 100              // heartbeats of one caller that wait at the same time
)

// streamPath is where turns are streamed.
const streamPath = "/v1/turns/events"

// addTurnEvents adds the stream of turns.
func (s *server) addTurnEvents(a huma.API) {
	op := huma.Operation{
		OperationID: "stream-turns", Method: http.MethodGet, Path: streamPath, Summary: "Turns as they change, as server-sent events",
		Description: "One event named turn for each change of state, with the turn as GET /v1/turns lists it. Of the turns that this key has opened and not ended: an event named cancelled where the question was deleted, and one named changed where it was edited, with the turn as GET /v1/turns/open lists it; these have no id. A comment comes every 15 seconds where nothing happens. With Last-Event-ID the stream goes on after that event; without, it begins now. At most 8 streams for each caller.",
		Responses:   map[string]*huma.Response{"200": {Description: "a stream", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}}},
	}
	addRoute(s, a, op, s.streamTurns)
}

type streamInput struct {
	Channel   string `query:"channel" maxLength:"512" doc:"turns of one channel"`
	Workspace string `query:"workspace" maxLength:"512" doc:"where several have a channel with this id"`
	Platform  string `query:"platform" maxLength:"64" doc:"where several have a channel with this id"`
	Last      int64  `header:"Last-Event-ID" minimum:"0" doc:"the id of the last event that was read"`
}

func (s *server) streamTurns(ctx context.Context, p access.Principal, in *streamInput) (*huma.StreamResponse, error) {
	q := explain.TurnQuery{Channel: Place{in.Channel, in.Workspace, in.Platform}.service(), Limit: explain.MaxTurns}
	from := &follower{reader: s.Reader, caller: p, bearer: requestOf(ctx).bearer, query: q, since: earshot.Time(in.Last)}
	if err := from.begin(ctx); err != nil {
		return nil, err
	}
	if !s.streams.take(p.ID, maxStreams) {
		return nil, newProblem(requestOf(ctx).path, http.StatusTooManyRequests, "too_many_streams", "this key has 8 streams already; close one")
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer s.streams.give(p.ID)
		hc.SetHeader("Content-Type", "text/event-stream")
		hc.SetHeader("X-Accel-Buffering", "no") // proxies would hold the events back
		if err := s.stream(hc.Context(), hc.BodyWriter(), from); err != nil {
			s.logError(hc.Context(), err)
		}
	}}, nil
}

// stream writes events until ctx ends, because the caller has left or the process
// stops, or the caller is not let in any more.
func (s *server) stream(ctx context.Context, w io.Writer, from *follower) error {
	flush := func() {
		if rw, ok := w.(http.ResponseWriter); ok {
			// An error means that the writer keeps nothing back.
			_ = http.NewResponseController(rw).Flush()
		}
	}
	flush()
	tick := time.NewTicker(streamPause)
	defer tick.Stop()
	beat := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		turns, err := from.news(ctx)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := s.writeHeld(ctx, &b, from); err != nil {
			return err
		}
		for _, t := range turns {
			fmt.Fprintf(&b, "event: turn\nid: %d\ndata: ", int64(t.Updated))
			if err := marshal(&b, turnOf(t)); err != nil {
				return err
			}
			b.WriteByte('\n')
		}
		if time.Since(beat) >= streamBeat {
			b.WriteString(": nothing new\n\n")
			if again, err := s.Gate.Authenticate(ctx, from.bearer); err != nil || again.ID != from.caller.ID {
				return nil //nolint:nilerr // the key is not valid any more, or cannot be checked: the caller comes back
			}
			beat = time.Now()
		}
		if b.Len() == 0 {
			continue
		}
		if _, err := w.Write(b.Bytes()); err != nil {
			return nil //nolint:nilerr // the caller has gone
		}
		flush()
	}
}

// writeHeld writes what has become of the questions of the turns that a caller holds.
func (s *server) writeHeld(ctx context.Context, b *bytes.Buffer, from *follower) error {
	list, err := s.Service.Opened(ctx, from.caller, false)
	if err != nil {
		return err
	}
	held := map[earshot.TurnID]string{}
	for _, h := range list {
		held[h.ID] = h.State
		at := heldTurnOf(h)
		if h.State == string(earshot.DraftOpen) || from.held[h.ID] == h.State || from.query.Channel.Channel != "" && string(from.query.Channel.Channel) != at.Channel {
			continue
		}
		fmt.Fprintf(b, "event: %s\ndata: ", h.State)
		if err := marshal(b, at); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	from.held = held
	return nil
}

// A follower finds the turns that have changed since it looked.
type follower struct {
	reader *explain.Reader
	caller access.Principal
	bearer string
	query  explain.TurnQuery
	since  earshot.Time                         // everything up to here was told
	told   map[earshot.TurnID]earshot.TurnState // how the newest turns, and those under way, were told
	held   map[earshot.TurnID]string            // how the caller's open turns were
}

// begin notes how the turns are, so that only changes are told.
func (f *follower) begin(ctx context.Context) error {
	page, _, err := f.reader.Turns(ctx, f.caller, f.query)
	if err != nil {
		return err
	}
	f.told = map[earshot.TurnID]earshot.TurnState{}
	for _, t := range page {
		if f.since == 0 || t.Updated <= f.since {
			f.told[t.ID] = t.State
		}
	}
	return nil
}

// news returns the turns whose state has changed, in the order of the changes.
func (f *follower) news(ctx context.Context) ([]earshot.QueuedTurn, error) {
	page, _, err := f.reader.Turns(ctx, f.caller, f.query)
	if err != nil {
		return nil, err
	}
	seen := map[earshot.TurnID]bool{}
	var news []earshot.QueuedTurn
	look := func(t earshot.QueuedTurn) {
		seen[t.ID] = true
		if f.told[t.ID] != t.State {
			news = append(news, t)
			f.told[t.ID] = t.State
		}
	}
	for _, t := range page {
		look(t)
	}
	for id, state := range maps.Clone(f.told) {
		switch {
		case seen[id]:
		case state.Final():
			delete(f.told, id) // older than a page, and ended
		default:
			w, err := f.reader.Record(ctx, f.caller, id, false)
			if err != nil {
				delete(f.told, id)
				continue
			}
			look(w.Queued)
		}
	}
	slices.SortStableFunc(news, func(a, b earshot.QueuedTurn) int { return cmp.Compare(a.Updated, b.Updated) })
	return news, nil
}

// streamCounter counts what each caller has open. The zero value is ready to use.
type streamCounter struct {
	mu   sync.Mutex
	open map[string]int
}

// take begins one, and reports false where the caller has the most that it may.
func (l *streamCounter) take(caller string, most int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[caller] >= most {
		return false
	}
	if l.open == nil {
		l.open = map[string]int{}
	}
	l.open[caller]++
	return true
}

// give ends one.
func (l *streamCounter) give(caller string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[caller]--; l.open[caller] == 0 {
		delete(l.open, caller)
	}
}
