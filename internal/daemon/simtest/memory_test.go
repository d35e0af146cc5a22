package simtest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/simulate"
	"github.com/earshot-ai/earshot/store"
)

var (
	memoryTurns = flag.Int("memory.turns", 150, "the turns of the long conversation")
	memoryChart = flag.String("memory.chart", "", "write what a long conversation costs into this SVG file")
)

// TestFactsOfLongAgoAreInThePrompt plays one long conversation on the fake Slack,
// with a clock that moves on by some twenty minutes a turn. Facts are said near
// its begin, at a fifth and at three fifths of it; the last turns ask for them in
// other words. With summaries each must stand in the prompt of the turn that asks,
// because the summary holds it or because the search found it. A prompt must cost no more at
// the end than in the middle, and the store must grow in a straight line.
func TestFactsOfLongAgoAreInThePrompt(t *testing.T) {
	if testing.Short() {
		t.Skip("plays long conversations; runs without -short")
	}
	for _, c := range []struct {
		name       string
		summariser llm.Model // nil: digests are made without one
		environ    []string
		must       string // bySummary: the stored summary must hold every fact, and a prompt; "any": a prompt; "": the figures are for comparison
		drawn      bool   // as the chart
	}{
		{name: "with digests", must: "any", drawn: true},
		{name: "with a scripted summariser", summariser: scripted{}, must: bySummary},
		{name: "without summaries", environ: []string{"EARSHOT_SUMMARY_TURNS=10000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp(filepath.Dir(empty), "memory-") //nolint:usetesting // in memory where possible, see TestMain
			if err != nil {
				t.Fatal(err)
			}
			defer os.RemoveAll(dir)
			var p *longTalk
			synctest.Test(t, func(t *testing.T) {
				p = newLongTalk(t, filepath.Join(dir, "memory.db"), *memoryTurns, c.summariser, c.environ...)
				p.play()
			})
			p.check(t, c.must)
			if *memoryChart != "" && c.drawn {
				if err := os.WriteFile(*memoryChart, p.chart(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// A longTalk is one long conversation on the fake Slack, as it is played.
type longTalk struct {
	t       *testing.T
	turns   int
	writes  llm.Model // of summaries
	environ []string  // further settings
	net     *pipes
	slack   *simulate.Slack
	channel string
	people  []string
	root    string
	file    string
	store   earshot.Store

	conversation earshot.ConversationID
	epoch        int
	begun        string // the summary of when that epoch began
	ended        chan bot.Report

	mu     sync.Mutex // guards jumped
	jumped time.Duration

	costs []turnCost
	asked []askedFact
}

// A turnCost is what one turn cost.
type turnCost struct {
	tokens int
	stored int64 // bytes of the store after it
	epoch  int
}

// Where a prompt holds a fact: two blocks by the begin of their headers, and the
// prompts of earlier turns.
const (
	bySummary = "summary of earlier turns"
	byRecall  = "earlier in this channel"
	bySession = "session"
)

// An askedFact is a question for a fact, and where its prompt held the fact.
type askedFact struct {
	fact
	said, turn int
	blocks     map[string]bool // by their headers; bySession is what earlier turns have shown
	summarised bool            // the conversation's summary holds it
	due        bool            // so did the summary of when the epoch began
}

func newLongTalk(t *testing.T, file string, turns int, summariser llm.Model, environ ...string) *longTalk {
	p := &longTalk{t: t, turns: turns, writes: summariser, environ: environ, net: newPipes(), file: file, ended: make(chan bot.Report, 10)}
	var err error
	p.slack, err = simulate.NewSlack(&simulate.SlackOptions{Listener: p.net, Seed: 1, SocketMode: true, Now: p.now})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Ann", "Bob", "Ines", "Tomasz", "Noor"} {
		p.people = append(p.people, p.slack.AddUser(simulate.User{Name: strings.ToLower(name), RealName: name}))
	}
	p.channel = p.slack.AddChannel(simulate.Channel{Name: "office", Topic: "everything", Members: append(slices.Clone(p.people), p.slack.App().UserID)})
	return p
}

// now is the wall clock of Slack, the daemon and the store.
func (p *longTalk) now() time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Now().Add(p.jumped)
}

func (p *longTalk) later(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.jumped += d
}

// budget returns the setting budget.tokens: the default, or less where the
// conversation is too short for several epochs of that size.
func (p *longTalk) budget() int {
	if p.turns < 500 {
		return assemble.DefaultBudget().Tokens / 4
	}
	return assemble.DefaultBudget().Tokens
}

// play has people talk, and the daemon answer.
func (p *longTalk) play() {
	t := p.t
	st, err := store.Open(context.Background(), "sqlite:"+p.file, &store.Options{Now: p.now})
	if err != nil {
		t.Fatal(err)
	}
	p.store = st
	app := p.slack.App()
	c, err := config.Load("", append([]string{
		"EARSHOT_PLATFORM=slack", "EARSHOT_SLACK_API_URL=" + p.slack.URL() + "/api/", "SLACK_BOT_TOKEN=" + app.BotToken,
		"SLACK_APP_TOKEN=" + app.AppToken, "EARSHOT_DB=memory:", fmt.Sprint("EARSHOT_BUDGET_TOKENS=", p.budget()),
	}, p.environ...))
	if err != nil {
		t.Fatal(err)
	}
	policy, _ := assemble.ByName(c.Policy)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return p.net.dial(ctx) }
	d, err := daemon.Open(context.Background(), daemon.Options{
		Config: c, Policy: policy, Store: st, Done: func(r bot.Report) { p.ended <- r }, Log: slog.New(slog.DiscardHandler),
		Outside: daemon.Outside{
			Model: scripted{}, Summariser: p.writes, Dial: dial, Now: p.now,
			Client: &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}, Timeout: 30 * time.Second},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error, 1)
	go func() { ran <- d.Run(ctx) }()
	time.Sleep(2 * time.Second)
	for n := 1; n <= p.turns; n++ {
		p.turn(n)
		synctest.Wait()
	}
	stop()
	if err := errors.Join(<-ran, d.Close(), st.Close(), p.slack.Close()); err != nil {
		t.Error(err)
	}
}

// said returns the turn with which each of the three groups of facts begins, one fact
// a turn: turns 5, 200 and 600 of 1,000.
func (p *longTalk) said(group int) int { return [3]int{5, p.turns / 5, p.turns * 3 / 5}[group] }

// turn plays one turn: two people talk, then one asks. The last turns ask for the
// facts.
func (p *longTalk) turn(n int) {
	for g, facts := range longAgo {
		if i := n - p.said(g); i >= 0 && i < len(facts) {
			p.say(n+i, facts[i].said)
		}
	}
	for i := range 2 {
		p.say(n+i, chatter(2*n+i))
	}
	question, wanted := "what do you make of that, in short?", -1
	if back := p.turns - n; back < len(longAgo)*len(longAgo[0]) {
		wanted = back
		question = longAgo[back%3][back/3].asked
	}
	summary, err := p.store.Summary(context.Background(), p.conversation)
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		p.t.Fatal(err)
	}
	p.say(n+2, "<@"+p.slack.App().UserID+"> "+question)
	r := <-p.ended
	if r.Turn.State != earshot.TurnDone {
		p.t.Fatalf("turn %d is %s: %s", n, r.Turn.State, r.Turn.Why)
	}
	if r.Turn.Epoch != p.epoch {
		p.epoch, p.begun = r.Turn.Epoch, summary.Text
	}
	if wanted >= 0 {
		p.look(n, wanted, r, summary.Text)
	}
	p.conversation = r.Turn.Conversation
	cost := turnCost{tokens: r.Result.Tokens.Total, epoch: r.Turn.Epoch}
	if info, err := os.Stat(p.file); err == nil {
		cost.stored = info.Size()
	}
	p.costs = append(p.costs, cost)
	time.Sleep(30 * time.Second) // summaries are made between turns
	p.later(19 * time.Minute)
}

// say posts a message in the thread.
func (p *longTalk) say(by int, text string) {
	user := p.people[by%len(p.people)]
	if p.root == "" {
		p.root = p.slack.Say(p.channel, user, text)
	} else {
		p.slack.Reply(p.channel, p.root, user, text)
	}
	time.Sleep(3 * time.Second)
}

// look notes where a prompt has the fact that it asks for.
func (p *longTalk) look(n, wanted int, r bot.Report, summary string) {
	f := longAgo[wanted%3][wanted/3]
	a := askedFact{fact: f, said: p.said(wanted%3) + wanted/3, turn: n, blocks: map[string]bool{}}
	last := len(r.Result.Messages) - 1
	for i, m := range r.Result.Messages {
		for _, block := range strings.Split(m.Text, "\n\n") {
			header, _, _ := strings.Cut(strings.TrimPrefix(block, "["), ",")
			switch {
			case !strings.Contains(block, f.key): // the question holds none of the keys
			case i == last || header == bySummary:
				a.blocks[header] = true
			default:
				a.blocks[bySession] = true
			}
		}
	}
	a.summarised, a.due = strings.Contains(summary, f.key), strings.Contains(p.begun, f.key)
	p.asked = append(p.asked, a)
}

// check checks what was noted, and logs it.
func (p *longTalk) check(t *testing.T, must string) {
	t.Helper()
	found := map[string]int{}
	for _, a := range p.asked {
		if must != "" && len(a.blocks) == 0 {
			t.Errorf("turn %d asks %q, and its prompt does not hold what turn %d said: %q", a.turn, a.fact.asked, a.said, a.fact.said)
		}
		if must == bySummary && !a.summarised {
			t.Errorf("turn %d asks %q: the summary lost it", a.turn, a.fact.asked)
		}
		if must == bySummary && a.due && !a.blocks[bySummary] {
			t.Errorf("turn %d asks %q: the epoch's summary holds it, and its prompt does not", a.turn, a.fact.asked)
		}
		for _, block := range []string{bySummary, byRecall, bySession} {
			if a.blocks[block] {
				found[block]++
				break
			}
		}
	}
	middle, end := p.mean(1), p.mean(2)
	slope, fit := p.growth()
	t.Logf("%d turns, %d epochs; %d facts: %d in the summary, else %d found for the question, else %d shown by earlier turns; a prompt has %.0f tokens in the middle third, %.0f in the last; %.1f kB a turn stored, R² %.3f",
		p.turns, p.costs[len(p.costs)-1].epoch+1, len(p.asked), found[bySummary], found[byRecall], found[bySession], middle, end, slope/1000, fit)
	if p.costs[len(p.costs)-1].epoch < 2 {
		t.Errorf("%d turns made %d epochs, too few to say anything", p.turns, p.costs[len(p.costs)-1].epoch+1)
	}
	if end > middle*1.2 {
		t.Errorf("a prompt of the last third has %.0f tokens, one of the middle third %.0f", end, middle)
	}
	if fit < 0.97 {
		t.Errorf("what is stored does not grow in a straight line: R² is %.3f", fit)
	}
}
