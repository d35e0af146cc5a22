package search

import (
	"context"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store"
)

// ones is an encoder to which everything means the same.
type ones struct{}

func (ones) Name() string { return "ones" }

func (ones) Encode(_ context.Context, texts []string, _ bool) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i := range out {
		out[i] = []float32{1, 1}
	}
	return out, nil
}

// In memory, too, nothing that was made of a text outlives its message.
func TestADeletedMessageLeavesNoSketch(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	scope := earshot.Scope{Platform: earshot.Local, Workspace: "w", Channel: "C1"}
	s := New(st, &Options{Meaning: &Meaning{Encoder: ones{}, Store: st}})
	sketches := func(deleted bool) int {
		for _, id := range []earshot.MessageID{"a", "b"} {
			m := earshot.Message{ID: id, Time: 1, Author: earshot.Author{ID: "U1"}, Text: "hello " + string(id), Deleted: deleted && id == "a"}
			if _, err := st.Record(t.Context(), scope, m); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Fill(t.Context(), scope, func(int) {}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Search(t.Context(), scope, Query{Text: "hello"}); err != nil {
			t.Fatal(err)
		}
		return s.channel(scope).sketches.Len()
	}
	if before, after := sketches(false), sketches(true); before != 2 || after != 1 {
		t.Errorf("%d sketches, and %d after a deletion; want 2 and 1", before, after)
	}
}
