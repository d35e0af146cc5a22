package step_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/step"
	"github.com/earshot-ai/earshot/llm"
)

func TestAJournalIsRead(t *testing.T) {
	t.Parallel()
	got, err := step.Read([]earshot.Step{
		{N: 0, Kind: step.Files, Data: []byte(`[{"id":"F1","name":"a.png","message":"m1","why":"too large"}]`), Time: 1},
		{N: 1, Kind: step.Answer, Data: []byte(`{"stop":"tool","model":"m","parts":[],"usage":{"Input":3}}`), Time: 2},
		{N: 2, Kind: step.Results, Time: 3},
		{N: 3, Kind: step.Results, Data: []byte(`[{"call":"c1","name":"look","failed":true,"shows":["m2"]}]`), Time: 4},
		{N: 4, Kind: step.Failed, Data: []byte("the model said nothing"), Time: 5},
		{N: 5, Kind: step.Reopened, Time: 6},
		{N: 6, Kind: step.Task, Data: []byte(`{"key":"k","id":"t"}`), Time: 7},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []step.Entry{
		{N: 0, Kind: step.Files, Time: 1, Files: []step.File{{ID: "F1", Name: "a.png", Of: "m1", Why: "too large"}}},
		{N: 1, Kind: step.Answer, Time: 2, Answer: &llm.Response{Stop: "tool", Model: "m", Parts: []llm.Part{}, Usage: earshot.Usage{Input: 3}}},
		{N: 2, Kind: step.Results, Time: 3, Erased: true},
		{N: 3, Kind: step.Results, Time: 4, Results: []step.Result{{Result: llm.Result{Call: "c1", Name: "look", Failed: true}, Shows: []earshot.MessageID{"m2"}}}},
		{N: 4, Kind: step.Failed, Time: 5, Failed: "the model said nothing"},
		{N: 5, Kind: step.Reopened, Time: 6},
		{N: 6, Kind: step.Task, Time: 7, Task: &step.BegunTask{Key: "k", ID: "t"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the journal; -want +got\n%s", diff)
	}
	for name, s := range map[string]earshot.Step{"newer": {Kind: "newer", Data: []byte("{}")}, "damaged": {Kind: step.Answer, Data: []byte("{")}} {
		if _, err := step.Read([]earshot.Step{s}); err == nil {
			t.Errorf("a step that is %s is read", name)
		}
	}
}
