package api

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar"
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
		OperationID: "decide-approval", Method: http.MethodPost, Path: "/v1/approvals/{id}", Summary: "Agree to a call of a tool, or refuse it; or note what came of it",
		Description: "Without by the caller decides as an operator. Whoever hands in a person's click names them in by, and the rule approve.by holds for them as it does in a bot, as far as it can be known here: groups and roles are not. A user's token decides as its subject, and for nobody else. The same decision again is answered with what is stored; of several that differ the first counts, and the others are answered with 409 and what is stored. With result in place of a decision, whoever asked for it notes what came of the call.",
		Responses:   map[string]*huma.Response{"409": {Description: "It is decided already, or its time is over; approval is as it is stored", Content: map[string]*huma.MediaType{"application/problem+json": {Schema: schemaOf[decidedProblem](a)}}}},
	}, schemaOf[approvalBody](a), s.decideApproval)
	addRaw(s, a, huma.Operation{
		OperationID: "ask-approval", Method: http.MethodPost, Path: "/v1/turns/{id}/approvals", Summary: "Ask people before an open turn calls a tool",
		Description: "The approval is open until somebody decides it, on the page, by the API or by the command, or its time is over. Asking again for the same call returns it as it is then. POST /v1/turns/{id}/wait lets the turn wait for it.",
	}, schemaOf[askBody](a), s.askApproval)
}

// An askBody is the body of POST /v1/turns/{id}/approvals.
type askBody struct {
	Call      string   `json:"call" maxLength:"512" doc:"the model's id of the call, unique in the turn"`
	Tool      string   `json:"tool" maxLength:"512" doc:"its name"`
	Arguments argsJSON `json:"arguments" doc:"what the tool would be given: an object, kept to the byte, or the text of one, as models write it; 64 KiB at most"`
	Asker     string   `json:"asker,omitzero" maxLength:"512" doc:"the id of who may decide as the asker; default: who wrote the question"`
	Expires   int      `json:"expires_in_seconds,omitzero" minimum:"1" maximum:"604800" doc:"for how long somebody may decide; default: 3600"`
}

// An argsJSON is the arguments of a call: a JSON object, or its text.
type argsJSON struct{ jsontext.Value }

// Schema implements [huma.SchemaProvider].
func (argsJSON) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeObject, AdditionalProperties: true}, {Type: huma.TypeString}}}
}

// bytes returns the arguments to the byte.
func (x argsJSON) bytes() ([]byte, error) {
	switch x.Kind() {
	case '{':
		return x.Value, nil
	case '"':
		var text string
		err := contract.Unmarshal(x.Value, &text, "arguments")
		return []byte(text), err
	}
	return nil, &assemble.InputError{Path: "arguments", Reason: "must be an object, or the text of one"}
}

type askInput struct {
	TurnPath
	StrictInput
}

func (s *server) askApproval(ctx context.Context, p access.Principal, in *askInput) (*approvalOutput, error) {
	var b askBody
	if err := in.read(ctx, &b); err != nil {
		return nil, err
	}
	args, err := b.Arguments.bytes()
	if err != nil {
		return nil, err
	}
	if b.Expires < 0 || b.Expires > 604800 {
		return nil, &assemble.InputError{Path: "expires_in_seconds", Reason: "must be 1 to 604800"}
	}
	a, err := s.Service.Ask(ctx, p, in.id(), sidecar.Asking{Call: b.Call, Tool: b.Tool, Args: args, Asker: earshot.AuthorID(b.Asker), Lasts: time.Duration(b.Expires) * time.Second})
	if err != nil {
		return nil, err
	}
	return s.approvalAnswer(ctx, a)
}

// approvalAnswer is the answer that an approval is.
func (s *server) approvalAnswer(ctx context.Context, a earshot.Approval) (*approvalOutput, error) {
	list, err := s.approvalsOf(ctx, []earshot.Approval{a})
	if err != nil {
		return nil, err
	}
	return &approvalOutput{list[0]}, nil
}

// approvalsOf writes approvals with their names.
func (s *server) approvalsOf(ctx context.Context, list []earshot.Approval) ([]Approval, error) {
	rows, err := s.Reader.Named(ctx, list)
	var out []Approval
	for _, x := range rows {
		out = append(out, approvalOf(x))
	}
	return out, err
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
	Result   string `json:"result,omitzero" maxLength:"4096" doc:"in place of a decision: what came of the call, in a few words"`
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
	if b.Result != "" {
		if b.Decision != "" || b.Reason != "" || b.SHA256 != "" || b.By != "" {
			return nil, &assemble.InputError{Path: "result", Reason: "stands alone: it is noted once somebody has decided"}
		}
		a, err := s.Service.NoteResult(ctx, p, earshot.ApprovalID(in.ID), b.Result)
		if err != nil {
			return nil, err
		}
		return s.approvalAnswer(ctx, a)
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
