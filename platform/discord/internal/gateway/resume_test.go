package gateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"github.com/earshot-ai/earshot/platform/discord/discordapi"
	"github.com/earshot-ai/earshot/platform/discord/internal/gateway"
)

const resumedEvent = `{"op":0,"t":"RESUMED","s":3,"d":{}}`

// firstMissed takes the time before the first session.
func (w *world) firstMissed() {
	w.t.Helper()
	select {
	case <-w.missed:
	default:
		w.t.Fatal("the time before the first session is not missed")
	}
}

func TestWhatEndsAConnectionButNotTheSession(t *testing.T) {
	t.Parallel()
	cases := map[string]func(p *peer){
		"discord asks for a new connection": func(p *peer) { p.write(`{"op":7,"d":null}`) },
		"the network breaks":                func(p *peer) { _ = p.ws.NetConn().Close() },
		"a resumable invalid session":       func(p *peer) { p.write(`{"op":9,"d":true}`) },
	}
	for _, code := range []int{1000, 1001, 1011, 4000, 4001, 4002, 4003, 4005, 4008, 4123} {
		cases[fmt.Sprintf("code %d", code)] = func(p *peer) { p.closeWith(code) }
	}
	for name, end := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, nil, func(w *world) {
				p := w.identified("s1")
				w.firstMissed()
				p.event("2", "100")
				<-w.events
				end(p)
				for range p.in {
				}
				if p.code != 0 && p.code < 4000 && !strings.HasPrefix(name, "code") {
					t.Errorf("the shard closed with %d, which ends the session", p.code)
				}
				start := time.Now()
				p = w.resumed("s1", 2)
				least, most := time.Duration(0), 2*time.Second
				if strings.Contains(name, "invalid") {
					least, most = time.Second, 5*time.Second
				}
				if got := time.Since(start); got < least || got > most {
					t.Errorf("the session was resumed after %s", got)
				}
				p.event("3", "101")
				p.write(`{"op":0,"t":"RESUMED","s":4,"d":{}}`)
				p.event("5", "102")
				if got := (<-w.events).Delivery + " " + (<-w.events).Delivery; got != "s1:3 s1:5" {
					t.Errorf("events are %s", got)
				}
				if len(w.missed) > 0 {
					t.Error("events count as lost")
				}
			})
		})
	}
}

func TestWhatEndsTheSession(t *testing.T) {
	t.Parallel()
	cases := map[string]func(p *peer){
		"an invalid session":                 func(p *peer) { p.write(`{"op":9,"d":false}`) },
		"an invalid session that is no bool": func(p *peer) { p.write(`{"op":9,"d":{}}`) },
		"code 4007":                          func(p *peer) { p.closeWith(4007) },
		"code 4009":                          func(p *peer) { p.closeWith(4009) },
	}
	for name, end := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t, nil, func(w *world) {
				p := w.identified("s1")
				w.firstMissed()
				p.event("2", "100")
				<-w.events
				alive := time.Now()
				_ = p.ws.NetConn().Close()
				p = w.resumed("s1", 2)
				end(p)
				for range p.in {
				}
				ended := time.Now()
				p = w.next()
				if got := time.Since(ended); strings.Contains(name, "invalid") && (got < time.Second || got > 5*time.Second) {
					t.Errorf("the shard identified after %s", got)
				}
				if p.host != "gateway.test" {
					t.Errorf("a new session begins at %s", p.host)
				}
				p.hello()
				p.expect(2)
				if len(w.missed) > 0 {
					t.Error("the gap is told before it has ended")
				}
				p.ready("s2")
				if d := <-w.events; d.Delivery != "s2:1" {
					t.Errorf("got %+v", d)
				}
				if got, want := <-w.missed, [2]time.Time{alive.Add(-10 * time.Second), time.Now()}; !got[0].Equal(want[0]) || !got[1].Equal(want[1]) {
					t.Errorf("missed is %v, want %v", got, want)
				}
			})
		})
	}
}

func TestThreeFailedResumesBeginANewSession(t *testing.T) {
	t.Parallel()
	stored := time.Date(1999, 12, 31, 12, 0, 0, 0, time.UTC)
	play(t, func(o *gateway.Options) {
		o.Resume = gateway.State{Session: "s1", Sequence: 5, URL: "ws://resume.test", At: stored}
	}, func(w *world) {
		for range 2 {
			w.resumed("s1", 5).closeWith(4000)
		}
		// An event is a success, even where RESUMED does not come.
		p := w.resumed("s1", 5)
		p.event("6", "100")
		<-w.events
		p.closeWith(4000)
		for i := range 3 {
			p := w.resumed("s1", 6)
			if i == 1 {
				p.write(`{"op":9,"d":true}`)
			} else {
				p.closeWith(4000)
			}
		}
		w.identified("s2")
		if got := <-w.missed; !got[0].Equal(stored.Add(-10 * time.Second)) {
			t.Errorf("missed is %v", got)
		}
	})
}

func TestAServerThatCannotBeReachedDoesNotEndTheSession(t *testing.T) {
	t.Parallel()
	play(t, nil, func(w *world) {
		p := w.identified("s1")
		w.firstMissed()
		w.refuses(true)
		p.closeWith(4000)
		pass(10 * time.Minute)
		dialed := w.dialed
		w.refuses(false)
		w.resumed("s1", 1).write(resumedEvent)
		if n := len(dialed); n < 8 || n > 16 {
			t.Errorf("the server was dialed %d times in ten minutes", n)
		}
		for i, at := range dialed {
			want := "gateway.test:80"
			if i < 3 {
				want = "resume.test:80"
			}
			if at != want {
				t.Errorf("dial %d was of %s, want %s", i+1, at, want)
			}
		}
		synctest.Wait()
		if len(w.missed) > 0 {
			t.Error("events count as lost")
		}
	})
}

func TestWaitsGrowAndHaveJitter(t *testing.T) {
	t.Parallel()
	var at []time.Time
	play(t, func(o *gateway.Options) {
		o.URL = func(context.Context) (string, error) {
			at = append(at, time.Now())
			return "", errors.New("no answer")
		}
		o.Jitter = func(most time.Duration) time.Duration { return most }
	}, func(w *world) {
		pass(10 * time.Minute)
		for i, want := range []float64{1.5, 1.5, 3, 6, 12, 24, 48, 90, 90} {
			if got := at[i+1].Sub(at[i]).Seconds(); got != want {
				t.Errorf("wait %d is %g s, want %g s", i+1, got, want)
			}
		}
	})
}

func TestSessionsThatEndAtOnceAreNotBegunInALoop(t *testing.T) {
	t.Parallel()
	begun := 0
	play(t, func(o *gateway.Options) {
		o.Identify = func(context.Context) error {
			begun++
			return nil
		}
	}, func(w *world) {
		for end := time.Now().Add(time.Hour); time.Now().Before(end); {
			w.identified("s1").closeWith(4009)
		}
		if begun > 60 {
			t.Errorf("%d sessions were begun in an hour: a day allows 1,000", begun)
		}
	})
}

func TestASessionIsNotResumedOverAnUnencryptedConnection(t *testing.T) {
	t.Parallel()
	play(t, func(o *gateway.Options) {
		o.Resume = gateway.State{Session: "s1", Sequence: 5, URL: "ws://evil.test"}
		o.URL = func(context.Context) (string, error) { return "wss://gateway.test", nil }
		plain := o.Dialer.NetDialContext
		o.Dialer = &websocket.Dialer{
			NetDialContext: func(_ context.Context, _, at string) (net.Conn, error) {
				t.Errorf("%s was dialed without encryption", at)
				return nil, errors.New("not encrypted")
			},
			NetDialTLSContext: plain,
		}
	}, func(w *world) {
		if p := w.resumed("s1", 5); p.host != "gateway.test" {
			t.Errorf("the session is resumed at %s", p.host)
		}
	})
}

func TestTheFirstSessionMissesWhatWasBefore(t *testing.T) {
	t.Parallel()
	play(t, nil, func(w *world) {
		start := time.Now()
		p := w.next()
		pass(7 * time.Second)
		p.hello()
		p.expect(2)
		p.ready("s1")
		if got := <-w.missed; !got[0].Equal(start.Add(-10*time.Second)) || !got[1].Equal(start.Add(7*time.Second)) {
			t.Errorf("missed is %v", got)
		}
	})
}

func TestFatalCodesEndTheShardWithARemedy(t *testing.T) {
	t.Parallel()
	for code, remedy := range map[int]string{
		4004: "DISCORD_BOT_TOKEN", 4010: "discord.shard_ids", 4011: "leave out discord.shards", 4012: "newer Earshot", 4013: "newer Earshot", 4014: "docs/discord.md",
	} {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			play(t, func(o *gateway.Options) { o.Content = 0 }, func(w *world) {
				p := w.identified("s1")
				p.event("2", "100")
				p.closeWith(code)
				err := <-w.ended
				var refused *gateway.CloseError
				if !errors.As(err, &refused) || refused.Code != code || !strings.Contains(err.Error(), remedy) {
					t.Errorf("the shard ended with %v", err)
				}
				if d := <-w.events; d.Delivery != "s1:2" {
					t.Errorf("the last event is %+v", d)
				}
			})
		})
	}
}

func TestWithoutMessageContentTheShardGoesOn(t *testing.T) {
	t.Parallel()
	refused := 0
	play(t, func(o *gateway.Options) { o.Refused = func() { refused++ } }, func(w *world) {
		p := w.next()
		p.hello()
		p.expect(2)
		p.closeWith(4014)
		p = w.next()
		p.hello()
		var x struct{ Intents int64 }
		if err := json.Unmarshal(p.expect(2).Data, &x); err != nil || x.Intents != 1 || refused != 1 {
			t.Errorf("intents are %d, Refused was called %d times", x.Intents, refused)
		}
		p.closeWith(4014)
		var closed *gateway.CloseError
		if err := <-w.ended; !errors.As(err, &closed) || closed.Code != 4014 || refused != 1 {
			t.Errorf("the shard ended with %v", err)
		}
	})
}

func TestATokenThatTheAPIRefusesEndsTheShard(t *testing.T) {
	t.Parallel()
	n := 0
	play(t, func(o *gateway.Options) {
		o.URL = func(context.Context) (string, error) {
			if n++; n == 1 {
				return "", errors.New("for a moment")
			}
			return "", fmt.Errorf("gateway: %w", discordapi.ErrToken)
		}
	}, func(w *world) {
		if err := <-w.ended; !errors.Is(err, discordapi.ErrToken) {
			t.Errorf("the shard ended with %v", err)
		}
	})
}

// A token that has worked may work again, as when it was set back: the shard asks more
// and more rarely, within the 1,000 identifies of a day, and goes on.
func TestATokenThatIsNoLongerAcceptedIsTriedAgain(t *testing.T) {
	t.Parallel()
	told := 0
	play(t, func(o *gateway.Options) { o.SignedOut = func() { told++ } }, func(w *world) {
		p := w.identified("s1")
		w.firstMissed()
		start := time.Now()
		p.closeWith(4004)
		const tries = 20
		for range tries {
			p = w.next()
			p.hello()
			<-p.in
			p.closeWith(4004)
		}
		if took := time.Since(start); took < tries/2*4*time.Minute {
			t.Errorf("it asked %d times within %s", tries, took)
		}
		w.identified("s2").event("2", "101")
		<-w.events
		w.firstMissed() // and what was said in between
		if told != tries+1 {
			t.Errorf("it was told %d times, want %d", told, tries+1)
		}
	})
}

func TestAShardThatIsRefusedEndsAlthoughAnEventFails(t *testing.T) {
	t.Parallel()
	play(t, func(o *gateway.Options) {
		o.Handle = func(context.Context, gateway.Dispatch) error { return errors.New("the disk is full") }
	}, func(w *world) {
		p := w.next()
		p.hello()
		p.expect(2)
		p.ready("s1")
		p.closeWith(4004)
		var closed *gateway.CloseError
		if err := <-w.ended; !errors.As(err, &closed) {
			t.Errorf("the shard ended with %v", err)
		}
	})
}

func TestAcknowledgementsShowThatNothingWasMissed(t *testing.T) {
	t.Parallel()
	play(t, nil, func(w *world) {
		p := w.identified("s1")
		w.firstMissed()
		for range 5 {
			p.expect(1)
			p.ack()
		}
		last := time.Now()
		p.expect(1)
		_ = p.ws.NetConn().Close()
		w.resumed("s1", 1).write(`{"op":9,"d":false}`)
		w.identified("s2")
		if got := <-w.missed; !got[0].Equal(last.Add(-10 * time.Second)) {
			t.Errorf("missed is from %s, want from %s", got[0], last)
		}
	})
}

func TestAnEncryptedResumeURLThatCannotBeReachedIsGivenUp(t *testing.T) {
	t.Parallel()
	play(t, func(o *gateway.Options) {
		o.Resume = gateway.State{Session: "s1", Sequence: 5, URL: "wss://resume.test"}
		o.URL = func(context.Context) (string, error) { return "wss://gateway.test", nil }
		plain := o.Dialer.NetDialContext
		o.Dialer = &websocket.Dialer{NetDialTLSContext: func(ctx context.Context, network, at string) (net.Conn, error) {
			if strings.HasPrefix(at, "resume.test") {
				return nil, errors.New("unreachable")
			}
			return plain(ctx, network, at)
		}}
	}, func(w *world) {
		if p := w.resumed("s1", 5); p.host != "gateway.test" {
			t.Errorf("the session is resumed at %s", p.host)
		}
	})
}
