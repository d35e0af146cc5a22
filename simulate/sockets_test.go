package simulate_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"
	"github.com/slack-go/slack/slackevents"
	"github.com/slack-go/slack/socketmode"

	"github.com/earshot-ai/earshot/simulate"
)

// dial opens a socket by hand and waits for its hello.
func (w *team) dial(t *testing.T) *websocket.Conn {
	t.Helper()
	_, link, err := w.api.StartSocketModeContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, res, err := websocket.DefaultDialer.DialContext(t.Context(), link, nil)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	t.Cleanup(func() { conn.Close() })
	if f := next(t, conn); f.Type != "hello" && f.Type != "disconnect" {
		t.Fatalf("the first frame is %+v, want hello", f)
	}
	return conn
}

type frame struct {
	Type, Reason string
	ID           string `json:"envelope_id"`
	Attempt      int    `json:"retry_attempt"`
	Payload      struct {
		EventID string `json:"event_id"`
		Event   struct{ Text string }
	}
}

// many are n waits before an event is sent again.
func many(n int, wait time.Duration) []time.Duration {
	return slices.Repeat([]time.Duration{wait}, n)
}

func next(t *testing.T, conn *websocket.Conn) frame {
	t.Helper()
	var f frame
	if err := conn.ReadJSON(&f); err != nil {
		t.Fatalf("read a frame: %v", err)
	}
	return f
}

func ack(t *testing.T, conn *websocket.Conn, id, padding string) {
	t.Helper()
	if err := conn.WriteJSON(map[string]any{"envelope_id": id, "payload": map[string]string{"text": padding}}); err != nil {
		t.Fatal(err)
	}
}

func TestASocketModeClientThatIsNotOursHearsEverything(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{SocketMode: true, PingEvery: 50 * time.Millisecond})
	c := socketmode.New(w.api)
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	var running sync.WaitGroup
	running.Go(func() {
		if err := c.RunContext(ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the client ended: %v", err)
		}
	})
	defer running.Wait()
	defer stop()
	var got []string
	for len(got) < 3 {
		var e socketmode.Event
		select {
		case e = <-c.Events:
		case <-ctx.Done():
			t.Fatalf("heard %v only", got)
		}
		switch e.Type {
		case socketmode.EventTypeHello:
			w.Say(w.general, w.mara, w.mention("one"))
			w.Say(w.general, w.sam, "two")
		case socketmode.EventTypeEventsAPI:
			if err := c.Ack(*e.Request); err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Data.(slackevents.EventsAPIEvent).InnerEvent.Type)
		}
	}
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(got)), []string{"app_mention", "message", "message"}); diff != "" {
		t.Errorf("events (-got +want):\n%s", diff)
	}
}

func TestATicketWorksOnce(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{SocketMode: true})
	_, link, err := w.api.StartSocketModeContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, res, err := websocket.DefaultDialer.DialContext(t.Context(), link, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	res.Body.Close()
	_, res, err = websocket.DefaultDialer.DialContext(t.Context(), link, nil)
	if err == nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("the ticket worked twice: %v", err)
	}
	res.Body.Close()
}

func TestNothingIsKeptWhileNoSocketIsOpen(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{SocketMode: true})
	w.Say(w.general, w.mara, "unheard")
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn := w.dial(t)
	w.Say(w.general, w.mara, "heard")
	f := next(t, conn)
	if f.Payload.Event.Text != "heard" {
		t.Errorf("the first event is %q", f.Payload.Event.Text)
	}
	ack(t, conn, f.ID, "")
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	if lost := w.Undelivered(); len(lost) != 1 || lost[0].Last != "no connection" {
		t.Errorf("undelivered are %+v, want one for want of a connection", lost)
	}
}

func TestWhatIsNotAcknowledgedComesAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		padding string
	}{
		{"after silence", ""},
		{"after an answer of 20 KB, which is dropped", strings.Repeat("x", 20_000)},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := small(t, simulate.SlackOptions{SocketMode: true, AckWithin: 100 * time.Millisecond, Retries: many(50, 0)})
			conn := w.dial(t)
			w.Say(w.general, w.mara, "hello")
			first := next(t, conn)
			if c.padding != "" {
				ack(t, conn, first.ID, c.padding)
			}
			second := next(t, conn)
			if second.Attempt == 0 || second.Payload.EventID != first.Payload.EventID {
				t.Errorf("the second is %+v, want the first again", second)
			}
			ack(t, conn, second.ID, "")
			// Should that be too late, a further try is acknowledged too.
			var acking sync.WaitGroup
			acking.Go(func() {
				for {
					var f frame
					if conn.ReadJSON(&f) != nil || conn.WriteJSON(map[string]string{"envelope_id": f.ID}) != nil {
						return
					}
				}
			})
			if err := w.Settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			conn.Close()
			acking.Wait()
			if lost := w.Undelivered(); len(lost) != 0 {
				t.Errorf("undelivered are %+v", lost)
			}
		})
	}
}

func TestARefreshedSocketLetsItsSuccessorTakeOver(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{SocketMode: true, DrainFor: time.Hour})
	old := w.dial(t)
	w.Disconnect("refresh_requested")
	if f := next(t, old); f.Type != "disconnect" || f.Reason != "refresh_requested" {
		t.Fatalf("got %+v, want a disconnect", f)
	}
	w.Say(w.general, w.mara, "while alone")
	f := next(t, old) // still the only one
	ack(t, old, f.ID, "")
	fresh := w.dial(t)
	w.Say(w.general, w.mara, "to the new one")
	f = next(t, fresh)
	ack(t, fresh, f.ID, "")
	if f.Payload.Event.Text != "to the new one" {
		t.Errorf("got %q", f.Payload.Event.Text)
	}
	if err := w.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.Cut()
	var e *websocket.CloseError
	if _, _, err := fresh.ReadMessage(); err == nil || errors.As(err, &e) && e.Code == websocket.CloseNormalClosure {
		t.Errorf("a cut socket says %v, want no orderly end", err)
	}
}

func TestASocketBreaksWhileAnEventIsUnderWay(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{SocketMode: true, AckWithin: time.Minute, Retries: many(100, 20*time.Millisecond)})
	broken := w.dial(t)
	w.Inject(simulate.Fault{Kind: simulate.CutSocket, Times: 1})
	w.Say(w.general, w.mara, "hello")
	if err := w.Until(t.Context(), func() bool { return w.Connections() == 0 }); err != nil {
		t.Fatal(err)
	}
	for {
		if _, _, err := broken.ReadMessage(); err != nil {
			break // it may have had the event before
		}
	}
	f := next(t, w.dial(t))
	if f.Payload.Event.Text != "hello" || f.Attempt == 0 {
		t.Errorf("got %+v, want the event again", f)
	}
}

func TestTheEleventhSocketIsRefused(t *testing.T) {
	t.Parallel()
	w := small(t, simulate.SlackOptions{SocketMode: true})
	for range 10 {
		w.dial(t)
	}
	if n := w.Connections(); n != 10 {
		t.Fatalf("%d connections are open, want 10", n)
	}
	_, link, err := w.api.StartSocketModeContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	conn, res, err := websocket.DefaultDialer.DialContext(t.Context(), link, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	res.Body.Close()
	_, body, err := conn.ReadMessage()
	var f frame
	if err != nil || json.Unmarshal(body, &f) != nil || f.Reason != "too_many_websockets" {
		t.Errorf("got %s, %v; want too_many_websockets", body, err)
	}
}
