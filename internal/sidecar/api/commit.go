package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/contract"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// addOpenTurns adds the routes that end open turns.
func (s *server) addOpenTurns(a huma.API) {
	addRaw(s, a, huma.Operation{
		OperationID: "commit-turn", Method: http.MethodPost, Path: "/v1/turns/{id}/commit", Summary: "End an open turn with its reply",
		Description: "Cursor, session and manifest of the conversation move exactly once: a repeated commit changes nothing and is answered as the first was, and one with another text, ids or usage with 409 other_reply and what is stored. Of two turns that are open in one conversation the first commit wins; the other is answered with 409 and, where the anchor still waits for an answer, with the context anew and a new open turn.",
		Responses:   map[string]*huma.Response{"409": conflictResponse(a)},
	}, schemaOf[commitBody](a), s.commitTurn)
	addRoute(s, a, huma.Operation{
		OperationID: "abort-turn", Method: http.MethodPost, Path: "/v1/turns/{id}/abort", Summary: "End an open turn without a reply",
		Description: "Nothing of its conversation changes. The answer says in which state the turn is: one that was committed before stays so.",
	}, s.abortTurn)
	s.addClaims(a)
}

// A commitBody is the body of POST /v1/turns/{id}/commit.
type commitBody struct {
	Reply    *replyJSON         `json:"reply"`
	Usage    *usageJSON         `json:"usage,omitzero" doc:"what the model has used, in tokens"`
	Entries  []*contract.Entry  `json:"entries,omitempty" doc:"calls of tools, and what the tools answered, between prompt and reply"`
	Metadata map[string]*string `json:"metadata,omitempty" doc:"merged into the conversation's; null removes a key"`
}

type replyJSON struct {
	Text    string       `json:"text" doc:"as people see it"`
	IDs     []string     `json:"ids,omitempty" doc:"the id of the message that it became; it is recorded as the agent's. Several messages are given as parts"`
	Time    *string      `json:"time,omitzero" doc:"of the message; default: now"`
	Parts   []*replyPart `json:"parts,omitempty" doc:"the messages that it became, where these are several"`
	Thread  *string      `json:"thread,omitzero" doc:"in which thread it stands, or an empty string for none; default: where answers in this conversation belong"`
	ReplyTo *string      `json:"reply_to,omitzero" doc:"which message it replies to by reference; with thread"`
}

type replyPart struct {
	ID   string  `json:"id"`
	Text string  `json:"text"`
	Time *string `json:"time,omitzero"`
}

type usageJSON struct {
	Input      int `json:"input,omitzero" minimum:"0" doc:"not read from the cache"`
	Output     int `json:"output,omitzero" minimum:"0"`
	CacheRead  int `json:"cache_read,omitzero" minimum:"0"`
	CacheWrite int `json:"cache_write,omitzero" minimum:"0"`
}

// A committedTurn is the answer to commitBody.
type committedTurn struct {
	Turn         earshot.TurnID `json:"turn" doc:"its id"`
	Conversation string         `json:"conversation" doc:"its id"`
	Number       int            `json:"number" doc:"in its conversation, from 0"`
	Anchor       string         `json:"anchor"`
	Replies      []string       `json:"replies" doc:"the ids of the reply's messages"`
	Repeated     bool           `json:"repeated" doc:"it was committed before this request, which changed nothing"`
}

// A conflictProblem is the answer to a commit that came too late, and to a question
// that is somebody else's.
type conflictProblem struct {
	Problem
	Reason  string         `json:"reason" enum:"answered,answering,deleted,changed,other_reply" doc:"the anchor has been answered, somebody else is answering it, the anchor was deleted, the conversation has changed, or this turn was committed with another text, ids or usage"`
	Turn    earshot.TurnID `json:"turn,omitempty" doc:"which answered the anchor, or is answering it; when a turn is opened or renewed"`
	Context *contextAnswer `json:"context,omitempty" doc:"the context anew, with a turn of its own; only where the conversation has changed"`
	Reply   *storedReply   `json:"reply,omitempty" doc:"what the turn was committed with; of other_reply, and of answered when a turn is opened or renewed"`
}

// conflictResponse describes a 409 that brings a conflictProblem.
func conflictResponse(a huma.API) *huma.Response {
	return &huma.Response{
		Description: "The question is answered, or somebody else's, or the conversation has changed",
		Headers:     map[string]*huma.Param{"Retry-After": {Schema: &huma.Schema{Type: huma.TypeInteger}, Description: "seconds; of answering"}},
		Content:     map[string]*huma.MediaType{"application/problem+json": {Schema: schemaOf[conflictProblem](a)}},
	}
}

// A storedReply is the reply of a committed turn.
type storedReply struct {
	Text  string    `json:"text" doc:"as far as it is stored"`
	IDs   []string  `json:"ids" doc:"of its messages"`
	Usage usageJSON `json:"usage"`
}

func storedReplyOf(text string, ids []earshot.MessageID, u earshot.Usage) *storedReply {
	return &storedReply{text, idStrings(ids), usageJSON{u.Input, u.Output, u.CacheRead, u.CacheWrite}}
}

// read returns the reply that the body is.
func (b *commitBody) read() (r sidecar.Reply, err error) {
	if b.Reply == nil {
		return r, &assemble.InputError{Path: "reply", Reason: "is required"}
	}
	r = sidecar.Reply{Text: b.Reply.Text, Metadata: b.Metadata}
	if u := b.Usage; u != nil {
		for name, n := range map[string]int{"input": u.Input, "output": u.Output, "cache_read": u.CacheRead, "cache_write": u.CacheWrite} {
			if n < 0 {
				return r, &assemble.InputError{Path: "usage." + name, Reason: "must not be negative"}
			}
		}
		r.Usage = earshot.Usage{Input: u.Input, Output: u.Output, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite}
	}
	for i, e := range b.Entries {
		entry, err := e.Read("entries[" + strconv.Itoa(i) + "]")
		if err != nil {
			return r, err
		}
		r.Entries = append(r.Entries, entry)
	}
	r.Messages, err = b.Reply.messages()
	r.Placed = b.Reply.Thread != nil || b.Reply.ReplyTo != nil
	return r, err
}

// messages returns what the reply became.
func (w *replyJSON) messages() ([]earshot.Message, error) {
	parts := w.Parts
	switch {
	case len(parts) > 0 && (len(w.IDs) > 0 || w.Time != nil):
		return nil, &assemble.InputError{Path: "reply.ids", Reason: "and time are given with each of the parts"}
	case len(w.IDs) > 1:
		return nil, &assemble.InputError{Path: "reply.ids", Reason: "are several; give parts instead, each with its id and text"}
	case len(w.IDs) == 1:
		parts = []*replyPart{{w.IDs[0], w.Text, w.Time}}
	}
	var out []earshot.Message
	for i, p := range parts {
		at := "reply.parts[" + strconv.Itoa(i) + "]"
		if p == nil {
			return nil, &assemble.InputError{Path: at, Reason: "must not be null"}
		}
		m := earshot.Message{ID: earshot.MessageID(p.ID), Text: p.Text}
		if p.Time != nil {
			t, err := earshot.ParseTime(*p.Time)
			if err != nil {
				if len(w.Parts) == 0 {
					at = "reply"
				}
				return nil, &assemble.InputError{Path: at + ".time", Reason: "is " + err.Error()}
			}
			m.Time = t
		}
		if w.Thread != nil {
			m.Thread = earshot.MessageID(*w.Thread)
		}
		if w.ReplyTo != nil {
			m.ReplyTo = earshot.MessageID(*w.ReplyTo)
		}
		out = append(out, m)
	}
	return out, nil
}

// A TurnPath is how a route names an open turn. What is no number is no turn.
type TurnPath struct {
	ID string `path:"id" maxLength:"32" doc:"the turn's id"`
}

func (at TurnPath) id() earshot.TurnID {
	n, err := strconv.ParseInt(at.ID, 10, 64)
	if err != nil {
		return 0
	}
	return earshot.TurnID(n)
}

type commitInput struct {
	TurnPath
	StrictInput
}

func (s *server) commitTurn(ctx context.Context, p access.Principal, in *commitInput) (*struct{ Body committedTurn }, error) {
	var b commitBody
	if err := in.StrictInput.read(ctx, &b); err != nil {
		return nil, err
	}
	r, err := b.read()
	if err != nil {
		return nil, err
	}
	done, err := s.Service.Commit(ctx, p, in.id(), r)
	var late *sidecar.Overtaken
	if errors.As(err, &late) {
		problem := &conflictProblem{Reason: late.Reason, Problem: Problem{
			Title: http.StatusText(http.StatusConflict), Status: http.StatusConflict, Code: codeOf[http.StatusConflict], Detail: late.Error(),
		}}
		if late.Anew != nil {
			c := contextAnswerOf(*late.Anew, false)
			problem.Context = &c
		}
		return nil, problem
	}
	var other *sidecar.OtherReply
	if errors.As(err, &other) {
		return nil, &conflictProblem{Reason: "other_reply", Turn: in.id(), Reply: storedReplyOf(other.Text, other.Replies, other.Usage), Problem: Problem{
			Title: http.StatusText(http.StatusConflict), Status: http.StatusConflict, Code: "other_reply", Detail: other.Error(),
		}}
	}
	if err != nil {
		return nil, err
	}
	out := committedTurn{
		Turn: done.Turn, Conversation: visible.ConversationText(done.Conversation), Number: done.Number,
		Anchor: string(done.Anchor), Replies: idStrings(done.Replies), Repeated: done.Repeated,
	}
	return &struct{ Body committedTurn }{out}, nil
}

func idStrings(ids []earshot.MessageID) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, string(id))
	}
	return out
}

// An abortedTurn is a turn after POST /v1/turns/{id}/abort.
type abortedTurn struct {
	Turn  earshot.TurnID `json:"turn" doc:"its id"`
	State string         `json:"state" enum:"aborted,committed"`
}

func (s *server) abortTurn(ctx context.Context, p access.Principal, at *TurnPath) (*struct{ Body abortedTurn }, error) {
	d, err := s.Service.Abort(ctx, p, at.id())
	if err != nil {
		return nil, err
	}
	return &struct{ Body abortedTurn }{abortedTurn{d.ID, string(d.State)}}, nil
}
