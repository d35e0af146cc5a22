package simtest

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/tools/toolbox"
)

// TestSeedsWithTools plays seeds in which the model calls tools that act, sends files and asks people, and
// people agree, refuse, answer, stop, click twice, at what is over, and at what is another's,
// or say nothing until the time is over.
func TestSeedsWithTools(t *testing.T) {
	t.Parallel()
	playSeeds(t, *seeds, func(seed uint64) script {
		s := newScript(seed)
		s.tools = true
		s.environ = append(s.environ, "EARSHOT_ANSWER_ASK=*", "EARSHOT_ANSWER_SEND_FILE=*", "EARSHOT_APPROVE_MINUTES=10", "EARSHOT_FEEDBACK=buttons")
		r := rand.New(rand.NewPCG(seed, 0xac7))
		if r.IntN(3) == 0 {
			s.environ = append(s.environ, "EARSHOT_WHILE_WAITING=hold")
		}
		var acts []act
		for _, a := range s.acts {
			if a.kind == actModel && a.model != moodDown || r.IntN(4) == 0 {
				acts = append(acts, act{kind: actModel, model: moodAct, n: 1 + r.IntN(3), after: 10 * time.Millisecond})
			}
			acts = append(acts, a)
			if r.IntN(3) == 0 {
				acts = append(acts, act{kind: actClick, after: between(r, 500*time.Millisecond, time.Minute), where: r.IntN(channels), who: r.IntN(people), which: r.IntN(1000), before: r.IntN(2) == 0})
			}
		}
		s.acts = acts
		return s
	})
}

// A hand is the tools that act, as one process has them. What they do outlives it.
type hand struct {
	w *world
	p *process
}

func (w *world) toolboxes(p *process) []toolbox.Toolbox {
	if !w.script.tools {
		return nil
	}
	return []toolbox.Toolbox{hand{w, p}}
}

// Tools implements [toolbox.Toolbox].
func (hand) Tools(context.Context, toolbox.Place) ([]toolbox.Tool, error) {
	schema := llm.JSON(`{"type":"object","properties":{"key":{"type":"string"}}}`)
	return []toolbox.Tool{
		{Tool: llm.Tool{Name: "deploy", Description: "Deploys.", Schema: schema}, Effect: toolbox.Writes, Approve: true},
		{Tool: llm.Tool{Name: "note", Description: "Notes.", Schema: schema}, Effect: toolbox.Writes},
	}, nil
}

// Call implements [toolbox.Toolbox]. A dead process does nothing more; what it has done stays.
func (h hand) Call(ctx context.Context, _ toolbox.Place, c toolbox.Call) (toolbox.Result, error) {
	err := h.p.effect("tool "+c.Name, c.Args, func() error {
		h.w.mu.Lock()
		defer h.w.mu.Unlock()
		h.w.done[callOf(c.Name, fmt.Sprintf("%x", sha256.Sum256([]byte(c.Args))))]++
		return nil
	})
	if err == nil {
		err = pause(ctx, time.Second)
	}
	return toolbox.Result{Parts: []llm.Part{llm.Text("done")}}, err
}

// act is what the model calls in the mood that acts, once in a turn; its arguments occur
// nowhere else.
func (w *world) act(r llm.Request, n int) (c llm.Call, ok bool) {
	if r.NoCalls || called(r) || len(r.Tools) == 0 {
		return c, false
	}
	c.ID, c.Args = fmt.Sprintf("call_%d", n), fmt.Sprintf(`{"key":"k%d"}`, n)
	c.Name = []string{"deploy", "deploy", "note", bot.AskTool, bot.SendFileTool}[hash(w.script.seed, "act", n)%5]
	switch c.Name {
	case bot.SendFileTool:
		c.Args = fmt.Sprintf(`{"name":"k%d.txt","text":"k%d"}`, n, n)
	case bot.AskTool:
		c.Args = fmt.Sprintf(`{"question":"Which of them, k%d?","options":["the first","the second"]}`, n)
	}
	return c, slices.ContainsFunc(r.Tools, func(t llm.Tool) bool { return t.Name == c.Name })
}

// click has somebody click at a button of the bot's in a channel, perhaps twice.
func (w *world) click(a act) {
	type button struct{ ts, label string }
	var all []button
	for _, m := range w.slack.Messages(w.channels[a.where]) {
		for _, b := range m.Buttons {
			all = append(all, button{m.TS, b.Label})
		}
	}
	if len(all) == 0 {
		return
	}
	b := all[len(all)-1-a.which%len(all)%8%len(all)]
	w.note("    %s at %s", b.label, b.ts)
	for range 1 + a.which%2 {
		w.try(func() { w.slack.Click(w.channels[a.where], b.ts, w.people[a.who], b.label) })
	}
	time.Sleep(3 * time.Second)
	w.try(func() { w.slack.Submit(w.people[a.who], "because of that") }) // where the click has opened a form
}

// try does what the fake Slack panics at where it cannot be done, such as a click at a button
// that has gone meanwhile.
func (w *world) try(do func()) {
	defer func() {
		if p := recover(); p != nil {
			w.trace("not done: %v", p)
		}
	}()
	do()
}

// checkActs checks I13: what needs a yes was done only with one, nothing was done twice, and
// nobody is asked anything any more.
func (w *world) checkActs(ctx context.Context) {
	list, err := w.store.Approvals(ctx, earshot.ApprovalQuery{Limit: 1000})
	if err != nil {
		w.wrong("approvals cannot be listed: %v", err)
	}
	agreed := map[string]bool{}
	for _, a := range list {
		w.decided[a.State]++
		if a.State == earshot.ApprovalOpen {
			w.wrong("I13: approval %s of turn %d is open at the end", a.ID, a.Turn)
		}
		agreed[callOf(a.Tool, a.SHA256)] = a.State == earshot.ApprovalAgreed
	}
	w.mu.Lock()
	for _, m := range w.slack.Posts() {
		for _, name := range m.Files {
			w.done[callOf(bot.SendFileTool, name)]++
		}
	}
	done := maps.Clone(w.done)
	w.mu.Unlock()
	for call, n := range done {
		if n > 1 {
			w.wrong("I13: %s was done %d times", call, n)
		}
		if strings.HasPrefix(call, "deploy") && !agreed[call] {
			w.wrong("I13: %s was done, and nobody agreed", call)
		}
	}
}

// hasAsked reports whether a turn has asked somebody.
func (w *world) hasAsked(q earshot.QueuedTurn) bool {
	list, err := w.store.Approvals(context.Background(), earshot.ApprovalQuery{Turn: q.ID, Limit: 1})
	return err == nil && len(list) > 0
}

// answers reports whether a message is the answer to something that the model has asked.
func (w *world) answers(ctx context.Context, m *spoken) bool {
	if !w.script.tools {
		return false
	}
	scope := w.scope(m.channel)
	list, err := w.store.Approvals(ctx, earshot.ApprovalQuery{Scope: &scope, Limit: 1000})
	return err == nil && slices.ContainsFunc(list, func(a earshot.Approval) bool {
		return a.Tool == bot.AskTool && a.State == earshot.ApprovalAgreed && string(a.By) == m.user && a.Decided.TS() == m.ts
	})
}

// callOf names a call by its tool and the SHA-256 of its arguments.
func callOf(tool, sum string) string { return tool + " " + sum }
