package contexts_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

var (
	ops  = earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "ops", Kind: earshot.KindChannel}
	said = earshot.Message{ID: "m1", Time: 1_772_442_000_000_000, Author: earshot.Author{ID: "U1", Name: "Alice"}, Text: "<@U0BOT> why is staging down?"}
	ask  = contexts.Request{Channel: ops, Agent: earshot.Identity{ID: "U0BOT", Name: "helper"}, Anchor: "m1"}
)

// maker returns one over a store with a question.
func maker(t *testing.T, o contexts.Options) (earshot.Store, *contexts.Maker) {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = st.Close() })
	if err := st.PutChannel(t.Context(), ops); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Record(t.Context(), ops.Scope(), said); err != nil {
		t.Fatal(err)
	}
	return st, contexts.New(st, search.New(st, nil), o)
}

func TestARequestsSettingsStandAboveTheMakers(t *testing.T) {
	t.Parallel()
	thread, _ := assemble.ByName("thread")
	_, m := maker(t, contexts.Options{Policy: thread, Instructions: "Be brief."})
	in, _, err := m.Make(t.Context(), ask)
	if err != nil || in.Policy.Name != "thread" || in.Instructions != "Be brief." || in.Budget.Tokens != m.Budget().Tokens {
		t.Errorf("the maker's own: %v %q %d, %v", in.Policy.Name, in.Instructions, in.Budget.Tokens, err)
	}
	window, _ := assemble.ByName("window")
	long, other := assemble.DefaultBudget(), ask
	long.Tokens = 12_345
	text := "Be long."
	other.Settings = contexts.Settings{Policy: &window, Budget: &long, Instructions: &text}
	in, _, err = m.Make(t.Context(), other)
	if err != nil || in.Policy.Name != "window" || in.Instructions != text || in.Budget.Tokens != 12_345 {
		t.Errorf("the request's: %v %q %d, %v", in.Policy.Name, in.Instructions, in.Budget.Tokens, err)
	}
}

func TestWhatCannotBeMadeIsToldAsWhatItIs(t *testing.T) {
	t.Parallel()
	st, m := maker(t, contexts.Options{})
	small, tight := assemble.DefaultBudget(), ask
	small.Limit = 1
	tight.Budget = &small
	if _, _, err := m.Make(t.Context(), tight); !errors.Is(err, contexts.OverLimit) {
		t.Errorf("a question that is too long: %v", err)
	}
	if _, err := st.Record(t.Context(), ops.Scope(), earshot.Message{ID: "m1", Time: said.Time, Deleted: true}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := m.Make(t.Context(), ask); !errors.Is(err, visible.Absent) {
		t.Errorf("a question that is deleted: %v", err)
	}
}

func TestAChannelIsHeldAsLongAsItIsTold(t *testing.T) {
	t.Parallel()
	_, m := maker(t, contexts.Options{AllowChannel: func(at earshot.Scope) (time.Duration, bool) { return time.Minute, at != ops.Scope() }})
	var busy *contexts.Busy
	if err := m.Hold(ops.Scope()); !errors.As(err, &busy) || busy.RetryAfter != time.Minute {
		t.Errorf("a busy channel: %v", err)
	}
	if err := m.Hold(earshot.Scope{Channel: "C2"}); err != nil {
		t.Errorf("another one: %v", err)
	}
}

func TestWorkWaitsForAFreePlaceOrForTheCaller(t *testing.T) {
	t.Parallel()
	_, m := maker(t, contexts.Options{})
	var free func()
	for range 8 * runtime.GOMAXPROCS(0) {
		done, err := m.Work(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		free = done
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Work(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("with all places taken: %v", err)
	}
	free()
	if _, err := m.Work(t.Context()); err != nil {
		t.Errorf("with a free place: %v", err)
	}
}
