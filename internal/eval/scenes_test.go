package eval_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/docs"
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/tokens"
)

func TestTheGuideHasTwentySixScenes(t *testing.T) {
	t.Parallel()
	list, err := eval.ReadScenes(docs.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	needs := 0
	for i, s := range list {
		needs += len(s.Needs)
		if s.Number != i+1 || s.Channel == "" || s.Shows == "" || s.Question == "" {
			t.Errorf("row %d: %+v", i+1, s)
		}
	}
	if len(list) != 26 || needs != 58 || list[1].Follows != list[0].Anchor || list[2].Follows != "" {
		t.Errorf("%d scenes, %d needs, scene 2 follows %q", len(list), needs, list[1].Follows)
	}
}

func TestAFollowUpNeedsItsScene(t *testing.T) {
	t.Parallel()
	row := "| 2 | more (`--follow-up-of` 1773154325.646159) | deploys | 1773155420.227649 | and now? | |\n"
	if _, err := eval.ReadScenes(row); err == nil || !strings.Contains(err.Error(), "no scene before it") {
		t.Errorf("got %v", err)
	}
	if _, err := eval.ReadScenes("no table"); err == nil {
		t.Error("a page without scenes is read")
	}
}

// TestASceneSaysWhatIsShownCutAndMissing builds two scenes: a thread that is
// asked about, and its follow-up, which needs what the first turn has shown and
// what was said since.
func TestASceneSaysWhatIsShownCutAndMissing(t *testing.T) {
	t.Parallel()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	channel := earshot.Channel{Platform: earshot.Slack, Workspace: "T1", ID: "C1", Name: "quay", Kind: earshot.KindChannel}
	if err := st.PutChannel(t.Context(), channel); err != nil {
		t.Fatal(err)
	}
	root := earshot.MessageID("1772400000.000001")
	say := func(id earshot.MessageID, author, text string, thread earshot.MessageID) earshot.Message {
		at, err := earshot.ParseTime(string(id))
		if err != nil {
			t.Fatal(err)
		}
		kind := earshot.Human
		if author == "U0EARSHOT" {
			kind = earshot.Bot
		}
		return earshot.Message{ID: id, Time: at, Author: earshot.Author{ID: earshot.AuthorID(author), Name: author, Kind: kind}, Text: text, Thread: thread}
	}
	_, err = st.Record(t.Context(), channel.Scope(),
		say("1772300000.000001", "U1", "the old crane was sold", ""),
		say(root, "U1", "the new crane arrives on Monday", ""),
		say("1772400060.000001", "U2", strings.Repeat("it needs a permit, ", 900)+"says the harbour master", root),
		say("1772400120.000001", "U1", "<@U0EARSHOT> when?", root),
		say("1772400180.000001", "U0EARSHOT", "On Monday.", root),
		say("1772400240.000001", "U2", "make it Tuesday", root),
		say("1772400300.000001", "U1", "<@U0EARSHOT> and now?", root))
	if err != nil {
		t.Fatal(err)
	}
	counter, err := tokens.For("")
	if err != nil {
		t.Fatal(err)
	}
	scenes := []eval.Scene{
		{Number: 1, Channel: "quay", Anchor: "1772400120.000001", Needs: []earshot.MessageID{root, "1772400060.000001", "1772300000.000001", "1772299999.000001"}},
		{Number: 2, Channel: "quay", Anchor: "1772400300.000001", Follows: "1772400120.000001", Needs: []earshot.MessageID{root, "1772400240.000001"}},
	}
	delta, _ := assemble.ByName("delta")
	for i := range delta.First {
		if delta.First[i].Section == assemble.Thread {
			delta.First[i].Tokens = 500
		}
	}
	got, err := eval.RunScenes(t.Context(), st, scenes, delta, counter, nil)
	if err != nil {
		t.Fatal(err)
	}
	type outcome struct {
		Shown   int
		Cut     []earshot.MessageID
		Missing []eval.MissingMessage
	}
	want := []outcome{
		{2, []earshot.MessageID{"1772400060.000001"}, []eval.MissingMessage{{ID: "1772300000.000001", Reason: "not read"}, {ID: "1772299999.000001", Reason: "not read"}}},
		{2, []earshot.MessageID{}, []eval.MissingMessage{}},
	}
	for i, x := range got {
		if diff := cmp.Diff(outcome{x.Shown, x.Cut, x.Missing}, want[i]); diff != "" {
			t.Errorf("scene %d (-got +want):\n%s", x.Scene, diff)
		}
	}
	sum := eval.Total(got)
	if sum.Scenes != 2 || sum.Whole != 1 || sum.Needed != 6 || sum.Shown != 4 || sum.MeanTokens != float64(got[0].Tokens+got[1].Tokens)/2 || got[0].Tokens < 300 {
		t.Errorf("total %+v of %d and %d tokens", sum, got[0].Tokens, got[1].Tokens)
	}
}
