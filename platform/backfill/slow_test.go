package backfill_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/platform/backfill"
	"github.com/earshot-ai/earshot/tokens"
)

// A slowly is the first question in a thread that nobody has read, on a platform
// that takes its time.
type slowly struct {
	replies     int
	pace        time.Duration // between two of them, and before the question
	delay       time.Duration // of a call
	uneven      uint64        // seed of delays from 0 to 4 s, a different one for each call; 0: all have delay
	distributed bool
	used        bool // of the burst one call of each method is left
}

// An outcome is what the turn had when its time was over.
type outcome struct {
	came    bool // a call for replies was answered
	stored  int  // replies
	newest  bool // the last of them is stored
	prompts map[string]string
}

// A watched is a world that counts the answers to calls for replies.
type watched struct {
	*world
	came atomic.Int32
}

func (w *watched) Replies(ctx context.Context, c earshot.Channel, root earshot.MessageID, win backfill.Window) (backfill.Page, error) {
	page, err := w.world.Replies(ctx, c, root, win)
	if err == nil {
		w.came.Add(1)
	}
	return page, err
}

// ask plays the question.
func (s slowly) ask(t *testing.T) (out outcome, problem string) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		d := newDesk(t, w)
		defer d.store.Close()
		source := &watched{world: w}
		d.options.Source = source
		d.options.Tier = backfill.Internal
		if s.distributed {
			d.options.Tier, w.objects, w.perMin = backfill.Distributed, 15, 1
		}
		if s.used {
			d.options.Tier.Burst = 1
		}
		root := w.say("C1", "", "root")
		for i := range s.replies {
			time.Sleep(s.pace)
			w.say("C1", root.ID, fmt.Sprintf("reply %d.", i+1))
		}
		time.Sleep(s.pace)
		w.latency = s.delay
		if s.uneven != 0 {
			var mu sync.Mutex // calls come together
			dice := rand.New(rand.NewPCG(s.uneven, 0))
			w.delay = func() time.Duration {
				mu.Lock()
				defer mu.Unlock()
				return time.Duration(dice.Int64N(int64(4 * time.Second)))
			}
		}
		d.start(false)
		anchor := d.hear("C1", w.say("C1", root.ID, "<@U0> what was decided?"))
		start := time.Now()
		d.fill("C1", anchor)
		if took := time.Since(start); took > 3*time.Second {
			problem = fmt.Sprintf("it took %s", took)
		}
		out = outcome{came: source.came.Load() > 0, prompts: map[string]string{}}
		list, err := d.store.Newest(t.Context(), channel("C1").Scope(), earshot.ThreadOf(root.ID), anchor.Position(), s.replies+2)
		if err != nil {
			t.Fatal(err)
		}
		last := fmt.Sprintf("reply %d.", s.replies)
		for _, m := range list {
			if strings.HasPrefix(m.Text, "reply ") {
				out.stored++
				out.newest = m.Text == last
			}
		}
		if err := d.check("C1", root.ID, anchor, s.replies+2); err != nil {
			problem = err.Error()
		}
		counter, err := tokens.For("o200k")
		if err != nil {
			t.Fatal(err)
		}
		for _, policy := range []string{"standard", "delta", "thread"} {
			p, ok := assemble.ByName(policy)
			if !ok {
				t.Fatalf("there is no policy %s", policy)
			}
			_, r, err := gather.Turn(t.Context(), d.store, gather.Request{
				Channel: channel("C1"), Anchor: anchor.ID, Identity: earshot.Identity{ID: "U0", Name: "earshot"}, Counter: counter, Policy: p,
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range r.Messages {
				out.prompts[policy] += m.Text + "\n"
			}
		}
		d.end()
	})
	return out, problem
}

var (
	said     = regexp.MustCompile(`reply (\d+)\.`)
	leftOut  = regexp.MustCompile(`([\d,]+) (?:earlier ones were|earlier messages? were|earlier message was) left out|\+ ([\d,]+) repl(?:y|ies) not shown`)
	messages = regexp.MustCompile(`last \d+ of ([\d,]+) messages`)
)

// untrue returns the counts of a prompt's thread that do not agree with how many replies
// there are.
func (s slowly) untrue(prompt string) (out []string) {
	shown := map[string]bool{}
	for _, m := range said.FindAllStringSubmatch(prompt, -1) {
		shown[m[1]] = true
	}
	number := func(m []string) int {
		n, err := strconv.Atoi(strings.ReplaceAll(strings.Join(m[1:], ""), ",", ""))
		if err != nil {
			panic(err)
		}
		return n
	}
	for _, m := range leftOut.FindAllStringSubmatch(prompt, -1) {
		if number(m) != s.replies-len(shown) {
			out = append(out, fmt.Sprintf("%q, and %d of %d replies are shown", m[0], len(shown), s.replies))
		}
	}
	for _, m := range messages.FindAllStringSubmatch(prompt, -1) {
		if number(m) != s.replies+1 {
			out = append(out, fmt.Sprintf("%q, and there are %d", m[0], s.replies+1))
		}
	}
	return out
}

// TestASlowPlatformShowsTheNewest: whatever the size of a thread that nobody has read
// and however slow the platform, the answers that came in time brought the end of the
// thread, and every count in the prompt is true.
func TestASlowPlatformShowsTheNewest(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := slowly{
			replies: rapid.OneOf(rapid.IntRange(1, 5000), rapid.SampledFrom([]int{1, 9, 10, 11, 13, 14, 15, 199, 200, 201, 997, 998, 999, 1000})).Draw(rt, "replies"),
			pace: rapid.SampledFrom([]time.Duration{
				time.Second, 4 * time.Second, 37 * time.Second, 5 * time.Minute, time.Hour, 20 * time.Hour,
			}).Draw(rt, "pace"),
			delay:       time.Duration(rapid.IntRange(0, 4000).Draw(rt, "delay in ms")) * time.Millisecond,
			distributed: rapid.Bool().Draw(rt, "distributed"), used: rapid.Bool().Draw(rt, "used"),
		}
		if rapid.IntRange(0, 3).Draw(rt, "uneven") == 0 {
			s.uneven = rapid.Uint64Min(1).Draw(rt, "seed")
		}
		out, problem := s.ask(t)
		if problem != "" {
			rt.Fatalf("%+v: %s", s, problem)
		}
		// One call of an app with pages of 999 brings any thread of that size. Where
		// each call takes another time, a longer one may be cut short anywhere.
		if one := s.replies < 999 && !s.distributed && !s.used; out.came && !out.newest && (s.uneven == 0 || one && out.stored > 0) {
			rt.Errorf("%+v: the newest reply is not among the %d that came", s, out.stored)
		}
		if s.delay < 1500*time.Millisecond && s.uneven == 0 && !out.newest {
			rt.Errorf("%+v: two calls would have brought the newest reply", s)
		}
		for policy, prompt := range out.prompts {
			shown := said.FindAllStringSubmatch(prompt, -1)
			if last := strconv.Itoa(s.replies); out.newest && (len(shown) == 0 || shown[len(shown)-1][1] != last) {
				rt.Errorf("%+v: policy %s does not show the newest reply", s, policy)
			}
			for _, x := range s.untrue(prompt) {
				rt.Errorf("%+v: policy %s says %s", s, policy, x)
			}
		}
	})
}

// TestTheFirstQuestionInALongThread has the cases by which it was found that a slow
// platform's only answer was the thread's beginning.
func TestTheFirstQuestionInALongThread(t *testing.T) {
	for _, c := range []struct {
		name string
		slowly
		stored int // at least
		delta  string
	}{
		{"260 replies at 1.6 s", slowly{replies: 260, pace: time.Minute, delay: 1600 * time.Millisecond}, 260, "last 50 of 261 messages; 211 earlier ones were left out"},
		{"1,200 at 1.0 s", slowly{replies: 1200, pace: time.Minute, delay: time.Second}, 1200, "last 50 of 1201 messages; 1151 earlier ones were left out"},
		{"2,500 at 1.6 s", slowly{replies: 2500, pace: 4 * time.Second, delay: 1600 * time.Millisecond}, 998, "last 50 of 2501 messages; 2451 earlier ones were left out"},
		{"2,500 at 1.0 s, when the burst is used up", slowly{replies: 2500, pace: 4 * time.Second, delay: time.Second, used: true}, 200, "last 50 of 2501 messages; 2451 earlier ones were left out"},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, problem := c.ask(t)
			if problem != "" {
				t.Error(problem)
			}
			if out.stored < c.stored || !out.newest {
				t.Errorf("%d replies are stored, want %d; the newest is among them: %v", out.stored, c.stored, out.newest)
			}
			if !strings.Contains(out.prompts["delta"], "("+c.delta+")") {
				t.Errorf("policy delta does not say %q: %.400s", c.delta, out.prompts["delta"])
			}
		})
	}
}

// TestTheFirstAnswerOfTheDistributedTierHasRootAndReplies: of the one call for replies
// that a minute has, the first question in a thread that nobody has heard gets the root
// and as many of the newest replies as a page holds.
func TestTheFirstAnswerOfTheDistributedTierHasRootAndReplies(t *testing.T) {
	t.Parallel()
	for _, replies := range []int{3, 13, 40} {
		for _, used := range []bool{false, true} {
			got, problem := slowly{replies: replies, pace: time.Minute, delay: 200 * time.Millisecond, distributed: true, used: used}.ask(t)
			if want := min(replies, 10); problem != "" || got.stored < want || !got.newest {
				t.Errorf("%d replies: %d are stored, want at least %d with the newest; %s", replies, got.stored, want, problem)
			}
			for policy, prompt := range got.prompts {
				if last := fmt.Sprintf("reply %d.", replies); !strings.Contains(prompt, "Alice: root") || !strings.Contains(prompt, last) {
					t.Errorf("%d replies, %s: no root or no %q in\n%s", replies, policy, last, prompt)
				}
			}
		}
	}
}
