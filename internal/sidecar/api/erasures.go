package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// addErasures adds the routes that delete one message, and that erase a channel or
// a person.
func (s *server) addErasures(a huma.API) {
	addRoute(s, a, huma.Operation{
		OperationID: "delete-message", Method: http.MethodDelete, Path: "/v1/channels/{channel}/messages/{id}", Summary: "Delete a message",
		Description: "As when its author deletes it on the platform. Its text is gone from contexts, search, sessions and summaries, and never comes back.", DefaultStatus: http.StatusNoContent,
	}, s.deleteMessage)
	addRoute(s, a, huma.Operation{
		OperationID: "erase-channel", Method: http.MethodDelete, Path: "/v1/channels/{channel}", Summary: "Erase a channel",
		Description: "Everything that was said in it, what agents keep of it, and its name. The status is 202 where it takes longer than a second and goes on.",
	}, s.eraseChannel)
	addRoute(s, a, huma.Operation{
		OperationID: "erase-author", Method: http.MethodDelete, Path: "/v1/authors/{id}", Summary: "Erase what a person said",
		Description: "In one channel, or in all channels of the workspace, where their name goes too. The status is 202 where it takes longer than a second and goes on.",
	}, s.eraseAuthor)
	addRoute(s, a, huma.Operation{
		OperationID: "get-erasure", Method: http.MethodGet, Path: "/v1/erasures/{id}", Summary: "How far an erasure has come", Description: "It goes on by itself, also after a restart, until nothing is left to remove.",
	}, s.erasure)
}

type messagePath struct {
	Place
	ID string `path:"id" maxLength:"512" doc:"the message's id, unique within the channel"`
}

func (s *server) deleteMessage(ctx context.Context, p access.Principal, in *messagePath) (*struct{}, error) {
	return nil, s.Service.DeleteMessage(ctx, p, in.service(), earshot.MessageID(in.ID))
}

// service returns the place as the service takes it.
func (at Place) service() visible.Place {
	return visible.Place{Channel: earshot.ChannelID(at.Channel), Workspace: earshot.WorkspaceID(at.Workspace), Platform: earshot.Platform(at.Platform)}
}

// An Erasure is one that was begun, or only counted.
type Erasure struct {
	ID        earshot.ErasureID `json:"id,omitempty" doc:"absent where it was only counted"`
	Platform  string            `json:"platform"`
	Workspace string            `json:"workspace"`
	Channel   string            `json:"channel,omitempty"`
	Author    string            `json:"author,omitempty"`
	Forget    bool              `json:"forget,omitempty"`
	Begun     string            `json:"begun,omitempty" doc:"time"`
	Ended     string            `json:"ended,omitempty" doc:"time; absent while it is under way"`
	Removed   ErasureCounts     `json:"removed" doc:"what has been removed so far, or would be"`
}

// ErasureCounts are the counts of an erasure.
type ErasureCounts struct {
	Messages  int `json:"messages"`
	Revisions int `json:"revisions"`
	Events    int `json:"events" doc:"deliveries that lost their bytes"`
	Sessions  int `json:"sessions"`
	Turns     int `json:"turns" doc:"turns whose texts were removed"`
	Replies   int `json:"replies" doc:"of agents, because they quote; counted in messages too"`
	Summaries int `json:"summaries"`
	Files     int `json:"files"`
	Names     int `json:"names"`
}

// An erasureOutput has the status 202 while the erasure is under way.
type erasureOutput struct {
	Status int
	Body   Erasure
}

func erasureOf(e earshot.Erasure) *erasureOutput {
	status := http.StatusOK
	if e.ID != 0 && e.Ended == 0 {
		status = http.StatusAccepted
	}
	return &erasureOutput{status, Erasure{
		ID: e.ID, Platform: string(e.Of.Platform), Workspace: string(e.Of.Workspace), Channel: string(e.Of.Channel), Author: string(e.Of.User), Forget: e.Of.Forget,
		Begun: e.Begun.String(), Ended: e.Ended.String(), Removed: ErasureCounts(e.Removed),
	}}
}

type eraseChannelInput struct {
	Place
	DryRun bool `query:"dry_run" doc:"count what would be removed, and remove nothing"`
}

func (s *server) eraseChannel(ctx context.Context, p access.Principal, in *eraseChannelInput) (*erasureOutput, error) {
	e, err := s.Service.Erase(ctx, p, sidecar.Erase{Channel: in.service(), Plan: in.DryRun})
	return erasureOf(e), err
}

type eraseAuthorInput struct {
	ID        string `path:"id" maxLength:"512" doc:"the person's id on the platform"`
	Channel   string `query:"channel" maxLength:"512" doc:"in this channel only"`
	Workspace string `query:"workspace" maxLength:"512" doc:"default: the key's only one"`
	Platform  string `query:"platform" maxLength:"64" doc:"default: the only one on which the workspace's id is known"`
	Forget    bool   `query:"forget" doc:"what they say later is not recorded either"`
	DryRun    bool   `query:"dry_run" doc:"count what would be removed, and remove nothing"`
}

func (s *server) eraseAuthor(ctx context.Context, p access.Principal, in *eraseAuthorInput) (*erasureOutput, error) {
	at := Place{in.Channel, in.Workspace, in.Platform}.service()
	e, err := s.Service.Erase(ctx, p, sidecar.Erase{
		Channel: at, Author: earshot.AuthorID(in.ID), Workspace: at.Workspace, Platform: at.Platform, Forget: in.Forget, Plan: in.DryRun,
	})
	return erasureOf(e), err
}

func (s *server) erasure(ctx context.Context, p access.Principal, in *struct {
	ID int64 `path:"id" doc:"as the deletion answered it"`
}) (*erasureOutput, error) {
	e, err := s.Service.Erasure(ctx, p, earshot.ErasureID(in.ID))
	return erasureOf(e), err
}
