package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/tokens"
)

type costCmd struct {
	Messages []string `required:"" sep:"none" placeholder:"F" help:"A file of messages, or a folder of *.messages.jsonl(.gz); may be repeated." type:"path"`
	Policy   string   `short:"p" placeholder:"NAME|FILE" help:"A built-in policy or a policy file (default: standard)."`
	Turns    int      `default:"200" help:"How many turns each talk has."`
	Talks    int      `default:"3" help:"How many talks are replayed, the longest first."`
	Every    int      `default:"5" help:"One in so many messages of people is a question; fewer where a talk is too short for that."`
	Chart    string   `placeholder:"FILE.svg" help:"Draw it, too." type:"path"`
}

func (c *costCmd) Help() string {
	return `Replays the longest conversations of the data through a bot on SQLite: a thread that is long enough, else a whole
conversation read as one thread. Every 5th message of a person is a question; the answer is always the same 60 words. It is
compared with a bot that sends the whole history at each turn, as "Name: text" lines without a system text or tools,
and keeps each prompt that it sent. Tokens are counted with o200k. Cacheable is what a prompt has in common with the
beginning of the previous one; new is the rest.

Examples:

  earshot-eval cost --messages chats/
  earshot-eval cost --messages chats/ --turns 50 --chart cost.svg`
}

func (c *costCmd) Run(ctx context.Context, x *evalRun) error {
	policy, err := loadPolicy(c.Policy)
	if err != nil {
		return err
	}
	if c.Turns < 1 || c.Talks < 1 || c.Every < 1 {
		return usagef("--turns, --talks and --every are at least 1")
	}
	sources, err := chats.OpenSources(c.Messages...)
	if err != nil {
		return inputUsageError(err)
	}
	conversations, err := sources.Conversations()
	if err != nil {
		return err
	}
	counter, err := tokens.For("o200k")
	if err != nil {
		return err
	}
	r, err := eval.Cost(ctx, conversations, eval.CostOptions{
		Counter: counter, Policy: policy, Turns: c.Turns, Talks: c.Talks, Every: c.Every,
		Tell: func(line string) { fmt.Fprintf(x.err, "%s\n", line) },
	})
	if err != nil {
		return err
	}
	if c.Chart != "" {
		if err := os.WriteFile(c.Chart, eval.CostChart(r), 0o644); err != nil { //nolint:gosec // a picture for everybody
			return err
		}
	}
	if x.json {
		return x.writeJSON(r)
	}
	c.print(x, r)
	return nil
}

// print writes a report for people.
func (c *costCmd) print(x *evalRun, r eval.CostReport) {
	var names []string
	for _, path := range c.Messages {
		names = append(names, filepath.Base(path))
	}
	x.printf("%s\n", terminal.Strong(fmt.Sprintf("%s of %s, means of %s: policy %s against the full history at each turn",
		plain.Count(r.Turns, "turn"), plain.Line(strings.Join(names, ", "), 60), plain.Count(len(r.Talks), "talk"), r.Policy)))
	x.printf("%s\n", terminal.Faint(fmt.Sprintf("answers are scripted, %d tokens each; tokens of %s; ours includes system text and tools", r.AnswerTokens, r.Counter)))
	t := terminal.NewTable("turn", "", "prompt", "sum", "new", "charged", "cacheable", "stored", "epochs begun")
	t.Right(0, 2, 3, 4, 5, 6, 7, 8)
	for _, row := range r.Rows {
		t.Row(strconv.Itoa(row.Turn), r.Policy, plain.Number(row.Ours.Prompt), plain.Number(row.Ours.Sum), plain.Number(row.Ours.New),
			plain.Number(row.Ours.Charged), formatCacheable(row.Ours.Cacheable), formatKilobytes(row.Ours.Stored), strconv.Itoa(row.Epochs))
		t.Row("", "full history", plain.Number(row.Full.Prompt), plain.Number(row.Full.Sum), plain.Number(row.Full.New),
			plain.Number(row.Full.Charged), formatCacheable(row.Full.Cacheable), formatKilobytes(row.Full.Stored), "")
		t.Row("", terminal.Faint("full ÷ ours"), formatRatio(row.Full.Prompt, row.Ours.Prompt), formatRatio(row.Full.Sum, row.Ours.Sum),
			formatRatio(row.Full.New, row.Ours.New), formatRatio(row.Full.Charged, row.Ours.Charged), "", formatRatio(row.Full.Stored, row.Ours.Stored), "")
	}
	x.printf("%s", t.Render(x.width))
	x.printf("tokens of this turn's prompt, of all so far, of these the new ones, and the new ones with a tenth of the others, as a\n" +
		"provider charges that caches all it can; cacheable is the share since the row before\n")
	for _, talk := range r.Talks {
		thread := "read as one thread"
		if talk.Thread != "" {
			thread = "thread " + plain.Line(talk.Thread, 40)
		}
		x.printf("%s, %s: %s, every %s of people a question; epochs begun at turns %v\n",
			plain.Line(talk.Conversation, 60), thread, plain.Count(talk.Messages, "message"), formatOrdinal(talk.Every), talk.Epochs)
	}
}

// formatCacheable formats a share from 0 to 1.
func formatCacheable(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// formatKilobytes formats bytes in units of 1,000.
func formatKilobytes(n int64) string { return plain.Number(int(n/1000)) + " kB" }

// formatRatio formats the ratio of two numbers.
func formatRatio[N int | int64](a, b N) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f×", float64(a)/float64(b))
}

// formatOrdinal writes 1st, 2nd, 5th.
func formatOrdinal(n int) string {
	switch {
	case n%10 == 1 && n%100 != 11:
		return strconv.Itoa(n) + "st"
	case n%10 == 2 && n%100 != 12:
		return strconv.Itoa(n) + "nd"
	case n%10 == 3 && n%100 != 13:
		return strconv.Itoa(n) + "rd"
	}
	return strconv.Itoa(n) + "th"
}
