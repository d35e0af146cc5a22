package inspect

import (
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A homeData is the first page.
type homeData struct {
	Channels int        `json:"channels"`
	More     bool       `json:"more,omitzero"` // channels than were counted, with their messages
	Messages int        `json:"messages"`
	Turns    []turnLine `json:"turns"` // the newest
	Asked    int        `json:"asked"` // open approvals, 20 at most
	Start    *startData `json:"start,omitempty"`
}

// A startData is the question that the first page leads to, with a glance at what the
// bot would read of it.
type startData struct {
	Channel  string                  `json:"channel"`
	Message  string                  `json:"message"`
	Why      string                  `json:"why"`
	Context  string                  `json:"context"` // its address
	Tokens   int                     `json:"tokens"`
	Verdicts map[earshot.Verdict]int `json:"verdicts"` // how many messages of each

	asked   earshot.Message
	scope   earshot.Scope
	reasons reasoner // says why each is shown or left out
	glance  []explain.Candidate
}

type turnLine struct {
	ID    earshot.TurnID    `json:"id"`
	State earshot.TurnState `json:"state"`
	Link  string            `json:"link"`
}

// maxCounted is how many channels the first page counts.
const maxCounted = 1000

// maxAsked is how many open approvals the first page counts.
const maxAsked = 20

// asked says how many calls wait for a person.
func (d homeData) asked() string {
	if d.Asked == maxAsked {
		return plain.Number(maxAsked) + " calls or more wait for a person's yes"
	}
	if d.Asked == 1 {
		return "1 call waits for a person's yes"
	}
	return plain.Number(d.Asked) + " calls wait for a person's yes"
}

// size says how much there is to see.
func (d homeData) size() string {
	if d.More {
		return "Over " + plural(d.Messages, "message", "messages") + " in over " + plural(d.Channels, "channel", "channels") + "."
	}
	return plural(d.Messages, "message", "messages") + " in " + plural(d.Channels, "channel", "channels") + "."
}

// home is the first page: where to begin.
func (s *server) home(v *visit) (page, error) {
	d := homeData{Turns: []turnLine{}}
	channels, more, err := s.Reader.ChannelsAfter(v.Context(), v.caller, nil, maxCounted)
	if err != nil {
		return page{}, err
	}
	d.More = more
	for _, c := range channels {
		d.Channels++
		d.Messages += c.Messages
	}
	turns, err := s.Reader.NewestTurns(v.Context(), v.caller, 10)
	if err != nil {
		return page{}, err
	}
	for _, t := range turns {
		d.Turns = append(d.Turns, turnLine{t.ID, t.State, turnLink(t.ID)})
	}
	open, _, err := s.Reader.Approvals(v.Context(), v.caller, explain.ApprovalFilter{States: []earshot.ApprovalState{earshot.ApprovalOpen}, Limit: maxAsked})
	if err != nil {
		return page{}, err
	}
	d.Asked = len(open)
	if d.Start, err = s.start(v); err != nil {
		return page{}, err
	}
	return page{title: "What did the bot see?", data: d, body: homeBody(s, v, d)}, nil
}

// start looks at the question that the first page leads to; nil where there is none,
// or none that the visitor may see.
func (s *server) start(v *visit) (*startData, error) {
	if s.Start == nil || !v.caller.Sees(s.Start.Channel.Scope()) {
		return nil, nil
	}
	at := s.Start.Channel.Scope()
	x, err := s.Reader.ExplainMessage(v.Context(), v.caller, explain.PreviewRequest{
		Channel: visible.Place{Platform: at.Platform, Workspace: at.Workspace, Channel: at.Channel}, Message: s.Start.Message,
	})
	if _, refused := visible.AsRefusal(err); refused {
		return nil, nil // it was deleted meanwhile
	}
	if err != nil {
		return nil, err
	}
	d := &startData{
		Channel: s.Start.Channel.Name, Message: string(s.Start.Message), Why: s.Start.Why, Context: contextLink(at, s.Start.Message),
		Tokens: x.Result.Tokens.Total, Verdicts: map[earshot.Verdict]int{}, asked: x.Anchor, scope: at,
	}
	for _, c := range x.Candidates {
		d.Verdicts[c.Row.Verdict]++
	}
	d.reasons = reasonsOf(&x.Input)
	d.glance = pickTelling(x.Candidates, s.Start.Message)
	return d, nil
}

// pickTelling returns a few candidates that tell the most: the newest that the prompt shows,
// and the newest that it leaves out.
func pickTelling(all []explain.Candidate, anchor earshot.MessageID) []explain.Candidate {
	const shown, out = 4, 2
	var some []explain.Candidate
	count := map[bool]int{}
	for _, c := range slices.Backward(all) {
		left := c.Row.Verdict == earshot.Out
		if c.Message.ID == anchor || c.Message.Deleted || count[left] >= map[bool]int{false: shown, true: out}[left] {
			continue
		}
		count[left]++
		some = append(some, c)
	}
	slices.Reverse(some)
	return some
}
