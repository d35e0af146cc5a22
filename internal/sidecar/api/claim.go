package api

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/internal/sidecar"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
)

// Bounds of a claim, in seconds.
const (
	maxHold = 3600
	maxWait = 30
)

// addClaims adds the routes that hold open turns.
func (s *server) addClaims(a huma.API) {
	addRaw(s, a, huma.Operation{
		OperationID: "renew-turn", Method: http.MethodPost, Path: "/v1/turns/{id}/renew", Summary: "Keep an open turn, and hear what has become of its question",
		Description: "The heartbeat of whoever answers: the turn is held for hold seconds from now on. With wait the answer comes once the question was deleted or edited or the turn has ended, or after that many seconds. With posting it is noted that the reply is about to be posted: whoever opens a turn for this question after this one has expired is told so, and looks for the reply before posting another one. A turn that has expired is held again unless somebody else has the question by now.",
		Responses:   map[string]*huma.Response{"409": conflictResponse(a)},
	}, schemaOf[renewBody](a), s.renewTurn).Required = false // a heartbeat needs to say nothing
	addRoute(s, a, huma.Operation{
		OperationID: "list-open-turns", Method: http.MethodGet, Path: "/v1/turns/open", Summary: "The turns that this key has opened and not ended",
		Description: "The newest 200, newest first. Those that have expired were left by a process that died, and nobody has taken their questions over since: open them again.",
	}, s.listOpenTurns)
}

// A renewBody is the body of POST /v1/turns/{id}/renew.
type renewBody struct {
	Hold    int  `json:"hold,omitzero" minimum:"1" maximum:"3600" doc:"seconds from now; default: as when the turn was opened"`
	Posting bool `json:"posting,omitzero" doc:"the reply is about to be posted"`
	Wait    int  `json:"wait,omitzero" minimum:"1" maximum:"30" doc:"seconds to wait for something to happen; default: none"`
}

// A heldTurn is a turn that a caller has opened.
type heldTurn struct {
	Turn         earshot.TurnID `json:"turn" doc:"its id"`
	State        string         `json:"state" enum:"open,cancelled,changed,expired,committed,aborted" doc:"cancelled: the question was deleted; changed: it was edited since the turn was opened"`
	Expires      string         `json:"expires" format:"date-time"`
	Conversation string         `json:"conversation" doc:"its id"`
	Channel      string         `json:"channel" doc:"its id"`
	Workspace    string         `json:"workspace"`
	Platform     string         `json:"platform"`
	Anchor       string         `json:"anchor" doc:"the message that is answered"`
	Posting      string         `json:"posting,omitempty" format:"date-time" doc:"when its reply was about to be posted"`
}

func heldTurnOf(h sidecar.Held) heldTurn {
	w := openTurnOf(h.Draft, 0)
	sc := h.Conversation.Scope
	out := heldTurn{
		Turn: h.ID, State: h.State, Expires: w.Expires, Conversation: w.Conversation, Anchor: w.Anchor,
		Channel: string(sc.Channel), Workspace: string(sc.Workspace), Platform: string(sc.Platform),
	}
	if h.Posting != 0 {
		out.Posting = h.Posting.String()
	}
	return out
}

func (s *server) renewTurn(ctx context.Context, p access.Principal, in *commitInput) (*struct{ Body heldTurn }, error) {
	var b renewBody
	if len(in.RawBody) > 0 {
		if err := in.StrictInput.read(ctx, &b); err != nil {
			return nil, err
		}
	}
	switch {
	case b.Hold < 0 || b.Hold > maxHold:
		return nil, &assemble.InputError{Path: "hold", Reason: "must be 1 to 3600 seconds"}
	case b.Wait < 0 || b.Wait > maxWait:
		return nil, &assemble.InputError{Path: "wait", Reason: "must be 1 to 30 seconds"}
	}
	h, err := s.Service.Renew(ctx, p, in.id(), sidecar.Renewal{Hold: time.Duration(b.Hold) * time.Second, Posting: b.Posting})
	if err != nil {
		return nil, err
	}
	if b.Wait > 0 && !s.waits.take(p.ID, maxWaits) {
		b.Wait = 0 // it comes back soon enough
	} else if b.Wait > 0 {
		defer s.waits.give(p.ID)
	}
	tick := time.NewTicker(streamPause)
	defer tick.Stop()
	for end := time.Now().Add(time.Duration(b.Wait) * time.Second); h.State == string(earshot.DraftOpen) && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
		if h, err = s.Service.Look(ctx, p, in.id()); err != nil {
			return nil, err
		}
	}
	return &struct{ Body heldTurn }{heldTurnOf(h)}, nil
}

type openTurnsOutput struct {
	Body struct {
		Turns []heldTurn `json:"turns"`
	}
}

func (s *server) listOpenTurns(ctx context.Context, p access.Principal, _ *struct{}) (*openTurnsOutput, error) {
	list, err := s.Service.Opened(ctx, p, true)
	if err != nil {
		return nil, err
	}
	out := &openTurnsOutput{}
	out.Body.Turns = []heldTurn{}
	for _, h := range list {
		out.Body.Turns = append(out.Body.Turns, heldTurnOf(h))
	}
	return out, nil
}

// takenProblem is the answer to whoever opens or renews a turn for a question that is
// answered, or somebody else's.
func takenProblem(t *sidecar.Taken) error {
	problem := &conflictProblem{Reason: t.Reason, Turn: t.Turn, Problem: Problem{
		Title: http.StatusText(http.StatusConflict), Status: http.StatusConflict, Code: t.Reason, Detail: t.Error(),
	}}
	if t.Reason == sidecar.Answered {
		problem.Reply = storedReplyOf(t.Text, t.Replies, t.Usage)
		return problem
	}
	return huma.ErrorWithHeaders(problem, http.Header{"Retry-After": {strconv.Itoa(int(math.Ceil(t.Retry.Seconds())))}})
}
