package eval_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/internal/eval/chats"
)

func retrieve(t *testing.T, o *eval.RetrievalOptions, tasks ...chats.Task) []eval.Answer {
	t.Helper()
	answers, err := eval.Retrieve(t.Context(), tasks, o)
	if err != nil {
		t.Fatal(err)
	}
	return answers
}

func TestOnlyWhatIsOlderInItsOwnConversationIsFound(t *testing.T) {
	t.Parallel()
	harbour := talk("harbour", "the crane is broken", "which crane?", "the yellow crane", "the crane works again", "crane, crane, crane")
	other := talk("office", "the crane in the office is a plant")
	answers := retrieve(t, nil,
		chats.Task{Conversation: harbour, Queries: []chats.Query{asked(2, "crane", 0, "m0"), asked(0, "crane", 3, "m0"), asked(3, "crane", 9, "m0")}},
		chats.Task{Conversation: other, Queries: []chats.Query{asked(1, "crane", 9, "m0")}})
	var got []string
	for i, a := range answers {
		if a.Query.Number != i {
			t.Errorf("answer %d is to query %d", i, a.Query.Number)
		}
		ids := map[earshot.MessageID]bool{}
		for _, id := range a.IDs {
			ids[id] = true
		}
		got = append(got, fmt.Sprint(len(a.IDs), ids["m3"], ids["m4"]))
	}
	want := []string{"3 false false", "1 false false", "0 false false", "5 true true"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("hits (-got +want):\n%s", diff)
	}
}

// TestWhatIsSaidLaterChangesNothing asks with and without what is said from the
// question's moment on: a statistic that knew of it would rank otherwise.
func TestWhatIsSaidLaterChangesNothing(t *testing.T) {
	t.Parallel()
	var texts []string
	for i := range 60 {
		texts = append(texts, fmt.Sprintf("%s %s berth %d", []string{"crane", "rope", "tide"}[i%3], strings.Repeat("calm ", i%4), i%7))
	}
	later := append(append([]string{}, texts...), strings.Split(strings.Repeat("crane crane tide,", 50), ",")...)
	q := asked(0, "the crane at the tide", len(texts), "m3")
	with := retrieve(t, nil, chats.Task{Conversation: talk("c", later...), Queries: []chats.Query{q}})
	without := retrieve(t, nil, chats.Task{Conversation: talk("c", texts...), Queries: []chats.Query{q}})
	if diff := cmp.Diff(with[0].IDs, without[0].IDs); diff != "" || len(with[0].IDs) < 20 {
		t.Errorf("%d hits (-with what came later +without):\n%s", len(with[0].IDs), diff)
	}
}

func TestTheRunHasALineForEachQuery(t *testing.T) {
	t.Parallel()
	queries := []chats.Query{asked(0, "crane", 2), asked(2, "crane", 2), asked(3, "crane", 2)}
	task := chats.Task{Conversation: talk("c", "a crane", "the crane crane"), Queries: queries[:2]}
	write := func() string {
		var b strings.Builder
		if err := eval.WriteAnswers(queries, retrieve(t, &eval.RetrievalOptions{Limit: 1}, task), json.NewEncoder(&b).Encode); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	got := write()
	if again := write(); again != got {
		t.Errorf("another run differs: %s", again)
	}
	var lines []struct {
		Q   int
		IDs []string
	}
	for line := range strings.Lines(got) {
		if strings.Contains(line, "null") {
			t.Errorf("null in %s", line)
		}
		lines = append(lines, struct {
			Q   int
			IDs []string
		}{})
		if err := json.Unmarshal([]byte(line), &lines[len(lines)-1]); err != nil {
			t.Fatal(err)
		}
	}
	if len(lines) != 3 || lines[0].Q != 0 || lines[1].Q != 2 || lines[2].Q != 3 {
		t.Fatalf("lines: %s", got)
	}
	if len(lines[0].IDs) != 1 || len(lines[1].IDs) != 1 || len(lines[2].IDs) != 0 {
		t.Errorf("hits: %s", got)
	}
}

// TestTheMeasures compares with figures that were worked out by hand: three
// messages, weeks apart, with three, two and one of the question's words.
func TestTheMeasures(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("and so on ", 1500) // 4,500 tokens and more
	c := talk("c", "crane "+long, "no", "crane rope tide", "no", "crane rope")
	for i := range c.Messages {
		c.Messages[i].Time = start + earshot.Time(i)*30*24*60*minute
	}
	const when = 400 * 24 * 60 // minutes
	section := assemble.Section{Messages: 1, Tokens: 100}
	answers := retrieve(t, &eval.RetrievalOptions{Section: &section},
		chats.Task{Source: "a", Conversation: c, Queries: []chats.Query{asked(0, "crane rope tide", when, "m0", "m4"), asked(1, "crane", when, "gone"), asked(2, "crane", when)}})
	if got := answers[0].IDs; len(got) != 3 {
		t.Fatalf("found %v", got)
	}
	found := map[earshot.MessageID]int{}
	for i, id := range answers[0].IDs {
		found[id] = i + 1
	}
	if found["m2"] != 1 || found["m4"] != 2 || found["m0"] != 3 {
		t.Fatalf("another order than the measures are worked out for: %v", answers[0].IDs)
	}
	zero := 0.0
	want := eval.Figures{RecallAt10: 1, HitAt10: 1, RecallAt50: 1, MRR: 0.5, RecallIn4000: 0.5, RecallIn8000: 1, RecallInSection: &zero}
	if diff := cmp.Diff(answers[0].Figures, want); diff != "" {
		t.Errorf("figures (-got +want):\n%s", diff)
	}
	s := eval.Summarise(answers)
	half := eval.Group{Name: "all", Queries: 2, Gold: 3,
		Figures: eval.Figures{RecallAt10: 0.5, HitAt10: 0.5, RecallAt50: 0.5, MRR: 0.25, RecallIn4000: 0.25, RecallIn8000: 0.5, RecallInSection: &zero}}
	if diff := cmp.Diff(s.Overall, half); diff != "" {
		t.Errorf("overall (-got +want):\n%s", diff)
	}
	if len(s.BySource) != 1 || s.BySource[0].Name != "a" || len(s.ByCategory) != 1 || s.ByCategory[0].Name != "fact" || s.ByCategory[0].Queries != 2 {
		t.Errorf("groups: %+v", s)
	}
}

func TestAskingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := eval.Retrieve(ctx, []chats.Task{{Conversation: talk("c", "x"), Queries: []chats.Query{asked(0, "x", 2)}}}, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
