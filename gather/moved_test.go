package gather_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/pgtest"
	"github.com/earshot-ai/earshot/search"
)

// A channel that gets another id, under which messages were heard before the store was
// told so, is afterwards as if all had been heard under that id: the next turn of a
// conversation that began before, a new conversation, and search, whose index of the new
// id is in memory already.
func TestAChannelThatMovedOntoWhatWasHeardIsAsIfAllHadBeenHeardThere(t *testing.T) {
	t.Parallel()
	specs := map[string]func(t *testing.T) string{
		"memory":   func(*testing.T) string { return "memory:" },
		"sqlite":   func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "db") },
		"postgres": func(t *testing.T) string { return pgtest.Spec(t) },
	}
	for name, spec := range specs {
		for seed := range uint64(4) {
			for _, policy := range []string{"standard", "thread", "window", "transcript", "delta"} {
				if name != "memory" && (seed > 0 || policy != "standard" && policy != "delta") {
					continue
				}
				t.Run(fmt.Sprint(name, " ", policy, " ", seed), func(t *testing.T) {
					t.Parallel()
					playMove(t, open(t, spec(t)), open(t, "memory:"), policy, rand.New(rand.NewPCG(seed, 7)))
				})
			}
		}
	}
}

// playMove hears a talk under two ids in one store, and under one in the other.
func playMove(t *testing.T, moved, whole earshot.Store, policy string, rng *rand.Rand) {
	p, ok := assemble.ByName(policy)
	if !ok {
		t.Fatalf("there is no policy %q", policy)
	}
	was := general
	was.ID = "C0OLD"
	list := talk(rng, 80)
	begins, changes, both := 20+rng.IntN(10), 50, 45 // an answer, the other id, and from where on its history was read
	ask := func(n int, text string) earshot.MessageID {
		list[n].Author, list[n].Text, list[n].Thread, list[n].ReplyTo = earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}, text, "", ""
		return list[n].ID
	}
	first, last := ask(begins, "<@U0BOT> who looks at the migration?"), ask(79, "<@U0BOT> and the worker queue?")
	turn := func(st earshot.Store, c earshot.Channel, anchor earshot.MessageID, find gather.Finder) assemble.Result {
		t.Helper()
		id := earshot.ConversationID{Agent: "earshot", Scope: c.Scope(), Name: gather.TopLevel}
		if _, _, err := st.OpenConversation(t.Context(), id, ""); err != nil {
			t.Fatal(err)
		}
		_, res, err := gather.Turn(t.Context(), st, gather.Request{Channel: c, Anchor: anchor, Identity: self, Policy: p, Counter: counter(t), Conversation: id, Finder: find})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	answer := func(st earshot.Store, c earshot.Channel) {
		t.Helper()
		state := remember(p, first, turn(st, c, first, nil))
		if _, err := st.CommitTurn(t.Context(), earshot.ConversationID{Agent: "earshot", Scope: c.Scope(), Name: gather.TopLevel}, earshot.Turn{
			Answer: state.Turns[0], Policy: policy, Cursor: state.Cursor, Epoch: state.Epoch, Shown: state.Shown, Names: state.Names,
			Form: string(state.Form), Session: state.Session, Time: list[begins].Time,
		}); err != nil {
			t.Fatal(err)
		}
	}
	late := list[begins+3]
	late.Text, late.Edited = late.Text+" (edited)", list[changes].Time

	record(t, moved, was.Scope(), list[:begins+1]...)
	answer(moved, was)
	record(t, moved, was.Scope(), list[begins+1:changes]...)
	record(t, moved, general.Scope(), list[both:79]...)
	finder := search.New(moved, nil)
	found := func(f *search.Searcher) []earshot.MessageID {
		t.Helper()
		hits, err := f.Search(t.Context(), general.Scope(), search.Query{Text: "staging migration queue", Limit: 40})
		if err != nil {
			t.Fatal(err)
		}
		var out []earshot.MessageID
		for _, h := range hits {
			out = append(out, h.ID)
		}
		return out
	}
	if len(found(finder)) == 0 {
		t.Error("nothing is found under the new id before the move")
	}
	record(t, moved, general.Scope(), late, list[79])
	if err := moved.MoveChannel(t.Context(), was.Scope(), general.ID); err != nil {
		t.Fatal(err)
	}

	record(t, whole, general.Scope(), list[:begins+1]...)
	answer(whole, general)
	record(t, whole, general.Scope(), list[begins+1:79]...)
	record(t, whole, general.Scope(), late, list[79])

	if diff := cmp.Diff(found(finder), found(search.New(whole, nil))); diff != "" {
		t.Errorf("found (-moved +heard):\n%s", diff)
	}
	if got, want := turn(moved, general, last, finder), turn(whole, general, last, search.New(whole, nil)); len(want.Messages) == 0 {
		t.Error("the prompt is empty")
	} else if diff := cmp.Diff([]any{got.System, got.Messages, got.Ledger}, []any{want.System, want.Messages, want.Ledger}); diff != "" {
		t.Errorf("prompt and ledger (-moved +heard):\n%s", diff)
	}
}
