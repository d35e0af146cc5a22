package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
)

type replayCmd struct {
	ID     int64  `arg:"" name:"turn" help:"The turn's id."`
	Policy string `short:"p" placeholder:"NAME|FILE" help:"Show the prompt that this policy would have made." predictor:"policy"`
	Budget int    `placeholder:"N" help:"Show the prompt with this many tokens for the turn."`
	Prompt bool   `help:"Print the prompt too."`
}

// replayJSON is the result of a replay, as --json writes it.
type replayJSON struct {
	ID      int64      `json:"id"`
	Same    bool       `json:"same"`
	Hash    string     `json:"hash"`
	Changed string     `json:"changed,omitempty"`
	Policy  string     `json:"policy,omitempty"`
	Tokens  int        `json:"tokens,omitempty"`
	Bytes   int        `json:"bytes,omitempty"`
	WhatIf  *whatIf    `json:"what_if,omitempty"`
	Prompt  *promptOut `json:"prompt,omitempty"`
}

// A whatIf is the prompt that another policy or budget would have made.
type whatIf struct {
	Policy string `json:"policy"`
	Budget int    `json:"budget"`
	Hash   string `json:"hash"`
	Tokens int    `json:"tokens"`
	Bytes  int    `json:"bytes"`
	ledgerChange
}

type promptOut struct {
	System   string       `json:"system"`
	Messages []messageOut `json:"messages"`
}

type messageOut struct {
	Role   string               `json:"role"`
	Text   string               `json:"text"`
	Media  []earshot.ArtifactID `json:"media,omitempty"`
	Calls  []callJSON           `json:"calls,omitempty"`
	Call   string               `json:"call,omitempty"`
	Failed bool                 `json:"failed,omitempty"`
}

type callJSON struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Args string `json:"args"`
}

func (c *replayCmd) Run(ctx context.Context, a *app) error {
	if c.Budget < 0 {
		return usagef("a budget cannot be negative")
	}
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	w, err := l.whole(ctx, c.ID)
	if err != nil {
		return err
	}
	if w.Queued.Hash == "" {
		return usagef("turn %d did not come to a prompt: it is %s %s", c.ID, w.Queued.State, w.Queued.Why)
	}
	out := replayJSON{ID: c.ID, Same: w.Prompt != nil, Hash: w.Queued.Hash, Changed: w.Changed}
	if w.Prompt == nil {
		if a.json {
			if err := a.writeJSON(out); err != nil {
				return err
			}
		}
		return fmt.Errorf("turn %d cannot be made again: %s", c.ID, w.Changed)
	}
	out.Policy, out.Tokens, out.Bytes = w.Input.Policy.Name, w.Prompt.Tokens.Total, promptBytes(*w.Prompt)
	shown := *w.Prompt
	if c.Policy != "" || c.Budget > 0 {
		res, wi, err := c.makeOther(ctx, l, w)
		if err != nil {
			return err
		}
		out.WhatIf, shown = &wi, res
	}
	if a.json {
		if c.Prompt {
			out.Prompt = promptOf(shown)
		}
		return a.writeJSON(out)
	}
	a.printf("turn %d: the same %s bytes (%s tokens, policy %s, prompt %.12s)\n", c.ID, plain.Number(out.Bytes), plain.Number(out.Tokens), out.Policy, out.Hash)
	if wi := out.WhatIf; wi != nil {
		a.printf("with policy %s and a budget of %s: %s bytes, %s tokens\n", wi.Policy, plain.Number(wi.Budget), plain.Number(wi.Bytes), plain.Number(wi.Tokens))
		wi.show(ctx, a, l, w.Queued.Conversation.Scope)
	}
	if c.Prompt {
		a.printf("\n%s\n", terminal.Prompt(shown, a.width, 0))
	}
	return nil
}

// makeOther makes the prompt with another policy or budget, from the conversation as it
// was then.
func (c *replayCmd) makeOther(ctx context.Context, l turnStore, w wholeTurn) (assemble.Result, whatIf, error) {
	in := *w.Input
	if c.Policy != "" {
		p, err := loadPolicy(c.Policy)
		if err != nil {
			return assemble.Result{}, whatIf{}, err
		}
		in.Policy = p
	}
	if c.Budget > 0 {
		in.Budget.Tokens, in.Budget.Session = c.Budget, 4*c.Budget
	}
	_, res, err := l.turns.Again(ctx, w.Turn, in.Policy, in.Budget)
	if errors.Is(err, contexts.OverLimit) {
		return res, whatIf{}, usagef("the question and its thread's root alone need more than the model can read")
	}
	if err != nil {
		return res, whatIf{}, err
	}
	return res, whatIf{
		Policy: in.Policy.Name, Budget: in.Budget.Tokens, Hash: res.Hash, Tokens: res.Tokens.Total, Bytes: promptBytes(res),
		ledgerChange: changeOf(withoutTools(w.Ledger()), res.Ledger),
	}, nil
}

// promptBytes returns the bytes of a prompt.
func promptBytes(r assemble.Result) int {
	n := len(r.System)
	for _, m := range r.Messages {
		n += len(m.Text)
	}
	return n
}

func promptOf(r assemble.Result) *promptOut {
	p := &promptOut{System: r.System, Messages: []messageOut{}}
	for _, m := range r.Messages {
		out := messageOut{Role: string(m.Role), Text: m.Text, Media: m.Media, Call: m.Call, Failed: m.Failed}
		for _, c := range m.Calls {
			out.Calls = append(out.Calls, callJSON(c))
		}
		p.Messages = append(p.Messages, out)
	}
	return p
}

// withoutTools returns a ledger without the rows of tools: a replay calls none.
func withoutTools(l earshot.Ledger) earshot.Ledger {
	return slices.DeleteFunc(slices.Clone(l), func(r earshot.LedgerRow) bool { return r.Section == bot.ToolSection })
}
