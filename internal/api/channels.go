package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/access"
	"github.com/earshot-ai/earshot/internal/contract"
)

// addReads adds the routes that read channels.
func (s *server) addReads(a huma.API) {
	type output struct {
		Body struct {
			Channels []channelInfo `json:"channels"`
		}
	}
	add(s, a, huma.Operation{OperationID: "list-channels", Method: http.MethodGet, Path: "/v1/channels", Summary: "The channels that the key reaches"},
		func(ctx context.Context, p access.Principal, _ *struct{}) (*output, error) {
			list, err := s.Service.Channels(ctx, p)
			out := &output{}
			out.Body.Channels = []channelInfo{}
			for _, c := range list {
				out.Body.Channels = append(out.Body.Channels, channelInfoOf(c))
			}
			return out, err
		})
}

// A channelInfo is a channel with how much of it is stored.
type channelInfo struct {
	contract.Channel
	Messages int    `json:"messages" doc:"how many are stored, without deleted ones"`
	Threads  int    `json:"threads" doc:"roots with at least one reply"`
	First    string `json:"first,omitempty" doc:"time of the first message"`
	Last     string `json:"last,omitempty" doc:"time of the last message"`
}

func channelInfoOf(c earshot.ChannelInfo) channelInfo {
	return channelInfo{*contract.ChannelOf(c.Channel), c.Messages, c.Threads, c.First.String(), c.Last.String()}
}
