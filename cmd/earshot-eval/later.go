package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/internal/terminal/progress"
	"github.com/earshot-ai/earshot/tokens"
)

type laterCmd struct {
	queryFlags

	Policy  string `short:"p" placeholder:"NAME|FILE" help:"A built-in policy or a policy file (default: standard)."`
	Turns   []int  `default:"2,10,40,100" placeholder:"N" help:"At which turns of a session a question is asked, separated by commas (default: 2,10,40,100)."`
	Every   int    `default:"5" help:"One in so many messages of people is a question before it."`
	Tokens  int    `default:"8000" help:"The most tokens that a turn adds (budget.tokens)."`
	Session int    `placeholder:"N" help:"The most tokens of a session (budget.session; default: four times --tokens)."`
}

func (c *laterCmd) Help() string {
	return `Asks each question at later turns of a session. The messages right before it are played as a thread in which every 5th
message of a person asks the agent, whose answer is always the same 60 words; what is older stands in the channel above. No
model is asked. Of the messages that hold the answer, "before" were said before the session, "within" in its last epoch,
"ended" in an epoch that has ended; each column has the percentage that the model has in its prompt or in its session, and of
how many. Charged are the tokens of all prompts of a session, a tenth of those that a prompt shares with the one before;
"÷ full" is that against a bot that sends the whole thread at each turn, with the same system text.

Examples:

  earshot-eval later --messages chats/ --queries queries.jsonl
  earshot-eval later --messages chats/ --queries queries.jsonl --turns 40,100 --session 16000`
}

func (c *laterCmd) Run(ctx context.Context, x *evalRun) error {
	policy, err := loadPolicy(c.Policy)
	if err != nil {
		return err
	}
	if c.Tokens < 1 || c.Session < 0 || c.Every < 1 {
		return usagef("--tokens and --every are at least 1, and --session is not negative")
	}
	for _, n := range c.Turns {
		if n < 1 {
			return usagef("--turns are at least 1, such as 2,10,40,100")
		}
	}
	counter, err := tokens.For("o200k")
	if err != nil {
		return err
	}
	_, tasks, _, err := c.read(x)
	if err != nil {
		return err
	}
	budget := assemble.DefaultBudget()
	budget.Tokens, budget.Session = c.Tokens, c.Session
	if c.Session == 0 {
		budget.Session = 4 * c.Tokens
	}
	show, end := progress.Counting(x.err, x.errTerminal, lineEvery, "session")
	rows, err := eval.Later(ctx, tasks, eval.LaterOptions{Counter: counter, Policy: policy, Budget: budget, Turns: c.Turns, Every: c.Every, Progress: show})
	end()
	if err != nil {
		return err
	}
	if x.json {
		return x.writeJSON(map[string]any{"policy": policy.Name, "tokens": budget.Tokens, "session": budget.Session, "rows": rows})
	}
	showLater(x, rows)
	return nil
}

func showLater(x *evalRun, rows []eval.LaterRow) {
	share := func(s eval.ShownShare) string {
		if s.Gold == 0 {
			return "–"
		}
		return fmt.Sprintf("%s of %d", formatPercent(s.Shown), s.Gold)
	}
	t := terminal.NewTable("turn", "questions", "before", "within", "ended", "epochs", "prompt", "charged", "÷ full", "").Right(0, 1, 2, 3, 4, 5, 6, 7, 8)
	for _, r := range rows {
		ratio := "–"
		if r.Full > 0 {
			ratio = fmt.Sprintf("%.2f", r.Price/r.Full)
		}
		t.Row(strconv.Itoa(r.Turn), strconv.Itoa(r.Queries), share(r.Before), share(r.Within), share(r.Ended), fmt.Sprintf("%.1f", r.Epochs),
			plain.Number(int(r.Prompt+0.5)), plain.Number(int(r.Price+0.5)), ratio, "")
	}
	x.printf("%s", t.Render(x.width))
	x.printf("%s\n", terminal.Faint("percent of the messages that hold an answer; tokens of o200k, means of a session"))
}
