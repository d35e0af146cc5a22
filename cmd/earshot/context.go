package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/internal/transcript"
	"github.com/earshot-ai/earshot/internal/zones"
	"github.com/earshot-ai/earshot/tokens"
)

type contextCmd struct {
	Channel    string `arg:"" help:"A channel's name or id." predictor:"channel"`
	Message    string `arg:"" help:"The message to answer: its id, the beginning of it, a link, or the word last."`
	Policy     string `short:"p" placeholder:"NAME|FILE" help:"A built-in policy or a policy file (default: standard)." predictor:"policy"`
	Budget     *int   `placeholder:"N" help:"The most tokens that this turn may add (default: 8000)."`
	Limit      *int   `placeholder:"N" help:"The most tokens of the whole prompt (default: 200000)."`
	Counter    string `placeholder:"NAME" default:"o200k" help:"How tokens are counted: o200k, bytes4, or o200k*1.15."`
	Zone       string `placeholder:"ZONE" help:"The time zone of the times in the prompt, such as Europe/Berlin (default: the asker's own where it is stored, else UTC)."`
	As         string `placeholder:"TEXT" help:"Read the message as if it said this."`
	FollowUpOf string `placeholder:"MESSAGE" help:"Show the turn after one that answered this message."`
	Identity   string `placeholder:"ID" help:"Who the agent is (default: the stored bot named earshot, else a new one)."`
	Ledger     string `enum:"in,all" default:"in" help:"Which messages the ledger lists: in (shown) or all."`
	Recall     bool   `name:"explain-recall" help:"Say of each message that search found which words of the question it has, in which thread it stands, and why it is in the prompt or not."`
	Compare    bool   `xor:"form" help:"Compare all built-in policies in a table."`
	Transcript bool   `xor:"form" help:"Print the case as text, to keep or to report; earshot assemble --transcript reads it."`
}

func (c *contextCmd) Run(ctx context.Context, a *app) error {
	switch {
	case c.Message == "":
		return usagef("MESSAGE is empty; give an id, a link, or the word last")
	case c.Transcript && a.json:
		return usagef("--transcript and --json are two forms of output; use one of them")
	case c.Recall && (c.Compare || c.Transcript):
		return usagef("--explain-recall explains one prompt; leave out --compare and --transcript")
	case c.Compare && c.Policy != "":
		return usagef("--compare shows every built-in policy and --policy chooses one; use one of them")
	}
	policy, err := loadPolicy(c.Policy)
	if err != nil {
		return err
	}
	q, err := c.question(ctx, a)
	if err != nil {
		return err
	}
	defer q.place.store.Close()
	if c.Compare {
		return printComparison(ctx, a, q)
	}
	p, err := q.ask(ctx, policy)
	if err != nil {
		return err
	}
	switch {
	case c.Transcript:
		return writeTranscript(a, p)
	case a.json:
		return writePromptJSON(a, q, p, c.Recall)
	}
	c.show(a, q, p)
	return nil
}

// question finds the message, and the agent's identity.
func (c *contextCmd) question(ctx context.Context, a *app) (question, error) {
	counter, err := tokens.For(c.Counter)
	if err != nil {
		return question{}, usagef("--counter: %s", err)
	}
	counter.Count("a first count loads the vocabulary, which is not to be timed")
	q := question{counter: counter, budget: assemble.DefaultBudget(), zone: c.Zone, text: c.As}
	if err := checkZone(c.Zone); err != nil {
		return q, err
	}
	if n := c.Budget; n != nil {
		if *n < 0 {
			return q, usagef("--budget must not be negative")
		}
		q.budget.Tokens = *n
		if *n > 0 {
			q.budget.Session = 4 * *n
		}
	}
	if n := c.Limit; n != nil {
		if *n < 0 {
			return q, usagef("--limit must not be negative")
		}
		q.budget.Limit = *n
	}
	if q.place, err = a.place(ctx, c.Channel, c.Message); err != nil {
		return q, err
	}
	if q.search, err = a.searcherOf(ctx, q.place); err == nil {
		q.identity, err = findIdentity(ctx, q.place, c.Identity)
	}
	if err == nil && c.FollowUpOf != "" {
		q.after, err = q.follow(ctx, c.FollowUpOf)
	}
	if err != nil {
		q.place.store.Close()
	}
	return q, err
}

// checkZone checks that name is an IANA time zone.
func checkZone(name string) error {
	if _, err := zones.Load(name); err != nil {
		return usagef("--zone %q is no IANA time zone; give one such as Europe/Berlin, or UTC", name)
	}
	return nil
}

func (c *contextCmd) show(a *app, q question, p prompt) {
	a.printf("%s", terminal.Faint(fmt.Sprintf("#%s · message %s · as %s (%s) · policy %s",
		plain.Line(q.place.label, 40), q.place.message.ID, plain.Line(q.identity.Name, 40), q.identity.ID, p.policy.Name))+"\n")
	if q.zone != "" {
		a.printf("%s", terminal.Faint("the prompt's times are of "+q.zone)+"\n")
	}
	if q.after != nil {
		answer := "a line in place of the answer, which is not stored"
		if r := q.after.reply; r != nil {
			answer = "the answer " + string(r.ID)
		}
		a.printf("%s", terminal.Faint(fmt.Sprintf("follow-up of %s, with %s", q.after.anchor.ID, answer))+"\n")
	}
	a.printf("\n%s\n", terminal.Prompt(p.result, a.width, 0))
	showLedger(a, p, c.Ledger == "all")
	if c.Recall {
		showRecall(a, p)
	}
	a.printf("\n%s%s", terminal.Rule("tokens", a.width), terminal.Tokens(p.result.Tokens, a.width))
	if len(p.result.Notes) > 0 {
		a.printf("\n%s%s", terminal.Rule("notes", a.width), terminal.Notes(p.result.Notes))
	}
	a.printf("%s\n", terminal.Faint(fmt.Sprintf("read in %s, assembled in %s; prompt %.12s", formatDuration(p.gather), formatDuration(p.assemble), p.result.Hash)))
}

// showLedger prints the ledger under its rule.
func showLedger(a *app, p prompt, all bool) {
	in, out := shownOf(p.result.Ledger)
	a.printf("%s%s", terminal.Rule(fmt.Sprintf("ledger: %s shown, %s left out", plain.Number(in), plain.Number(out)), a.width),
		terminal.Ledger(p.result.Ledger, p.input.Messages, p.input.Identity, all, a.width))
	if n := countUnread(p.input); n > 0 {
		a.printf("%s\n", terminal.Faint(plain.Number(n)+" more of the thread could not fit, and were not read"))
	}
	if out > 0 && !all {
		a.printf("%s\n", terminal.Faint("--ledger all lists them"))
	}
}

// countUnread returns how many stored messages of the anchor's thread were not read.
func countUnread(in assemble.Input) int {
	root := earshot.MessageID("")
	for _, m := range in.Messages {
		if m.ID == in.Anchor {
			root = m.Root()
		}
	}
	for _, s := range in.Stored {
		if s.Thread == root && root != "" {
			n := s.Count
			for _, m := range in.Messages {
				if !m.Deleted && (m.ID == root || m.Root() == root) {
					n--
				}
			}
			return n
		}
	}
	return 0
}

// shownOf counts the messages that the model sees and those that it does not.
func shownOf(l earshot.Ledger) (in, out int) {
	for _, r := range l {
		if r.Verdict == earshot.Out {
			out++
		} else {
			in++
		}
	}
	return in, out
}

// writePromptJSON writes input and result in the contract's form, so that the
// input can be given to earshot assemble as it is, and with recall what search found.
func writePromptJSON(a *app, q question, p prompt, recall bool) error {
	in, err := contract.EncodeInput(p.input)
	if err != nil {
		return err
	}
	res, err := contract.Encode(p.result)
	if err != nil {
		return err
	}
	out := map[string]any{
		"channel": q.place.label, "message": q.place.message.ID, "policy": p.policy.Name,
		"input": json.RawMessage(in), "result": json.RawMessage(res),
	}
	if recall {
		out["recall"] = explainRecall(p)
	}
	return a.writeJSON(out)
}

// writeTranscript prints a prompt as a case in text form: the input and the
// result.
func writeTranscript(a *app, p prompt) error {
	c := transcript.Case{
		Comment: fmt.Sprintf("policy %s, message %s", p.policy.Name, p.input.Anchor),
		Input:   p.input, Counter: p.input.Counter.Name(),
		Prompt: transcript.Prompt(p.result), Ledger: transcript.Rows(p.result.Ledger),
	}
	c.Input.Counter = nil
	_, err := a.raw.Write(transcript.Format(c))
	return err
}
