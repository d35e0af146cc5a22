package inputref_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/inputref"
	"github.com/earshot-ai/earshot/tokens"
)

// A revised is a store that has one message in several revisions, newest last.
type revised struct {
	inputref.Store
	revisions []earshot.Message
}

func (s revised) ByID(context.Context, earshot.Scope, ...earshot.MessageID) ([]earshot.Message, error) {
	return s.revisions[len(s.revisions)-1:], nil
}

func (s revised) Revisions(context.Context, earshot.Scope, earshot.MessageID) ([]earshot.Message, error) {
	return s.revisions, nil
}

func TestLoadReturnsTheInputAsItWas(t *testing.T) {
	t.Parallel()
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	preview := earshot.SharedContent{ID: "x", Text: "a preview that came later"}
	said := earshot.Message{ID: "m1", Time: 1, Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}, Text: "hello"}
	edited := said
	edited.Text, edited.Edited = "goodbye", 2
	previewed := said
	previewed.Shared = []earshot.SharedContent{preview}
	in := assemble.Input{
		Policy: assemble.Standard(), Budget: assemble.DefaultBudget(), Counter: counter, Anchor: "m1", Messages: []earshot.Message{said},
		Channel: earshot.Channel{Platform: earshot.Local, Workspace: "T1", ID: "C1"}, Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"},
	}
	raw, err := inputref.Encode(in, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		revisions []earshot.Message
		changed   bool
	}{
		{"unchanged", []earshot.Message{said}, false},
		{"edited since", []earshot.Message{said, edited}, false},
		{"with a preview since", []earshot.Message{previewed}, false},
		{"deleted since", []earshot.Message{{ID: "m1", Time: 1, Deleted: true}}, true},
		{"without the revision", []earshot.Message{edited}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := inputref.Load(t.Context(), revised{revisions: c.revisions}, earshot.QueuedTurn{ID: 1, Input: raw})
			if errors.Is(err, inputref.ErrChanged) != c.changed || err != nil && !c.changed {
				t.Fatalf("error %v, want changed %v", err, c.changed)
			}
			if err != nil {
				return
			}
			m := got.Messages[0]
			m.Shared = nil
			if diff := cmp.Diff(said, m); diff != "" || len(got.Messages[0].Shared) != 0 {
				t.Errorf("message (-want +got):\n%s", diff)
			}
			want, err := assemble.Turn(in)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := assemble.Turn(got); err != nil || again.Hash != want.Hash {
				t.Errorf("another prompt: %v", err)
			}
		})
	}
}

func TestATurnWithoutInputHasChanged(t *testing.T) {
	t.Parallel()
	if _, err := inputref.Load(t.Context(), revised{}, earshot.QueuedTurn{ID: 1}); !errors.Is(err, inputref.ErrChanged) {
		t.Errorf("got %v, want ErrChanged", err)
	}
}

// TestLoadReturnsWhoseWordsWereInWhichLane: the rule, who was not on the list of who is
// answered, and the lanes of quotes, none of which the store keeps.
func TestLoadReturnsWhoseWordsWereInWhichLane(t *testing.T) {
	t.Parallel()
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	stored := earshot.Message{ID: "m1", Time: 1, Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}, Text: "hello",
		Shared: []earshot.SharedContent{{Kind: earshot.Forward, ID: "U9", Author: "Dana", Text: "drop it"}, {Kind: earshot.Link, Text: "x"}}}
	read := stored
	read.Author.NotAllowed = true
	read.Shared = []earshot.SharedContent{stored.Shared[0], stored.Shared[1]}
	read.Shared[0].Lane = earshot.LaneInert
	in := assemble.Input{
		Policy: assemble.Standard(), Budget: assemble.DefaultBudget(), Counter: counter, Anchor: "m1", Messages: []earshot.Message{read},
		Channel: earshot.Channel{Platform: earshot.Local, Workspace: "T1", ID: "C1"}, Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"},
		Trust: earshot.Trust{External: earshot.LaneInert, NotAllowed: earshot.LaneOut},
	}
	raw, err := inputref.Encode(in, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := inputref.Load(t.Context(), revised{revisions: []earshot.Message{stored}}, earshot.QueuedTurn{ID: 1, Input: raw})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in.Messages, got.Messages); diff != "" || got.Trust != in.Trust {
		t.Errorf("the rule %+v, messages (-want +got):\n%s", got.Trust, diff)
	}
	want, err := assemble.Turn(in)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := assemble.Turn(got); err != nil || again.Hash != want.Hash {
		t.Errorf("another prompt: %v", err)
	}
	if stored.Shared[0].Lane != "" {
		t.Error("what the store returned was changed")
	}
}
