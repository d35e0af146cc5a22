package bot_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
)

// A taskAgent begins a task for each request, and fails or hangs until it is told to answer.
type taskAgent struct {
	steps    []string // "hang", "away", "no", or an answer
	tasks    []string // that it was asked to take up again
	unwanted []bool   // of those that hung: whether the answer was not wanted any more
}

func (a *taskAgent) Generate(ctx context.Context, r llm.Request, stream func(llm.Event)) (llm.Response, error) {
	step := a.steps[0]
	a.steps = a.steps[1:]
	a.tasks = append(a.tasks, r.Turn.Task)
	if r.Turn.Task == "" {
		stream(llm.Event{Task: "t1"})
	}
	switch step {
	case "hang":
		<-ctx.Done()
		a.unwanted = append(a.unwanted, errors.Is(context.Cause(ctx), llm.ErrUnwanted))
		return llm.Response{}, ctx.Err()
	case "away":
		return llm.Response{}, &llm.Error{Provider: "agent", Message: "away", Retryable: true}
	case "no":
		return llm.Response{}, &llm.Error{Provider: "agent", Message: "no"}
	}
	stream(llm.Event{Text: step})
	return llm.Response{Parts: []llm.Part{llm.Text(step)}, Stop: llm.StopEnd}, nil
}

// What an agent calls its work comes back to it after a restart and after an outage, and no more
// once an operator has opened the turn again.
func TestATaskComesBackToItsAgent(t *testing.T) {
	t.Parallel()
	for name, placeholder := range map[string]string{"without a placeholder": "", "with one": "…"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &taskAgent{steps: []string{"hang", "away", "no", "Anew."}}
			withAgent(t, func(o *bot.Options) { o.Agent, o.Placeholder = a, placeholder }, func(w *world, _ *llmtest.Model) {
				out := w.say(general, alice, "m1", "<@U0BOT> what broke?")
				w.rest(time.Second)
				w.stop()
				w.start()
				w.rest(time.Minute)
				same(t, "turns", w.turns(), []string{"m1 failed agent: no"})
				if err := w.store.Reopen(t.Context(), out.Turn); err != nil {
					t.Fatal(err)
				}
				w.rest(time.Minute)
				same(t, "turns", w.turns(), []string{"m1 done"})
				same(t, "tasks", a.tasks, []string{"", "t1", "t1", ""})
				same(t, "unwanted", a.unwanted, []bool{false})
				steps, err := w.store.Steps(t.Context(), out.Turn)
				if err != nil {
					t.Fatal(err)
				}
				journal, err := bot.ReadJournal(steps)
				if err != nil || journal[0].Task != "t1" {
					t.Errorf("the journal is %+v, %v", journal, err)
				}
			})
		})
	}
}

// An agent hears that its answer is not wanted any more where somebody stops it, deletes the
// question, or it takes too long.
func TestAnAgentHearsThatItsAnswerIsNotWanted(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(w *world){
		"stopped":  func(w *world) { w.choose(w.board.asks()[0], "stop", alice) },
		"deleted":  func(w *world) { w.remove("m1", "") },
		"too long": func(w *world) { w.rest(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := &taskAgent{steps: []string{"hang"}}
			withAgent(t, func(o *bot.Options) { o.Agent, o.Placeholder = a, "…" }, func(w *world, _ *llmtest.Model) {
				w.say(general, alice, "m1", "<@U0BOT> what broke?")
				w.rest(time.Second)
				end(w)
				w.rest(time.Minute)
				same(t, "unwanted", a.unwanted, []bool{true})
			})
		})
	}
}
