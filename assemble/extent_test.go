package assemble_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

func TestExtentOfAMessage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		kind  earshot.ChannelKind
		m     earshot.Message
		want  assemble.Extent
		holds []string // of the messages below
	}{
		{"a reply in a thread: the thread", earshot.KindChannel, earshot.Message{ID: "r2", Thread: "r"}, assemble.Extent{Thread: "r"}, []string{"r", "r1"}},
		{"a message at the top level of a channel: the thread that it would begin", earshot.KindChannel, earshot.Message{ID: "r"}, assemble.Extent{Thread: "r"}, []string{"r", "r1"}},
		{"a root that names itself as its thread: the same", earshot.KindChannel, earshot.Message{ID: "r", Thread: "r"}, assemble.Extent{Thread: "r"}, []string{"r", "r1"}},
		{"a message at the top level of a DM: the top level", earshot.KindDM, earshot.Message{ID: "x"}, assemble.Extent{TopLevel: true}, []string{"r", "a"}},
		{"a reply in a thread of a DM: the thread", earshot.KindDM, earshot.Message{ID: "r2", Thread: "r"}, assemble.Extent{Thread: "r"}, []string{"r", "r1"}},
		{"a reply by reference: its tree", earshot.KindChannel, earshot.Message{ID: "x", ReplyTo: "a"}, assemble.Extent{Replies: true}, nil},
		{"a reply by reference in a DM: the top level", earshot.KindDM, earshot.Message{ID: "x", ReplyTo: "a"}, assemble.Extent{TopLevel: true}, []string{"r", "a"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := assemble.ExtentOf(c.kind, &c.m)
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			var holds []string
			for _, m := range []earshot.Message{{ID: "r"}, {ID: "r1", Thread: "r"}, {ID: "a"}} {
				if got.Holds(&m) {
					holds = append(holds, string(m.ID))
				}
			}
			if diff := cmp.Diff(holds, c.holds); diff != "" {
				t.Errorf("it holds (-got +want):\n%s", diff)
			}
		})
	}
}
