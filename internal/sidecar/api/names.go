package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// addNames adds the routes of agents, channels and authors as callers name them.
func (s *server) addNames(a huma.API) {
	addRaw(s, a, huma.Operation{
		OperationID: "put-agent", Method: http.MethodPut, Path: "/v1/agents/{id}", Summary: "Say who an agent is",
		Description: "By its id and aliases Earshot knows which messages are the agent's own. A key for some channels says so for these only.",
	}, schemaOf[agentBody](a), s.putAgent)
	addRoute(s, a, huma.Operation{OperationID: "list-agents", Method: http.MethodGet, Path: "/v1/agents", Summary: "The agents that the key reaches", Description: "Those of the workspaces that the key reaches, and those that are known in some channels only where it reaches these."}, s.listAgents)
	addRaw(s, a, huma.Operation{
		OperationID: "put-channel", Method: http.MethodPut, Path: "/v1/channels/{channel}", Summary: "Say what a channel is",
		Description: "Replaces what is known of it, except that without a kind the kind stays. A channel that is not stored is created if the key reaches it.",
	}, schemaOf[ChannelBody](a), s.putChannel)
	addStrict(s, a, huma.Operation{
		OperationID: "put-channels", Method: http.MethodPut, Path: "/v1/channels", Summary: "Say what channels are",
		Description: "Does for each channel what PUT /v1/channels/{channel} does. All are checked first: when one is refused, with its place as channels[3].name, none is stored.",
	}, s.putChannels)
	addStrict(s, a, huma.Operation{
		OperationID: "put-authors", Method: http.MethodPut, Path: "/v1/authors", Summary: "Say who authors are: names, kinds, time zones",
		Description: "Needs a key of the workspace: names are the same in all its channels. They hold in every context from then on, also for what was said before, and for messages that were told with an author's id alone.",
	}, s.putAuthors)
}

// An agentBody is the body of PUT /v1/agents/{id}.
type agentBody struct {
	Name      string   `json:"name" minLength:"1" maxLength:"1000"`
	Aliases   []string `json:"aliases,omitempty" maxItems:"20" doc:"further ids that it goes by, such as a Slack bot id beside its user id"`
	Workspace string   `json:"workspace,omitempty" maxLength:"128" doc:"default: the key's only one"`
	Platform  string   `json:"platform,omitempty" maxLength:"64" doc:"default: every platform of the workspace"`
}

// An agentInfo is an agent in an answer.
type agentInfo struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Aliases   []string `json:"aliases"`
	Workspace string   `json:"workspace"`
	Platform  string   `json:"platform,omitempty" doc:"absent where it is the same on all platforms"`
	Channel   string   `json:"channel,omitempty" doc:"where it is known in this channel only"`
}

func agentInfoOf(x visible.Agent) agentInfo {
	out := agentInfo{string(x.ID), x.Name, []string{}, string(x.Workspace), string(x.Platform), string(x.Channel)}
	for _, alias := range x.Aliases {
		out.Aliases = append(out.Aliases, string(alias))
	}
	return out
}

type agentInput struct {
	ID string `path:"id" maxLength:"128" doc:"the agent's id on its platform, as its messages have it"`
	StrictInput
}

func (s *server) putAgent(ctx context.Context, p access.Principal, in *agentInput) (*struct{ Body agentInfo }, error) {
	var b agentBody
	if err := in.StrictInput.read(ctx, &b); err != nil {
		return nil, err
	}
	x := visible.Agent{Identity: earshot.Identity{ID: earshot.AuthorID(in.ID), Name: b.Name}, Workspace: earshot.WorkspaceID(b.Workspace), Platform: earshot.Platform(b.Platform)}
	for _, alias := range b.Aliases {
		x.Aliases = append(x.Aliases, earshot.AuthorID(alias))
	}
	x, err := s.Service.PutAgent(ctx, p, x)
	if err != nil {
		return nil, err
	}
	return &struct{ Body agentInfo }{agentInfoOf(x)}, nil
}

type agentList struct {
	Agents []agentInfo `json:"agents"`
}

func (s *server) listAgents(ctx context.Context, p access.Principal, _ *struct{}) (*struct{ Body agentList }, error) {
	list, err := s.Reader.To(p).Agents(ctx)
	if err != nil {
		return nil, err
	}
	out := agentList{[]agentInfo{}}
	for _, x := range list {
		out.Agents = append(out.Agents, agentInfoOf(x))
	}
	return &struct{ Body agentList }{out}, nil
}

// A ChannelBody is the body of PUT /v1/channels/{channel}. It is exported so that the
// document sees its fields where it is embedded.
type ChannelBody struct {
	Name      string `json:"name,omitempty" maxLength:"1000" doc:"without a leading #"`
	Kind      string `json:"kind,omitempty" enum:"channel,dm,group"`
	Topic     string `json:"topic,omitempty" maxLength:"4096"`
	Purpose   string `json:"purpose,omitempty" maxLength:"4096"`
	Workspace string `json:"workspace,omitempty" maxLength:"128" doc:"default: that of the stored channel, else the key's only one"`
	Platform  string `json:"platform,omitempty" maxLength:"64" doc:"default: that of the stored channel, else api"`
}

type channelInput struct {
	Channel string `path:"channel" maxLength:"512" doc:"the channel's id on its platform"`
	StrictInput
}

func (s *server) putChannel(ctx context.Context, p access.Principal, in *channelInput) (*struct{ Body contract.Channel }, error) {
	var b ChannelBody
	if err := in.StrictInput.read(ctx, &b); err != nil {
		return nil, err
	}
	c, err := b.read(in.Channel)
	if err == nil {
		c, err = s.Service.PutChannel(ctx, p, c)
	}
	if err != nil {
		return nil, err
	}
	return &struct{ Body contract.Channel }{*contract.ChannelOf(c)}, nil
}

// read returns the channel with an id.
func (b ChannelBody) read(id string) (earshot.Channel, error) {
	switch earshot.ChannelKind(b.Kind) {
	case "", earshot.KindChannel, earshot.KindDM, earshot.KindGroup:
	default:
		return earshot.Channel{}, &assemble.InputError{Path: "kind", Reason: "must be channel, dm or group"}
	}
	return earshot.Channel{
		Platform: earshot.Platform(b.Platform), Workspace: earshot.WorkspaceID(b.Workspace), ID: earshot.ChannelID(id),
		Name: b.Name, Kind: earshot.ChannelKind(b.Kind), Topic: b.Topic, Purpose: b.Purpose,
	}, nil
}

// A channelsBody is the body of PUT /v1/channels.
type channelsBody struct {
	Channels []*channelNamed `json:"channels" minItems:"1" maxItems:"1000"`
}

// A channelNamed is one of them.
type channelNamed struct {
	ID string `json:"id" minLength:"1" maxLength:"512"`
	ChannelBody
}

type storedChannels struct {
	Stored int `json:"stored" doc:"how many"`
}

func (s *server) putChannels(ctx context.Context, p access.Principal, b *channelsBody) (*struct{ Body storedChannels }, error) {
	var list []earshot.Channel
	for i, w := range b.Channels {
		at := fmt.Sprintf("channels[%d]", i)
		if w == nil {
			return nil, &assemble.InputError{Path: at, Reason: "must not be null"}
		}
		c, err := w.read(w.ID)
		if err != nil {
			return nil, prefixField(at, err)
		}
		list = append(list, c)
	}
	n, err := s.Service.PutChannels(ctx, p, list)
	if err != nil {
		return nil, err
	}
	return &struct{ Body storedChannels }{storedChannels{n}}, nil
}

// An authorsBody is the body of PUT /v1/authors.
type authorsBody struct {
	Authors   []*authorNamed `json:"authors" minItems:"1" maxItems:"1000"`
	Workspace string         `json:"workspace,omitempty" maxLength:"128" doc:"default: the key's only one"`
	Platform  string         `json:"platform,omitempty" maxLength:"64" doc:"default: every platform on which the workspace has channels"`
}

type authorNamed struct {
	ID       string `json:"id" minLength:"1" maxLength:"512"`
	Name     string `json:"name" maxLength:"1000"`
	FullName string `json:"full_name,omitempty" maxLength:"1000" doc:"tells apart authors with the same name"`
	Kind     string `json:"kind,omitempty" enum:"human,bot,system" doc:"default: human"`
	Zone     string `json:"zone,omitempty" maxLength:"128" doc:"IANA name of the person's time zone"`
}

type storedAuthors struct {
	Stored int `json:"stored" doc:"how many"`
}

func (s *server) putAuthors(ctx context.Context, p access.Principal, b *authorsBody) (*struct{ Body storedAuthors }, error) {
	var list []earshot.Author
	for i, w := range b.Authors {
		at := fmt.Sprintf("authors[%d]", i)
		if w == nil {
			return nil, &assemble.InputError{Path: at, Reason: "must not be null"}
		}
		kind := earshot.AuthorKind(w.Kind)
		switch kind {
		case "":
			kind = earshot.Human
		case earshot.Human, earshot.Bot, earshot.System:
		default:
			return nil, &assemble.InputError{Path: at + ".kind", Reason: "must be human, bot or system"}
		}
		list = append(list, earshot.Author{ID: earshot.AuthorID(w.ID), Name: w.Name, FullName: w.FullName, Kind: kind, Zone: w.Zone})
	}
	n, err := s.Service.PutAuthors(ctx, p, earshot.WorkspaceID(b.Workspace), earshot.Platform(b.Platform), list)
	if err != nil {
		return nil, err
	}
	return &struct{ Body storedAuthors }{storedAuthors{n}}, nil
}
