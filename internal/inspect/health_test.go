package inspect_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/inspect"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

type healthPage struct {
	Summary  string
	Findings []struct{ Level, Says, Do, Link string }
}

// well is a process to which nothing is wrong.
func well() inspect.Health {
	now := march(2, 12)
	return inspect.Health{
		At: now, Since: now - 3600e6, Version: "v1", Store: inspect.StoreHealth{Name: "sqlite:earshot.db", Took: 300}, Keeps: "forever",
		Platform: inspect.LinkHealth{Name: "slack", State: "reachable"},
		Models:   []inspect.ModelCalls{{Provider: "anthropic", Model: "claude", Calls: 40, Median: 2e6, Slowest: 9e6}},
		Replicas: []inspect.Replica{{Kind: "bot", Here: true, Running: true, Version: "v1", Since: now - 3600e6, Seen: now - 2e6}},
		Turns:    inspect.Waiting{States: map[earshot.TurnState]int{earshot.TurnDone: 12}},
	}
}

func TestHealthSaysInWordsWhatIsWrong(t *testing.T) {
	t.Parallel()
	minutes := func(n int) earshot.Time {
		return march(2, 12) - earshot.Time(time.Duration(n)*time.Minute/time.Microsecond)
	}
	ops := earshot.Channel{Platform: earshot.Local, Workspace: "local", ID: "ops", Name: "ops"}
	for _, c := range []struct {
		name    string
		change  func(h *inspect.Health)
		summary string
		says    []string
	}{
		{"nothing", func(*inspect.Health) {}, "Everything answers.", nil},
		{"the store", func(h *inspect.Health) { h.Store.Why = "no answer within 3s" }, "One thing does not work.", []string{"bad: The store does not work: no answer within 3s."}},
		{"the token", func(h *inspect.Health) {
			h.Platform.State, h.Platform.Since, h.Platform.Why = "signed out", minutes(5), "token_revoked: install the app again"
		}, "One thing does not work.", []string{"bad: Slack has refused the bot's token for 5 minutes."}},
		{"the platform", func(h *inspect.Health) { h.Platform.State, h.Platform.Since = "unreachable", minutes(5) }, "One thing does not work.", []string{"bad: Slack has not answered for 5 minutes."}},
		{"rate limits", func(h *inspect.Health) { h.Models[0].Limited = 12 }, "Everything answers. One thing is worth a look.",
			[]string{"look: The model claude has refused 12 calls in the last hour because of a rate limit."}},
		{"the model", func(h *inspect.Health) {
			h.Models[0].InARow, h.Models[0].Failed, h.Models[0].Last, h.Models[0].Why = 4, 4, minutes(1), "status 529"
		},
			"One thing does not work.", []string{"bad: The model claude has failed 4 times in a row, the last time 1 minute ago (status 529)."}},
		{"a limit of the day", func(h *inspect.Health) {
			h.Limits = []inspect.LimitUse{{Limit: "all", Share: 79}, {Limit: "person", Share: 80}}
		}, "Everything answers. One thing is worth a look.",
			[]string{"look: 80 % of limits.day.person are used today, with what turns under way may use yet."}},
		{"several things, the worst first", func(h *inspect.Health) {
			h.Turns.States[earshot.TurnParked] = 2
			h.Turns.States[earshot.TurnOpen] = 1
			h.Turns.Oldest = &earshot.QueuedTurn{ID: 42, Opened: minutes(90)}
			h.Gaps = []inspect.Gap{{Channel: ops, Pieces: 2}}
			h.Platform = inspect.LinkHealth{Name: "slack", State: "unknown"}
			h.Store.Why = "an error, which is in the log"
			h.Replicas = append(h.Replicas, inspect.Replica{Kind: "bot", Running: true, Version: "v2"})
		}, "2 things do not work.", []string{
			"bad: The store does not work: an error, which is in the log.",
			"bad: Slack has never been reached, so the bot does not know who it is.",
			"look: The processes over this store are of different versions: v1, v2.",
			"look: A question has waited for 90 minutes.",
			"look: 2 turns wait for an operator: nobody can find out whether the reply was posted.",
			"look: Stretches of history are missing in 1 channel.",
		}},
		{"no bot", func(h *inspect.Health) {
			h.Replicas[0].Kind = "sidecar"
			h.Turns.States[earshot.TurnOpen] = 1
		}, "Everything answers. One thing is worth a look.", []string{"look: 1 question is not answered yet, and no bot of Earshot's runs over this store."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(o *inspect.Options) {
				o.Health = func(context.Context) (inspect.Health, error) {
					h := well()
					c.change(&h)
					return h, nil
				}
			})
			got := jsonOf[healthPage](t, w, "/health.json")
			if got.Summary != c.summary {
				t.Errorf("it says %q, want %q", got.Summary, c.summary)
			}
			var says []string
			for _, f := range got.Findings {
				if says = append(says, f.Level+": "+f.Says); f.Do == "" {
					t.Errorf("%s: it does not say what to do", f.Says)
				}
			}
			if a, b := strings.Join(says, "\n"), strings.Join(c.says, "\n"); a != b {
				t.Errorf("got\n%s\nwant\n%s", a, b)
			}
			body := w.page(t, "/health")
			for _, s := range c.says {
				_, s, _ = strings.Cut(s, ": ")
				if s = strings.ReplaceAll(s, "'", "&#39;"); !strings.Contains(body, s) {
					t.Errorf("the page lacks %q", s)
				}
			}
		})
	}
}

func TestHealthTellsNothingOfChannelsThatAKeyDoesNotSee(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(o *inspect.Options) {
		o.Health = func(context.Context) (inspect.Health, error) {
			h := well()
			for _, id := range []earshot.ChannelID{"ops", "hr"} {
				h.Gaps = append(h.Gaps, inspect.Gap{Channel: earshot.Channel{Platform: earshot.Local, Workspace: "local", ID: id, Name: string(id)}, Pieces: 1})
			}
			h.Turns.Oldest = &earshot.QueuedTurn{ID: 42, Opened: march(1, 1)}
			h.Turns.States[earshot.TurnParked] = 3
			return h, nil
		}
	})
	key := w.key(t, access.KeySpec{Name: "ops", Workspaces: []earshot.WorkspaceID{"local"}, Channels: []earshot.ChannelID{"ops"}})
	for _, path := range []string{"/health", "/health.json"} {
		body := w.pageFor(t, path, key)
		for _, secret := range []string{"channel=hr", "/turns/42", "wait for an operator", `"parked": 3`, "earshot.db"} {
			if strings.Contains(body, secret) {
				t.Errorf("%s tells of %q", path, secret)
			}
		}
		if all := w.page(t, path); !strings.Contains(all, "/turns/42") || !strings.Contains(all, "channel=hr") || !strings.Contains(all, "wait for an operator") || !strings.Contains(all, "earshot.db") {
			t.Errorf("%s for an operator who sees everything: %s", path, all)
		}
	}
}

func TestHealthWithoutAProcess(t *testing.T) {
	t.Parallel()
	if body := newWorld(t, nil).page(t, "/health"); !strings.Contains(body, "without a process") {
		t.Errorf("got %s", body)
	}
}
