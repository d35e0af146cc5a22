package main

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/daemon"
	"github.com/earshot-ai/earshot/internal/daemon/config"
	"github.com/earshot-ai/earshot/internal/daemon/providers"
	"github.com/earshot-ai/earshot/internal/eval"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/internal/terminal/progress"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/tokens"
)

type contextCmd struct {
	queryFlags

	Policy  []string `short:"p" sep:"none" placeholder:"NAME|FILE" help:"A built-in policy or a policy file; may be repeated (default: all built-in ones)."`
	Tokens  []int    `default:"2000,4000,8000" placeholder:"N" help:"Budgets of a turn, in tokens, separated by commas (default: 2000,4000,8000)."`
	Counter string   `placeholder:"NAME" default:"o200k" help:"How tokens are counted: o200k, bytes4, or o200k*1.15."`
	NoPeers bool     `help:"Leave out what other bots do."`
	Judge   string   `placeholder:"MODEL" help:"Have each prompt answered by this model, and each answer judged by it; asks it twice for each question, policy and budget."`
	Meaning bool     `help:"Search by meaning too, with the encoder of the configuration (search.embeddings, or $$EARSHOT_EMBEDDINGS_URL and $$EARSHOT_EMBEDDINGS_MODEL), which encodes all messages."`
	Config  string   `short:"c" placeholder:"FILE" help:"A configuration file, for --judge and --meaning (default: $$EARSHOT_CONFIG, else none)." type:"path"`
}

func (c *contextCmd) Help() string {
	return `Puts the messages that are older than a question into a store, adds the question as a mention of the agent, makes the
prompt of each policy, and measures how much of the evidence, which is the messages that hold the answer, it contains. gold is
the share of these messages; "all of it" the share of questions with all of them. Messages that are there in part are
counted apart, under cut. Tokens are those besides the guide and the question.

For comparison, with the same tokens, what other bots do: last-n (the newest messages that fit), first-page (the oldest,
as a bot that reads the first page of a history), substring (messages with a word of the question, newest first) and fts
(BM25, as in SQLite's FTS5).

--judge takes keys as serve does (` + strings.Join(providers.KeyVariables(), ", ") + `, or a *_BASE_URL). It costs money,
and its figures differ from run to run. Without it no model is asked. docs/quality.md describes files, measures and --json.

Examples:

  earshot-eval context --messages chats/ --queries queries.jsonl
  earshot-eval context --messages chats/ --queries queries.jsonl -p delta -p mine.yaml --tokens 4000`
}

func (c *contextCmd) Run(ctx context.Context, x *evalRun) error {
	o, err := c.options()
	if err != nil {
		return err
	}
	counter, err := tokens.For(c.Counter)
	if err != nil {
		return usagef("--counter: %s", err)
	}
	name, err := c.judge(x, o)
	if err == nil {
		err = c.meaning(x, o)
	}
	if err != nil {
		return err
	}
	queries, tasks, left, err := c.read(x)
	if err != nil {
		return err
	}
	measured := 0
	for _, t := range tasks {
		for _, q := range t.Queries {
			if len(q.Gold) > 0 {
				measured++
			}
		}
	}
	if measured == 0 {
		return usagef("no question of %s has gold_ids, so there is no evidence to look for", c.Queries)
	}
	if o.Judge != nil {
		fmt.Fprintf(x.err, "earshot-eval: %s will be asked %s times\n", plain.Line(name, 60), plain.Number(o.Calls(measured)))
	}
	show, end := progress.Counting(x.err, x.errTerminal, lineEvery, "question")
	o.Progress = show
	rows, err := eval.Context(ctx, tasks, counter, o)
	end()
	if err != nil {
		return err
	}
	if x.json {
		return x.writeJSON(map[string]any{"queries": len(queries), "measured": measured, "left_out": left, "judge": name, "rows": rows})
	}
	showContext(x, rows, measured)
	return nil
}

// options returns what the flags say about policies and budgets.
func (c *contextCmd) options() (*eval.ContextOptions, error) {
	o := &eval.ContextOptions{Tokens: c.Tokens, NoPeers: c.NoPeers}
	for _, n := range c.Tokens {
		if n <= 0 {
			return nil, usagef("--tokens must be above 0, such as 2000,4000,8000")
		}
	}
	seen := map[string]bool{}
	for _, name := range c.Policy {
		p, err := loadPolicy(name)
		if err != nil {
			return nil, err
		}
		if seen[p.Name] {
			return nil, usagef("two policies are named %s; give one of them another name, or leave it out", p.Name)
		}
		seen[p.Name] = true
		o.Policies = append(o.Policies, p)
	}
	if o.Policies == nil {
		o.Policies = assemble.Policies()
	}
	return o, nil
}

// judge opens the model that answers and judges, where one is named.
func (c *contextCmd) judge(x *evalRun, o *eval.ContextOptions) (name string, err error) {
	if c.Judge == "" {
		return "", nil
	}
	cfg, err := c.config(x, "EARSHOT_MODEL="+c.Judge)
	if err != nil {
		return "", err
	}
	m, info, err := daemon.OpenModel(cfg, slog.New(slog.NewTextHandler(x.err, nil)))
	if err != nil {
		return "", err
	}
	if info.Provider == providers.Offline {
		return "", usagef("--judge %s: no key is set, and the offline model cannot judge; set %s (or a *_BASE_URL)", c.Judge, providers.AnyKey())
	}
	o.Judge = &eval.Judge{Answers: m, Judges: m}
	return info.Name, nil
}

// meaning has messages found by an encoder too, where that is asked for.
func (c *contextCmd) meaning(x *evalRun, o *eval.ContextOptions) error {
	if !c.Meaning {
		return nil
	}
	cfg, err := c.config(x)
	if err != nil {
		return err
	}
	if cfg.Search.Embeddings.Model == "" {
		return usagef("--meaning: no encoder is configured; set EARSHOT_EMBEDDINGS_URL and EARSHOT_EMBEDDINGS_MODEL")
	}
	o.Search = func(st earshot.Store) (*search.Searcher, error) {
		return daemon.NewSearcher(cfg, st, func(err error) { fmt.Fprintf(x.err, "earshot-eval: %v\n", err) })
	}
	return nil
}

// config reads the configuration, with further variables.
func (c *contextCmd) config(x *evalRun, variables ...string) (config.Config, error) {
	cfg, err := config.Load(cmp.Or(c.Config, x.getenv("EARSHOT_CONFIG")), append(slices.Clip(x.environ), variables...))
	if err != nil {
		return cfg, usagef("%v", err)
	}
	return cfg, nil
}

func showContext(x *evalRun, rows []eval.ContextRow, questions int) {
	judged := rows[0].Right != nil
	head := []string{"policy", "budget", "gold", "all of it", "cut", "tokens"}
	if judged {
		head = append(head, "right")
	}
	t := terminal.NewTable(append(head, "")...).Right(1, 2, 3, 4, 5, 6)
	last, peers := "", false
	for _, r := range rows {
		if r.Kind == eval.KindPeer && !peers {
			peers = true
			t.Row(terminal.Faint("as others do"))
		}
		name := ""
		if r.Policy != last {
			name, last = terminal.Strong(plain.Line(r.Policy, 40)), r.Policy
		}
		cells := []string{name, plain.Number(r.Tokens), formatPercent(r.GoldShown), formatPercent(r.AllShown), formatPercent(r.GoldCut), plain.Number(int(r.MeanTokens + 0.5))}
		if judged {
			cells = append(cells, formatPercent(*r.Right))
		}
		t.Row(append(cells, "")...)
	}
	x.printf("%s", t.Render(x.width))
	x.printf("%s\n", terminal.Faint(fmt.Sprintf("percent, averaged over %s; tokens besides the guide and the question, the mean", plain.Count(questions, "question"))))
}
