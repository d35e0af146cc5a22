package api

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// addApprovals adds the routes of what people were asked before a tool acts.
func (s *server) addApprovals(a huma.API) {
	addRoute(s, a, huma.Operation{
		OperationID: "list-approvals", Method: http.MethodGet, Path: "/v1/approvals", Summary: "What people were asked before a tool acted, newest first",
		Description: "Those of a bot beside the sidecar, and those that callers asked for. state=open lists what nobody has decided yet.",
	}, s.listApprovals)
	addRoute(s, a, huma.Operation{
		OperationID: "get-approval", Method: http.MethodGet, Path: "/v1/approvals/{id}", Summary: "One approval",
		Description: "With its arguments to the byte, as sha256 is of them.",
	}, s.getApproval)
	addRaw(s, a, huma.Operation{
		OperationID: "decide-approval", Method: http.MethodPost, Path: "/v1/approvals/{id}", Summary: "Agree to a call of a tool, or refuse it",
		Description: "Without by the caller decides as an operator. Whoever hands in a person's click names them in by, and the rule approve.by holds for them as it does in a bot, as far as it can be known here: groups and roles are not. A user's token decides as its subject, and for nobody else. The same decision again is answered with what is stored; of several that differ the first counts, and the others are answered with 409 and what is stored.",
		Responses:   map[string]*huma.Response{"409": {Description: "It is decided already, or its time is over; approval is as it is stored", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: schemaOf[decidedProblem](a)}}}},
	}, schemaOf[approvalBody](a), s.decideApproval)
}

// An Approval is an approval as earshot approvals --json writes it.
type Approval struct {
	ID          earshot.ApprovalID    `json:"id"`
	State       earshot.ApprovalState `json:"state" enum:"open,agreed,refused,expired,withdrawn"`
	Turn        earshot.TurnID        `json:"turn"`
	Platform    earshot.Platform      `json:"platform"`
	Workspace   earshot.WorkspaceID   `json:"workspace"`
	Channel     earshot.ChannelID     `json:"channel"`
	ChannelName string                `json:"channel_name"`
	Anchor      earshot.MessageID     `json:"anchor" doc:"the message that is answered"`
	Asker       earshot.AuthorID      `json:"asker" doc:"who asked the question"`
	AskerName   string                `json:"asker_name,omitempty"`
	Call        string                `json:"call,omitempty" doc:"the model's id of the call"`
	Tool        string                `json:"tool"`
	Args        string                `json:"args,omitempty" doc:"the arguments to the byte; absent where they were erased"`
	SHA256      string                `json:"sha256" doc:"of the arguments"`
	Asked       string                `json:"asked" format:"date-time"`
	Expires     string                `json:"expires" format:"date-time" doc:"from then on nobody can agree"`
	By          earshot.AuthorID      `json:"by,omitempty" doc:"who decided"`
	ByName      string                `json:"by_name,omitempty"`
	Operator    bool                  `json:"operator,omitempty" doc:"an operator decided"`
	Why         string                `json:"why,omitempty" doc:"what who decided said to it"`
	Decided     string                `json:"decided,omitempty" format:"date-time"`
	Result      string                `json:"result,omitempty" doc:"what came of the call"`
}

func approvalOf(x explain.ApprovalRow) Approval {
	at := x.Conversation.Scope
	a := Approval{
		ID: x.ID, State: x.State, Turn: x.Turn, Platform: at.Platform, Workspace: at.Workspace, Channel: at.Channel, ChannelName: x.Channel.Name,
		Anchor: x.Anchor, Asker: x.Asker, AskerName: x.AskerBy.Name, Call: x.Call, Tool: x.Tool, Args: string(x.Args), SHA256: x.SHA256,
		Asked: x.Asked.String(), Expires: x.Expires.String(), By: x.By, ByName: x.ByBy.Name, Operator: x.Operator, Why: x.Why, Result: x.Result,
	}
	if a.ChannelName == "" {
		a.ChannelName = string(at.Channel)
	}
	if x.Decided != 0 {
		a.Decided = x.Decided.String()
	}
	return a
}

type listApprovalsInput struct {
	Channel   string   `query:"channel" maxLength:"512" doc:"of one channel"`
	Workspace string   `query:"workspace" maxLength:"512" doc:"where several have a channel with this id"`
	Platform  string   `query:"platform" maxLength:"64" doc:"where several have a channel with this id"`
	Turn      int64    `query:"turn" minimum:"1" doc:"of one turn"`
	State     []string `query:"state" enum:"open,agreed,refused,expired,withdrawn" maxItems:"5" doc:"one or several, with commas between them"`
	Cursor    string   `query:"cursor" maxLength:"1024" doc:"from the page before"`
	Limit     int      `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type approvalsOutput struct {
	Body struct {
		Approvals []Approval `json:"approvals"`
		Next      string     `json:"next,omitempty" doc:"the cursor of the next page; absent on the last"`
	}
}

func (s *server) listApprovals(ctx context.Context, p access.Principal, in *listApprovalsInput) (*approvalsOutput, error) {
	f := explain.ApprovalFilter{Turn: earshot.TurnID(in.Turn), Limit: in.Limit}
	for _, state := range in.State {
		f.States = append(f.States, earshot.ApprovalState(state))
	}
	var err error
	if f.Scope, err = s.scopeOf(ctx, p, Place{in.Channel, in.Workspace, in.Platform}); err != nil {
		return nil, err
	}
	if in.Cursor != "" {
		raw, err := base64.RawURLEncoding.DecodeString(in.Cursor)
		id, ok := strings.CutPrefix(string(raw), "approval ")
		if err != nil || !ok || id == "" {
			return nil, visible.InvalidField("cursor", "is not one that a page of this list gave")
		}
		f.Before = earshot.ApprovalID(id)
	}
	rows, more, err := s.Reader.Approvals(ctx, p, f)
	if err != nil {
		return nil, err
	}
	out := &approvalsOutput{}
	out.Body.Approvals = []Approval{}
	for _, x := range rows {
		out.Body.Approvals = append(out.Body.Approvals, approvalOf(x))
	}
	if more {
		out.Body.Next = base64.RawURLEncoding.EncodeToString([]byte("approval " + rows[len(rows)-1].ID))
	}
	return out, nil
}

// scopeOf returns the channel that a list is of; nil where none is named.
func (s *server) scopeOf(ctx context.Context, p access.Principal, at Place) (*earshot.Scope, error) {
	if at.Channel == "" {
		return nil, nil
	}
	if p.Fixed != nil {
		return nil, visible.ToolsOnly
	}
	c, err := s.Reader.To(p).Resolve(ctx, at.service())
	if err != nil {
		return nil, err
	}
	scope := c.Scope()
	return &scope, nil
}

// An ApprovalPath names an approval.
type ApprovalPath struct {
	ID string `path:"id" maxLength:"512" doc:"the approval's id"`
}

type approvalOutput struct{ Body Approval }

func (s *server) getApproval(ctx context.Context, p access.Principal, at *ApprovalPath) (*approvalOutput, error) {
	x, err := s.Reader.Approval(ctx, p, earshot.ApprovalID(at.ID))
	if err != nil {
		return nil, err
	}
	return &approvalOutput{approvalOf(x)}, nil
}

// An approvalBody is the body of POST /v1/approvals/{id}.
type approvalBody struct {
	Decision string `json:"decision,omitzero" enum:"agree,refuse"`
	Reason   string `json:"reason,omitzero" maxLength:"4096" doc:"why; the model is told, and so is the channel"`
	SHA256   string `json:"sha256,omitzero" maxLength:"64" doc:"of the arguments that are agreed to; where it is another than that of the stored ones, nothing is decided"`
	By       string `json:"by,omitzero" maxLength:"512" doc:"the id of the person who clicked, as their platform's event says; default: the caller decides, as an operator"`
}

// A decidedProblem is the answer to a decision that does not count.
type decidedProblem struct {
	Problem
	Approval Approval `json:"approval" doc:"as it is stored"`
}

type approvalInput struct {
	ApprovalPath
	StrictInput
}

func (s *server) decideApproval(ctx context.Context, p access.Principal, in *approvalInput) (*approvalOutput, error) {
	var b approvalBody
	if err := in.read(ctx, &b); err != nil {
		return nil, err
	}
	if b.Decision != "agree" && b.Decision != "refuse" {
		return nil, &assemble.InputError{Path: "decision", Reason: "must be agree or refuse"}
	}
	x, err := s.Reader.Decide(ctx, p, earshot.ApprovalID(in.ID), explain.Deciding{
		Agree: b.Decision == "agree", SHA256: b.SHA256, By: earshot.AuthorID(b.By), Reason: b.Reason,
	})
	var decided *explain.Decided
	if errors.As(err, &decided) {
		return nil, &decidedProblem{Approval: approvalOf(decided.ApprovalRow), Problem: Problem{
			Title: http.StatusText(http.StatusConflict), Status: http.StatusConflict, Code: decided.Code, Detail: decided.Error(),
		}}
	}
	if err != nil {
		return nil, err
	}
	return &approvalOutput{approvalOf(x)}, nil
}
