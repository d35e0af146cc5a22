package assemble_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/tokens"
)

// guideOf returns the guide of a policy.
func guideOf(t *testing.T, p assemble.Policy, counter assemble.Counter) (string, int) {
	t.Helper()
	res, err := assemble.Turn(assemble.Input{
		Identity: earshot.Identity{ID: "U0BOT", Name: "earshot"}, Anchor: "m1", Counter: counter, Policy: p,
		Messages: []earshot.Message{{ID: "m1", Time: 1, Author: earshot.Author{ID: "U1", Name: "Ann", Kind: earshot.Human}, Text: "hello"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return res.System, res.Tokens.Sections[assemble.Guide]
}

// TestTheGuidesTokenCountsAreRight compares the counts beside the guide's lines
// with the counts of their text.
func TestTheGuidesTokenCountsAreRight(t *testing.T) {
	t.Parallel()
	for _, spec := range []string{"o200k", "o200k*1.15", "bytes4"} {
		counter, err := tokens.For(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range append(assemble.Policies(), policiesOfOneSection()...) {
			text, got := guideOf(t, p, counter)
			want := 0
			for line := range strings.SplitSeq(text, "\n") {
				want++
				if line != "" {
					want += counter.Count(line)
				}
			}
			if got != want {
				t.Errorf("by %s the guide of %s is counted as %d tokens, and has %d", spec, p.Name, got, want)
			}
			if _, builtIn := assemble.ByName(p.Name); builtIn && spec == "o200k" && want > 450 {
				t.Errorf("the guide of %s has %d tokens, want at most 450", p.Name, want)
			}
		}
	}
}

// policiesOfOneSection are those that show one section beside guide and question, in
// each frame that allows it.
func policiesOfOneSection() []assemble.Policy {
	var out []assemble.Policy
	for _, name := range assemble.SectionNames() {
		for _, frame := range []assemble.Frame{assemble.Log, assemble.Brackets, assemble.Preamble, assemble.Tags, assemble.Plain} {
			p := assemble.Policy{Name: string(name) + " in " + string(frame), Form: assemble.Text, Frame: frame, Bots: "bot",
				First: []assemble.Section{{Section: assemble.Guide}, {Section: name}, {Section: assemble.Anchor}}}
			if p.Check() == nil {
				out = append(out, p)
			}
		}
	}
	return out
}

// Whatever the guide names in brackets, in quotes or as a tool exists, in prompts
// of the policy or among Earshot's tools.
func TestEverythingThatTheGuideNamesExists(t *testing.T) {
	t.Parallel()
	counter, err := tokens.For("o200k")
	if err != nil {
		t.Fatal(err)
	}
	bracket := regexp.MustCompile(`\[[^\]]+\]`)
	mark := regexp.MustCompile(`\((you|bot|agent|edited)\)|↳|·|<slack_thread_context>|"Previous conversation"|"Since your last message"|"Current question:"`)
	for _, p := range assemble.Policies() {
		text, _ := guideOf(t, p, counter)
		prompts := promptsWithEverything(t, p, counter)
		for _, name := range append(bracket.FindAllString(text, -1), mark.FindAllString(text, -1)...) {
			want := strings.Trim(name, `"`)
			if p.Bots == "agent" && want == "(bot)" || p.Bots == "bot" && want == "(agent)" {
				continue // the guide names both words
			}
			// "[since your last answer …]" means any text that begins so, and
			// "[… messages were left out]" any that ends so.
			head, tail, _ := strings.Cut(want, "…")
			found := slices.ContainsFunc(strings.Split(prompts, "\n"), func(line string) bool {
				i := strings.Index(line, strings.TrimRight(head, " ]"))
				return i >= 0 && strings.Contains(line[i:], strings.TrimSuffix(tail, "]"))
			})
			if want == "[Mon 2 Mar]" || want == "[attached: name]" {
				found = strings.Contains(prompts, strings.TrimSuffix(want, "name]"))
			}
			if !found {
				t.Errorf("the guide of %s names %s, which is in no prompt of it:\n%s", p.Name, want, prompts)
			}
		}
	}
}

// promptsWithEverything returns the prompts of conversations that have all that
// a policy can show.
func promptsWithEverything(t *testing.T, p assemble.Policy, counter assemble.Counter) string {
	t.Helper()
	var all strings.Builder
	root := said("1", "Ann", "root: the deploy of 1.4", after(0))
	history := []earshot.Message{
		said("0", "Zoe", "weeks ago: restart import first", after(-200000)),
		said("01", "Zoe", "and web last", after(-199900)), said("02", "Zoe", strings.Repeat("a lot of noise ", 900), after(-1800)),
		said("03", "Ben", "lunch", after(-1700)), said("04", "Ann", "yes", after(-1650), in("03")), said("05", "Ann", "still yes", after(-1640)), said("06", "Ann", "soon", after(-1630)),
		root, said("2", "CI", "build 812 green", after(60), in("1"), mentions("U0BOT")), said("3", "Ben", "@earshot well?", after(120), in("1"), mentions("U0BOT")),
		said("4", "earshot", "It is fine.", after(130), in("1")), said("5", "Ann", "changed", after(140), editedAt(150, 9), in("1"), file("F1", "a.png"), mentions("U0BOT")),
	}
	for i := range history {
		if history[i].Seq == 0 {
			history[i].Seq = int64(i + 1)
		}
	}
	gap := []earshot.Coverage{{Thread: "1", To: root.Time, State: earshot.Missing}}
	show := func(in assemble.Input) assemble.Result {
		in.Policy, in.Counter, in.Coverage = p, counter, gap
		in.Identity = earshot.Identity{ID: "U0BOT", Name: "earshot"}
		in.Channel = earshot.Channel{Platform: earshot.Slack, ID: "C1", Name: "deploys", Kind: earshot.KindChannel}
		res, err := assemble.Turn(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range res.Messages {
			all.WriteString(m.Text + "\n")
		}
		return res
	}
	question := said("9", "Ben", "@earshot and now?", after(500), in("1"), to("05"), seq(20))
	first := assemble.Input{Anchor: "9", Messages: append(slices.Clone(history), question), Recalled: []assemble.RecalledMessage{{ID: "0", Score: 3}},
		Conversation: assemble.ConversationState{Summary: &earshot.Summary{Text: "it was about 1.4", From: root.Time, To: root.Time}}}
	res := show(first)
	small := first
	small.Budget = assemble.Budget{Tokens: 60, Session: 1000, Limit: 100_000}
	show(small)
	chain := first
	chain.Messages = append(slices.Clone(history), said("9", "Ben", "@earshot and now?", after(500), to("05"), seq(20)))
	show(chain)
	old := first
	for i := range 100 {
		old.Messages = append(slices.Clip(old.Messages), said(fmt.Sprintf("00%03d", i), "Zoe", "chatter", after(-1500+i)))
	}
	show(old)
	late := said("12", "Cem", "said before, known now", after(-10), in("1"), seq(23))
	later := assemble.Input{Anchor: "11", Messages: append(slices.Clone(history), question, late, said("10", "Cem", "news", after(600), in("1"), seq(21), file("F2", "b.png")), said("102", "Cem", strings.Repeat("more ", 40), after(605), in("1"), seq(25)), said("103", "CI", "green again", after(650), editedAt(660, 26), in("1"), mentions("U0BOT")),
		said("101", "Cem", "elsewhere", after(610), seq(22)), said("11", "Ben", "@earshot ok?", after(700), in("1"), seq(24)))}
	later.Conversation = assemble.ConversationState{Cursor: res.Next.Cursor, Shown: res.Next.Shown, Names: res.Next.Names, Turns: []earshot.Answer{{Anchor: "9", Replies: []earshot.MessageID{"99"}}},
		Session: []earshot.SessionEntry{{Role: earshot.User, Text: res.Messages[len(res.Messages)-1].Text}, {Role: earshot.Assistant, Text: "Yes."}}}
	show(later)
	for _, n := range []int{12, 30, 60} {
		later.Budget = assemble.Budget{Tokens: n, Session: 1000, Limit: 100_000}
		show(later)
		small.Budget.Tokens = n
		show(small)
	}
	return all.String()
}

// A policy that gives no files promises none.
func TestAGuidePromisesFilesWhereThePolicyGivesThem(t *testing.T) {
	t.Parallel()
	for _, p := range assemble.Policies() {
		in := asking(p.Name, said("a", "Alice", "<@U0BOT> why?"))
		promises := []string{"messages or a file by ", "Ask for a file"}
		if p.Frame != assemble.Log {
			promises = append(promises, "some of them are given to you")
		}
		whole, err := assemble.Turn(in)
		if err != nil {
			t.Fatal(err)
		}
		media := func(s assemble.Section) bool { return s.Section == assemble.Media }
		in.Policy.First, in.Policy.Later = slices.DeleteFunc(in.Policy.First, media), slices.DeleteFunc(in.Policy.Later, media)
		bare, err := assemble.Turn(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, promise := range promises {
			if !strings.Contains(whole.System, promise) || strings.Contains(bare.System, promise) {
				t.Errorf("%s: %q", p.Name, promise)
			}
		}
		counter := counterNamed("o200k")
		less := whole.Tokens.Sections[assemble.Guide] - bare.Tokens.Sections[assemble.Guide]
		if want := counter.Count(whole.System) - counter.Count(bare.System); less < want-3 || less > want+3 {
			t.Errorf("%s: the guide is charged %d tokens less and has %d less", p.Name, less, want)
		}
	}
}

// TestAGuidePromisesWhatItsFormShows: text forms show neither reactions nor ids.
func TestAGuidePromisesWhatItsFormShows(t *testing.T) {
	t.Parallel()
	for _, p := range assemble.Policies() {
		r, err := assemble.Turn(asking(p.Name, said("q", "Bob", "why?")))
		if err != nil {
			t.Fatal(err)
		}
		shows := p.Frame == assemble.Log || p.Form == assemble.JSON
		for _, promise := range []string{"or has reactions", "by id;"} {
			if got := strings.Contains(r.System, promise); got != shows {
				t.Errorf("%s: %q stands in the guide: %t, want %t\n%s", p.Name, promise, got, shows, r.System)
			}
		}
	}
}
