package eval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/store"
)

// Chatter is the same each time, is said by those who speak in a channel, while they do,
// and has their words alone.
func TestChatterIsMadeOfWhatIsSaidInAStore(t *testing.T) {
	t.Parallel()
	quay := earshot.Channel{Platform: earshot.Local, Workspace: "w", ID: "quay", Name: "quay", Kind: earshot.KindChannel}
	chatter := func() []earshot.Message {
		st, err := store.Open(t.Context(), "memory:", nil)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		if err := st.PutChannel(t.Context(), quay); err != nil {
			t.Fatal(err)
		}
		for _, m := range talk("quay", "the crane is back", "the key <@U1|ann> is lost", "is the crane lost").Messages {
			if _, err := st.Record(t.Context(), quay.Scope(), m.Stored()); err != nil {
				t.Fatal(err)
			}
		}
		if err := eval.AddChatter(t.Context(), st, 50); err != nil {
			t.Fatal(err)
		}
		var out []earshot.Message
		for m, err := range st.Range(t.Context(), quay.Scope(), earshot.Whole(), earshot.Position{}, earshot.Position{}) {
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, m)
		}
		return out
	}
	list := chatter()
	if d := cmp.Diff(chatter(), list); d != "" {
		t.Errorf("chatter differs from time to time (-got +want)\n%s", d)
	}
	if len(list) != 53 || list[0].ID != "m0" {
		t.Errorf("%d messages, the first %s", len(list), list[0].ID)
	}
	for _, m := range list {
		if !strings.HasPrefix(string(m.ID), "chatter.") {
			continue
		}
		if m.Time > start+2*minute || !strings.Contains("ann ben cleo", m.Author.Name) || m.Text == "" {
			t.Errorf("chatter: %+v", m)
		}
		for _, w := range strings.Fields(m.Text) {
			if !strings.Contains("the crane is back key lost", w) {
				t.Errorf("nobody said %q", w)
			}
		}
	}
}
