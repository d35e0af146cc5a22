package inspect

import (
	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/sidecar"
)

// A homeData is the first page.
type homeData struct {
	Channels int        `json:"channels"`
	Messages int        `json:"messages"`
	Turns    []turnLine `json:"turns"` // the newest
	Start    *startData `json:"start,omitempty"`
}

type startData struct {
	Channel string `json:"channel"`
	Message string `json:"message"`
	Why     string `json:"why"`
	Context string `json:"context"` // its address

	asked earshot.Message
	link  string
}

type turnLine struct {
	ID    earshot.TurnID    `json:"id"`
	State earshot.TurnState `json:"state"`
	Link  string            `json:"link"`
}

// home is the first page: where to begin.
func (s *server) home(v *visit) (page, error) {
	var d homeData
	channels, err := s.Service.Channels(v.Context(), v.caller)
	if err != nil {
		return page{}, err
	}
	for _, c := range channels {
		d.Channels++
		d.Messages += c.Messages
	}
	turns, _, err := s.Service.Turns(v.Context(), v.caller, sidecar.TurnQuery{Limit: 10})
	if err != nil {
		return page{}, err
	}
	for _, t := range turns {
		d.Turns = append(d.Turns, turnLine{t.ID, t.State, turnLink(t.ID)})
	}
	if s.Start != nil && v.caller.Sees(s.Start.Channel.Scope()) {
		m, _, err := s.Service.Message(v.Context(), v.caller, s.Start.Channel, s.Start.Message, false)
		if err == nil {
			l := contextLink(s.Start.Channel.Scope(), m.ID)
			d.Start = &startData{Channel: s.Start.Channel.Name, Message: string(m.ID), Why: s.Start.Why, Context: l, asked: m, link: l}
		}
	}
	return page{title: "Earshot", nav: "", data: d, body: homeBody(s, v, d)}, nil
}
