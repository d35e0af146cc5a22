package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// addFeedback adds the routes of what people think of answers.
func (s *server) addFeedback(a huma.API) {
	addRoute(s, a, huma.Operation{
		OperationID: "list-feedback", Method: http.MethodGet, Path: "/v1/feedback", Summary: "What people think of answers, of the newest turns first",
		Description: "A page has all of a turn, and so may have more than the limit.",
	}, s.listFeedback)
	addRaw(s, a, huma.Operation{
		OperationID: "put-feedback", Method: http.MethodPut, Path: "/v1/turns/{id}/feedback", Summary: "Tell what somebody thinks of an answer",
		Description: "In place of what they thought before; a reason stays where the verdict is the same and none is given. A turn that is open has no answer yet.",
		Responses:   map[string]*huma.Response{"409": refusalResponse(http.StatusConflict, "application/problem+json", "Problem")},
	}, schemaOf[feedbackBody](a), s.putFeedback)
	addRoute(s, a, huma.Operation{
		OperationID: "remove-feedback", Method: http.MethodDelete, Path: "/v1/turns/{id}/feedback", Summary: "Take back what somebody thinks of an answer",
		Description: "It is no error where they think nothing.", DefaultStatus: http.StatusNoContent,
	}, s.removeFeedback)
}

// A Feedback is what somebody thinks of an answer, as earshot feedback --json writes it.
type Feedback struct {
	Turn        earshot.TurnID      `json:"turn"`
	Good        bool                `json:"good"`
	Author      earshot.AuthorID    `json:"author"`
	AuthorName  string              `json:"author_name,omitempty"`
	Reason      string              `json:"reason,omitempty" doc:"in their words"`
	Time        string              `json:"time" format:"date-time"`
	Platform    earshot.Platform    `json:"platform"`
	Workspace   earshot.WorkspaceID `json:"workspace"`
	Channel     earshot.ChannelID   `json:"channel"`
	ChannelName string              `json:"channel_name"`
}

func feedbackOf(x explain.FeedbackRow) Feedback {
	at := x.Conversation.Scope
	f := Feedback{
		Turn: x.Turn, Good: x.Good, Author: x.Author, AuthorName: x.By.Name, Reason: x.Reason, Time: x.Time.String(),
		Platform: at.Platform, Workspace: at.Workspace, Channel: at.Channel, ChannelName: x.Channel.Name,
	}
	if f.ChannelName == "" {
		f.ChannelName = string(at.Channel)
	}
	return f
}

type listFeedbackInput struct {
	Channel   string `query:"channel" maxLength:"512" doc:"of one channel"`
	Workspace string `query:"workspace" maxLength:"512" doc:"where several have a channel with this id"`
	Platform  string `query:"platform" maxLength:"64" doc:"where several have a channel with this id"`
	Turn      int64  `query:"turn" minimum:"1" doc:"of one turn"`
	Good      string `query:"good" enum:"true,false" doc:"only of those who think so"`
	Cursor    string `query:"cursor" maxLength:"64" doc:"from the page before"`
	Limit     int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type feedbackList struct {
	Body struct {
		Feedback []Feedback `json:"feedback"`
		Next     string     `json:"next,omitempty" doc:"the cursor of the next page; absent on the last"`
	}
}

func (s *server) listFeedback(ctx context.Context, p access.Principal, in *listFeedbackInput) (*feedbackList, error) {
	f := explain.FeedbackFilter{Turn: earshot.TurnID(in.Turn), Limit: in.Limit}
	if in.Good != "" {
		good := in.Good == "true"
		f.Good = &good
	}
	var err error
	if f.Scope, err = s.scopeOf(ctx, p, Place{in.Channel, in.Workspace, in.Platform}); err != nil {
		return nil, err
	}
	if in.Cursor != "" {
		if f.Before, err = readTurnCursor(in.Cursor); err != nil {
			return nil, err
		}
	}
	rows, before, err := s.Reader.Feedback(ctx, p, f)
	if err != nil {
		return nil, err
	}
	out := &feedbackList{}
	out.Body.Feedback = []Feedback{}
	for _, x := range rows {
		out.Body.Feedback = append(out.Body.Feedback, feedbackOf(x))
	}
	if before != 0 {
		out.Body.Next = turnCursor(before)
	}
	return out, nil
}

// A feedbackBody is the body of PUT /v1/turns/{id}/feedback.
type feedbackBody struct {
	Author string `json:"author,omitzero" maxLength:"512" doc:"the id of who thinks so; of a user's token it is its subject"`
	Good   *bool  `json:"good" doc:"whether they found the answer good"`
	Reason string `json:"reason,omitzero" maxLength:"4096" doc:"in their words"`
}

func (s *server) putFeedback(ctx context.Context, p access.Principal, in *commitInput) (*struct{ Body Feedback }, error) {
	var b feedbackBody
	if err := in.read(ctx, &b); err != nil {
		return nil, err
	}
	if b.Good == nil {
		return nil, &assemble.InputError{Path: "good", Reason: "is required: true or false"}
	}
	x, err := s.Reader.PutFeedback(ctx, p, earshot.Feedback{Turn: in.id(), Author: earshot.AuthorID(b.Author), Good: *b.Good, Reason: b.Reason})
	if err != nil {
		return nil, err
	}
	return &struct{ Body Feedback }{feedbackOf(x)}, nil
}

type removeFeedbackInput struct {
	TurnPath
	Author string `query:"author" maxLength:"512" doc:"the id of who takes it back; of a user's token it is its subject"`
}

func (s *server) removeFeedback(ctx context.Context, p access.Principal, in *removeFeedbackInput) (*struct{}, error) {
	return nil, s.Reader.RemoveFeedback(ctx, p, in.id(), earshot.AuthorID(in.Author))
}
