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
	addRaw(s, a, huma.Operation{
		OperationID: "wait-turn", Method: http.MethodPost, Path: "/v1/turns/{id}/wait", Summary: "Let an open turn wait for what it has asked",
		Description: "Nobody holds the turn from then on, and nobody gets its question until all that it asked is decided, or its time is over: then state is decided, and whoever opens the question goes on with it, or renews this turn. A turn of which nothing is asked stays as it is. With seconds the answer comes once all is decided, or after that many seconds; ask again as often as you like.",
		Responses:   map[string]*huma.Response{"409": conflictResponse(a)},
	}, schemaOf[waitBody](a), s.waitTurn).Required = false
}

// A waitBody is the body of POST /v1/turns/{id}/wait.
type waitBody struct {
	Seconds int `json:"seconds,omitzero" minimum:"1" maximum:"30" doc:"to wait for the decision; default: none"`
}

func (s *server) waitTurn(ctx context.Context, p access.Principal, in *commitInput) (*heldOutput, error) {
	var b waitBody
	if len(in.RawBody) > 0 {
		if err := in.StrictInput.read(ctx, &b); err != nil {
			return nil, err
		}
	}
	if b.Seconds < 0 || b.Seconds > maxWait {
		return nil, &assemble.InputError{Path: "seconds", Reason: "must be 1 to 30"}
	}
	h, err := s.Service.Wait(ctx, p, in.id())
	if err != nil {
		return nil, err
	}
	return s.heldAfter(ctx, p, h, b.Seconds, sidecar.HeldWaiting)
}

// heldAfter returns a turn once it is in a state no longer, or after so many seconds.
func (s *server) heldAfter(ctx context.Context, p access.Principal, h sidecar.Held, seconds int, state string) (*heldOutput, error) {
	if seconds > 0 && !s.waits.take(p.ID, maxWaits) {
		seconds = 0 // it comes back soon enough
	} else if seconds > 0 {
		defer s.waits.give(p.ID)
	}
	tick := time.NewTicker(streamPause)
	defer tick.Stop()
	for end := time.Now().Add(time.Duration(seconds) * time.Second); h.State == state && time.Now().Before(end); {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		}
		var err error
		if h, err = s.Service.Look(ctx, p, h.ID); err != nil {
			return nil, err
		}
	}
	out := &heldOutput{heldTurnOf(h)}
	if len(h.Asked) == 0 {
		return out, nil
	}
	var err error
	out.Body.Approvals, err = s.approvalsOf(ctx, h.Asked)
	return out, err
}

type heldOutput struct{ Body heldTurn }

// A renewBody is the body of POST /v1/turns/{id}/renew.
type renewBody struct {
	Hold    int  `json:"hold,omitzero" minimum:"1" maximum:"3600" doc:"seconds from now; default: as when the turn was opened"`
	Posting bool `json:"posting,omitzero" doc:"the reply is about to be posted"`
	Wait    int  `json:"wait,omitzero" minimum:"1" maximum:"30" doc:"seconds to wait for something to happen; default: none"`
}

// A heldTurn is a turn that a caller has opened.
type heldTurn struct {
	Turn         earshot.TurnID `json:"turn" doc:"its id"`
	State        string         `json:"state" enum:"open,cancelled,changed,waiting,decided,expired,committed,aborted" doc:"cancelled: the question was deleted; changed: it was edited since the turn was opened; waiting: people are asked, and nobody holds the turn; decided: they have decided, and whoever opens the question or renews the turn goes on"`
	Expires      string         `json:"expires" format:"date-time"`
	Conversation string         `json:"conversation" doc:"its id"`
	Channel      string         `json:"channel" doc:"its id"`
	Workspace    string         `json:"workspace"`
	Platform     string         `json:"platform"`
	Anchor       string         `json:"anchor" doc:"the message that is answered"`
	Posting      string         `json:"posting,omitempty" format:"date-time" doc:"when its reply was about to be posted"`
	Approvals    []Approval     `json:"approvals,omitempty" doc:"what people were asked for it, the newest first; not in lists"`
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

func (s *server) renewTurn(ctx context.Context, p access.Principal, in *commitInput) (*heldOutput, error) {
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
	return s.heldAfter(ctx, p, h, b.Wait, string(earshot.DraftOpen))
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
