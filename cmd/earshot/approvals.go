package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/terminal"
	"github.com/earshot-ai/earshot/internal/visible"
)

type approvalsCmd struct {
	List  approvalsListCmd  `cmd:"" default:"withargs" help:"List what people were asked, and how they decided."`
	Agree approvalsAgreeCmd `cmd:"" help:"Agree to a call, as an operator."`
	Deny  approvalsDenyCmd  `cmd:"" help:"Refuse a call, as an operator."`
}

type approvalsListCmd struct {
	Open   bool   `help:"Only what nobody has decided yet."`
	Turn   int64  `placeholder:"ID" help:"Of one turn."`
	Before string `placeholder:"ID" help:"Asked for before this one."`
	Limit  int    `short:"n" default:"50" help:"The most to list."`
	Args   bool   `help:"The arguments of each call, whole."`

	Channel string `placeholder:"CHANNEL" help:"In one channel."`
}

// An approvalJSON is an approval as --json writes it.
type approvalJSON struct {
	ID          earshot.ApprovalID    `json:"id"`
	State       earshot.ApprovalState `json:"state"`
	Turn        earshot.TurnID        `json:"turn"`
	Platform    earshot.Platform      `json:"platform"`
	Workspace   earshot.WorkspaceID   `json:"workspace"`
	Channel     earshot.ChannelID     `json:"channel"`
	ChannelName string                `json:"channel_name"`
	Asker       earshot.AuthorID      `json:"asker"`
	AskerName   string                `json:"asker_name,omitempty"`
	Tool        string                `json:"tool"`
	Args        string                `json:"args,omitempty"` // to the byte, as SHA256 is of them; absent when erased
	SHA256      string                `json:"sha256"`         // of the arguments
	Asked       string                `json:"asked"`
	Expires     string                `json:"expires"`
	By          earshot.AuthorID      `json:"by,omitempty"`
	ByName      string                `json:"by_name,omitempty"`
	Operator    bool                  `json:"operator,omitempty"`
	Why         string                `json:"why,omitempty"`
	Decided     string                `json:"decided,omitempty"`
	Result      string                `json:"result,omitempty"`

	minute         string
	asked, decided earshot.Time
}

func (c *approvalsListCmd) Run(ctx context.Context, a *app) error {
	if c.Limit < 1 || c.Turn < 0 {
		return usagef("--limit and --turn must be above 0")
	}
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	q := earshot.ApprovalQuery{Turn: earshot.TurnID(c.Turn), Before: earshot.ApprovalID(c.Before), Limit: c.Limit}
	if c.Open {
		q.States = []earshot.ApprovalState{earshot.ApprovalOpen}
	}
	if q.Scope, err = l.scope(ctx, c.Channel); err != nil {
		return err
	}
	rows, err := l.approvals(ctx, q)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(rows)
	}
	if len(rows) == 0 {
		a.printf("nobody was asked anything\n")
		return nil
	}
	a.printf("%s", approvalsTable(rows).Render(a.width))
	if c.Args {
		for _, r := range rows {
			a.printf("\n%s %s\n%s\n", r.ID, r.Tool, plain.Readable(r.Args))
		}
	}
	return nil
}

// approvals returns the approvals of a query.
func (l turnStore) approvals(ctx context.Context, q earshot.ApprovalQuery) ([]approvalJSON, error) {
	list, err := l.store.Approvals(ctx, q)
	if err != nil {
		return nil, err
	}
	named, err := l.turns.Named(ctx, list)
	if err != nil {
		return nil, err
	}
	rows := []approvalJSON{}
	for _, x := range named {
		row, err := l.approval(ctx, x)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func approvalsTable(rows []approvalJSON) *terminal.Table {
	t := terminal.NewTable("id", "state", "asked", "turn", "channel", "for", "tool", "by", "what came of it").Right(3)
	for _, r := range rows {
		by := nameOr(r.ByName, r.By)
		if r.Operator {
			by = "an operator"
		}
		came := r.Result
		if came == "" {
			came = r.Why
		}
		t.Row(string(r.ID), approvalStyle(r.State), r.minute, fmt.Sprint(r.Turn), plain.Line(r.ChannelName, 20), plain.Line(nameOr(r.AskerName, r.Asker), 16),
			r.Tool, plain.Line(by, 16), terminal.Faint(plain.Line(came, 60)))
	}
	return t
}

func nameOr(name string, id earshot.AuthorID) string {
	if name != "" {
		return name
	}
	return string(id)
}

// approvalStyle colours a state by whether somebody must act.
func approvalStyle(s earshot.ApprovalState) string {
	switch s {
	case earshot.ApprovalOpen:
		return terminal.Mark(string(s))
	case earshot.ApprovalAgreed:
		return terminal.Good(string(s))
	}
	return terminal.Faint(string(s))
}

// approval describes an approval, with the label of its channel.
func (l turnStore) approval(ctx context.Context, x explain.ApprovalRow) (approvalJSON, error) {
	s := x.Conversation.Scope
	r := approvalJSON{
		ID: x.ID, State: x.State, Turn: x.Turn, Platform: s.Platform, Workspace: s.Workspace, Channel: s.Channel,
		Asker: x.Asker, AskerName: x.AskerBy.Name, Tool: x.Tool, Args: string(x.Args), SHA256: x.SHA256, Asked: x.Asked.String(), Expires: x.Expires.String(),
		By: x.By, ByName: x.ByBy.Name, Operator: x.Operator, Why: x.Why, Result: x.Result, minute: plain.Minute(x.Asked), asked: x.Asked, decided: x.Decided,
	}
	if x.Decided != 0 {
		r.Decided = x.Decided.String()
	}
	var err error
	r.ChannelName, err = l.channels.label(ctx, x.Channel)
	return r, err
}

type approvalsAgreeCmd struct {
	ID     string `arg:"" name:"id" help:"What earshot approvals --open lists."`
	Answer string `placeholder:"TEXT" help:"The answer, where the model asks a question (the tool ask)."`
}

func (c *approvalsAgreeCmd) Run(ctx context.Context, a *app) error {
	return a.decideApproval(ctx, c.ID, earshot.ApprovalAgreed, c.Answer)
}

type approvalsDenyCmd struct {
	ID     string `arg:"" name:"id" help:"What earshot approvals --open lists."`
	Reason string `placeholder:"TEXT" help:"Why: the model and the channel are told."`
}

func (c *approvalsDenyCmd) Run(ctx context.Context, a *app) error {
	return a.decideApproval(ctx, c.ID, earshot.ApprovalRefused, c.Reason)
}

// decideApproval decides an approval as an operator. The bot that runs goes on within a
// second.
func (a *app) decideApproval(ctx context.Context, id string, state earshot.ApprovalState, why string) error {
	l, err := a.turnStore(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	before, err := l.turns.Approval(ctx, operator, earshot.ApprovalID(id))
	if errors.Is(err, visible.Absent) {
		return usagef("nobody was asked %q; `earshot approvals --open` lists what is open", id)
	}
	if err != nil {
		return err
	}
	agree := state == earshot.ApprovalAgreed
	if asks := before.Tool == bot.AskTool; agree && asks != (why != "") {
		return usagef("--answer is for what the model asks, and that needs one; approval %s is for %s", before.ID, before.Tool)
	}
	x, err := l.turns.Decide(ctx, operator, before.ID, explain.Deciding{Agree: agree, Reason: why})
	_, refused := visible.AsRefusal(err)
	switch {
	case errors.Is(err, earshot.ErrConflict):
		return usagef("approval %s is %s already; nothing has changed", x.ID, x.State)
	case refused:
		return usagef("%v", err)
	case err != nil:
		return err
	}
	if a.json {
		row, err := l.approval(ctx, x)
		if err != nil {
			return err
		}
		return a.writeJSON(row)
	}
	a.printf("approval %s of turn %d is %s; the bot goes on with it\n", x.ID, x.Turn, x.State)
	return nil
}
