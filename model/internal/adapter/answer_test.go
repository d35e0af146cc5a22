package adapter_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/model/internal/adapter"
)

func TestFinish(t *testing.T) {
	t.Parallel()
	text, call := llm.Text("t"), llm.Calling(llm.Call{ID: "c", Name: "n"})
	for _, c := range []struct {
		stop  llm.Stop
		parts []llm.Part
		want  llm.Stop
		left  []llm.Part
	}{
		{llm.StopEnd, []llm.Part{text}, llm.StopEnd, []llm.Part{text}},
		{llm.StopEnd, []llm.Part{text, call}, llm.StopCalls, []llm.Part{text, call}},
		{llm.StopCalls, []llm.Part{text, call}, llm.StopCalls, []llm.Part{text, call}},
		{llm.StopCalls, []llm.Part{text}, llm.StopEnd, []llm.Part{text}},
		{llm.StopLength, []llm.Part{text, call}, llm.StopLength, []llm.Part{text}},
		{llm.StopRefused, []llm.Part{call, text}, llm.StopRefused, []llm.Part{text}},
	} {
		got := adapter.Finish(llm.Response{Stop: c.stop, Parts: c.parts})
		if diff := cmp.Diff(got.Parts, c.left); diff != "" || got.Stop != c.want {
			t.Errorf("%s with %d parts: got %s, want %s; -got +want\n%s", c.stop, len(c.parts), got.Stop, c.want, diff)
		}
	}
}

func TestIDsAreUniqueInARequest(t *testing.T) {
	t.Parallel()
	r := llm.Request{Messages: []llm.Message{{Role: earshot.Assistant, Parts: []llm.Part{
		llm.Calling(llm.Call{ID: "a"}), llm.Calling(llm.Call{ID: "earshot_p_3"})}}}}
	for range 2 {
		ids := adapter.NewIDs("p", r)
		var got []string
		for _, id := range []string{"", "b", "a", "b", ""} {
			got = append(got, ids.Of(id))
		}
		if diff := cmp.Diff(got, []string{"earshot_p_4", "b", "earshot_p_5", "earshot_p_6", "earshot_p_7"}); diff != "" {
			t.Errorf("-got +want\n%s", diff)
		}
	}
}
