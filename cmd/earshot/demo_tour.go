package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/archive"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/search"
)

// A demoTour is everything that the demo shows about one question.
type demoTour struct {
	scene  scene
	q      question
	report archive.Report
	own    string // the person's own export, "" for the bundled workspace
	kept   bool   // the store outlives the demo
	rooms  int    // channels of the store

	thread   []earshot.Message
	policies []comparison
	prompt   prompt
	later    *prompt // the follow-up, where the scene has one
	hits     []search.Hit
	search   time.Duration
}

// run computes everything that is shown.
func (t *demoTour) run(ctx context.Context) (err error) {
	p := t.q.place
	if t.thread, err = readThread(ctx, p.store, p.channel.Scope(), p.message); err != nil {
		return err
	}
	if t.policies, err = comparePolicies(ctx, t.q, t.scene.needs); err != nil {
		return err
	}
	if t.prompt, err = t.q.ask(ctx, assemble.Standard()); err != nil {
		return err
	}
	if t.scene.followUp != "" {
		if err := t.follow(ctx); err != nil {
			return err
		}
	}
	t.scene.query = cmp.Or(t.scene.query, plain.Line(p.message.Text, 80))
	t.hits, t.search, err = lookUp(ctx, t.q.search, p, search.Query{
		Text: t.scene.query, At: p.message.Time, Before: p.message.Position(), Exclude: []earshot.MessageID{p.message.ID}, Limit: 3,
	})
	return err
}

func (t *demoTour) follow(ctx context.Context) error {
	q := t.q
	var err error
	if q.place.message, err = findMessage(ctx, q.place.store, q.place.channel.Channel, q.place.label, t.scene.followUp); err != nil {
		return err
	}
	if q.after, err = q.follow(ctx, string(t.q.place.message.ID)); err != nil {
		return err
	}
	later, err := q.ask(ctx, assemble.Standard())
	t.later = &later
	return err
}

// show writes the tour for a person.
func (t *demoTour) show(a *app) {
	step := 0
	head := func(format string, args ...any) {
		step++
		a.printf("\n%s", terminal.Rule(fmt.Sprintf("%d · %s", step, fmt.Sprintf(format, args...)), a.width))
	}
	n := t.report.Messages.Total()
	what := "the chat of a small team over six weeks, which comes with Earshot"
	if t.own != "" {
		what = "your export"
	}
	a.printf("%s\n", terminal.Strong(fmt.Sprintf("%s in %s", plain.Count(n, "message"), plain.Count(t.report.Channels, "channel")))+
		fmt.Sprintf(" — %s — read into SQLite in %s.", what, formatDuration(t.report.Duration)))
	writeSkips(a, "skipped", t.report.Skipped)

	head("the question")
	t.showQuestion(a)
	head("what each policy would have shown")
	a.printf("%s", comparisonTable(t.policies, t.scene.needs).Render(a.width))
	head("the prompt of policy standard, %s tokens", plain.Number(t.prompt.result.Tokens.Total))
	system, rest := t.prompt.result, t.prompt.result
	system.Messages, rest.System = nil, ""
	a.printf("%s%s\n%s", terminal.Prompt(system, a.width, 4), t.marked(terminal.Prompt(rest, a.width, 36)), terminal.Tokens(t.prompt.result.Tokens, a.width))
	in, out := shownOf(t.prompt.result.Ledger)
	head("why: the ledger, %s shown, %s left out", plain.Count(in, "message"), plain.Number(out))
	a.printf("%s", terminal.Ledger(newestShown(t.prompt.result.Ledger, 12), t.prompt.input.Messages, t.q.identity, false, a.width))
	if in > 12 {
		a.printf("%s\n", terminal.Faint(fmt.Sprintf("and %d more above them; `earshot context` shows all", in-12)))
	}
	if t.later != nil {
		head("the next question: only what was said since")
		t.showLater(a)
	}
	head("search in #%s: %s", plain.Line(t.q.place.label, 40), plain.Line(t.scene.query, 40))
	writeHits(a, t.hits, t.scene.query)
	head("timings")
	t.showTimings(a)
	t.showNext(a)
}

func (t *demoTour) showQuestion(a *app) {
	p := t.q.place
	where := "standing alone"
	if len(t.thread) > 1 {
		where = "in a thread of " + formatReplies(t.thread)
	}
	a.printf("%s\n", terminal.Faint(fmt.Sprintf("  #%s, %s UTC, message %s, %s",
		plain.Line(p.label, 40), plain.Minute(p.message.Time), p.message.ID, where)))
	a.printf("  %s %s\n", terminal.Strong(plain.Line(p.message.Author.Name, 40)+":"), terminal.Mark(plain.Line(p.message.Text, a.width-20)))
	if t.scene.why != "" {
		a.printf("\n%s", wrapProse(t.scene.why, a.width))
	}
	for _, m := range t.prompt.input.Messages {
		if mark := t.mark(m.ID); mark != "" {
			a.printf("    %s\n", terminal.CutWidth(fmt.Sprintf("%s %s %s %s", mark, terminal.Faint(m.Time.UTC().Format("15:04")),
				terminal.Strong(plain.Line(m.Author.Name, 20)+":"), plain.Line(m.Text, 400)), a.width-4))
		}
	}
}

// mark says whether the answer needs a message, or would be wrong by it; "" for neither.
func (t *demoTour) mark(id earshot.MessageID) string {
	switch {
	case slices.Contains(t.scene.needs, id):
		return terminal.Good("needed")
	case slices.Contains(t.scene.misleads, id):
		return terminal.Bad("wrong ")
	}
	return ""
}

// marked marks the lines of a printed prompt that have the messages that mark names.
func (t *demoTour) marked(prompt string) string {
	marks := map[string]string{} // by the first words
	for _, m := range t.prompt.input.Messages {
		if mark := t.mark(m.ID); mark != "" {
			text, _, _ := strings.Cut(m.Text, "\n")
			marks[": "+text[:min(len(text), 24)]] = mark
		}
	}
	var b strings.Builder
	for line := range strings.Lines(prompt) {
		for words, mark := range marks {
			if strings.Contains(ansi.Strip(line), words) {
				line = mark + " " + line
			}
		}
		b.WriteString(line)
	}
	return b.String()
}

// showLater prints what the follow-up adds to the session.
func (t *demoTour) showLater(a *app) {
	res := t.later.result
	last := res.Messages[len(res.Messages)-1:]
	a.printf("%s", terminal.Prompt(assemble.Result{Messages: last}, a.width, 20))
	held := res.Tokens.Sections[assemble.SessionPart] + res.Tokens.Sections[assemble.Guide]
	a.printf("%s\n", terminal.Faint(fmt.Sprintf("%s tokens stand before it, byte for byte those of the first turn and its answer, so that a provider's cache hits; new are %s.",
		plain.Number(held), plain.Number(res.Tokens.Total-held))))
}

func (t *demoTour) showTimings(a *app) {
	table := terminal.NewTable("", "time", "").Right(1)
	n := t.report.Messages.Total()
	table.Row("import", formatDuration(t.report.Duration), fmt.Sprintf("%s, %s a second, search terms and token counts included",
		plain.Count(n, "message"), plain.Number(int(float64(n)/max(t.report.Duration.Seconds(), 1e-9)))))
	table.Row("read", formatDuration(t.prompt.gather), fmt.Sprintf("%s from SQLite for policy standard", plain.Count(len(t.prompt.input.Messages), "message")))
	table.Row("assemble", formatDuration(t.prompt.assemble), fmt.Sprintf("%s tokens", plain.Number(t.prompt.result.Tokens.Total)))
	table.Row("search", formatDuration(t.search), fmt.Sprintf("the index of %s built, and %d found", plain.Count(t.q.place.channel.Messages, "message"), len(t.hits)))
	a.printf("%s", table.Render(a.width))
}

func (t *demoTour) showNext(a *app) {
	p := t.q.place
	db, channel := "", shellWord(p.label)
	if t.kept {
		db = " --db " + shellWord(a.shownDB())
	}
	a.printf("\n%s\n", terminal.Strong("next"))
	if !t.kept {
		again := "earshot demo"
		if t.own != "" {
			again = "earshot demo --import " + shellWord(t.own)
		}
		a.printf("  %s\n", "keep the messages:   "+again+" --db demo.db")
		db = " --db demo.db"
	}
	a.printf("  ask anything:        earshot context%s %s %s --as \"@earshot what is left to do?\"\n", db, channel, p.message.ID)
	a.printf("  compare policies:    earshot context%s %s %s --compare\n", db, channel, p.message.ID)
	a.printf("  see it on a page:    earshot demo%s --inspect\n", map[bool]string{true: db}[t.kept])
	a.printf("  look around:         earshot channels%s\n", db)
	if t.own == "" {
		a.printf("  your own workspace:  earshot demo --import EXPORT\n")
	}
	a.printf("  run it in your Slack: earshot init --platform slack\n")
}

// newestShown returns a ledger with only the last n of its shown messages.
func newestShown(l earshot.Ledger, n int) earshot.Ledger {
	in, _ := shownOf(l)
	var out earshot.Ledger
	for _, r := range l {
		if r.Verdict != earshot.Out {
			if in > n {
				in--
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// json writes the tour for programs.
func (t *demoTour) json(a *app) error {
	p := t.q.place
	var needs []string
	for _, id := range t.scene.needs {
		needs = append(needs, string(id))
	}
	shows := map[string][]earshot.MessageID{}
	for _, c := range t.policies {
		shows[c.Policy] = c.needed
	}
	return a.writeJSON(map[string]any{
		"import": t.report, "channel": p.label, "message": jsonMessage(p.message), "why": t.scene.why,
		"needs": needs, "needs_shown": shows, "policies": t.policies,
		"search": map[string]any{"query": t.scene.query, "hits": hitsJSON(t.hits)},
		"microseconds": map[string]int64{
			"read": t.prompt.gather.Microseconds(), "assemble": t.prompt.assemble.Microseconds(), "search": t.search.Microseconds(),
		},
		"prompt": strings.TrimSpace(t.prompt.result.Hash),
	})
}
