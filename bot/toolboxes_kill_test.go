package bot_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tokens"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// TestKillsWhileToolsAct kills processes at random instants, while tools that take their
// time act on a tracker that survives them. Whatever happens, no issue is opened twice,
// and each that was opened, or may have been, is told of in the one reply.
func TestKillsWhileToolsAct(t *testing.T) {
	t.Parallel()
	kills := 0
	for seed := range uint64(40) {
		synctest.Test(t, func(t *testing.T) { kills += killWhileToolsAct(t, seed, false) })
	}
	t.Logf("%d kills", kills)
	if kills < 300 {
		t.Errorf("%d kills, want at least 300", kills)
	}
}

func killWhileToolsAct(t *testing.T, seed uint64, approve bool) (kills int) {
	const questions = 4
	chance := rand.New(rand.NewPCG(seed, 1))
	upTo := func(most time.Duration) time.Duration { return time.Duration(chance.Int64N(int64(most))) + 1 }
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, store: memory(t), board: &board{}, said: map[string]earshot.Time{}}
	page, oracle := &slate{board: w.board}, &tracker{}
	began, lasts := time.Now(), 3*time.Minute
	var model llm.Model = acting{}
	var running sync.WaitGroup
	defer running.Wait()
	for n := 0; ; n++ {
		p := &process{done: make(chan struct{})}
		ctx, cancel := context.WithCancel(context.Background())
		box := &tracker{approve: approve, answer: func(_ context.Context, c toolbox.Call) (toolbox.Result, error) {
			// A dead process sends nothing; what it has sent, arrives.
			time.Sleep(time.Second)
			if p.dead.Load() {
				return toolbox.Result{}, errDead
			}
			r, err := oracle.Call(ctx, toolbox.Place{}, c)
			time.Sleep(time.Second)
			return r, err
		}}
		w.bot = bot.New(bot.Options{
			Store: mortal{w.store, p}, Model: model, Identity: self, Counter: counter, Owner: fmt.Sprintf("p%d", n), Tools: []toolbox.Toolbox{box},
			Platform: slowPanel{slow{page, p, func() time.Duration { return 100 * time.Millisecond }}}, Limits: bot.Limits{Tries: 1000},
		})
		if approve {
			b, clicks := w.bot, chance.Uint64()
			running.Go(func() { clickUntil(p.done, w, b, clicks) })
		}
		for i := 0; n == 0 && i < questions; i++ {
			c := general
			c.ID = earshot.ChannelID(fmt.Sprintf("C%d", i+1))
			w.say(c, alice, fmt.Sprintf("m%d", i), fmt.Sprintf("<@U0BOT> open issue q%d", i))
		}
		last := time.Since(began) > lasts
		stop := 10 * time.Minute
		if !last {
			stop = 2*time.Second + upTo(20*time.Second)
		}
		time.AfterFunc(stop, func() {
			if !last {
				p.dead.Store(true)
			}
			close(p.done)
			cancel()
		})
		if err := w.bot.Run(ctx); err != nil {
			t.Errorf("Run: %v", err)
		}
		time.Sleep(3 * time.Second) // calls of the dead end
		if last {
			break
		}
		kills++
	}
	done := map[string]int{}
	for _, c := range oracle.done() {
		if strings.HasPrefix(c, "create_issue") {
			done[c]++
		}
	}
	var replies []string
	for _, s := range w.board.all() {
		if !strings.Contains(s, "A call of `create_issue`") {
			replies = append(replies, s)
		}
	}
	if approve {
		w.checkApprovals(seed, done)
	}
	if len(replies) != questions {
		t.Errorf("seed %d: %d replies: %q", seed, len(replies), replies)
	}
	for i := range questions {
		for j := range 3 {
			name := fmt.Sprintf("q%d-%d", i, j)
			n := done[`create_issue {"text":"`+name+`"}`]
			if n > 1 {
				t.Errorf("seed %d: issue %s was opened %d times", seed, name, n)
			}
			told := slices.IndexFunc(replies, func(s string) bool {
				return strings.Contains(s, name+" opened") || strings.Contains(s, name+" unknown")
			})
			if told < 0 {
				t.Errorf("seed %d: nobody is told what became of %s, opened %d times: %q", seed, name, n, replies)
			} else if n == 0 && strings.Contains(replies[told], name+" opened") {
				t.Errorf("seed %d: issue %s is said to be open, and is not", seed, name)
			}
		}
	}
	return kills
}

// acting is a model that looks twice, opens three issues one after another, and says what
// became of each.
type acting struct{}

func (acting) Generate(ctx context.Context, r llm.Request, _ func(llm.Event)) (llm.Response, error) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return llm.Response{}, context.Cause(ctx)
	}
	var question string
	var told []string
	calls := 0
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if i := strings.Index(p.Text, "open issue "); i >= 0 {
				question = strings.Fields(p.Text[i:])[2]
			}
			if p.Call != nil {
				calls++
			}
			if p.Result == nil || p.Result.Name != "create_issue" {
				continue
			}
			state := "unknown"
			if strings.Contains(p.Result.Parts[0].Text, `"result":"done`) {
				state = "opened"
			}
			told = append(told, fmt.Sprintf("%s-%d %s", question, len(told), state))
		}
	}
	usage := earshot.Usage{Input: 10, Output: 2}
	switch n := len(told); {
	case calls == 0:
		return llm.Response{Parts: []llm.Part{llm.Calling(llm.Call{ID: "a", Name: "find_issue", Args: `{}`}), llm.Calling(llm.Call{ID: "b", Name: "find_issue", Args: `{"text":"b"}`})}, Stop: llm.StopCalls, Usage: usage}, nil
	case n < 3:
		return llm.Response{Parts: []llm.Part{llm.Calling(llm.Call{ID: fmt.Sprint("c", n), Name: "create_issue", Args: fmt.Sprintf(`{"text":"%s-%d"}`, question, n)})}, Stop: llm.StopCalls, Usage: usage}, nil
	}
	return llm.Response{Parts: []llm.Part{llm.Text(strings.Join(told, ", "))}, Stop: llm.StopEnd, Usage: usage}, nil
}
