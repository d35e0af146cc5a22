package assemble_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
)

var words = strings.Repeat("the worker waits for a lock that another worker holds ", 100)

func TestBudgets(t *testing.T) {
	t.Parallel()
	root := said("r", "Alice", "staging is down")
	longThread := func() []earshot.Message {
		return []earshot.Message{root, said("a", "Bob", "first reply", in("r")), said("b", "Bob", words, in("r")), said("c", "Carol", "last reply", in("r")), said("q", "Alice", "well?", in("r"))}
	}
	checkRules(t, []rule{
		{
			name:   "a thread that fits is not cut, however long its messages",
			in:     asking("delta", longThread()...),
			ledger: "b full thread", lacks: []string{"characters]"},
		},
		{
			name:   "where a thread does not fit a long reply is cut before any is left out",
			in:     where(asking("delta", longThread()...), tokensOf(600)),
			ledger: "r full thread\na full thread\nb cut thread\nc full thread",
			also: func(t *testing.T, r assemble.Result) {
				mark := regexp.MustCompile(`… \[\+(\d),(\d{3}) characters\]`).FindStringSubmatch(r.Messages[0].Text)
				if mark == nil {
					t.Fatalf("no mark with a thousands separator in:\n%s", r.Messages[0].Text)
				}
				n, _ := strconv.Atoi(mark[1] + mark[2])
				_, line, _ := strings.Cut(r.Messages[0].Text, "Bob: the worker")
				line, _, _ = strings.Cut("the worker"+line, "… [+")
				if got, want := len(line)+n, len(strings.TrimSpace(words)); got != want {
					t.Errorf("%d characters are shown and %d are missing, of %d", len(line), n, want)
				}
				for _, row := range r.Ledger {
					if row.ID == "b" && (row.Tokens < 290 || row.Tokens > 310) {
						t.Errorf("the cut reply costs %d", row.Tokens)
					}
				}
			},
		},
		{
			name:   "the newest come first and the first that does not fit ends it",
			in:     where(asking("delta", longThread()...), tokensOf(100)),
			ledger: "r full thread\na out budget\nb out budget\nc full thread",
			has:    []string{"Previous conversation (last 2 of 4 messages; 2 earlier ones were left out):\n---\nAlice: staging is down\nCarol: last reply\n---"},
		},
		{
			name:   "the root is shown for a budget of nothing",
			in:     where(asking("delta", longThread()...), tokensOf(0)),
			ledger: "r full thread\nc out budget",
			has:    []string{"Alice: staging is down", "Current question: well?"},
		},
		{
			name: "an edited root alone in a delta has its header reserved",
			in: where(func() assemble.Input {
				x := again("standard", said("w", "Carol", "elsewhere"), said("q", "Alice", "well?", in("r")))
				x.Messages[0].Text, x.Messages[0].Edited, x.Messages[0].Seq = "staging was down", started+minute, 9
				return x
			}(), tokensOf(30)),
			ledger: "r full delta, edited",
		},
		{
			name: "a block of which nothing fits is one line",
			in: where(asking("window", said("a", "Alice", words), said("b", "Bob", words), said("q", "Carol", "well?")),
				tokensOf(40)),
			is: "[2 messages were left out]\n\nCarol: well?", ledger: "a out budget\nb out budget",
			notes: []string{"omitted window: 2 of 2 messages were left out"},
		},
		{
			name: "the thread is filled before the window",
			in: where(asking("standard", said("x", "Carol", "elsewhere "+strings.Repeat("and more ", 40)), root, said("b", "Bob", strings.Repeat("here ", 60), in("r")), said("q", "Alice", "well?", in("r"))),
				tokensOf(180)),
			ledger: "b full thread\nx out budget",
		},
		{
			name: "a thread leaves the channel a few lines",
			in: where(asking("standard", said("x", "Carol", "elsewhere"), root, said("b", "Bob", strings.Repeat("here ", 100), in("r")), said("c", "Bob", "last", in("r")), said("q", "Alice", "well?", in("r"))),
				tokensOf(150)),
			ledger: "r full thread\nb out budget\nc full thread\nx full window",
		},
		{
			name: "a thread has the whole budget where the channel has nothing to show",
			in: where(asking("standard", root, said("b", "Bob", strings.Repeat("here ", 100), in("r")), said("c", "Bob", "last", in("r")), said("q", "Alice", "well?", in("r"))),
				tokensOf(180)),
			ledger: "r full thread\nb full thread\nc full thread",
		},
		{
			name: "the delta is filled before the window",
			in: where(again("standard", said("x", "Carol", "elsewhere "+strings.Repeat("and more ", 40)), said("b2", "Bob", strings.Repeat("here ", 100), in("r")), said("q", "Alice", "well?", in("r"))),
				tokensOf(200)),
			ledger: "b2 full delta\nx out budget",
		},
		{
			name: "a message of a window is cut at three hundred tokens where the window does not fit whole",
			in: where(asking("window", said("a", "Alice", "old"), said("b", "Bob", words), said("q", "Carol", "well?")),
				tokensOf(500)),
			ledger: "a full window\nb cut window",
		},
		{
			name:   "a cut is between characters as people see them",
			in:     where(asking("delta", root, said("b", "Bob", strings.Repeat("👩‍👩‍👧‍👦", 300), in("r")), said("q", "Alice", "well?", in("r"))), tokensOf(400)),
			ledger: "b cut thread",
			also: func(t *testing.T, r assemble.Result) {
				_, line, _ := strings.Cut(r.Messages[0].Text, "Bob: ")
				line, rest, _ := strings.Cut(line, "… [+")
				n := strings.Count(line, "👩‍👩‍👧‍👦")
				if line != strings.Repeat("👩‍👩‍👧‍👦", n) || !strings.HasPrefix(rest, fmt.Sprint(300-n)+" characters]") {
					t.Errorf("cut inside a family: %q… [+%s", line, rest[:20])
				}
			},
		},
		{
			name: "a guide that does not fit the limit gives way to the question",
			in: where(asking("delta", said("q", "Bob", "well?")), func(in *assemble.Input) {
				in.Budget.Limit = 40
				in.Instructions = "Be brief."
			}),
			is: "well?",
			also: func(t *testing.T, r assemble.Result) {
				if got, want := r.System, "Be brief."; got != want {
					t.Errorf("system %q, want %q", got, want)
				}
			},
		},
	})
}

func TestALimitBelowWhatIsNeverCutIsAnError(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   assemble.Input
	}{
		{"the anchor alone", asking("delta", said("q", "Bob", words))},
		{"the anchor of structured", asking("structured", said("q", "Bob", words))},
		{"the root", asking("delta", said("r", "Alice", words), said("q", "Bob", "well?", in("r")))},
		{"the instructions", where(asking("delta", said("q", "Bob", "well?")), func(in *assemble.Input) { in.Instructions = words })},
		{"an isolated anchor", asking("delta", said("q", "Bob", "🚫 "+words))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.in.Budget.Limit = 200
			if _, err := assemble.Turn(c.in); !errors.Is(err, assemble.ErrBudgetTooSmall) || !strings.Contains(err.Error(), "budget") {
				t.Errorf("got %v, want ErrBudgetTooSmall", err)
			}
		})
	}
}

func TestMediaIsAttachedOnce(t *testing.T) {
	t.Parallel()
	sum := strings.Repeat("ab", 32)
	withFile := func(id, name, sha string, size int64) with {
		return func(m *earshot.Message) {
			m.Files = append(m.Files, earshot.File{ID: earshot.ArtifactID(id), Name: name, SHA256: sha, Size: size})
		}
	}
	attach := func(ids ...earshot.ArtifactID) given { return func(in *assemble.Input) { in.Attach = ids } }
	held := func(in *assemble.Input) {
		in.Conversation.Attached = []earshot.AttachedFile{{ID: "F1", SHA256: sum, Turn: 1}}
	}
	media := func(want ...earshot.ArtifactID) func(*testing.T, assemble.Result) {
		return func(t *testing.T, r assemble.Result) {
			t.Helper()
			if d := cmp.Diff(r.Messages[len(r.Messages)-1].Media, want); d != "" {
				t.Errorf("attached (-got +want):\n%s", d)
			}
		}
	}
	q := func(changes ...with) earshot.Message { return said("q", "Bob", "look", append(changes, in("r"))...) }
	checkRules(t, []rule{
		{name: "nothing is attached without being asked for", in: again("delta", q(withFile("F2", "a.png", "", 1))), is: "look [attached: a.png]", also: media()},
		{name: "what is asked for is attached", in: where(again("delta", q(withFile("F2", "a.png", "", 1))), attach("F2", "F2")), is: "look [attached: a.png]", also: media("F2")},
		{name: "the same artifact is a reference", in: where(again("delta", q(withFile("F1", "a.png", "", 1))), attach("F1"), held),
			is: "[attached file, given in turn 1: a.png]\nCurrent question: look [attached: a.png]", also: media()},
		{name: "the same content is a reference", in: where(again("delta", q(withFile("F7", "b.png", sum, 1))), attach("F7"), held),
			is: "[attached file, given in turn 1: b.png]\nCurrent question: look [attached: b.png]", also: media()},
		{name: "unknown content is no reference", in: where(again("delta", q(withFile("F7", "b.png", "", 1))), attach("F7"), func(in *assemble.Input) {
			in.Conversation.Attached = []earshot.AttachedFile{{ID: "F1", Turn: 1}}
		}), is: "look [attached: b.png]", also: media("F7")},
		{name: "a file over twenty mebibytes is not attached, and noted", in: where(again("delta", q(withFile("F7", "b.png", "", 20<<20+1))), attach("F7")),
			is: "look [attached: b.png]", also: media(), notes: []string{"omitted media: b.png has 20971521 bytes; the limit is 20971520"}},
		{name: "eight files are attached", in: where(again("delta", q(withFile("A", "a", "", 1), withFile("B", "b", "", 1), withFile("C", "c", "", 1), withFile("D", "d", "", 1), withFile("E", "e", "", 1),
			withFile("F", "f", "", 1), withFile("G", "g", "", 1), withFile("H", "h", "", 1), withFile("I", "i", "", 1))), attach("A", "B", "C", "D", "E", "F", "G", "H", "I")), also: media("A", "B", "C", "D", "E", "F", "G", "H")},
		{name: "a file that no message holds is noted", in: where(again("delta", q()), attach("nowhere")), is: "look", notes: []string{`omitted media: file "nowhere" is in none of the messages`}, also: media()},
		{name: "a file of a deleted message is gone", in: where(again("delta", said("x", "Bob", "x", in("r"), withFile("F9", "s.png", "", 1), deleted), q()), attach("F9")), is: "look", also: media()},
		{name: "a file of somebody else is none of an isolated turn's", in: where(again("delta", said("x", "Bob", "x", in("r"), withFile("F9", "s.png", "", 1)), said("q", "Bob", "🚫 look", in("r"))), attach("F9")), is: "look", also: media()},
		{name: "a new epoch attaches again", in: where(again("delta", q(withFile("F1", "a.png", "", 1))), attach("F1"), held, func(in *assemble.Input) { in.Budget.Session = 0 }), also: media("F1")},
	})
}

// typed reads the JSON lines of a structured prompt.
func typed(t *testing.T, r assemble.Result) (s assemble.ChannelSnapshot, th assemble.ThreadContext) {
	t.Helper()
	all := r.Messages[len(r.Messages)-1].Text
	for head, v := range map[string]any{"[ChannelSnapshot]\n": &s, "[ThreadContext]\n": &th} {
		_, line, ok := strings.Cut(all, head)
		if !ok {
			continue
		}
		for strings.HasPrefix(line, "[") { // gap lines
			_, line, _ = strings.Cut(line, "\n")
		}
		line, _, _ = strings.Cut(line, "\n")
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		if err := d.Decode(v); err != nil {
			t.Fatalf("%s: %v in %s", head, err, line)
		}
		if compact, err := json.Marshal(v); err == nil && len(compact) > len(line)+5*strings.Count(line, "&")+5*strings.Count(line, "<")+5*strings.Count(line, ">") {
			t.Errorf("the JSON is not compact: %s", line)
		}
	}
	return s, th
}

func TestStructured(t *testing.T) {
	t.Parallel()
	hour := func(seconds int) with { return after(3600 + seconds) }
	x := asking("structured",
		said("old", "Carol", strings.Repeat("é", 200), after(1), file("F1", "a.png")),
		said("busy", "Bob", "who broke <b> & it?", after(2)),
		said("y1", "Alice", "me", in("busy"), after(3)), said("y2", "Bob", "ok", in("busy"), hour(10)), said("y3", "Bob", "gone", in("busy"), hour(11), deleted),
		said("known", "CI", "build", after(4), func(m *earshot.Message) {
			m.Replies = &earshot.Activity{Count: 7, LastHour: 2, Last: started + 5*minute}
			m.Reactions = []earshot.Reaction{{Name: "eyes", Count: 2}, {Name: "+1", Count: 1}}
		}),
		said("r", "Alice", "the root", after(5), file("F2", "log.txt")), said("b", "Bob", "a reply", in("r"), hour(12), editedAt(3700, 90)),
		said("q", "Alice", "<@U0BOT> well?", in("r"), hour(20)))
	r, err := assemble.Turn(x)
	if err != nil {
		t.Fatal(err)
	}
	s, th := typed(t, r)
	if s.SchemaVersion != "1.0" || th.SchemaVersion != "1.0" || s.Channel != (assemble.ChannelRef{ID: "C1", Name: "general", Platform: "slack"}) {
		t.Errorf("snapshot %+v", s)
	}
	if s.Anchor.MessageID != "q" || s.Anchor.Text != "@earshot well?" || s.Anchor.ThreadID == nil || *s.Anchor.ThreadID != "r" || s.Anchor.Author.UserID != "U-Alice" {
		t.Errorf("anchor %+v", s.Anchor)
	}
	want := []assemble.Neighbour{
		{MessageID: "old", TS: "2026-03-02T09:00:01Z", Author: assemble.AuthorRef{UserID: "U-Carol", DisplayName: "Carol"}, Snippet: strings.Repeat("é", 150) + "…", HasMedia: true, Reactions: []string{}},
		{MessageID: "busy", TS: "2026-03-02T09:00:02Z", Author: assemble.AuthorRef{UserID: "U-Bob", DisplayName: "Bob"}, Snippet: "who broke <b> & it?", Reactions: []string{},
			ThreadActivity: &assemble.ThreadActivity{ReplyCount: 2, RepliesLast1h: 1, LastReplyTS: "2026-03-02T10:00:10Z"}},
		{MessageID: "known", TS: "2026-03-02T09:00:04Z", Author: assemble.AuthorRef{UserID: "U-CI", DisplayName: "CI", IsBot: true}, Snippet: "build", Reactions: []string{":eyes: 2", ":+1: 1"},
			ThreadActivity: &assemble.ThreadActivity{ReplyCount: 7, RepliesLast1h: 2, LastReplyTS: "2026-03-02T09:05:00Z"}},
	}
	if d := cmp.Diff(s.Adjacent, want); d != "" {
		t.Errorf("neighbours (-got +want):\n%s", d)
	}
	if th.ThreadID != "r" || th.Root == nil || th.Root.Text != "the root" || len(th.Root.Media) != 1 || th.Root.Media[0].Filename != "log.txt" {
		t.Errorf("thread %+v", th)
	}
	if d := cmp.Diff(th.Truncation, assemble.TruncatedRef{TotalReplies: 1, IncludedReplies: 1, Strategy: "most_recent"}); d != "" {
		t.Errorf("truncation (-got +want):\n%s", d)
	}
	all := r.Messages[0].Text
	if strings.Count(all, "@earshot well?") != 1 || strings.Contains(all, `\u003c`) || !strings.HasSuffix(all, "Answer the message in ChannelSnapshot.anchor.") {
		t.Errorf("prompt:\n%s", all)
	}
	nextShown("r", "b", "q")(t, r)
}

func TestStructuredLimits(t *testing.T) {
	t.Parallel()
	checkRules(t, []rule{
		{
			name:   "a snapshot has twenty neighbours, the newest",
			in:     asking("structured", join(many(30), said("q", "Alice", "well?"))...),
			ledger: "n010 out cap\nn011 snippet snapshot\nn030 snippet snapshot",
			also: func(t *testing.T, r assemble.Result) {
				s, _ := typed(t, r)
				if len(s.Adjacent) != 20 || s.Adjacent[0].MessageID != "n011" || s.Anchor.ThreadID != nil {
					t.Errorf("%d neighbours, the first %+v", len(s.Adjacent), s.Adjacent[0])
				}
				nextShown("q")(t, r)
			},
		},
		{
			name: "a snapshot has at most 1,500 tokens",
			in: func() assemble.Input {
				list := many(30)
				for i := range list {
					list[i].Text += strings.Repeat(" 行き先を確認", 30)
				}
				return asking("structured", join(list, said("q", "Alice", "well?"))...)
			}(),
			ledger: "n030 snippet snapshot\nn011 out budget",
			also: func(t *testing.T, r assemble.Result) {
				if n := r.Tokens.Sections[assemble.Snapshot]; n > 1500 || n < 1000 {
					t.Errorf("the snapshot has %d tokens", n)
				}
			},
		},
		{
			name: "what a thread leaves out is counted with its range",
			in: where(asking("structured", join(append([]earshot.Message{said("r", "Alice", "root")}, many(40, in("r"))...), said("q", "Alice", "well?", in("r")))...),
				tokensOf(900), stored("r", 142)),
			also: func(t *testing.T, r assemble.Result) {
				_, th := typed(t, r)
				tr := th.Truncation
				if tr.TotalReplies != 140 || tr.IncludedReplies != len(th.Replies) || tr.IncludedReplies == 0 || tr.IncludedReplies == 40 || tr.OmittedRangeTS == nil ||
					(*tr.OmittedRangeTS)[0] != "2026-03-02T07:20:00Z" || (*tr.OmittedRangeTS)[1] >= th.Replies[0].TS {
					t.Errorf("truncation %+v %v of %d", tr, tr.OmittedRangeTS, len(th.Replies))
				}
				if last := th.Replies[len(th.Replies)-1]; last.MessageID != "n040" {
					t.Errorf("the last reply is %+v", last)
				}
			},
		},
		{
			name: "a long reply is cut and says so",
			in:   where(asking("structured", said("r", "Alice", "root"), said("a", "Bob", "short", in("r")), said("b", "Bob", words, in("r")), said("q", "Alice", "well?", in("r"))), tokensOf(800)),
			also: func(t *testing.T, r assemble.Result) {
				_, th := typed(t, r)
				if len(th.Replies) != 2 || th.Replies[0].IsTruncated || !th.Replies[1].IsTruncated || !strings.Contains(th.Replies[1].Text, "… [+") {
					t.Errorf("replies %+v", th.Replies)
				}
			},
			ledger: "b cut thread",
		},
	})
}

func TestTheCursor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   assemble.Input
		want int64
	}{
		{"is the largest sequence at or before the anchor", asking("delta", said("x", "Alice", "x", seq(90)), said("q", "Bob", "q", seq(40))), 90},
		{"counts deleted and blank messages", asking("delta", said("x", "Alice", "", seq(90), deleted), said("y", "Alice", " ", seq(95)), said("q", "Bob", "q", seq(40))), 95},
		{"does not count what follows the anchor", where(asking("delta", said("q", "Bob", "q", seq(40)), said("x", "Alice", "x", seq(90))), func(in *assemble.Input) { in.Anchor = "q" }), 40},
		{"never moves back", where(asking("delta", said("q", "Bob", "q", seq(40))), func(in *assemble.Input) { in.Conversation.Cursor = 77 }), 77},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, err := assemble.Turn(c.in)
			if err != nil {
				t.Fatal(err)
			}
			if got := r.Next.Cursor; got != c.want {
				t.Errorf("cursor %d, want %d", got, c.want)
			}
		})
	}
}

func TestAnAnchorThatCannotBeAnswered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		in   assemble.Input
	}{
		{"is deleted", asking("delta", said("q", "Bob", "q", deleted))},
		{"is blank", asking("delta", said("q", "Bob", " \n\t"))},
		{"is hidden", asking("delta", said("q", "Bob", "\u200B\u202E"))},
		{"holds the sign alone", asking("delta", said("q", "Bob", "🚫"))},
		{"is absent", where(asking("delta", said("q", "Bob", "q")), func(in *assemble.Input) { in.Anchor = "other" })},
		{"is deleted in one of its copies", func() assemble.Input {
			x := asking("delta", said("q", "Bob", "q", deleted), said("q", "Bob", "q", after(0)))
			x.Messages[1].Edited = started + minute
			return x
		}()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := assemble.Turn(c.in)
			var bad *assemble.InputError
			if !errors.As(err, &bad) || bad.Path != "anchor" {
				t.Errorf("got %v, want an error at anchor", err)
			}
		})
	}
}
