package daemon

import (
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/erasure"
	"github.com/earshot-ai/earshot/store"
)

func TestCachesAreClearedAfterAnErasureByAnotherProcess(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	c := &caches{}
	cleared := 0
	c.add(func() { cleared++ })
	e := &eraser{store: st, clear: c.clear}
	look := func(what string, want int) {
		t.Helper()
		if err := e.clearCaches(t.Context()); err != nil {
			t.Fatal(err)
		}
		if cleared != want {
			t.Errorf("%s: cleared %d times, want %d", what, cleared, want)
		}
	}
	begin := func(user earshot.AuthorID) earshot.ErasureID {
		t.Helper()
		x, err := st.BeginErasure(t.Context(), earshot.ErasureOf{Platform: earshot.Slack, Workspace: "T1", User: user})
		if err != nil {
			t.Fatal(err)
		}
		return x.ID
	}
	end := func(id earshot.ErasureID) {
		t.Helper()
		if _, err := erasure.Run(t.Context(), st, id, nil); err != nil {
			t.Fatal(err)
		}
	}
	look("at the start", 0)
	first := begin("U1")
	look("one has begun", 1)
	look("it goes on", 1)
	end(first)
	look("it has ended", 2)
	look("nothing has happened", 2)
	end(begin("U2"))
	look("another began and ended between two looks", 3)
}
