package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/llm/llmtest"
	"github.com/earshot-ai/earshot/tokens"
)

func o200k(t *testing.T) assemble.Counter {
	t.Helper()
	c, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func measure(t *testing.T, o *eval.ContextOptions, tasks ...chats.Task) []eval.ContextRow {
	t.Helper()
	rows, err := eval.Context(t.Context(), tasks, o200k(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// harbour is talk of thirty lines in which line 3 tells where the crane's key
// is; from line 20 on everybody says LATER.
func harbour() chats.Conversation {
	texts := make([]string, 30)
	for i := range texts {
		texts[i] = fmt.Sprintf("line %d about ropes and the tide", i)
		if i >= 20 {
			texts[i] = fmt.Sprintf("LATER %d the crane key", i)
		}
	}
	texts[3] = "the crane key hangs behind the door"
	return talk("harbour", texts...)
}

// TestNoPromptShowsWhatIsSaidLaterOrWasAskedBefore reads every prompt that any
// policy or peer makes, as a model gets it.
func TestNoPromptShowsWhatIsSaidLaterOrWasAskedBefore(t *testing.T) {
	t.Parallel()
	queries := []chats.Query{asked(0, "crane key FIRST", 20, "m3"), asked(1, "crane key SECOND", 20, "m3"), asked(2, "crane key THIRD", 25, "m3")}
	var prompts []string
	var steps []llmtest.Step
	o := &eval.ContextOptions{Tokens: []int{300, 4000}}
	o.Policies = assemble.Policies()
	answers := llmtest.New()
	for range 3 * 2 * (len(o.Policies) + 4) {
		steps = append(steps, llmtest.Do(func(r llm.Request) (llm.Response, error) {
			var b strings.Builder
			for _, m := range r.Messages {
				for _, p := range m.Parts {
					b.WriteString(p.Text)
				}
			}
			prompts = append(prompts, b.String())
			return llm.Response{Parts: []llm.Part{llm.Text("behind the door")}}, nil
		}))
	}
	answers.Then(steps...)
	o.Judge = &eval.Judge{Answers: answers, Judges: llmtest.New(saying(len(steps), "RIGHT")...)}
	measure(t, o, chats.Task{Conversation: harbour(), Queries: queries})
	if len(prompts) != len(steps) {
		t.Fatalf("%d prompts, want %d", len(prompts), len(steps))
	}
	each := len(prompts) / 3
	evidence := 0
	for i, p := range prompts {
		own := []string{"FIRST", "SECOND", "THIRD"}[i/each]
		for _, mark := range []string{"FIRST", "SECOND", "THIRD"} {
			if has := strings.Contains(p, mark); has != (mark == own) {
				t.Errorf("prompt %d, question %s, holds %s: %t\n%s", i, own, mark, has, p)
			}
		}
		for n := 20; n < 30; n++ {
			if strings.Contains(p, fmt.Sprintf("LATER %d ", n)) && (own != "THIRD" || n >= 25) {
				t.Errorf("prompt %d of %s shows what was said later: LATER %d", i, own, n)
			}
		}
		if strings.Contains(p, "behind the door") {
			evidence++
		}
	}
	if evidence < 10 {
		t.Errorf("only %d of %d prompts hold the evidence: they cannot show much at all", evidence, len(prompts))
	}
}

// saying is n answers of one text.
func saying(n int, text string) []llmtest.Step {
	steps := make([]llmtest.Step, n)
	for i := range steps {
		steps[i] = llmtest.Say(text)
	}
	return steps
}

// TestEvidenceIsCounted compares with what was worked out by hand: of 20 lines
// that are older all fit 4,000 tokens, and the newest or the oldest few fit 60.
func TestEvidenceIsCounted(t *testing.T) {
	t.Parallel()
	task := chats.Task{Source: "quay", Conversation: harbour(), Queries: []chats.Query{
		asked(0, "where is the crane key?", 20, "m3"), asked(1, "ropes?", 20, "m0", "m19"), asked(2, "without gold", 20), asked(3, "gone?", 20, "nowhere"),
	}}
	standard := assemble.Standard()
	rows := measure(t, &eval.ContextOptions{Policies: []assemble.Policy{standard}, Tokens: []int{60, 4000}}, task)
	type shown struct {
		Policy string
		Tokens int
		Gold   string
		All    string
	}
	var got []shown
	for _, r := range rows {
		got = append(got, shown{r.Policy, r.Tokens, fmt.Sprintf("%.3f", 3*r.GoldShown), fmt.Sprintf("%.0f", 3*r.AllShown)})
		if r.Queries != 3 || r.Gold != 4 || r.MeanTokens <= 0 || r.MeanTokens > float64(r.Tokens) && r.Kind == eval.KindPeer {
			t.Errorf("%+v", r)
		}
		if len(r.BySource) != 1 || r.BySource[0].Name != "quay" || r.BySource[0].GoldShown != r.GoldShown || r.BySource[0].AllShown != r.AllShown {
			t.Errorf("%s: by source %+v", r.Policy, r.BySource)
		}
	}
	want := []shown{
		{"standard", 4000, "2.000", "2"},
		{"last-n", 60, "0.500", "0"}, {"last-n", 4000, "2.000", "2"},
		{"first-page", 60, "1.500", "1"}, {"first-page", 4000, "2.000", "2"},
		{"substring", 60, "1.500", "1"}, {"substring", 4000, "2.000", "2"},
		{"fts", 60, "1.500", "1"}, {"fts", 4000, "2.000", "2"},
	}
	if diff := cmp.Diff(got[1:], want); diff != "" {
		t.Errorf("(-got +want):\n%s", diff)
	}
	if again := measure(t, &eval.ContextOptions{Policies: []assemble.Policy{standard}, Tokens: []int{60, 4000}}, task); cmp.Diff(again, rows) != "" {
		t.Errorf("another run differs:\n%s", cmp.Diff(again, rows))
	}
}

func TestWhatIsCutIsCountedApart(t *testing.T) {
	t.Parallel()
	c := talk("c", "first", "the plan: "+strings.Repeat("paint a berth, ", 400)+"done", "last")
	standard := assemble.Standard()
	rows := measure(t, &eval.ContextOptions{Policies: []assemble.Policy{standard}, Tokens: []int{800}, NoPeers: true},
		chats.Task{Conversation: c, Queries: []chats.Query{asked(0, "what is the plan?", 3, "m1", "m2")}})
	if r := rows[0]; len(rows) != 1 || r.GoldShown != 0.5 || r.GoldCut != 0.5 || r.AllShown != 0 {
		t.Errorf("got %+v", rows)
	}
}

// TestAnswersAreJudged scripts a model that answers and one that judges: right,
// wrong, and something that is neither.
func TestAnswersAreJudged(t *testing.T) {
	t.Parallel()
	answers := llmtest.New(llmtest.Say("Behind the door."), llmtest.Say("RIGHT, I would say."), llmtest.Say("I do not know."))
	judges := llmtest.New(llmtest.Say("**Right.**"), llmtest.Say("WRONG"), llmtest.Say("Who can tell?"))
	o := &eval.ContextOptions{Policies: []assemble.Policy{assemble.Standard()}, Tokens: []int{2000}, NoPeers: true, Judge: &eval.Judge{Answers: answers, Judges: judges}}
	if n := o.Calls(3); n != 6 {
		t.Errorf("said to be asked %d times", n)
	}
	q := func(n int) chats.Query { return asked(n, "where is the crane key?", 20, "m3") }
	rows := measure(t, o, chats.Task{Conversation: harbour(), Queries: []chats.Query{q(0), q(1), q(2)}})
	if r := rows[0]; r.Right == nil || *r.Right < 0.33 || *r.Right > 0.34 || r.Unclear != 1 {
		t.Errorf("got %+v", r)
	}
	for i, r := range judges.Requests() {
		text := r.Messages[0].Parts[0].Text
		if !strings.Contains(text, `"evidence":["ann: the crane key hangs behind the door"]`) || !strings.Contains(text, "where is the crane key?") {
			t.Errorf("the judge is given: %s", text)
		}
		if said := []string{"Behind the door.", "RIGHT, I would say.", "I do not know."}[i]; !strings.Contains(text, `"answer":"`+said) {
			t.Errorf("the judge is given another answer: %s", text)
		}
	}
}
