package api

import (
	"context"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contexts"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// addContext adds the routes that make contexts, and those that end open turns.
func (s *server) addContext(a huma.API) {
	addRaw(s, a, huma.Operation{
		OperationID: "make-context", Method: http.MethodPost, Path: "/v1/context", Summary: "The context of a message: prompt, ledger, tokens, next",
		Description: "Nothing of the conversation changes. With open, a turn is opened, which POST /v1/turns/{id}/commit ends with the reply, and which holds the claim to the question until it ends or expires: whoever opens another one meanwhile is answered with 409 answering, and with 409 answered once it is committed. Who sends the same Idempotency-Key again, because no answer came, gets the turn again: the one before is aborted. A message that comes along is recorded first.",
		Responses:   map[string]*huma.Response{"409": conflictResponse(a)},
	}, schemaOf[contextBody](a), s.makeContext)
	s.addAssemble(a)
	s.addOpenTurns(a)
}

// A contextBody is the body of POST /v1/context.
type contextBody struct {
	ChannelNamed
	Anchor       string            `json:"anchor,omitzero" maxLength:"512" doc:"the id of the message to answer; default: that of message"`
	Agent        string            `json:"agent,omitzero" maxLength:"512" doc:"who answers; default: the only agent that is known here"`
	Conversation string            `json:"conversation,omitzero" doc:"the id of a conversation; default: the one that the anchor belongs to"`
	Policy       policyRef         `json:"policy,omitzero" doc:"default: the sidecar's, which is standard"`
	Budget       budgetRef         `json:"budget,omitzero" doc:"in tokens"`
	Counter      *string           `json:"counter,omitzero" doc:"o200k, bytes4, or either times a factor, such as o200k*1.15"`
	Instructions *string           `json:"instructions,omitzero" doc:"the operator's own system text"`
	Zone         string            `json:"zone,omitzero" doc:"IANA name of the zone of the times that are shown; a session goes on in the zone that it began in"`
	AskerZone    string            `json:"asker_zone,omitzero" doc:"IANA name of the zone of who asks, in which the question's own date and time are shown; default: zone, else the asker's own where it is known"`
	Attach       []string          `json:"attach,omitempty" doc:"ids of files that the model is given with this turn"`
	Text         string            `json:"text,omitzero" doc:"what the anchor is read as saying"`
	Message      *contract.Message `json:"message,omitzero" doc:"a message that is recorded first"`
	Open         bool              `json:"open,omitzero" doc:"open a turn, to be committed with the reply"`
	Again        bool              `json:"again,omitzero" doc:"with open: also where the question has been answered, or somebody else is answering it"`
	Hold         int               `json:"hold,omitzero" minimum:"1" maximum:"3600" doc:"with open: seconds for which the turn is held unless it is renewed; default: as long as turns can be committed, which is 15 minutes unless the operator says otherwise"`
	Tools        bool              `json:"tools,omitzero" doc:"also return the tools' descriptions for a model"`
	Ledger       *bool             `json:"ledger,omitzero" doc:"false: the answer has no ledger, which is most of it; GET /v1/turns/{id} has that of a committed turn; default: true"`
	Next         *bool             `json:"next,omitzero" doc:"false: the answer has no next; default: true"`
	Sources      bool              `json:"sources,omitzero" doc:"also return the messages that the prompt shows, as people cite them"`
	Files        *bool             `json:"files,omitzero" doc:"false: the model can be given no files; the prompt has none and its guide promises none; default: true"`
}

// A contextAnswer is the answer to contextBody.
type contextAnswer struct {
	Prompt       promptJSON            `json:"prompt"`
	Tokens       contract.ResultTokens `json:"tokens"`
	Ledger       []contract.LedgerRow  `json:"ledger,omitzero"`
	Next         *contract.Next        `json:"next,omitzero" doc:"what committing the turn stores, besides the reply"`
	Notes        []contract.Note       `json:"notes"`
	Hash         string                `json:"hash" doc:"of the prompt"`
	Conversation string                `json:"conversation" doc:"its id"`
	Turn         *openTurn             `json:"turn,omitempty"`
	Capability   string                `json:"capability,omitempty" doc:"a bearer token for POST /v1/tools/{name}, in this channel up to the anchor"`
	Tools        []toolInfo            `json:"tools,omitempty"`
	Sources      []sourceJSON          `json:"sources,omitempty" doc:"the messages that the prompt shows, in the order in which they were said, where the request asks for them"`
	Files        []promptFile          `json:"files,omitempty" doc:"the files that messages of the prompt have as media"`
}

// A sourceJSON is a message that the prompt shows.
type sourceJSON struct {
	ID      earshot.MessageID `json:"id"`
	Section string            `json:"section" doc:"the part of the prompt that shows it, such as thread or recall; empty where an earlier turn has shown it"`
	Author  sourceAuthor      `json:"author"`
	Time    string            `json:"time" format:"date-time"`
	Thread  earshot.MessageID `json:"thread,omitempty" doc:"the id of its thread's root"`
	Text    string            `json:"text" doc:"what it says, at most 200 characters of it"`
}

// A sourceAuthor is who wrote a source.
type sourceAuthor struct {
	ID   earshot.AuthorID   `json:"id"`
	Name string             `json:"name" doc:"as the prompt has it"`
	Kind earshot.AuthorKind `json:"kind,omitempty" doc:"human, bot or system"`
}

// A promptJSON is what the model is sent.
type promptJSON struct {
	System   string                   `json:"system"`
	Messages []contract.ResultMessage `json:"messages"`
}

// An openTurn is a turn that waits for its reply.
type openTurn struct {
	ID          earshot.TurnID   `json:"id"`
	Expires     string           `json:"expires" format:"date-time" doc:"until when it holds the claim and can be committed; POST /v1/turns/{id}/renew moves it"`
	Key         string           `json:"key" doc:"an idempotency key for posting the reply: the same for every turn for this question until it is answered; 24 characters"`
	Approvals   []Approval       `json:"approvals,omitempty" doc:"what an earlier turn for this question asked people, and how they decided, the newest first: go on with what was agreed to"`
	Interrupted *interruptedTurn `json:"interrupted,omitempty" doc:"an earlier turn for this question whose holder was about to post and was not heard of again: its reply may be visible; look for it by the key before you post"`
}

// An interruptedTurn is a turn whose holder may have posted.
type interruptedTurn struct {
	ID      earshot.TurnID `json:"id"`
	Posting string         `json:"posting" format:"date-time" doc:"when it was about to post"`
}

// A channelRef is a channel's id, or an object with its platform and workspace too.
type channelRef struct{ jsontext.Value }

// Schema implements [huma.SchemaProvider].
func (channelRef) Schema(huma.Registry) *huma.Schema {
	id := &huma.Schema{Type: huma.TypeString, Description: "the channel's id on its platform"}
	return &huma.Schema{OneOf: []*huma.Schema{id, {
		Type: huma.TypeObject, AdditionalProperties: false, Required: []string{"id"},
		Properties: map[string]*huma.Schema{"id": id, "workspace": {Type: huma.TypeString}, "platform": {Type: huma.TypeString}},
	}}}
}

// A policyRef is a policy's name, or the policy.
type policyRef struct{ jsontext.Value }

// Schema implements [huma.SchemaProvider].
func (policyRef) Schema(huma.Registry) *huma.Schema { return policySchema() }

func policySchema() *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeString, Description: "the name of a built-in policy"},
		{Type: huma.TypeObject, AdditionalProperties: true, Description: "a policy as docs/policies.md has it"},
	}}
}

// A budgetRef is the tokens of a budget, or the budget.
type budgetRef struct{ jsontext.Value }

// Schema implements [huma.SchemaProvider].
func (budgetRef) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeInteger, Minimum: new(float64), Description: "its tokens"}, r.Schema(reflect.TypeFor[contract.Budget](), true, ""),
	}}
}

// over returns the budget; what w does not say is as in b.
func (w budgetRef) over(b assemble.Budget) (assemble.Budget, error) {
	var x contract.Budget
	var err error
	if w.Kind() == '0' {
		err = contract.Unmarshal(w.Value, &x.Tokens, "")
	} else {
		err = contract.Unmarshal(w.Value, &x, "")
	}
	if err != nil {
		return b, prefixField("budget", err)
	}
	return x.Over(b)
}

// A ChannelNamed is how bodies name a channel.
type ChannelNamed struct {
	Channel   channelRef `json:"channel,omitzero" doc:"its id, or an object; required, unless there is a conversation"`
	Workspace string     `json:"workspace,omitzero" maxLength:"512" doc:"the workspace's id, where several have a channel with this id"`
	Platform  string     `json:"platform,omitzero" maxLength:"64" doc:"the platform, where several have a channel with this id"`
}

// place reads the channel.
func (b *ChannelNamed) place() (visible.Place, error) {
	at := visible.Place{Workspace: earshot.WorkspaceID(b.Workspace), Platform: earshot.Platform(b.Platform)}
	raw := b.Channel.Value
	if len(raw) == 0 || raw.Kind() == 'n' {
		return at, nil
	}
	if raw.Kind() != '{' {
		var id string
		err := contract.Unmarshal(raw, &id, "channel")
		at.Channel = earshot.ChannelID(id)
		return at, err
	}
	var w struct {
		ID        string `json:"id"`
		Workspace string `json:"workspace"`
		Platform  string `json:"platform"`
	}
	if err := contract.Unmarshal(raw, &w, ""); err != nil {
		return at, prefixField("channel", err)
	}
	if w.Workspace != "" {
		at.Workspace = earshot.WorkspaceID(w.Workspace)
	}
	if w.Platform != "" {
		at.Platform = earshot.Platform(w.Platform)
	}
	at.Channel = earshot.ChannelID(w.ID)
	return at, nil
}

// read returns the request that the body is.
func (b *contextBody) read(budget assemble.Budget) (r sidecar.ContextRequest, err error) {
	r = sidecar.ContextRequest{
		Conversation: b.Conversation, Anchor: earshot.MessageID(b.Anchor), Agent: earshot.AuthorID(b.Agent),
		Open: b.Open, Claim: sidecar.Claim{Again: b.Again, Hold: time.Duration(b.Hold) * time.Second}, NoFiles: b.Files != nil && !*b.Files,
		Settings: contexts.Settings{Instructions: b.Instructions, Zone: b.Zone, AskerZone: b.AskerZone, Text: b.Text},
	}
	for _, id := range b.Attach {
		r.Attach = append(r.Attach, earshot.ArtifactID(id))
	}
	switch {
	case b.Hold < 0 || b.Hold > maxHold:
		return r, &assemble.InputError{Path: "hold", Reason: "must be 1 to 3600 seconds"}
	case !b.Open && (b.Again || b.Hold != 0):
		return r, &assemble.InputError{Path: "open", Reason: "must be true where again or hold is given"}
	}
	if r.Channel, err = b.place(); err != nil {
		return r, err
	}
	if len(b.Policy.Value) > 0 && b.Policy.Kind() != 'n' {
		policy, err := contract.ReadPolicy(b.Policy.Value)
		if err != nil {
			return r, err
		}
		r.Policy = &policy
	}
	if len(b.Budget.Value) > 0 && b.Budget.Kind() != 'n' {
		budget, err := b.Budget.over(budget)
		if err != nil {
			return r, err
		}
		r.Budget = &budget
	}
	if b.Counter != nil {
		if r.Counter, err = contract.ReadCounter(b.Counter); err != nil {
			return r, err
		}
	}
	if b.Message != nil {
		m, err := b.Message.Read("message")
		if err != nil {
			return r, err
		}
		r.Message = &m
	}
	return r, nil
}

type contextInput struct {
	Key string `header:"Idempotency-Key" maxLength:"255" doc:"with open: by which a repeated request is known as the same"`
	StrictInput
}

func (s *server) makeContext(ctx context.Context, p access.Principal, in *contextInput) (*contextOutput, error) {
	var b contextBody
	if err := in.read(ctx, &b); err != nil {
		return nil, err
	}
	r, err := b.read(s.Service.Budget())
	if err != nil {
		return nil, err
	}
	r.Key = in.Key
	c, err := s.Service.Context(ctx, p, r)
	if err != nil {
		return nil, err
	}
	out := &contextOutput{Body: contextAnswerOf(c, b.Tools)}
	if len(c.Asked) > 0 {
		if out.Body.Turn.Approvals, err = s.approvalsOf(ctx, c.Asked); err != nil {
			return nil, err
		}
	}
	if b.Sources {
		list, err := s.Service.Sources(ctx, c)
		if err != nil {
			return nil, err
		}
		for _, x := range list {
			m := x.Message
			out.Body.Sources = append(out.Body.Sources, sourceJSON{m.ID, x.Section, sourceAuthor{m.Author.ID, m.Author.Name, m.Author.Kind}, m.Time.String(), m.Thread, m.Text})
		}
	}
	if b.Ledger != nil && !*b.Ledger {
		out.Body.Ledger = nil
	}
	if b.Next != nil && !*b.Next {
		out.Body.Next = nil
	}
	return out, nil
}

type contextOutput struct{ Body contextAnswer }

func contextAnswerOf(c sidecar.Context, withTools bool) contextAnswer {
	w := contract.ResultOf(c.Result)
	out := contextAnswer{
		Prompt: promptJSON{w.System, w.Messages}, Tokens: w.Tokens, Ledger: w.Ledger, Next: &w.Next, Notes: w.Notes, Hash: w.Hash,
		Conversation: visible.ConversationText(c.Conversation), Capability: c.Capability, Files: promptFiles(c.Files),
	}
	if d := c.Draft; d != nil {
		out.Turn = &openTurn{ID: d.ID, Expires: d.Expires.String(), Key: sidecar.PostKey(*d)}
		if e := c.Interrupted; e != nil {
			out.Turn.Interrupted = &interruptedTurn{e.ID, e.Posting.String()}
		}
	}
	if withTools {
		out.Tools = toolInfos()
	}
	return out
}
