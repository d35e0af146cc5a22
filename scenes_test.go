package earshot_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/archive"
	"github.com/earshot-ai/earshot/internal/gather"
	"github.com/earshot-ai/earshot/internal/searcher"
	"github.com/earshot-ai/earshot/internal/tokens"
	"github.com/earshot-ai/earshot/store"
	"github.com/earshot-ai/earshot/testdata"
)

// A scene is a row of docs/workspace.md.
type scene struct {
	number, channel string
	anchor          earshot.MessageID
	needs           []earshot.MessageID
}

func scenes(t *testing.T) []scene {
	t.Helper()
	_, rows := workspaceGuide(t)
	var out []scene
	for _, r := range rows {
		if len(r) != 6 || !slackTS.MatchString(r[3]) {
			continue
		}
		s := scene{number: r[0], channel: r[2], anchor: earshot.MessageID(r[3])}
		for _, ts := range slackTS.FindAllString(r[5], -1) {
			s.needs = append(s.needs, earshot.MessageID(ts))
		}
		out = append(out, s)
	}
	return out
}

// bundled imports the bundled workspace as the program does.
func bundled(t *testing.T) (earshot.Store, map[string]earshot.Channel) {
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
	list, err := st.Channels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	channels := map[string]earshot.Channel{}
	for _, c := range list {
		channels[c.Name], channels[string(c.ID)] = c.Channel, c.Channel
	}
	return st, channels
}

// after is what is remembered when a first turn got the answer that the export
// holds.
func after(t *testing.T, st earshot.Store, in assemble.Input, res assemble.Result) *assemble.Conversation {
	t.Helper()
	c := &assemble.Conversation{
		Cursor: res.Next.Cursor, Epoch: res.Next.Epoch, Shown: res.Next.Shown, Attached: res.Next.Attached, Names: res.Next.Names, Form: in.Policy.Frame,
	}
	anchor, err := st.Message(t.Context(), in.Channel.Scope(), in.Anchor)
	if err != nil {
		t.Fatal(err)
	}
	root := anchor.Root()
	if root == "" {
		root = anchor.ID
	}
	for m, err := range st.Range(t.Context(), in.Channel.Scope(), earshot.ThreadOf(root), anchor.Position(), earshot.Position{}) {
		if err != nil {
			t.Fatal(err)
		}
		if !in.Identity.Is(m.Author.ID) || m.ID == anchor.ID {
			continue
		}
		for _, x := range res.Messages {
			c.Session = append(c.Session, earshot.SessionEntry{Role: x.Role, Text: x.Text, Media: x.Media})
		}
		c.Session = append(c.Session, earshot.SessionEntry{Role: earshot.Assistant, Text: m.Text})
		c.Shown = append(slices.Clone(c.Shown), earshot.Shown{ID: m.ID, Revision: m.Edited})
		c.Turns = []earshot.Answer{{Anchor: anchor.ID, Replies: []earshot.MessageID{m.ID}}}
		return c
	}
	t.Fatalf("nobody answered %s", anchor.ID)
	return nil
}

// byRecall are the needed messages, by scene, that a first turn shows only
// where search finds them for the question: they stand further back in the
// channel than a window's tokens reach.
var byRecall = map[string][]earshot.MessageID{
	"5":  {"1772789405.246439"},
	"15": {"1773827821.233459", "1773828965.240469"},
}

// recalled reports what of a scene's needs a first turn does not show although
// search found it.
func recalled(t *testing.T, in assemble.Input, ids []earshot.MessageID) []earshot.MessageID {
	t.Helper()
	for i, id := range ids {
		in.Recalled = append(in.Recalled, assemble.Recalled{ID: id, Score: float64(30 - i)})
	}
	res, err := assemble.Turn(in)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(slices.Clone(ids), func(id earshot.MessageID) bool {
		return slices.ContainsFunc(res.Ledger, func(r earshot.LedgerRow) bool { return r.ID == id && r.Verdict != earshot.Out })
	})
}

// TestEveryNeededMessageIsInStandardsPrompt assembles each scene's first turn,
// and scene 2 as the follow-up of scene 1, and looks for the messages without
// which the answer cannot be right.
func TestEveryNeededMessageIsInStandardsPrompt(t *testing.T) {
	t.Parallel()
	st, channels := bundled(t)
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\nscene\tchannel\tneeds\tshown\ttokens besides the guide\tnot shown, or cut")
	needs, there, whole, sum := 0, 0, 0, 0
	var first *assemble.Conversation
	list := scenes(t)
	search := searcher.New(st, nil)
	for _, s := range list {
		req := gather.Request{Finder: search, Channel: channels[s.channel], Anchor: s.anchor, Counter: counter, Policy: assemble.Standard(), Identity: earshot.Identity{ID: "U0EARSHOT", Name: "earshot", Aliases: []earshot.AuthorID{"B0EARSHOT"}}}
		if s.number == "2" {
			req.State = first
		}
		in, res, err := gather.Turn(t.Context(), st, req)
		if err != nil {
			t.Fatalf("scene %s: %v", s.number, err)
		}
		if s.number == "1" {
			first = after(t, st, in, res)
		}
		verdicts := map[earshot.MessageID]earshot.LedgerRow{}
		for _, row := range res.Ledger {
			verdicts[row.ID] = row
		}
		shown, odd := 0, []string{}
		for _, id := range s.needs {
			row, read := verdicts[id]
			switch {
			case read && row.Verdict == earshot.Full:
				shown++
			case read && row.Verdict == earshot.Cut:
				shown++
				odd = append(odd, fmt.Sprintf("%s cut in %s", id, row.Section))
			case s.number == "2" && first != nil && slices.ContainsFunc(first.Shown, func(x earshot.Shown) bool { return x.ID == id }):
				shown++
			default:
				odd = append(odd, fmt.Sprintf("%s missing (read %t, %s)", id, read, row.Reason))
				if !slices.Contains(byRecall[s.number], id) {
					t.Errorf("scene %s: %s is needed and not shown: %+v", s.number, id, row)
				}
			}
		}
		if late := byRecall[s.number]; late != nil {
			if lost := recalled(t, in, late); len(lost) > 0 {
				t.Errorf("scene %s: not shown although search found them: %v", s.number, lost)
			}
		}
		besides := res.Tokens.Total - res.Tokens.Sections[assemble.Guide]
		needs, there, sum = needs+len(s.needs), there+shown, sum+besides
		if shown == len(s.needs) {
			whole++
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d\t%s\n", s.number, s.channel, len(s.needs), shown, besides, strings.Join(odd, ", "))
	}
	mean := sum / max(1, len(list))
	fmt.Fprintf(w, "%d\tscenes, %d whole\t%d\t%d\t%d mean\t\n", len(list), whole, needs, there, mean)
	w.Flush()
	t.Log(out.String())
	if needs != 58 || len(list) != 26 {
		t.Errorf("got %d needed messages of %d scenes, want 58 of 26", needs, len(list))
	}
	if mean > 2600 {
		t.Errorf("a prompt has %d tokens besides the guide, want 2,600 at most", mean)
	}
}
