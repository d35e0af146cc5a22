package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// addMe adds the route that tells callers who they are.
func (s *server) addMe(a huma.API) {
	addRoute(s, a, huma.Operation{
		OperationID: "get-me", Method: http.MethodGet, Path: "/v1/me", Summary: "Who calls: the key, what it reaches and may do",
		Description: "The first thing to ask when something is answered with 404: what the key does not reach does not exist for it.",
	}, s.me)
}

// A callerInfo is the answer: nothing that the caller has not been given, and no secret.
type callerInfo struct {
	ID         string                `json:"id" doc:"of a key, as earshot key list shows it; of a token, issuer and subject; of a capability, whose it is"`
	Name       string                `json:"name,omitempty" doc:"of a key or a person"`
	Kind       access.Kind           `json:"kind" enum:"key,user,capability,local"`
	Reaches    string                `json:"reaches" doc:"what the next two fields say, in words"`
	Workspaces []earshot.WorkspaceID `json:"workspaces,omitempty" doc:"absent: every workspace"`
	Channels   []earshot.ChannelID   `json:"channels,omitempty" doc:"absent: every channel of the workspaces"`
	ReadOnly   bool                  `json:"read_only"`
	Expires    string                `json:"expires,omitempty" format:"date-time" doc:"absent: never"`
	Limits     callerLimits          `json:"limits"`
}

// A callerLimits are the bounds of its requests.
type callerLimits struct {
	PerSecond float64 `json:"requests_per_second,omitzero" doc:"absent: any number"`
	AtOnce    int     `json:"requests_at_once,omitzero"`
	Body      int     `json:"body_bytes"`
	Events    int     `json:"events" doc:"in one request"`
}

func (s *server) me(_ context.Context, p access.Principal, _ *struct{}) (*struct{ Body callerInfo }, error) {
	out := callerInfo{
		ID: strings.TrimPrefix(p.ID, "key:"), Name: p.Name, Kind: p.Kind, Reaches: p.Reach.String(),
		Workspaces: p.Reach.Workspaces, Channels: p.Reach.Channels, ReadOnly: p.ReadOnly, Expires: p.Expires.String(),
		Limits: callerLimits{Body: maxBody, Events: sidecar.MaxEvents},
	}
	if p.Fixed != nil {
		out.Name = "" // whoever has a capability was not told who made it
	}
	if a, bounded := s.Gate.Allowance(p); bounded {
		out.Limits.PerSecond, out.Limits.AtOnce = a.PerSecond, a.Burst
	}
	return &struct{ Body callerInfo }{out}, nil
}
