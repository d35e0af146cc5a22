package inspect

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A turnsData is a list of turns, newest first.
type turnsData struct {
	Turns   []turnRow `json:"turns"`
	Looked  int       `json:"looked"`         // how many turns were looked at for this page
	Stopped bool      `json:"stopped"`        // the page ended because these were so many
	Next    string    `json:"next,omitempty"` // the address of the next page

	filtered bool
	problem  string // why the filters select nothing
	chat     bool   // people write here
	channels []channelChoice
	models   []string
}

// A turnRow is one turn of a list.
type turnRow struct {
	ID          earshot.TurnID      `json:"id"`
	State       earshot.TurnState   `json:"state"`
	Why         string              `json:"why,omitempty"`
	Link        string              `json:"link"`
	Platform    earshot.Platform    `json:"platform"`
	Workspace   earshot.WorkspaceID `json:"workspace"`
	Channel     earshot.ChannelID   `json:"channel"`
	ChannelName string              `json:"channel_name"`
	Anchor      earshot.MessageID   `json:"anchor"`
	By          string              `json:"by,omitempty"`
	Question    string              `json:"question,omitempty"` // its first words; "" when it is deleted
	Opened      string              `json:"opened"`
	Took        int64               `json:"took_us,omitempty"`
	Policy      string              `json:"policy,omitempty"`
	Models      []string            `json:"models"`
	Tokens      int                 `json:"tokens"` // read and written, cached ones too
	Cost        float64             `json:"cost"`
	Priced      bool                `json:"priced"`
	Good        int                 `json:"good,omitempty"` // how many people found the answer so
	Bad         int                 `json:"bad,omitempty"`

	opened earshot.Time
	took   time.Duration
}

// What the list can be filtered by of what people think.
var opinionChoices = []struct {
	value explain.Opinion
	label string
}{{"", "any or none"}, {explain.BadOpinion, "bad"}, {explain.GoodOpinion, "good"}, {explain.AnyOpinion, "good or bad"}}

// A channelChoice is a channel to filter by.
type channelChoice struct{ value, label string }

// maxChoices bounds how many channels are offered to choose from.
const maxChoices = 500

// turns lists turns of all channels that the visitor sees.
func (s *server) turns(v *visit) (page, error) {
	d := turnsData{Turns: []turnRow{}, chat: s.Chat != nil}
	f, err := s.turnFilter(v)
	var l explain.TurnList
	if err == nil {
		l, err = s.Reader.TurnList(v.Context(), v.caller, f)
	}
	if d.problem, err = v.filterProblem(err); err != nil {
		return page{}, err
	}
	d.Looked, d.Stopped = l.Looked, l.Stopped
	seen := map[string]bool{}
	for _, r := range l.Rows {
		row := rowOf(r)
		d.Turns = append(d.Turns, row)
		for _, m := range row.Models {
			if !seen[m] {
				seen[m], d.models = true, append(d.models, m)
			}
		}
	}
	if l.Before != 0 {
		d.Next = v.with("before", strconv.FormatInt(int64(l.Before), 10))
	}
	for _, name := range []string{"channel", "person", "outcome", "model", "feedback", "min_cost", "from", "to"} {
		d.filtered = d.filtered || v.query(name) != ""
	}
	if d.channels, err = s.choices(v); err != nil {
		return page{}, err
	}
	return page{title: "Turns", nav: "turns", data: d, body: turnsBody(v, d)}, nil
}

// filterProblem returns what is wrong with a filter, where htmx asks for the list alone: it
// would find no list on the page of an error. Other errors are returned as they are.
func (v *visit) filterProblem(err error) (problem string, _ error) {
	r, ok := visible.AsRefusal(err)
	if !ok || v.Header.Get("HX-Request") == "" {
		return "", err
	}
	if r.Kind == visible.NotFound {
		return "There is no such channel that you can see.", nil
	}
	return r.Error(), nil
}

// rowOf describes a turn in a list.
func rowOf(r explain.TurnRow) turnRow {
	q, u := r.Queued, r.Usage
	row := turnRow{
		ID: q.ID, State: q.State, Why: plain.Line(explain.WhyOf(q), 300), Link: turnLink(q.ID),
		Platform: r.Channel.Platform, Workspace: r.Channel.Workspace, Channel: r.Channel.ID, ChannelName: placeName(r.Channel),
		Anchor: q.Anchor, Opened: q.Opened.String(), Took: r.Took().Microseconds(), Policy: r.Policy, Models: append([]string{}, r.Models...),
		Tokens: u.Input + u.Output + u.CacheRead + u.CacheWrite, Cost: r.Cost, Priced: r.Priced, Good: r.Good, Bad: r.Bad,
		opened: q.Opened, took: r.Took(),
	}
	if r.Question != nil {
		row.By, row.Question = nameOf(r.Question.Author), plain.Line(r.Question.Text, 160)
	}
	return row
}

// words is what a row says of the question.
func (r turnRow) words() string {
	switch {
	case r.By == "":
		return "(the question is deleted)"
	case r.Question == "":
		return "(no text)"
	}
	return r.Question
}

// tokens writes how many the turn took; a dash where no model was asked.
func (r turnRow) tokens() string {
	if r.Tokens == 0 {
		return "–"
	}
	return plain.Number(r.Tokens)
}

// money writes what a turn cost; with a plus where a part has no price.
func (r turnRow) money() string {
	switch {
	case r.Priced:
		return fmt.Sprintf("%.4f", r.Cost)
	case r.Cost > 0:
		return fmt.Sprintf("%.4f+", r.Cost)
	}
	return "–"
}

// placeName is what people call a channel.
func placeName(c earshot.Channel) string {
	name := plain.ID(cmp.Or(c.Name, string(c.ID)))
	if c.Kind == earshot.KindDM {
		return name
	}
	return "#" + strings.TrimPrefix(name, "#")
}

// with returns the address of this page with one parameter changed.
func (v *visit) with(name, value string) string {
	q := v.URL.Query()
	q.Set(name, value)
	for k := range q {
		if q.Get(k) == "" {
			q.Del(k)
		}
	}
	return v.URL.Path + "?" + q.Encode()
}

// choices are the channels that the visitor can filter by, the first of them where
// there are many: by name where that is known to be enough.
func (s *server) choices(v *visit) ([]channelChoice, error) {
	list, more, err := s.Reader.ChannelsAfter(v.Context(), v.caller, nil, maxChoices)
	if err != nil {
		return nil, err
	}
	named := map[string]int{}
	for _, c := range list {
		named[strings.ToLower(c.Name)]++
	}
	var out []channelChoice
	for _, c := range list {
		x := channelChoice{string(c.ID), placeName(c.Channel)}
		if c.Name != "" && named[strings.ToLower(c.Name)] == 1 && !more {
			x.value = c.Name
		}
		out = append(out, x)
	}
	return out, nil
}

// stateWords says what a state means.
func stateWords(s earshot.TurnState) string {
	return map[earshot.TurnState]string{
		earshot.TurnOpen:       "waits for the bot",
		earshot.TurnClaimed:    "a bot has taken it",
		earshot.TurnGenerating: "the model is asked",
		earshot.TurnWaiting:    "waits for what a person was asked",
		earshot.TurnPosting:    "the answer is on its way",
		earshot.TurnDone:       "answered",
		earshot.TurnFailed:     "no answer; the person was told",
		earshot.TurnParked:     "nobody knows whether the answer arrived; an operator has to look",
		earshot.TurnDropped:    "not answered, for the reason given",
		earshot.TurnRefused:    "not to be answered, for the reason given",
	}[s]
}

// stateSymbol is the sign of a state, so that its colour is never all there is.
func stateSymbol(s earshot.TurnState) string {
	switch s {
	case earshot.TurnDone:
		return "✓"
	case earshot.TurnFailed:
		return "✕"
	case earshot.TurnParked:
		return "?"
	case earshot.TurnDropped, earshot.TurnRefused:
		return "–"
	}
	return "…"
}

// formatElapsed writes how long something took.
func formatElapsed(d time.Duration) string {
	switch {
	case d <= 0:
		return "–"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < 48*time.Hour:
		return d.Round(time.Second).String()
	}
	return fmt.Sprintf("%d days", d/(24*time.Hour))
}

// dayOf is a day as a field of a form shows it; of a time its day.
func dayOf(x string) string { return x[:min(len(x), len(time.DateOnly))] }

func orDash(x string) string { return cmp.Or(x, "–") }
