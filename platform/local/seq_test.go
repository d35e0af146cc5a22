package local_test

import (
	"testing"

	"github.com/earshot-ai/earshot/platform/local"
)

// The first answer to a POST once had seq 0, and an edit's the old one: a
// client that went on from there read the channel again from its beginning.
func TestAnAnswerToAChangeHasTheStoredSequence(t *testing.T) {
	t.Parallel()
	w := open(t)
	var told []int64
	stop := w.chat.Watch(func(u local.Update) { told = append(told, u.Message.Seq) })
	defer stop()
	first := say(t, w, local.NewMessage{As: "bob", Text: "one", Client: "c1"})
	second := say(t, w, local.NewMessage{As: "bob", Text: "two"})
	edited, err := w.chat.Edit(t.Context(), "general", first.Message.ID, "bob", "one, edited")
	if err != nil {
		t.Fatal(err)
	}
	again := say(t, w, local.NewMessage{As: "bob", Text: "one", Client: "c1"})
	for i, h := range []local.ActionResult{first, second, edited, again} {
		want := []int64{1, 2, 3, 3}[i]
		if h.Message.Seq != want {
			t.Errorf("answer %d: got sequence %d, want %d", i, h.Message.Seq, want)
		}
	}
	if len(told) != 3 || told[0] != 1 || told[1] != 2 || told[2] != 3 {
		t.Errorf("watchers were told %v, want 1, 2, 3", told)
	}
}
