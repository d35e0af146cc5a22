package logformtest_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/assemble/internal/logformtest"
	"github.com/earshot-ai/earshot/internal/eval/chats/chatstest"
)

var (
	sweep      = flag.Bool("sweep", false, "vary the limits of the window and print what they give")
	sweepDraws = flag.Int("sweep.draws", 300, "on how many messages of each archive")
)

// A shown counts over several prompts how often they show the message that the
// question answers, and what they cost.
type shown struct {
	asked, there    int
	messages        int // in the window
	window, besides int // tokens of the window; of all but guide and instructions
	missed          []int
}

func (x shown) share() float64 { return 100 * float64(x.there) / float64(max(1, x.asked)) }

// ask assembles a first turn for each draw.
func ask(t testing.TB, p assemble.Policy, draws []draw) shown {
	var x shown
	for _, d := range draws {
		res, err := assemble.Turn(d.input(p))
		if err != nil {
			t.Fatalf("%s %s: %v", d.name, d.room.messages[d.at].ID, err)
		}
		x.asked++
		want := d.room.messages[d.answer].ID
		for _, row := range res.Ledger {
			if row.Section == "window" && row.Verdict != earshot.Out {
				x.messages++
			}
			if row.ID == want && row.Verdict != earshot.Out {
				x.there++
			} else if row.ID == want {
				x.missed = append(x.missed, d.at-d.answer)
			}
		}
		x.window += res.Tokens.Sections[assemble.Window]
		x.besides += res.Tokens.Total - res.Tokens.Sections[assemble.Guide] - res.Tokens.Sections[assemble.Instructions]
	}
	return x
}

// table formats rows of cells.
func table(rows ...[]any) string {
	var b strings.Builder
	b.WriteString("\n")
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, r := range rows {
		for _, c := range r {
			if f, ok := c.(float64); ok {
				c = fmt.Sprintf("%.1f", f)
			}
			fmt.Fprintf(w, "%v\t", c)
		}
		fmt.Fprintln(w)
	}
	w.Flush()
	return b.String()
}

// TestTheMessageThatIsAnsweredIsInThePrompt draws messages that answer another
// one within 300 before them, and counts how often a first turn shows it.
func TestTheMessageThatIsAnsweredIsInThePrompt(t *testing.T) {
	t.Parallel()
	chatstest.Folder(t)
	n := 1000
	if testing.Short() {
		n = 200
	}
	rows := [][]any{{"archive", "asked", "shown", "%", "want", "window messages", "window tokens", "besides the guide", "misses, how far back"}}
	for _, a := range []struct {
		name  string
		draws []draw
		want  float64
	}{
		{"irc-train, annotated links", ircDraws(t, n), 97},
		{"meshcore-discord, references hidden", discordDraws(t, n), 97.5},
	} {
		if len(a.draws) != n {
			t.Fatalf("%s: %d draws", a.name, len(a.draws))
		}
		x := ask(t, assemble.Standard(), a.draws)
		slices.Sort(x.missed)
		rows = append(rows, []any{a.name, x.asked, x.there, x.share(), a.want, x.messages / n, x.window / n, x.besides / n, x.missed})
		if x.share() < a.want {
			t.Errorf("%s: what is answered is shown in %.1f %%, want %.1f", a.name, x.share(), a.want)
		}
	}
	t.Log(table(rows...))
}

// TestTimesCostFewTokens compares the cost of window and thread with that of the
// same messages as plain "Name: text" lines in time order.
func TestTimesCostFewTokens(t *testing.T) {
	t.Parallel()
	chatstest.Measures(t)
	const n = 200
	slack := readChat(t, "haskelljp-slack", true)
	rows := [][]any{{"talk", "prompts", "messages", "plain tokens each", "form tokens each", "more, mean", "more, median prompt", "want", "of it + lines", "day lines", "indents", "above lines without indents"}}
	for _, a := range []struct {
		name  string
		draws []draw
		want  float64
	}{
		{"flat: irc-train", ircDraws(t, n), 4},
		{"flat: meshcore-discord, references hidden", discordDraws(t, n), 4},
		{"flat: gitter", someDraws(t, readChat(t, "gitter", true), n, false), 4},
		{"Slack threads, Japanese: asked in a thread", someDraws(t, slack, n, true), 9},
		{"Slack threads, Japanese: asked at the top level", someDraws(t, slack, n, false), 9},
	} {
		var sum cost
		var each []float64
		for _, d := range a.draws {
			x := costs(t, d)
			sum.add(x)
			if x.messages > 0 {
				each = append(each, x.each(x.form-x.plain))
			}
		}
		slices.Sort(each)
		if sum.messages < 5*n {
			t.Fatalf("%s: %d messages", a.name, sum.messages)
		}
		mean := sum.each(sum.form - sum.plain)
		rows = append(rows, []any{a.name, len(each), sum.messages, sum.each(sum.plain), sum.each(sum.form), mean, each[len(each)/2], a.want,
			sum.each(sum.pluses), sum.each(sum.days), sum.each(sum.indents), sum.each(sum.form - sum.bare)})
		if mean > a.want {
			t.Errorf("%s: %.1f tokens a message above plain lines, want %.1f at most", a.name, mean, a.want)
		}
	}
	t.Log(table(rows...))
}

// A cost is what a prompt's window and thread cost, without headers, files and
// reactions, next to the cost of the same messages as plain lines, and what the
// difference is spent on. Plain lines are those of the other policies: "Name: text"
// in time order, further lines indented by two spaces, without which a line of a
// text could be taken for a message.
type cost struct {
	messages, form, plain int
	bare                  int // as plain, without the indents of further lines
	pluses, days, indents int
}

func (c *cost) add(x cost) {
	c.messages, c.form, c.plain, c.bare = c.messages+x.messages, c.form+x.form, c.plain+x.plain, c.bare+x.bare
	c.pluses, c.days, c.indents = c.pluses+x.pluses, c.days+x.days, c.indents+x.indents
}

func (c *cost) each(n int) float64 { return float64(n) / float64(max(1, c.messages)) }

// costs measures one prompt.
func costs(t testing.TB, d draw) cost {
	in := d.input(assemble.Standard())
	res, err := assemble.Turn(in)
	if err != nil {
		t.Fatal(err)
	}
	text := res.Messages[len(res.Messages)-1].Text
	turn, err := logformtest.Parse(text)
	if err != nil {
		t.Fatalf("%s %s: %v", d.name, in.Anchor, err)
	}
	var x cost
	for _, k := range []logformtest.Kind{logformtest.Window, logformtest.Thread} {
		b := turn.Block(k)
		if b == nil {
			continue
		}
		_, body, _ := strings.Cut(text, "["+b.Header+"]\n")
		body, _, _ = strings.Cut(body, "\n\n[")
		var kept, pluses, days, flat []string
		for line := range strings.SplitSeq(body, "\n") {
			if strings.HasPrefix(line, "+ file ") || strings.HasPrefix(line, "+ reactions") {
				continue
			}
			kept = append(kept, line)
			flat = append(flat, strings.TrimPrefix(line, "    "))
			if strings.HasPrefix(line, "+ ") {
				pluses = append(pluses, line+"\n")
			} else if strings.HasPrefix(line, "[") {
				days = append(days, line+"\n")
			}
		}
		var plain, bare []string
		for _, m := range b.Messages {
			bare = append(bare, m.Name+": "+m.Text)
			plain = append(plain, m.Name+": "+strings.ReplaceAll(m.Text, "\n", "\n  "))
		}
		x.add(cost{
			messages: len(b.Messages), form: o200k.Count(strings.Join(kept, "\n")), plain: o200k.Count(strings.Join(plain, "\n")), bare: o200k.Count(strings.Join(bare, "\n")),
			pluses: o200k.Count(strings.Join(pluses, "")), days: o200k.Count(strings.Join(days, "")),
			indents: o200k.Count(strings.Join(kept, "\n")) - o200k.Count(strings.Join(flat, "\n")),
		})
	}
	return x
}

// TestSweepTheWindowsLimits prints, with -sweep, how often the answered message is
// shown and what the prompt costs with other limits of the window, for the decision
// record that chooses them.
func TestSweepTheWindowsLimits(t *testing.T) {
	if !*sweep {
		t.Skip("a tool, not a test: run it with -sweep")
	}
	irc, discord := ircDraws(t, *sweepDraws), discordDraws(t, *sweepDraws)
	type setting struct{ look, messages, tokens int }
	var settings []setting
	for _, look := range []int{100, 200, 300, 400} {
		for _, messages := range []int{40, 80, 120} {
			for _, tokens := range []int{1200, 1800, 2400, 3200} {
				settings = append(settings, setting{look, messages, tokens})
			}
		}
	}
	// The counts are made once, before two prompts at a time need them.
	ask(t, assemble.Standard(), irc)
	ask(t, assemble.Standard(), discord)
	rows := make([][]any, len(settings))
	var wait sync.WaitGroup
	gate := make(chan bool, 2)
	for i, s := range settings {
		wait.Go(func() {
			gate <- true
			defer func() { <-gate }()
			p := assemble.Standard()
			p.First = slices.Clone(p.First)
			for j := range p.First {
				if p.First[j].Section == assemble.Window {
					p.First[j].Look, p.First[j].Messages, p.First[j].Tokens = s.look, s.messages, s.tokens
				}
			}
			x, y := ask(t, p, irc), ask(t, p, discord)
			n := max(1, x.asked)
			rows[i] = []any{s.look, s.messages, s.tokens, x.share(), x.window / n, x.messages / n, y.share(), y.window / n, y.messages / n}
		})
	}
	wait.Wait()
	head := []any{"look", "messages", "tokens", "IRC %", "tokens", "messages", "Discord %", "tokens", "messages"}
	t.Log(table(append([][]any{head}, rows...)...))
}
