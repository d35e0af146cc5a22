package explain_test

import (
	"fmt"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

func TestTheSequenceIsThatOfTheNewestChange(t *testing.T) {
	t.Parallel()
	st, s := talk(t)
	everybody := access.Principal{ID: "local:test", Kind: access.Local}
	// Edits of one message leave gaps: its earlier sequences are nobody's any more.
	for n := range 20 {
		m := earshot.Message{ID: "m0", Time: 10e6, Author: alice, Text: fmt.Sprint("edit ", n), Edited: earshot.Time(100e6 + n)}
		out, err := st.Record(t.Context(), channel.Scope(), m)
		if err != nil {
			t.Fatal(err)
		}
		want := out[0].Seq
		for since := range want + 1 {
			if got, err := s.Sequence(t.Context(), everybody, channel, since); err != nil || got != want {
				t.Fatalf("after edit %d, since %d: got %d, %v, want %d", n, since, got, err, want)
			}
		}
	}
	empty := channel
	empty.ID = "empty"
	if got, err := s.Sequence(t.Context(), everybody, empty, 0); err != nil || got != 0 {
		t.Errorf("nothing stored: got %d, %v", got, err)
	}
}
