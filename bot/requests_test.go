package bot_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// A sender is a model that notes what it was sent, as an adapter does.
type sender struct {
	llm.Model
	mu   sync.Mutex // guards sent
	sent []string   // the bodies of requests that were answered
}

func bodyOf(_ string, s llm.SentBody, r llm.Request) ([]byte, error) {
	body, err := json.Marshal(r)
	return append([]byte(s.Model+" "), body...), err
}

func (m *sender) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	a, err := m.Model.Generate(ctx, r, stream)
	if err != nil {
		return a, err
	}
	a.Sent = &llm.SentBody{Model: "m", Path: "/x", MaxTokens: r.MaxTokens, Tools: len(r.Tools), NoCalls: r.NoCalls}
	body, err := bodyOf("", *a.Sent, r)
	if err != nil {
		return a, err
	}
	sum := sha256.Sum256(body)
	a.Sent.Bytes, a.Sent.SHA256 = len(body), hex.EncodeToString(sum[:])
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sent = append(m.sent, string(body))
	return a, nil
}

// shown returns the requests of all turns, the oldest first.
func (w *world) shown() (list []bot.SentRequest) {
	w.t.Helper()
	turns, err := w.store.QueuedTurns(w.t.Context(), earshot.TurnQuery{Limit: 20})
	if err != nil {
		w.t.Fatal(err)
	}
	for i := len(turns) - 1; i >= 0; i-- {
		q, err := w.store.QueuedTurn(w.t.Context(), turns[i].ID)
		if err != nil {
			w.t.Fatal(err)
		}
		for r, err := range bot.Requests(w.t.Context(), w.options.Store, q, bodyOf) {
			if err != nil {
				w.t.Fatal(err)
			}
			list = append(list, r)
		}
	}
	return list
}

// TestRequestsAreMadeAgainToTheByte has turns in which everything happens that
// changes a request, and wants each request back from the store.
func TestRequestsAreMadeAgainToTheByte(t *testing.T) {
	t.Parallel()
	for name, script := range map[string][]llmtest.Step{
		"tools until none may be called": {llmtest.Call("channel_context", `{"intent":"plan <b>"}`), llmtest.Call("channel_context", `{}`), llmtest.Call("no_such", `{`), llmtest.Say("Enough.")},
		"a file that a tool opens":       {llmtest.Call("channel_messages", fetchFX), llmtest.Call("channel_messages", fetchFX), llmtest.Say("Seen.")},
		"files that are refused":         {llmtest.Fail(&llm.Error{Status: 400, Message: "no pictures"}), llmtest.Call("channel_messages", fetchFX), llmtest.Say("Not seen.")},
		"a tool's file that is refused":  {llmtest.Call("channel_messages", fetchFX), llmtest.Fail(&llm.Error{Status: 400, Message: "no pictures"}), llmtest.Say("Not seen.")},
		"an empty answer":                {llmtest.Say(""), llmtest.Say("Now.")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &sender{Model: llmtest.New(append(script, llmtest.Say("And on."), llmtest.Say("And on."))...)}
			withFiles(t, func(o *bot.Options, _ *drawer) { o.Model, o.Limits.Rounds = m, 2 }, func(w *world, _ *drawer, _ *llmtest.Model) {
				w.say(general, bob, "x1", "the plan", sharing("FX"))
				w.say(general, alice, "m1", "<@U0BOT> what does this show?", sharing("F1"))
				w.rest(time.Second)
				w.say(general, alice, "m2", "<@U0BOT> and now?", under("m1"), sharing("F2"))
				w.rest(time.Second)
				var got []string
				for _, r := range w.shown() {
					if r.Body == nil {
						t.Errorf("step %d: %s", r.N, r.Why)
					}
					got = append(got, string(r.Body))
				}
				want := m.sent
				if name == "an empty answer" {
					want = want[1:] // it is not kept, and the same request was sent again
				}
				if diff := cmp.Diff(got, want); diff != "" {
					t.Errorf("requests (-got +want):\n%s", diff)
				}
			})
		})
	}
}

// Which of its own tools the bot offers differs from turn to turn in a thread that it
// owns, and the journal has their number alone.
func TestRequestsOfAThreadThatIsOwnedAreMadeAgainToTheByte(t *testing.T) {
	t.Parallel()
	m := &sender{Model: llmtest.New(llmtest.Say("One."), llmtest.Call("stay_silent", `{"reason":"thanks"}`), llmtest.Say("Three."))}
	placing(t, func(o *bot.Options) { o.Model, o.Answer.OwnedThreads = m, true }, func(w *world, _ *slate) {
		w.say(general, alice, "m1", "<@U0BOT> hi")
		w.rest(time.Minute)
		w.say(general, alice, "m2", "thanks", under("m1"))
		w.rest(time.Minute)
		w.say(general, alice, "m3", "<@U0BOT> and now?", under("m1"))
		w.rest(time.Minute)
		var got []string
		for _, r := range w.shown() {
			if r.Body == nil {
				t.Errorf("step %d: %s", r.N, r.Why)
			}
			got = append(got, string(r.Body))
		}
		if diff := cmp.Diff(got, m.sent); diff != "" || len(got) != 3 {
			t.Errorf("%d requests (-got +want):\n%s", len(got), diff)
		}
	})
}

// A decision is asked for with tools of its own and words behind the question.
func TestRequestsOfAmbientTurnsAreMadeAgainToTheByte(t *testing.T) {
	t.Parallel()
	decider, m := &sender{Model: llmtest.New(quiet, speaks)}, &sender{Model: llmtest.New(llmtest.Say("In the wiki."))}
	alongside(t, nil, nil, func(o *bot.Options) { o.Ambient.Model, o.Model = decider, m }, func(w *world, _ *stamped) {
		w.say(general, alice, "m1", "where do the notes go?")
		w.rest(time.Minute)
		w.say(general, alice, "m2", "anybody?")
		w.rest(time.Minute)
		var got []string
		for _, r := range w.shown() {
			if r.Body == nil {
				t.Errorf("step %d: %s", r.N, r.Why)
			}
			got = append(got, string(r.Body))
		}
		if diff := cmp.Diff(got, append(decider.sent, m.sent...)); diff != "" || len(got) != 3 {
			t.Errorf("%d requests (-got +want):\n%s", len(got), diff)
		}
	})
}

func TestRequestsThatCannotBeShownSayWhy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		change func(w *world)
		why    string
	}{
		{"a file is gone", func(w *world) { w.options.Store.(*keeper).lose() }, `the store does not have "F1.png" any more as it was sent`},
		{"a message was deleted", func(w *world) {
			w.say(general, alice, "m1", "", func(e *bot.Event) {
				e.Delivery, e.Message = "gone", earshot.Message{ID: "m1", Time: e.Message.Time, Deleted: true}
			})
		}, "deleted"},
		{"it was pruned", func(w *world) {
			if _, err := w.store.PruneTurns(w.t.Context(), earshot.TimeOf(time.Now().Add(time.Hour))); err != nil {
				w.t.Fatal(err)
			}
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := &sender{Model: llmtest.New(llmtest.Say("I see."))}
			withFiles(t, func(o *bot.Options, _ *drawer) { o.Model = m }, func(w *world, _ *drawer, _ *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> what does this show?", sharing("F1"))
				w.rest(time.Second)
				if list := w.shown(); len(list) != 1 || list[0].Body == nil {
					t.Errorf("before: %+v", list)
					return
				}
				c.change(w)
				for _, r := range w.shown() {
					if r.Body != nil || !strings.Contains(r.Why, c.why) {
						t.Errorf("step %d shows %d bytes, and says %q; want %q", r.N, len(r.Body), r.Why, c.why)
					}
				}
			})
		})
	}
	t.Run("nothing was noted", func(t *testing.T) {
		t.Parallel()
		withFiles(t, nil, func(w *world, _ *drawer, _ *llmtest.Model) {
			w.say(general, alice, "m1", "<@U0BOT> hello")
			w.rest(time.Second)
			if list := w.shown(); len(list) != 1 || list[0].Body != nil || !strings.Contains(list[0].Why, "was not recorded") {
				t.Errorf("got %+v", list)
			}
		})
	})
}
