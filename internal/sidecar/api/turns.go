package api

import (
	"context"
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// addTurns adds the routes that read turns, their live events, and usage. Those
// that end an open turn are in context.go.
func (s *server) addTurns(a huma.API) {
	addRoute(s, a, huma.Operation{
		OperationID: "list-turns", Method: http.MethodGet, Path: "/v1/turns", Summary: "Turns, newest first",
		Description: "Those that callers have committed, and those of a bot beside the sidecar. A turn that is open for a caller's reply is found by its id only.",
	}, s.listTurns)
	addRoute(s, a, huma.Operation{
		OperationID: "get-turn", Method: http.MethodGet, Path: "/v1/turns/{id}", Summary: "One turn: what was asked, what the model saw and why, what it cost", Description: "The ledger says of each message that was considered whether the model saw it, and why; the prompt comes where it is asked for.",
	}, s.getTurn)
	addRoute(s, a, huma.Operation{
		OperationID: "usage", Method: http.MethodGet, Path: "/v1/usage", Summary: "Tokens of answered turns, by agent, channel and policy",
		Description: "Callers report the usage of the turns that they commit; what they do not report is not known.",
	}, s.usage)
	s.addTurnEvents(a)
}

// A ListedTurn is a turn in a list.
type ListedTurn struct {
	ID           earshot.TurnID    `json:"id"`
	State        string            `json:"state" doc:"open, claimed, generating, posting, done, failed, parked, dropped or refused; of a turn that was opened by a caller open, expired or aborted until it is committed"`
	Why          string            `json:"why,omitempty" doc:"the cause of the state"`
	Agent        string            `json:"agent"`
	Channel      *contract.Channel `json:"channel"`
	Conversation string            `json:"conversation" doc:"the conversation's id"`
	Anchor       string            `json:"anchor" doc:"the message that is answered"`
	Opened       string            `json:"opened" doc:"time"`
	Updated      string            `json:"updated,omitempty" doc:"time"`
	Expires      string            `json:"expires,omitempty" doc:"of a turn that was opened by a caller: until when it can be committed"`
	Epoch        int               `json:"epoch" doc:"the session's number in its conversation"`
	Hash         string            `json:"hash,omitempty" doc:"of the prompt"`
}

// A WholeTurn is a turn with what is stored of it.
type WholeTurn struct {
	ListedTurn
	Question *contract.Message    `json:"question,omitempty" doc:"the message that is answered; absent where it was deleted"`
	Began    string               `json:"began,omitempty" doc:"why a new session began with this turn"`
	Policy   string               `json:"policy,omitempty"`
	Replies  []earshot.MessageID  `json:"reply_ids" doc:"what the reply became on the platform, as far as that is known"`
	Reply    string               `json:"reply,omitempty" doc:"the reply as the session has it"`
	Cursor   int64                `json:"cursor,omitempty" doc:"up to which sequence the conversation was considered"`
	Usage    *UsageCounts         `json:"usage,omitempty"`
	Ledger   []contract.LedgerRow `json:"ledger" doc:"for each message that was considered: its section, verdict, reason and tokens"`
	Prompt   *promptJSON          `json:"prompt,omitempty" doc:"what the model was sent, made again; absent where something of it was erased"`
}

// UsageCounts are tokens as a model's provider reports them.
type UsageCounts struct {
	Input      int `json:"input" doc:"tokens not read from the cache"`
	Output     int `json:"output"`
	CacheRead  int `json:"cache_read"`
	CacheWrite int `json:"cache_write"`
}

// turnOf describes a queued turn.
func turnOf(q earshot.QueuedTurn) ListedTurn {
	c := q.Conversation
	return ListedTurn{
		ID: q.ID, State: string(q.State), Why: q.Why, Agent: string(c.Agent), Channel: channelOf(c.Scope), Conversation: visible.ConversationText(c),
		Anchor: string(q.Anchor), Opened: q.Opened.String(), Updated: q.Updated.String(), Epoch: q.Epoch, Hash: q.Hash,
	}
}

// openTurnOf describes a turn that a caller has opened and not committed.
func openTurnOf(d earshot.Draft, now earshot.Time) ListedTurn {
	state := string(d.State)
	if d.State == earshot.DraftOpen && d.Expires < now {
		state = "expired"
	}
	c := d.Conversation
	return ListedTurn{
		ID: d.ID, State: state, Agent: string(c.Agent), Channel: channelOf(c.Scope), Conversation: visible.ConversationText(c),
		Anchor: string(d.Anchor), Opened: d.Opened.String(), Expires: d.Expires.String(), Epoch: d.Prompt.Epoch, Hash: d.Prompt.Hash,
	}
}

// channelOf is the JSON form of a channel of which only the scope is said.
func channelOf(sc earshot.Scope) *contract.Channel {
	return contract.ChannelOf(earshot.Channel{Platform: sc.Platform, Workspace: sc.Workspace, ID: sc.Channel})
}

type listTurnsInput struct {
	Channel   string   `query:"channel" maxLength:"512" doc:"turns of one channel"`
	Workspace string   `query:"workspace" maxLength:"512" doc:"where several have a channel with this id"`
	Platform  string   `query:"platform" maxLength:"64" doc:"where several have a channel with this id"`
	Agent     string   `query:"agent" maxLength:"512"`
	State     []string `query:"state" enum:"open,claimed,generating,posting,done,failed,parked,dropped,refused" maxItems:"9" doc:"one or several, with commas between them"`
	Cursor    string   `query:"cursor" maxLength:"64" doc:"from the page before"`
	Limit     int      `query:"limit" minimum:"1" maximum:"200" default:"50"`
}

type turnsOutput struct {
	Body struct {
		Turns []ListedTurn `json:"turns"`
		Next  string       `json:"next,omitempty" doc:"the cursor of the next page; absent on the last"`
	}
}

func (s *server) listTurns(ctx context.Context, p access.Principal, in *listTurnsInput) (*turnsOutput, error) {
	q := explain.TurnQuery{Channel: Place{in.Channel, in.Workspace, in.Platform}.service(), Agent: earshot.AgentID(in.Agent), Limit: in.Limit}
	for _, state := range in.State {
		q.States = append(q.States, earshot.TurnState(state))
	}
	if in.Cursor != "" {
		before, err := readTurnCursor(in.Cursor)
		if err != nil {
			return nil, err
		}
		q.Before = before
	}
	page, more, err := s.Reader.Turns(ctx, p, q)
	if err != nil {
		return nil, err
	}
	out := &turnsOutput{}
	out.Body.Turns = []ListedTurn{}
	for _, t := range page {
		out.Body.Turns = append(out.Body.Turns, turnOf(t))
	}
	if more {
		out.Body.Next = turnCursor(page[len(page)-1].ID)
	}
	return out, nil
}

// turnCursor is the cursor of the page after a turn.
func turnCursor(id earshot.TurnID) string {
	return base64.RawURLEncoding.EncodeToString([]byte("turn " + strconv.FormatInt(int64(id), 10)))
}

func readTurnCursor(text string) (earshot.TurnID, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil && len(raw) > 5 && string(raw[:5]) == "turn " {
		if id, err := strconv.ParseInt(string(raw[5:]), 10, 64); err == nil && id > 0 {
			return earshot.TurnID(id), nil
		}
	}
	return 0, &visible.Refusal{Kind: visible.Invalid, Path: "cursor", Detail: "is not one that a page of this list gave"}
}

type getTurnInput struct {
	ID     int64 `path:"id"`
	Prompt bool  `query:"prompt" doc:"make the prompt again"`
}

type turnOutput struct{ Body WholeTurn }

func (s *server) getTurn(ctx context.Context, p access.Principal, in *getTurnInput) (*turnOutput, error) {
	w, err := s.Reader.Record(ctx, p, earshot.TurnID(in.ID), in.Prompt)
	if err != nil {
		return nil, err
	}
	out := WholeTurn{ListedTurn: turnOf(w.Queued), Began: string(w.Queued.Began), Replies: []earshot.MessageID{}, Ledger: []contract.LedgerRow{}}
	t := w.Committed
	if d := w.Draft; d != nil {
		out.ListedTurn, out.Began, t = openTurnOf(*d, s.Service.Now()), string(d.Prompt.Began), &d.Turn
	}
	if w.Anchor != nil {
		out.Question = contract.MessageOf(*w.Anchor)
	}
	for _, post := range w.Posts {
		if t == nil && post.Message != "" {
			out.Replies = append(out.Replies, post.Message)
		}
	}
	if t != nil {
		out.Policy, out.Cursor, out.Replies = t.Policy, t.Cursor, append(out.Replies, t.Answer.Replies...)
		for _, r := range t.Ledger {
			out.Ledger = append(out.Ledger, contract.LedgerRow{ID: string(r.ID), Section: r.Section, Verdict: string(r.Verdict), Reason: r.Reason, Tokens: r.Tokens, Score: r.Score, Cover: r.Cover, Parts: r.Parts})
		}
	}
	if w.Committed != nil {
		out.Reply = w.Committed.Reply()
		u := UsageCounts(w.Committed.Usage)
		out.Usage = &u
	}
	if w.Prompt != nil {
		prompt := contract.ResultOf(*w.Prompt)
		out.Prompt = &promptJSON{prompt.System, prompt.Messages}
	}
	return &turnOutput{out}, nil
}

type usageInput struct {
	Channel   string `query:"channel" maxLength:"512" doc:"of one channel"`
	Workspace string `query:"workspace" maxLength:"512" doc:"where several have a channel with this id"`
	Platform  string `query:"platform" maxLength:"64" doc:"where several have a channel with this id"`
	Agent     string `query:"agent" maxLength:"512"`
	From      string `query:"from" maxLength:"64" doc:"turns that were opened at this time or later"`
	To        string `query:"to" maxLength:"64" doc:"turns that were opened before this time"`
}

// A UsageRow is the usage of one agent's turns in one channel under one policy.
type UsageRow struct {
	Agent   string            `json:"agent"`
	Channel *contract.Channel `json:"channel"`
	Policy  string            `json:"policy"`
	Turns   int               `json:"turns"`
	UsageCounts
}

type usageOutput struct {
	Body struct {
		Usage []UsageRow `json:"usage"`
		Total struct {
			Turns int `json:"turns"`
			UsageCounts
		} `json:"total"`
	}
}

func (s *server) usage(ctx context.Context, p access.Principal, in *usageInput) (*usageOutput, error) {
	q := explain.UsageQuery{Channel: Place{in.Channel, in.Workspace, in.Platform}.service(), Agent: earshot.AgentID(in.Agent)}
	var err error
	if q.From, err = readTime("from", in.From); err != nil {
		return nil, err
	}
	if q.To, err = readTime("to", in.To); err != nil {
		return nil, err
	}
	rows, err := s.Reader.Usage(ctx, p, q)
	if err != nil {
		return nil, err
	}
	out := &usageOutput{}
	out.Body.Usage = []UsageRow{}
	total := &out.Body.Total
	for _, r := range rows {
		out.Body.Usage = append(out.Body.Usage, UsageRow{string(r.Agent), channelOf(r.Scope), r.Policy, r.Turns, UsageCounts(r.Usage)})
		total.Turns += r.Turns
		total.Input += r.Usage.Input
		total.Output += r.Usage.Output
		total.CacheRead += r.Usage.CacheRead
		total.CacheWrite += r.Usage.CacheWrite
	}
	return out, nil
}

// readTime reads a time of a query; "" is none.
func readTime(path, text string) (earshot.Time, error) {
	if text == "" {
		return 0, nil
	}
	t, err := earshot.ParseTime(text)
	if err != nil {
		return 0, &visible.Refusal{Kind: visible.Invalid, Path: path, Detail: "is " + err.Error()}
	}
	return t, nil
}
