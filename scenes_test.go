package earshot_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/archive"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/docs"
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/testdata"
	"github.com/earshot-ai/earshot/tokens"
)

// bundled imports the bundled workspace as the program does.
func bundled(t *testing.T) earshot.Store {
	t.Helper()
	st, err := store.Open(t.Context(), "memory:", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	folder, err := fs.Sub(testdata.Workspace, "workspace")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := archive.ImportSlackFS(t.Context(), st, folder, "workspace", nil); err != nil {
		t.Fatal(err)
	}
	return st
}

// TestEveryNeededMessageIsInStandardsPrompt assembles each scene's first turn,
// and scene 2 as the follow-up of scene 1, and looks for the messages without
// which the answer cannot be right, as `earshot-eval scenes` does.
func TestEveryNeededMessageIsInStandardsPrompt(t *testing.T) {
	t.Parallel()
	st := bundled(t)
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	scenes, err := eval.ReadScenes(docs.Workspace)
	if err != nil {
		t.Fatal(err)
	}
	list, err := eval.RunScenes(t.Context(), st, scenes, assemble.Standard(), counter, search.New(st, nil))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nscene\tchannel\tneeds\tshown\ttokens besides the guide\tcut\tnot shown")
	for _, x := range list {
		for _, m := range x.Missing {
			t.Errorf("scene %d: %s is needed and not shown: %s", x.Scene, m.ID, m.Reason)
		}
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%d\t%v\t%v\n", x.Scene, x.Channel, x.Needed, x.Shown, x.Tokens, x.Cut, x.Missing)
	}
	sum := eval.Total(list)
	fmt.Fprintf(w, "%d\tscenes, %d whole\t%d\t%d\t%.0f mean\t\t\n", sum.Scenes, sum.Whole, sum.Needed, sum.Shown, sum.MeanTokens)
	w.Flush()
	t.Log(out.String())
	if sum.Needed != 58 || sum.Scenes != 26 {
		t.Errorf("got %d needed messages of %d scenes, want 58 of 26", sum.Needed, sum.Scenes)
	}
	if sum.MeanTokens > 2600 {
		t.Errorf("a prompt has %.0f tokens besides the guide, want 2,600 at most", sum.MeanTokens)
	}
}
