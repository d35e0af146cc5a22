package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
	"github.com/earshot-ai/earshot/search"
)

// addReads adds the routes that read channels.
func (s *server) addReads(a huma.API) {
	addRoute(s, a, huma.Operation{OperationID: "list-channels", Method: http.MethodGet, Path: "/v1/channels", Summary: "The channels that the key reaches", Description: "In pages, by platform, workspace and id."}, s.listChannels)
	addRoute(s, a, huma.Operation{OperationID: "get-channel", Method: http.MethodGet, Path: "/v1/channels/{channel}", Summary: "One channel, and how much of it is stored", Description: "What is stored may be less than there is on the platform."}, s.getChannel)
	addRoute(s, a, huma.Operation{
		OperationID: "list-messages", Method: http.MethodGet, Path: "/v1/channels/{channel}/messages", Summary: "Messages of a channel, the newest page first",
		Description: "Within a page messages stand in the order in which they were said. Deleted ones are left out.",
	}, s.listMessages)
	addRoute(s, a, huma.Operation{OperationID: "get-message", Method: http.MethodGet, Path: "/v1/channels/{channel}/messages/{id}", Summary: "One message", Description: "As it is stored now, and where it is asked for also as it was before."}, s.getMessage)
	addRoute(s, a, huma.Operation{
		OperationID: "get-thread", Method: http.MethodGet, Path: "/v1/channels/{channel}/threads/{id}", Summary: "A thread: its root and the newest replies",
		Description: "The root is there where it is stored. Pages of replies come newest first; within a page they stand in the order in which they were said.",
	}, s.getThread)
	addRoute(s, a, huma.Operation{
		OperationID: "search-channel", Method: http.MethodGet, Path: "/v1/channels/{channel}/search", Summary: "Search a channel",
		Description: "The best hits first, each with the parts of its score. A search never leaves its channel.",
	}, s.searchChannel)
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

// cursorOf writes what a list goes on after, so that callers have no use for it but
// to give it back.
func cursorOf(kind string, parts ...any) string {
	b, err := json.Marshal(append([]any{kind}, parts...))
	if err != nil {
		panic(err) // parts are texts and numbers
	}
	return base64.RawURLEncoding.EncodeToString(b)
}

// readCursor reads a cursor of cursorOf into parts. "" is none.
func readCursor(text, kind string, parts ...any) (bool, error) {
	if text == "" {
		return false, nil
	}
	var got string
	want := append([]any{&got}, parts...)
	var list []json.RawMessage
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &list)
	}
	ok := err == nil && len(list) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = json.Unmarshal(list[i], want[i]) == nil
	}
	if !ok || got != kind {
		return false, &visible.Refusal{Kind: visible.Invalid, Path: "cursor", Detail: "is not one that a page of this list gave"}
	}
	return true, nil
}

type listChannelsInput struct {
	Cursor string `query:"cursor" maxLength:"8192" doc:"from the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"100"`
}

type channelPage struct {
	Channels []channelInfo `json:"channels"`
	Next     string        `json:"next,omitempty" doc:"the cursor of the next page; absent on the last"`
}

func (s *server) listChannels(ctx context.Context, p access.Principal, in *listChannelsInput) (*struct{ Body channelPage }, error) {
	var after earshot.Channel
	on, err := readCursor(in.Cursor, "channels", &after.Platform, &after.Workspace, &after.Name, &after.ID)
	if err != nil {
		return nil, err
	}
	from := &after
	if !on {
		from = nil
	}
	list, more, err := s.Reader.ChannelsAfter(ctx, p, from, in.Limit)
	if err != nil {
		return nil, err
	}
	out := channelPage{Channels: []channelInfo{}}
	for _, c := range list {
		out.Channels = append(out.Channels, channelInfoOf(c))
	}
	if more {
		last := list[len(list)-1]
		out.Next = cursorOf("channels", last.Platform, last.Workspace, last.Name, last.ID)
	}
	return &struct{ Body channelPage }{out}, nil
}

func (s *server) getChannel(ctx context.Context, p access.Principal, at *Place) (*struct{ Body channelInfo }, error) {
	c, err := s.resolve(ctx, p, *at)
	if err != nil {
		return nil, err
	}
	info, err := s.Reader.ChannelInfo(ctx, p, visible.Place{Channel: c.ID, Workspace: c.Workspace, Platform: c.Platform})
	if err != nil {
		return nil, err
	}
	return &struct{ Body channelInfo }{channelInfoOf(info)}, nil
}

// missingBetween writes what is missing or stale of a channel's own history between two
// times; 0 means that there is no bound.
func (s *server) missingBetween(ctx context.Context, c earshot.Channel, from, to earshot.Time) ([]coverageEntry, error) {
	open, err := s.Service.Open(ctx, c.Scope(), "")
	if err != nil {
		return nil, err
	}
	return coverageOf(slices.DeleteFunc(open, func(e earshot.Coverage) bool {
		return e.To != 0 && e.To < from || to != 0 && e.From > to
	})), nil
}

// A messagePage is a page of messages.
type messagePage struct {
	Messages []*contract.Message `json:"messages" doc:"in the order in which they were said"`
	Next     string              `json:"next,omitempty" doc:"the cursor of the next page, with older ones; absent on the last"`
	Missing  []coverageEntry     `json:"missing" doc:"what is missing or stale of the channel's history in the time of the page: nothing, or not all, is known of it"`
}

func pageOf(p explain.Page, kind string) messagePage {
	out := messagePage{Messages: []*contract.Message{}}
	for _, m := range p.Messages {
		out.Messages = append(out.Messages, contract.MessageOf(m))
	}
	if p.Older {
		out.Next = cursorOf(kind, p.Messages[0].Time, p.Messages[0].ID)
	}
	return out
}

type listMessagesInput struct {
	Place
	Before string `query:"before" maxLength:"64" doc:"said before this time (RFC 3339, or a Slack ts)"`
	After  string `query:"after" maxLength:"64" doc:"said after this time"`
	Cursor string `query:"cursor" maxLength:"2048" doc:"from the page before; it goes on with older messages, and stands in before's place"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

func (s *server) listMessages(ctx context.Context, p access.Principal, in *listMessagesInput) (*struct{ Body messagePage }, error) {
	span := explain.Span{Limit: in.Limit}
	var err error
	if span.Before.Time, err = readTime("before", in.Before); err != nil {
		return nil, err
	}
	if span.After, err = readTime("after", in.After); err != nil {
		return nil, err
	}
	if _, err := readCursor(in.Cursor, "messages", &span.Before.Time, &span.Before.ID); err != nil {
		return nil, err
	}
	c, err := s.resolve(ctx, p, in.Place)
	if err != nil {
		return nil, err
	}
	page, err := s.Reader.Messages(ctx, p, c, span)
	if err != nil {
		return nil, err
	}
	from := span.After
	if page.Older {
		from = page.Messages[0].Time
	}
	out := pageOf(page, "messages")
	if out.Missing, err = s.missingBetween(ctx, c, from, span.Before.Time); err != nil {
		return nil, err
	}
	return &struct{ Body messagePage }{out}, nil
}

type getMessageInput struct {
	Place
	ID        string `path:"id" maxLength:"512" doc:"the message's id, unique within the channel"`
	Revisions bool   `query:"revisions" doc:"also return all revisions that are stored"`
}

// A messageInfo is one message.
type messageInfo struct {
	Message   *contract.Message   `json:"message"`
	Revisions []*contract.Message `json:"revisions,omitempty" doc:"the oldest first, the current one last"`
}

func (s *server) getMessage(ctx context.Context, p access.Principal, in *getMessageInput) (*struct{ Body messageInfo }, error) {
	c, err := s.resolve(ctx, p, in.Place)
	if err != nil {
		return nil, err
	}
	m, revisions, err := s.Reader.Message(ctx, p, c, earshot.MessageID(in.ID), in.Revisions)
	if err != nil {
		return nil, err
	}
	out := messageInfo{Message: contract.MessageOf(m)}
	for _, r := range revisions {
		out.Revisions = append(out.Revisions, contract.MessageOf(r))
	}
	return &struct{ Body messageInfo }{out}, nil
}

type getThreadInput struct {
	Place
	ID     string `path:"id" maxLength:"512" doc:"the id of the root, or of any message of the thread"`
	Cursor string `query:"cursor" maxLength:"2048" doc:"from the page before; it goes on with older replies"`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

// A thread is a root with a page of its replies.
type thread struct {
	ID      string              `json:"id" doc:"the root's"`
	Root    *contract.Message   `json:"root,omitempty" doc:"absent where it was deleted or is not stored"`
	Total   int                 `json:"total" doc:"how many replies are stored"`
	Replies []*contract.Message `json:"replies" doc:"in the order in which they were said"`
	Next    string              `json:"next,omitempty" doc:"the cursor of the next page, with older replies; absent on the last"`
}

func (s *server) getThread(ctx context.Context, p access.Principal, in *getThreadInput) (*struct{ Body thread }, error) {
	span := explain.Span{Limit: in.Limit}
	if _, err := readCursor(in.Cursor, "thread", &span.Before.Time, &span.Before.ID); err != nil {
		return nil, err
	}
	c, err := s.resolve(ctx, p, in.Place)
	if err != nil {
		return nil, err
	}
	t, err := s.Reader.Thread(ctx, p, c, earshot.MessageID(in.ID), span)
	if err != nil {
		return nil, err
	}
	page := pageOf(t.Page, "thread")
	out := thread{ID: string(t.ID), Total: t.Total, Replies: page.Messages, Next: page.Next}
	if t.Root != nil {
		out.Root = contract.MessageOf(*t.Root)
	}
	return &struct{ Body thread }{out}, nil
}

type searchInput struct {
	Place
	Q      string   `query:"q" maxLength:"4096" doc:"words, or a part in double quotes; a message's id finds the message"`
	Author []string `query:"author,explode" maxItems:"20" doc:"only what these authors said, by id; may be given several times"`
	From   string   `query:"from" maxLength:"64" doc:"said at this time or later (RFC 3339, or a Slack ts)"`
	To     string   `query:"to" maxLength:"64" doc:"said at this time or before"`
	Limit  int      `query:"limit" minimum:"1" maximum:"50" default:"10"`
}

// A hit is a message that was found.
type hit struct {
	ID      string             `json:"id"`
	Score   float64            `json:"score" doc:"the sum of parts; comparable within one answer only"`
	Cover   float64            `json:"cover" doc:"the share of the query's words that it has, by their weights, 0 to 1"`
	Parts   map[string]float64 `json:"parts" doc:"what the score is made of, such as words and recency"`
	Message *contract.Message  `json:"message"`
}

type hitList struct {
	Hits    []hit           `json:"hits" doc:"the best first"`
	Missing []coverageEntry `json:"missing" doc:"what is missing or stale of the channel's history between from and to: what was said then may not be found"`
}

func (s *server) searchChannel(ctx context.Context, p access.Principal, in *searchInput) (*struct{ Body hitList }, error) {
	q := search.Query{Text: in.Q, Limit: in.Limit}
	var err error
	if q.Since, err = readTime("from", in.From); err != nil {
		return nil, err
	}
	if q.Before.Time, err = readTime("to", in.To); err != nil {
		return nil, err
	}
	for _, id := range in.Author {
		q.Authors = append(q.Authors, earshot.AuthorID(id))
	}
	c, err := s.resolve(ctx, p, in.Place)
	if err != nil {
		return nil, err
	}
	found, err := s.Reader.Search(ctx, p, c, q)
	if err != nil {
		return nil, err
	}
	missing, err := s.missingBetween(ctx, c, q.Since, q.Before.Time)
	if err != nil {
		return nil, err
	}
	out := hitList{[]hit{}, missing}
	for _, h := range found {
		x := hit{string(h.ID), h.Score, h.Cover, map[string]float64{}, contract.MessageOf(h.Message)}
		for _, part := range h.Parts {
			x.Parts[part.Name] = part.Value
		}
		out.Hits = append(out.Hits, x)
	}
	return &struct{ Body hitList }{out}, nil
}
