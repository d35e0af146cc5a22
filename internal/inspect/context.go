package inspect

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect/picture"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A contextData is what the bot would see if it answered a message now.
type contextData struct {
	Platform    earshot.Platform    `json:"platform"`
	Workspace   earshot.WorkspaceID `json:"workspace"`
	Channel     earshot.ChannelID   `json:"channel"`
	ChannelName string              `json:"channel_name"`
	Agent       earshot.AuthorID    `json:"agent"`
	AgentName   string              `json:"agent_name"`
	GoesOn      bool                `json:"goes_on"` // it goes on with a stored session
	Question    questionData        `json:"question"`
	Turn        earshot.TurnID      `json:"turn,omitempty"` // that the message belongs to, as its question or in its answer
	Prompt      *explainedData      `json:"context"`

	scope  earshot.Scope
	budget picture.Picture
	prefix picture.Picture
}

// previewRequest reads which message of which channel is meant, and under which policy
// and budget.
func previewRequest(v *visit) (explain.PreviewRequest, error) {
	r := explain.PreviewRequest{
		Channel: v.place(), Message: earshot.MessageID(v.query("message")), Agent: earshot.AuthorID(v.query("agent")), Policy: v.query("policy"),
	}
	if r.Channel.Channel == "" {
		return r, invalidParam("channel", "is required: the id or the name of a channel")
	}
	if b := v.query("budget"); b != "" {
		n, err := strconv.Atoi(b)
		if err != nil || n <= 0 {
			return r, invalidParam("budget", "must be a number of tokens above 0")
		}
		r.Budget = n
	}
	return r, nil
}

// context shows what the bot would see if it answered a message: any stored one.
func (s *server) context(v *visit) (page, error) {
	r, err := previewRequest(v)
	if err != nil {
		return page{}, err
	}
	e, err := s.Reader.ExplainMessage(v.Context(), v.caller, r)
	if err != nil {
		return page{}, err
	}
	at := e.Channel.Scope()
	d := &contextData{
		Platform: at.Platform, Workspace: at.Workspace, Channel: at.Channel, ChannelName: cmp.Or(e.Channel.Name, string(at.Channel)),
		Agent: e.Agent.ID, AgentName: plain.ID(e.Agent.Name), GoesOn: len(e.Before) > 0, Question: questionOf(e.Anchor.ID, e.Anchor), scope: at,
		Prompt: explainedOf(&e, fromOf(v), v.listFrom),
	}
	d.Turn, err = s.Reader.TurnOf(v.Context(), v.caller, at, e.Anchor.ID)
	if refusal, ok := visible.AsRefusal(err); err != nil && (!ok || refusal.Kind != visible.NotFound) {
		return page{}, err
	}
	d.budget = d.Prompt.Tokens.budgetBar("Tokens of the prompt by section", 0)
	d.prefix = d.Prompt.Tokens.prefixBar("How much of the prompt was sent before")
	return page{
		title: fmt.Sprintf("What %s would see in #%s", d.AgentName, plain.Line(d.ChannelName, 60)), nav: "chat", data: d, body: contextBody(v, d),
		pictures: map[string]drawing{"budget": d.budget, "prefix": d.prefix},
	}, nil
}

// whatIfLink leads to the same context with something changed.
func (d *contextData) whatIfLink() string {
	return linkTo("/context/what-if", scopeParams(d.scope, "message", string(d.Question.ID))...)
}
