package inspect

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect/picture"
	"github.com/earshot-ai/earshot/internal/plain"
)

// A turnData is one turn: what was asked, what the model saw and why, and what came of
// it.
type turnData struct {
	ID           earshot.TurnID       `json:"id"`
	State        earshot.TurnState    `json:"state"`
	Outcome      string               `json:"outcome"` // the state in words
	Why          string               `json:"why,omitempty"`
	Agent        earshot.AgentID      `json:"agent"`
	Platform     earshot.Platform     `json:"platform"`
	Workspace    earshot.WorkspaceID  `json:"workspace"`
	Channel      earshot.ChannelID    `json:"channel"`
	ChannelName  string               `json:"channel_name"`
	Conversation string               `json:"conversation"`
	Number       int                  `json:"number"` // of the conversation's turns, from 0; of a turn that is done
	Opened       string               `json:"opened"`
	Updated      string               `json:"updated"`
	Took         int64                `json:"took_us"`
	Tries        int                  `json:"tries"`
	Ends         int                  `json:"ends,omitempty"`
	Epoch        int                  `json:"epoch"`
	Began        earshot.Beginning    `json:"began,omitempty"`
	Hash         string               `json:"hash,omitempty"`
	Question     questionData         `json:"question"`
	Answer       []postData           `json:"answer"`
	Summary      *summaryData         `json:"summary,omitempty"`
	Names        []namedData          `json:"names"`
	Prompt       *explainedData       `json:"context,omitempty"` // nil where it cannot be made again
	Changed      string               `json:"changed,omitempty"` // why it cannot
	Replay       replayData           `json:"replay"`
	Steps        []stepData           `json:"steps"`
	Spent        usageData            `json:"spent"`
	Attached     []earshot.ArtifactID `json:"attached,omitempty"`
	ToolTokens   int                  `json:"tool_tokens,omitempty"` // of the descriptions of tools of one's own, beside the prompt
	Approvals    []approvalRow        `json:"approvals,omitempty"`   // what people were asked, the first first
	Feedback     []opinionData        `json:"feedback,omitempty"`

	tools   string // the same in a sentence
	scope   earshot.Scope
	id      earshot.ConversationID
	opened  earshot.Time
	updated earshot.Time
	budget  picture.Picture
	prefix  picture.Picture
	cache   picture.Picture
	times   picture.Picture
	ending  bool   // somebody has stopped it
	again   string // when it was made again, where the visitor asked for that
}

// A questionData is the message that is answered. It has no text where it was deleted.
type questionData struct {
	ID      earshot.MessageID `json:"id"`
	Time    string            `json:"time,omitempty"`
	Author  string            `json:"author"`
	Text    string            `json:"text"`
	Deleted bool              `json:"deleted,omitempty"`

	message earshot.Message
}

// A postData is a part of the answer.
type postData struct {
	State   earshot.PostState `json:"state,omitempty"` // "" where the answer was posted by somebody else
	Message earshot.MessageID `json:"message,omitempty"`
	Text    string            `json:"text"`
}

// A replayData says whether the prompt that is made of what is stored now is the one
// that was recorded. Each request of the page makes it.
type replayData struct {
	Same  bool   `json:"same"`
	Bytes int    `json:"bytes,omitempty"`
	Hash  string `json:"hash,omitempty"`
}

type summaryData struct {
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Turns int    `json:"turns"`
	By    string `json:"by,omitempty"`
	Shown bool   `json:"shown"`
	Text  string `json:"text,omitempty"`
}

type namedData struct {
	ID   earshot.AuthorID `json:"id"`
	Name string           `json:"name"`
}

// turnRoutes has the addresses of turns, of contexts and of their what-ifs.
func (s *server) turnRoutes(mux router) {
	s.view(mux, "/turns/{id}", s.turn)
	s.view(mux, "/turns/{id}/what-if", s.whatIf)
	s.view(mux, "/context", s.context)
	s.view(mux, "/context/what-if", s.contextWhatIf)
}

// turnID reads the turn of the path.
func turnID(v *visit) (earshot.TurnID, error) {
	n, err := strconv.ParseInt(v.PathValue("id"), 10, 64)
	if err != nil || n <= 0 {
		return 0, absent
	}
	return earshot.TurnID(n), nil
}

// turn shows one turn.
func (s *server) turn(v *visit) (page, error) {
	id, err := turnID(v)
	if err != nil {
		return page{}, err
	}
	t, e, err := s.Reader.Explain(v.Context(), v.caller, id)
	if err != nil {
		return page{}, err
	}
	d := turnOf(t)
	if v.query("replay") != "" {
		d.again = s.Now().UTC().Format("15:04:05 MST")
	}
	d.ToolTokens, _ = t.OwnTools()
	d.tools = t.OwnToolsLine()
	d.Steps, d.Spent = s.stepsOf(d.opened, t.Steps), usageOf(t.Spent(s.Cost))
	if err := s.requests(v, t.Queued, d.Steps); err != nil {
		return page{}, err
	}
	if d.Approvals, err = s.approvalsOf(v, id); err != nil {
		return page{}, err
	}
	if d.Feedback, err = s.opinionsOf(v, id); err != nil {
		return page{}, err
	}
	p := page{title: fmt.Sprintf("Turn %d", id), nav: "turns", data: d, pictures: map[string]drawing{}}
	if e != nil {
		d.Prompt = explainedOf(e, fromOf(v), v.listFrom)
		d.Replay = replayData{Same: true, Bytes: d.Prompt.Bytes, Hash: d.Prompt.Hash}
		d.budget = d.Prompt.Tokens.budgetBar("Tokens of the prompt by section", 0)
		d.prefix = d.Prompt.Tokens.prefixBar("How much of the prompt was sent before")
		p.pictures["budget"], p.pictures["prefix"] = d.budget, d.prefix
	}
	if d.Spent.read() > 0 {
		d.cache = picture.Stack("What the model read, as its provider counts", []picture.Part{
			{Label: "from the cache", Value: d.Spent.CacheRead, Class: "s7"},
			{Label: "written to the cache", Value: d.Spent.CacheWrite, Class: "s5"},
			{Label: "neither", Value: d.Spent.Input, Class: "s2"},
		}, d.Spent.read())
		p.pictures["cache"] = d.cache
	}
	if len(d.Steps) > 0 {
		d.times = stepsBar(d.opened, d.updated, d.Steps)
		p.pictures["steps"] = d.times
	}
	p.body = turnBody(s, v, d)
	return p, nil
}

// An opinionData is what somebody thinks of the answer.
type opinionData struct {
	Author     earshot.AuthorID `json:"author"`
	AuthorName string           `json:"author_name,omitempty"`
	Good       bool             `json:"good"`
	Reason     string           `json:"reason,omitempty"`
	Time       string           `json:"time"`

	by earshot.Author
	at earshot.Time
}

// opinionsOf returns what people think of a turn's answer.
func (s *server) opinionsOf(v *visit, id earshot.TurnID) (out []opinionData, err error) {
	rows, _, err := s.Reader.Feedback(v.Context(), v.caller, explain.FeedbackFilter{Turn: id})
	for _, x := range rows {
		by := x.By
		by.ID = x.Author
		out = append(out, opinionData{x.Author, x.By.Name, x.Good, plain.Clean(x.Reason), x.Time.String(), by, x.Time})
	}
	return out, err
}

// requests says of each answer of a model what was sent for it.
func (s *server) requests(v *visit, q earshot.QueuedTurn, steps []stepData) error {
	sent, err := s.sentSteps(v, q)
	for i := range sent {
		for k := range steps {
			if steps[k].N == sent[i].Step {
				steps[k].Request = &sent[i]
			}
		}
	}
	return err
}

// turnOf describes a turn without its prompt and its steps.
func turnOf(t explain.Turn) *turnData {
	q := t.Queued
	at := q.Conversation.Scope
	d := &turnData{
		ID: q.ID, State: q.State, Why: plain.Clean(explain.WhyOf(q)), Agent: q.Conversation.Agent, Platform: at.Platform, Workspace: at.Workspace, Channel: at.Channel,
		ChannelName: cmp.Or(t.Channel.Name, string(at.Channel)), Conversation: q.Conversation.Name, Number: q.Number,
		Opened: q.Opened.String(), Updated: q.Updated.String(), Took: t.Took().Microseconds(), Tries: q.Tries, Ends: q.Ends, Epoch: q.Epoch, Began: q.Began, Hash: q.Hash,
		Question: questionOf(q.Anchor, t.Messages[q.Anchor]), Answer: []postData{}, Names: []namedData{},
		scope: at, id: q.Conversation, opened: q.Opened, updated: q.Updated,
	}
	d.Outcome, d.ending, d.Changed = turnOutcome(q), q.Stopped != 0, t.Changed
	for _, x := range t.Answer() {
		d.Answer = append(d.Answer, postData{x.State, x.Message, plain.Clean(plain.Readable(x.Text))})
	}
	names, _ := t.Names()
	for _, n := range names {
		d.Names = append(d.Names, namedData(n))
	}
	if t.Committed != nil {
		for _, f := range t.Committed.Attached {
			d.Attached = append(d.Attached, f.ID)
		}
	}
	if c, shown := t.Summary(); c != nil {
		d.Summary = &summaryData{From: c.From.String(), To: c.To.String(), Turns: c.Turns, By: c.By, Shown: shown, Text: c.Text}
	}
	return d
}

func questionOf(id earshot.MessageID, m earshot.Message) questionData {
	q := questionData{ID: id, Deleted: m.ID == "" || m.Deleted, message: m, Author: "somebody"}
	if m.ID != "" {
		q.Time, q.Author = m.Time.String(), nameOf(m.Author)
	}
	if !q.Deleted {
		q.Text = plain.Clean(plain.Readable(m.Text))
	}
	return q
}

// turnOutcome says in words what became of a turn.
func turnOutcome(q earshot.QueuedTurn) string {
	took := formatMicroseconds(int64(q.Updated - q.Opened))
	if q.Stopped != 0 && !q.State.Final() {
		return "it was stopped: the bot that answers it ends it within seconds, and one that is away when it runs again"
	}
	switch q.State {
	case earshot.TurnDone:
		return "answered after " + took
	case earshot.TurnFailed:
		return "not answered: it failed, and the person was told so"
	case earshot.TurnParked:
		return "waits for an operator: nobody can find out whether the answer arrived"
	case earshot.TurnDropped, earshot.TurnRefused:
		return "not answered"
	case earshot.TurnOpen:
		return "waits for its turn"
	case earshot.TurnClaimed:
		return "is being prepared"
	case earshot.TurnGenerating:
		return "the model is being asked"
	case earshot.TurnWaiting:
		return "waits for what a person was asked"
	case earshot.TurnPosting:
		return "the answer is being posted"
	}
	return string(q.State)
}

// fromOf reads from which candidate a folded run is listed; -1 for none.
func fromOf(v *visit) int {
	n, err := strconv.Atoi(v.query("from"))
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// listFrom is the address of this page with a folded run listed from a candidate on.
func (v *visit) listFrom(from int) string {
	q := v.URL.Query()
	q.Set("from", strconv.Itoa(from))
	return v.URL.Path + "?" + q.Encode()
}

// turnBelow is the address of something below the page of a turn.
func turnBelow(id earshot.TurnID, name string, pairs ...string) string {
	return linkTo(turnLink(id)+"/"+name, pairs...)
}

// money writes a cost, "no price" where a model has none.
func (u usageData) money() string {
	switch {
	case u.Priced && u.Calls > 0:
		return fmt.Sprintf("%.4f", u.Cost)
	case u.Cost > 0:
		return fmt.Sprintf("%.4f and what has no price", u.Cost)
	}
	return "no price is set"
}

// cached is which share of what the model read came from the cache.
func (u usageData) cached() string {
	if u.read() == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(u.CacheRead)/float64(u.read()))
}

// formatPercent writes a part of a whole.
func formatPercent(part, whole int) string {
	if whole == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}
