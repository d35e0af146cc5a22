package gather_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
)

var guild = earshot.Channel{Platform: earshot.Discord, Workspace: "G1", ID: "C9", Name: "dev", Kind: earshot.KindChannel}

// line is a message of the guild's channel, in the minute n.
func line(n int, id, replyTo earshot.MessageID) earshot.Message {
	return earshot.Message{
		ID: id, Time: earshot.Time(1_772_442_000_000_000 + int64(n)*60_000_000), ReplyTo: replyTo, Text: "said " + string(id),
		Author: earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human},
	}
}

// stores runs a test over each store that a laptop has.
func stores(t *testing.T, test func(t *testing.T, st earshot.Store)) {
	t.Helper()
	for _, kind := range []string{"memory", "sqlite"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			spec := "memory:"
			if kind == "sqlite" {
				spec = "sqlite:" + filepath.Join(t.TempDir(), "test.db")
			}
			test(t, open(t, spec))
		})
	}
}

func unknownOf(t *testing.T, st earshot.Store, anchor earshot.Message, p assemble.Policy, limit int) []gather.Reference {
	t.Helper()
	refs, err := gather.Unknown(t.Context(), st, guild, anchor, p, limit)
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

func TestUnknownFindsWhatTheStoreLacks(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, st earshot.Store) {
		inThread, forum := line(4, "m4", "gone2"), line(5, "m5", "")
		inThread.Thread, forum.Thread = "m1", "post"
		anchor := line(9, "m9", "m8")
		record(t, st, guild.Scope(),
			line(1, "m1", "old1"), line(2, "m2", "m1"), line(3, "m3", "m3"), inThread, forum,
			line(6, "m6", "old1"), line(7, "m7", "dead"), line(8, "m8", "old3"), anchor,
			earshot.Message{ID: "dead", Time: line(0, "", "").Time, Deleted: true})
		want := []gather.Reference{{ID: "old3"}, {ID: "old1"}, {ID: "post", Thread: "post", Root: true}, {ID: "gone2", Thread: "m1"}}
		if d := cmp.Diff(want, unknownOf(t, st, anchor, assemble.Standard(), 10)); d != "" {
			t.Errorf("-want +got:\n%s", d)
		}
		if got := unknownOf(t, st, anchor, assemble.Standard(), 2); !slices.Equal(got, want[:2]) {
			t.Errorf("with a limit of 2: %v", got)
		}
		delta, _ := assemble.ByName("delta")
		if got := unknownOf(t, st, anchor, delta, 10); !slices.Equal(got, want[:1]) {
			t.Errorf("a policy without a window looks at the chain alone, got %v", got)
		}
		// What was fetched leads further up; what is gone is not asked for again.
		record(t, st, guild.Scope(), line(0, "old3", "old4"), earshot.Message{ID: "old1", Time: line(0, "", "").Time, Deleted: true})
		want = append([]gather.Reference{{ID: "old4"}}, want[2:]...)
		if d := cmp.Diff(want, unknownOf(t, st, anchor, assemble.Standard(), 10)); d != "" {
			t.Errorf("called again, -want +got:\n%s", d)
		}
		anchor.Text = earshot.Isolation + anchor.Text
		if got := unknownOf(t, st, anchor, assemble.Standard(), 10); got != nil {
			t.Errorf("an isolated question needs %v", got)
		}
	})
}

func TestUnknownEndsInACircleOfReplies(t *testing.T) {
	t.Parallel()
	stores(t, func(t *testing.T, st earshot.Store) {
		record(t, st, guild.Scope(), line(1, "m1", "m2"), line(2, "m2", "m1"), line(3, "m3", "m2"))
		if got := unknownOf(t, st, line(4, "m4", "m3"), assemble.Standard(), 10); len(got) > 0 {
			t.Errorf("got %v", got)
		}
	})
}
