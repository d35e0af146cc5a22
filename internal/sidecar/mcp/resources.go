package mcp

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/tools"
)

// The URIs of resources. A thread's names its channel in full, so that it means the
// same whatever a key reaches; a turn's id is unique in a store.
const (
	threadURI = "earshot://channels/{platform}/{workspace}/{channel}/threads/{thread}"
	turnURI   = "earshot://turns/{turn}"
)

// How many resources are listed, and of how many channels. All in reach can be read.
const (
	listedThreads  = 50
	listedTurns    = 20
	listedChannels = 10
)

const kindJSON = "application/json"

// addResources adds threads and turns.
func (s *server) addResources(x *sdk.Server) {
	x.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: threadURI, Name: "thread", Title: "A thread", MIMEType: kindJSON,
		Description: "A thread's root and its newest 200 replies, as channel_messages answers.",
	}, s.readThread)
	x.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: turnURI, Name: "turn", Title: "An answer of the bot", MIMEType: kindJSON,
		Description: "A question, the bot's reply, and what the model saw of which message and why, as explain_turn answers.",
	}, s.readTurn)
}

// listResources lists threads and turns that were active lately.
func (s *server) listResources(ctx context.Context) (*sdk.ListResourcesResult, error) {
	list, _, err := s.reader.RecentChannels(ctx, s.caller, lookChannels)
	if err != nil {
		return nil, err
	}
	list = list[:min(len(list), listedChannels)]
	var threads, turns []*sdk.Resource
	for _, c := range list {
		roots, err := s.reader.RecentThreads(ctx, s.caller, c.Scope(), listedThreads/len(list))
		if err != nil {
			return nil, err
		}
		for _, m := range roots {
			threads = append(threads, &sdk.Resource{URI: uriOfThread(c.Scope(), m.ID), Name: "thread " + string(m.ID), Title: "#" + oneLine(c.Name, maxNames) + ": " + oneLine(m.Text, maxNames), MIMEType: kindJSON})
		}
		queued, err := s.reader.RecentTurns(ctx, s.caller, c.Scope(), listedTurns/len(list))
		if err != nil {
			return nil, err
		}
		for _, q := range queued {
			id := strconv.FormatInt(int64(q.ID), 10)
			turns = append(turns, &sdk.Resource{URI: "earshot://turns/" + id, Name: "turn " + id, Title: "#" + oneLine(c.Name, maxNames) + ": turn " + id + ", " + string(q.State) + ", asked " + q.Opened.String(), MIMEType: kindJSON})
		}
	}
	res := &sdk.ListResourcesResult{Resources: append(append([]*sdk.Resource{}, threads...), turns...)}
	res.CacheScope = "private"
	return res, nil
}

// uriOfThread returns the URI of a thread.
func uriOfThread(at earshot.Scope, root earshot.MessageID) string {
	return "earshot://channels/" + escapeSegment(string(at.Platform)) + "/" + escapeSegment(string(at.Workspace)) + "/" + escapeSegment(string(at.Channel)) + "/threads/" + escapeSegment(string(root))
}

// escapeSegment escapes everything but RFC 3986's unreserved characters, as a URI template's
// simple expansion does.
func escapeSegment(s string) string {
	return strings.ReplaceAll(url.QueryEscape(s), "+", "%20")
}

// segmentsOf returns the parts of a URI with a prefix; nil where it is no such URI.
func segmentsOf(uri, prefix string) []string {
	rest, ok := strings.CutPrefix(uri, prefix)
	if !ok {
		return nil
	}
	parts := strings.Split(rest, "/")
	for i, p := range parts {
		text, err := url.PathUnescape(p)
		if err != nil || text == "" {
			return nil
		}
		parts[i] = text
	}
	return parts
}

// readThread reads a thread.
func (s *server) readThread(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	p := segmentsOf(r.Params.URI, "earshot://channels/")
	if len(p) != 5 || p[3] != "threads" {
		return nil, errResource
	}
	at := earshot.Scope{Platform: earshot.Platform(p[0]), Workspace: earshot.WorkspaceID(p[1]), Channel: earshot.ChannelID(p[2])}
	set, err := s.service.ToolsAt(ctx, s.caller, at)
	if err == nil {
		err = s.limitReads(at)
	}
	if err != nil {
		return nil, err
	}
	args, err := encode(map[string]any{"thread_id": p[4], "max_replies": 200})
	if err != nil {
		return nil, err
	}
	a, err := set.Call(ctx, tools.ChannelMessages, string(args))
	if err != nil {
		return nil, err
	}
	if a.Failed {
		return nil, errResource
	}
	return textContents(a.JSON), nil
}

// readTurn reads a turn.
func (s *server) readTurn(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	p := segmentsOf(r.Params.URI, "earshot://turns/")
	if len(p) != 1 {
		return nil, errResource
	}
	id, err := strconv.ParseInt(p[0], 10, 64)
	if err != nil || id <= 0 || strconv.FormatInt(id, 10) != p[0] {
		return nil, errResource
	}
	t, err := s.reader.Turn(ctx, s.caller, earshot.TurnID(id))
	if err == nil {
		err = s.limitReads(t.Channel.Scope())
	}
	if err != nil {
		return nil, err
	}
	a, err := newAnswer(newTurnJSON(t, true))
	if err != nil {
		a, err = newAnswer(newTurnJSON(t, false))
	}
	return textContents(a.JSON), err
}

func textContents(text string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{Text: text, MIMEType: kindJSON}}}
}
