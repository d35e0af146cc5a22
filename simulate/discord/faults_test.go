package discord_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/simulate/discord"
)

func TestACallFailsInEachWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault        string
		status, code int // 0: there is no readable answer
		done         bool
	}{
		{"rate_limit@create_message,times=1", 429, 0, false},
		{"server_error@create_message,times=1,status=502", 502, 0, false},
		{"unauthorized@create_*,times=1", 401, 0, false},
		{"forbidden,times=1", 403, 50013, false},
		{"lost_request@create_message,times=1", 0, 0, false},
		{"lost_response@create_message,times=1", 0, 0, true},
		{"failed_late@create_message,times=1", 500, 0, true},
		{"bad_json@create_message,times=1", 200, 0, true},
		{"late_response@create_message,times=1,wait=1ms", 200, 0, true},
		{"lost_response@delete_message,times=1", 200, 0, true}, // of another call
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			w := start(t, nil)
			f, err := discord.ParseFault(c.fault)
			if err != nil {
				t.Fatal(err)
			}
			w.Inject(f)
			body := object{"content": "hello", "nonce": "n1", "enforce_nonce": true}
			_, err = w.try("POST", path("channels", w.general, "messages"), body)
			if w.lastStatus != c.status || w.lastCode != c.code {
				t.Errorf("status %d, code %d, %v; want %d, %d", w.lastStatus, w.lastCode, err, c.status, c.code)
			}
			if got := len(w.Posts()) == 1; got != c.done {
				t.Errorf("done: %t, want %t", got, c.done)
			}
			w.post(w.general, body)
			if n := len(w.Posts()); n != 1 {
				t.Errorf("after trying again there are %d posts, want one", n)
			}
			if calls := w.Calls("create_message"); len(calls) != 2 || (calls[0].Fault == "") != strings.Contains(c.fault, "delete") {
				t.Errorf("the calls are %+v", calls)
			}
		})
	}
}

func TestAnEventGoesWrongInEachWay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault string
		want  []string // the contents that arrive, with an identify and without another connection
	}{
		{"drop_event@MESSAGE_CREATE,times=1", []string{"two", "three"}},
		{"repeat_event@MESSAGE_CREATE,times=1", []string{"one", "one", "two", "three"}},
		{"reconnect@MESSAGE_CREATE,times=1", []string{"one", "op 7", "two", "three"}},
		{"drop_event@MESSAGE_CREATE,skip=1,times=1", []string{"one", "three"}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			w := start(t, nil)
			g := w.connect(allOf)
			f, err := discord.ParseFault(c.fault)
			if err != nil {
				t.Fatal(err)
			}
			w.Inject(f)
			for _, text := range []string{"one", "two", "three"} {
				w.Say(w.general, w.mara, text)
			}
			for _, want := range c.want {
				p := g.read()
				got := "op 7"
				if p.Op != 7 {
					got, _ = p.data(t)["content"].(string)
				}
				if got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
}

func TestALateEventComesAfterOthers(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(allOf)
	w.Inject(discord.Fault{Kind: discord.LateEvent, On: "MESSAGE_CREATE", Times: 1, Wait: 50 * time.Millisecond})
	w.Say(w.general, w.mara, "one")
	w.Say(w.general, w.mara, "two")
	for _, want := range []string{"two", "one"} {
		if m := g.want("MESSAGE_CREATE"); m["content"] != want {
			t.Errorf("got %q, want %q", m["content"], want)
		}
	}
}

func TestAZombieIsSilentAndCanBeResumed(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(allOf)
	seq := g.seq
	g.send(object{"op": 1, "d": seq})
	if p := g.read(); p.Op != 11 {
		t.Errorf("a heartbeat is answered with op %d, want 11", p.Op)
	}
	w.Inject(discord.Fault{Kind: discord.Zombie, Times: 1})
	g.send(object{"op": 1, "d": seq})
	if err := w.Until(t.Context(), func() bool {
		w.Say(w.general, w.mara, "into the void")
		events := w.Events("MESSAGE_CREATE")
		return len(events) > 2
	}); err != nil {
		t.Fatal(err)
	}
	again := dial(t, g.at)
	again.resume(w.token, g.id, seq)
	if m := again.want("MESSAGE_CREATE"); m["content"] != "into the void" {
		t.Errorf("the resume brings %v", m)
	}
}

func TestAnIdentifyOrAResumeFails(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(allOf)
	w.Cut()
	g.closed()
	w.Inject(
		discord.Fault{Kind: discord.InvalidSession, On: "RESUME", Error: "resumable", Times: 1},
		discord.Fault{Kind: discord.CloseSocket, On: "RESUME", Status: 4000, Times: 1},
		discord.Fault{Kind: discord.ForgetSessions, On: "RESUME", Skip: 1, Times: 1},
	)
	again := dial(t, g.at)
	again.resume(w.token, g.id, g.seq)
	if p := again.read(); p.Op != 9 || string(p.D) != "true" {
		t.Errorf("first: op %d %s, want 9 true", p.Op, p.D)
	}
	again = dial(t, g.at)
	again.resume(w.token, g.id, g.seq)
	if code := again.closed(); code != 4000 {
		t.Errorf("then: closed with %d, want 4000", code)
	}
	again = dial(t, g.at)
	again.resume(w.token, g.id, g.seq)
	again.want("RESUMED")
	w.Cut()
	again.closed()
	again = dial(t, g.at)
	again.resume(w.token, g.id, again.seq)
	if p := again.read(); p.Op != 9 || string(p.D) != "false" {
		t.Errorf("at last: op %d %s, want 9 false", p.Op, p.D)
	}
}

func TestABotThatClosesInOrderGivesItsSessionUp(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	g := w.connect(allOf)
	if err := g.conn.WriteControl(8, []byte{0x03, 0xe8}, time.Now().Add(time.Second)); err != nil { // close, 1000
		t.Fatal(err)
	}
	if err := w.Until(t.Context(), func() bool { return w.Connections() == 0 }); err != nil {
		t.Fatal(err)
	}
	if n := w.Sessions(); n != 0 {
		t.Errorf("%d sessions are left", n)
	}
}

func TestWhoSendsNoHeartbeatIsGone(t *testing.T) {
	t.Parallel()
	w := start(t, &discord.Options{Unlimited: true, IdentifyEvery: -1, Heartbeat: 20 * time.Millisecond})
	g := w.connect(1)
	if code := g.closed(); code != 4009 {
		t.Errorf("closed with %d, want 4009", code)
	}
}

func TestSettleWaitsUntilTheBotHasReceivedAll(t *testing.T) {
	t.Parallel()
	w := start(t, nil)
	if err := w.Settle(t.Context()); err != nil {
		t.Errorf("without a bot: %v", err)
	}
	g := w.connect(allOf)
	w.Say(w.general, w.mara, "hello")
	early, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("too early"))
	if err := w.Settle(early); err == nil {
		t.Error("it is settled although the bot has read nothing")
	}
	done := make(chan error, 1)
	go func() { done <- w.Settle(t.Context()) }()
	g.want("MESSAGE_CREATE")
	for {
		if p := g.read(); p.Op == 1 || p.Op == 11 {
			break
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestAFaultThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"storm", "swap_event", "api_error", "rate_limit,often=1", "rate_limit,chance=2", "rate_limit@[", "lost_response@no_such_operation", ""} {
		if f, err := discord.ParseFault(text); err == nil {
			t.Errorf("%q is the fault %+v", text, f)
		}
	}
}

func TestAFaultMayNameManyOperations(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"lost_response@create_message", "lost_response@*_message", "drop_event@MESSAGE_CREATE", "lost_response"} {
		if _, err := discord.ParseFault(text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
