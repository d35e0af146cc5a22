package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/pgtest"
)

// An oracle is an MCP server outside of the programs that are killed. It knows what was done.
type oracle struct {
	mu   sync.Mutex     // guards done
	done map[string]int // by the key that a call adds
}

// serveOracle serves a tool that writes, and returns the settings of a program that has it.
func serveOracle(t *testing.T) (o *oracle, config string) {
	t.Helper()
	o = &oracle{done: map[string]int{}}
	s := mcp.NewServer(&mcp.Implementation{Name: "oracle", Version: "1"}, nil)
	s.AddTool(&mcp.Tool{Name: "add", Description: "adds a key", InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		var args struct{ Key string }
		if err := json.Unmarshal(r.Params.Arguments, &args); err != nil {
			return nil, err
		}
		time.Sleep(50 * time.Millisecond)
		o.mu.Lock()
		defer o.mu.Unlock()
		o.done[args.Key]++
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "added " + args.Key}}}, nil
	})
	web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, nil))
	t.Cleanup(web.Close)
	config = filepath.Join(t.TempDir(), "earshot.yaml")
	text := fmt.Sprintf("model: {provider: offline}\ntools:\n  mcp:\n    - {name: oracle, url: %q}\n", web.URL)
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return o, config
}

// TestKillReplicasWhileToolsAct kills two replicas over one PostgreSQL, again and again, while
// people ask for what changes something, agree to it or not, twice and at once. Nothing is
// done twice, nothing without a yes, each approval is decided once, and each question gets
// its one answer. Each of the cycles kills once, half as many as those of other tests.
func TestKillReplicasWhileToolsAct(t *testing.T) {
	t.Parallel()
	w := newKillWorld(t, program(t), killSetting{each: true, placeholder: true, spec: pgtest.Spec})
	done, config := serveOracle(t)
	w.environ = append(w.environ, "EARSHOT_CONFIG="+config)
	for _, k := range w.talks {
		k.text = `@earshot please oracle__add {"key":"` + k.person + `-%d"}`
	}
	ctx, stop := context.WithCancel(t.Context())
	var people sync.WaitGroup
	for n := range 2 {
		people.Go(func() { w.clicks(ctx, t, w.openStore(t), uint64(n)) })
	}
	replicas := []*killProcess{w.start(t, ""), w.start(t, "")}
	for n := range (*killCycles + 1) / 2 {
		which := n % 2
		w.talk(t, replicas[1-which], func(<-chan struct{}) {
			time.Sleep(time.Duration(w.rand.IntN(1_500_000)) * time.Microsecond) // the random moment of the kill
			replicas[which].kill()
		})
		replicas[which] = w.start(t, "")
		if w.kills++; w.kills%killsInARow == 0 {
			w.settle(t, replicas[which])
		}
	}
	w.settle(t, replicas[0])
	stop()
	people.Wait()
	for _, p := range replicas {
		p.kill()
	}
	w.checkTools(t, done)
}

// clicks decides what people are asked, each as who asked, until ctx ends. Some say no.
func (w *killWorld) clicks(ctx context.Context, t *testing.T, st bot.Store, who uint64) {
	for n := who; ctx.Err() == nil; n++ {
		open, err := st.Approvals(ctx, earshot.ApprovalQuery{States: []earshot.ApprovalState{earshot.ApprovalOpen}})
		if err != nil && ctx.Err() == nil {
			t.Errorf("list approvals: %v", err)
		}
		for _, a := range open {
			d := earshot.Decision{State: earshot.ApprovalAgreed, SHA256: a.SHA256, By: a.Asker, Time: earshot.TimeOf(time.Now())}
			if n++; n%5 == 0 {
				d.State = earshot.ApprovalRefused
			}
			_, _ = st.DecideApproval(ctx, a.ID, d) // the other may have been faster
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Duration(100+n%7*100) * time.Millisecond):
		}
	}
}

// checkTools compares what was done with what was agreed to and what people see.
func (w *killWorld) checkTools(t *testing.T, done *oracle) {
	t.Helper()
	st := w.openStore(t)
	asked, agreed, questions := 0, map[string]bool{}, 0
	for before := earshot.ApprovalID(""); ; {
		list, err := st.Approvals(t.Context(), earshot.ApprovalQuery{Before: before, Limit: 500})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range list {
			before = a.ID
			asked++
			var args struct{ Key string }
			if err := json.Unmarshal(a.Args, &args); err != nil {
				t.Fatal(err)
			}
			n := done.done[args.Key]
			switch {
			case a.State == earshot.ApprovalAgreed:
				agreed[args.Key] = true
				if n > 1 || n == 0 && a.Result == "it was done" || n == 1 && a.Result == "" {
					t.Errorf("%s was done %d times, and its approval says %q", args.Key, n, a.Result)
				}
			case a.State == earshot.ApprovalRefused && n == 0:
			default:
				t.Errorf("%s was done %d times, and its approval is %s", args.Key, n, a.State)
			}
		}
		if len(list) == 0 {
			break
		}
	}
	for key := range maps.Keys(done.done) {
		if !agreed[key] {
			t.Errorf("%s was done, and nobody agreed", key)
		}
	}
	for _, k := range w.talks {
		questions += len(k.acknowledged)
		turns := w.turnsOf(t, st, k)
		if len(turns) != len(k.acknowledged) {
			t.Errorf("%s: %d turns of %d questions", k.person, len(turns), len(k.acknowledged))
		}
		for _, q := range turns {
			posts, err := st.Posts(t.Context(), q.ID)
			if err != nil {
				t.Fatal(err)
			}
			answers, asks := 0, 0
			for _, p := range posts {
				visible := p.State == earshot.PostSent
				switch bot.KindOf(p) {
				case bot.PostApproval:
					asks++
				case bot.PostReply:
					if visible {
						answers++
					}
				case bot.PostPlaceholder:
					if m, err := st.Message(t.Context(), q.Conversation.Scope, p.Message); visible && err == nil && !m.Deleted {
						answers++
					}
				default:
					t.Errorf("turn %d has posted %+v", q.ID, p)
				}
			}
			if q.State != earshot.TurnDone || answers != 1 || asks != 1 {
				t.Errorf("%s: turn %d is %s (%s), asked %d times, with %d answers: %+v", k.person, q.ID, q.State, q.Why, asks, answers, posts)
			}
		}
	}
	if asked != questions {
		t.Errorf("%d approvals of %d questions", asked, questions)
	}
	keys := slices.Sorted(maps.Keys(done.done))
	t.Logf("%d kills, %d questions, %d done: %s", w.kills, questions, len(keys), strings.Join(keys[:min(3, len(keys))], ", "))
}
