package inspect

import (
	"cmp"
	"fmt"
	"math"
	"strconv"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/inspect/picture"
	"github.com/earshot-ai/earshot/internal/plain"
	"github.com/earshot-ai/earshot/internal/visible"
)

// A conversationData is what an agent remembers together.
type conversationData struct {
	conversationName
	Title    string             `json:"title,omitempty"`
	Owner    string             `json:"owner,omitempty"`
	Created  string             `json:"created"`
	Updated  string             `json:"updated"`
	Epoch    int                `json:"epoch"`
	Cursor   int64              `json:"cursor"` // up to which sequence messages were considered
	Session  sessionData        `json:"session"`
	Shown    int                `json:"shown"` // messages that the session shows
	Summary  *sessionSummary    `json:"summary,omitempty"`
	Turns    []conversationTurn `json:"turns"` // the oldest first
	Sum      conversationSum    `json:"sum"`   // of these turns
	Files    []givenFile        `json:"files"` // that these turns gave to the model
	Names    []sessionName      `json:"names"` // that the session uses
	Older    earshot.TurnID     `json:"older,omitempty"`
	whole    explain.WholeConversation
	charts   []chart
	olderURL string
}

// A conversationName tells conversations apart.
type conversationName struct {
	Agent       earshot.AgentID     `json:"agent"`
	Platform    earshot.Platform    `json:"platform"`
	Workspace   earshot.WorkspaceID `json:"workspace"`
	Channel     earshot.ChannelID   `json:"channel"`
	ChannelName string              `json:"channel_name"`
	Name        string              `json:"name"`
	Link        string              `json:"link"`
	Begins      string              `json:"begins,omitempty"` // the first words of the message that it begins with
	id          earshot.ConversationID
}

// label is what people call the conversation.
func (n conversationName) label() string {
	switch {
	case n.id.Name == gather.TopLevel:
		return "the top level"
	case n.Begins == "":
		return "thread " + plain.ID(n.Name)
	}
	return "“" + n.Begins + "”"
}

func nameConversation(id earshot.ConversationID, channel string, root *earshot.Message) conversationName {
	n := conversationName{Agent: id.Agent, Platform: id.Scope.Platform, Workspace: id.Scope.Workspace, Channel: id.Scope.Channel, ChannelName: channel, Name: id.Name, Link: conversationLink(id), id: id}
	if root != nil {
		n.Begins = firstWords(root.Text)
	}
	return n
}

// firstWords is the beginning of a message.
func firstWords(text string) string { return plain.Line(plain.Readable(text), 90) }

type sessionData struct {
	Entries int `json:"entries"`
	Bytes   int `json:"bytes"`
	Tokens  int `json:"tokens"`
}

type sessionSummary struct {
	Text  string `json:"text"`
	From  string `json:"from,omitempty"`
	To    string `json:"to,omitempty"`
	Turns int    `json:"turns"`
	By    string `json:"by"` // a model, or digest

	from, to earshot.Time
}

type sessionName struct {
	ID   earshot.AuthorID `json:"id"`
	Name string           `json:"name"`
}

// A conversationTurn is one turn, with what it cost and what the whole history would
// have cost.
type conversationTurn struct {
	ID       earshot.TurnID    `json:"id"`
	Link     string            `json:"link"`
	State    earshot.TurnState `json:"state"`
	Why      string            `json:"why,omitempty"`
	Opened   string            `json:"opened"`
	By       string            `json:"by"`
	Question string            `json:"question"` // its first words; "" when it is deleted
	Epoch    int               `json:"epoch"`
	Began    earshot.Beginning `json:"began,omitempty"` // why its epoch begins with it
	Calls    int               `json:"calls"`
	Read     int               `json:"read"`   // tokens that the model read, from the cache or not
	Cached   int               `json:"cached"` // of these from the cache
	Answered int               `json:"answered"`
	History  int               `json:"history"` // tokens of the whole history, sent with each call
	of       explain.ConversationTurn
}

// share writes which share of what was read came from the cache.
func (t conversationTurn) share() string { return shareOf(t.Cached, t.Read) }

func shareOf(part, whole int) string {
	if whole == 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f %%", 100*float64(part)/float64(whole))
}

// A conversationSum sums turns that asked a model.
type conversationSum struct {
	Turns    int `json:"turns"`
	Calls    int `json:"calls"`
	Read     int `json:"read"`
	Cached   int `json:"cached"`
	Answered int `json:"answered"`
	History  int `json:"history"`
}

// A givenFile is a file that a turn gave to the model.
type givenFile struct {
	ID      earshot.ArtifactID `json:"id"`
	Name    string             `json:"name"`
	Type    string             `json:"type"`
	SHA256  string             `json:"sha256"`
	Turn    earshot.TurnID     `json:"turn"`
	Epoch   int                `json:"epoch"`
	Tokens  int                `json:"tokens"`
	Message earshot.MessageID  `json:"message,omitempty"` // which shared it
	Session bool               `json:"in_session"`        // the current session holds it
	Kept    bool               `json:"kept"`              // its content is stored
}

// conversation is one conversation of an agent.
func (s *server) conversation(v *visit) (page, error) {
	at := v.place()
	c, err := s.Reader.To(v.caller).Resolve(v.Context(), at)
	if err != nil {
		return page{}, err
	}
	var before earshot.TurnID
	if x := v.query("before"); x != "" {
		if before, err = turnNumber(x, "before"); err != nil {
			return page{}, err
		}
	}
	id := earshot.ConversationID{Agent: earshot.AgentID(v.query("agent")), Scope: c.Scope(), Name: v.query("name")}
	w, err := s.Reader.WholeConversation(v.Context(), v.caller, id, before)
	if err != nil {
		return page{}, err
	}
	d := conversationOf(w)
	return page{title: "Conversation " + d.label(), nav: "conversations", data: d, body: conversationBody(s, v, d), pictures: drawCharts(d.charts...)}, nil
}

// conversationOf describes a conversation.
func conversationOf(w explain.WholeConversation) conversationData {
	d := conversationData{
		conversationName: nameConversation(w.ID, placeName(w.Channel), w.Root), Title: w.About.Title, Owner: w.About.Owner,
		Created: w.Created.String(), Updated: w.Updated.String(), Epoch: w.Epoch, Cursor: w.Cursor, Session: sessionData(w.Session), Shown: len(w.Manifest.Shown),
		Turns: []conversationTurn{}, Files: []givenFile{}, Names: []sessionName{}, Older: w.Older, whole: w,
	}
	if x := w.Summary; x != nil {
		d.Summary = &sessionSummary{Text: x.Text, From: x.From.String(), To: x.To.String(), Turns: x.Turns, By: x.By, from: x.From, to: x.To}
	}
	for _, t := range w.Turns {
		x := conversationTurn{
			ID: t.Queued.ID, Link: turnLink(t.Queued.ID), State: t.Queued.State, Why: t.Queued.Why, Opened: t.Queued.Opened.String(), Epoch: t.Queued.Epoch, Began: t.Queued.Began,
			Calls: t.Calls, Read: t.Usage.Input + t.Usage.CacheRead + t.Usage.CacheWrite, Cached: t.Usage.CacheRead, Answered: t.Usage.Output, History: t.History * t.Calls, of: t,
		}
		if t.Question != nil {
			x.By, x.Question = nameOf(t.Question.Author), firstWords(t.Question.Text)
		}
		if t.Calls > 0 {
			d.Sum = conversationSum{d.Sum.Turns + 1, d.Sum.Calls + x.Calls, d.Sum.Read + x.Read, d.Sum.Cached + x.Cached, d.Sum.Answered + x.Answered, d.Sum.History + x.History}
		}
		d.Turns = append(d.Turns, x)
	}
	for _, f := range w.Files {
		d.Files = append(d.Files, givenFile{f.ID, f.Name, f.Type, f.SHA256, f.Queued, f.Epoch, f.Tokens, f.Message, f.Session, f.Kept})
	}
	for _, n := range w.Manifest.Names {
		d.Names = append(d.Names, sessionName(n))
	}
	if d.Older != 0 {
		d.olderURL = linkTo("/conversation", scopeParams(w.ID.Scope, "agent", string(w.ID.Agent), "name", w.ID.Name, "before", strconv.FormatInt(int64(d.Older), 10))...)
	}
	d.charts = conversationCharts(d)
	return d
}

// conversationCharts draws what was read at each turn, and in all, against the whole
// history.
func conversationCharts(d conversationData) []chart {
	var labels []string
	var marks []picture.Mark
	lines := [3][]float64{} // read, of these not from the cache, history
	sums := [3][]float64{}
	var sum [3]float64
	each := chart{name: "tokens", head: []string{"turn", "read", "not from the cache", "full history"}}
	all := chart{name: "sum", head: []string{"up to turn", "read", "not from the cache", "full history"}}
	for _, t := range d.Turns {
		if why := plain.Began(t.Began); why != "" {
			marks = append(marks, picture.Mark{At: len(labels), Name: "epoch " + strconv.Itoa(t.Epoch) + ": " + why})
		}
		if t.Calls == 0 && t.Began == "" {
			continue
		}
		labels = append(labels, strconv.FormatInt(int64(t.ID), 10))
		figures := [3]float64{float64(t.Read), float64(t.Read - t.Cached), float64(t.History)}
		row, total := []string{"turn " + labels[len(labels)-1]}, []string{"turn " + labels[len(labels)-1]}
		for i, f := range figures {
			if t.Calls == 0 {
				f = math.NaN()
			} else {
				sum[i] += f
			}
			lines[i], sums[i] = append(lines[i], f), append(sums[i], sum[i])
			row, total = append(row, picture.FormatFigure(f)), append(total, picture.FormatFigure(sum[i]))
		}
		each.rows, all.rows = append(each.rows, row), append(all.rows, total)
	}
	if d.Sum.Turns < 2 {
		return nil // one point is no picture
	}
	series := func(of [3][]float64) []picture.Series {
		return []picture.Series{{Name: "read", Class: "s1", Values: of[0]}, {Name: "full history", Class: "s2", Values: of[2]}, {Name: "not cached", Class: "s3", Values: of[1]}}
	}
	each.picture = picture.Lines("Tokens per turn", "turn", "tokens", labels, marks, series(lines)...)
	all.picture = picture.Lines("Tokens in all", "up to turn", "tokens, summed", labels, marks, series(sums)...)
	each.says = "Read is all that the model was sent at each turn, as its provider counts it, with system text and descriptions of tools; not cached is the part of it that was not kept from an earlier call. " +
		"Full history is what it would have read if each call had sent every message of this conversation up to the question, and the others that its prompts had shown by then: their texts alone, counted with o200k."
	if d.whole.Bounded {
		each.says += " It counts only the newest 5,000 messages: there are more."
	}
	if d.Older != 0 {
		each.says += " What only turns before these have shown is not in it."
	}
	all.says = "The same, added up over these turns. A full history grows with each message, and all of it is read again each time; a session is read again until it is over its budget, and then the next epoch begins with a summary."
	return []chart{each, all}
}

// A conversationsData is the list of conversations.
type conversationsData struct {
	Conversations []conversationRow `json:"conversations"` // those with the newest turns first
	Next          string            `json:"next,omitempty"`
	channels      []channelChoice
	filtered      bool
}

type conversationRow struct {
	conversationName
	Title   string            `json:"title,omitempty"`
	Turns   int               `json:"turns"` // that were answered
	Epoch   int               `json:"epoch"`
	Summary bool              `json:"summary"`
	Last    earshot.TurnID    `json:"last_turn"`
	State   earshot.TurnState `json:"last_state"`
	Active  string            `json:"active"`
	active  earshot.Time
}

// conversations lists conversations, by channel and agent.
func (s *server) conversations(v *visit) (page, error) {
	d := conversationsData{Conversations: []conversationRow{}, filtered: v.query("channel")+v.query("agent")+v.query("before") != ""}
	var before earshot.TurnID
	var err error
	if x := v.query("before"); x != "" {
		if before, err = turnNumber(x, "before"); err != nil {
			return page{}, err
		}
	}
	if d.channels, err = s.choices(v); err != nil {
		return page{}, err
	}
	list, more, err := s.Reader.Conversations(v.Context(), v.caller, v.place(), earshot.AgentID(v.query("agent")), before, 50)
	if err != nil {
		return page{}, err
	}
	var scopes []earshot.Scope
	for _, c := range list {
		scopes = append(scopes, c.ID.Scope)
	}
	names, err := s.labelsAt(v, scopes)
	if err != nil {
		return page{}, err
	}
	for _, c := range list {
		d.Conversations = append(d.Conversations, conversationRow{
			nameConversation(c.ID, names.of(c.ID.Scope), c.Root), c.About.Title, c.Turns, c.Epoch, c.Summary, c.Last.ID, c.Last.State, c.Last.Updated.String(), cmp.Or(c.Last.Updated, c.Last.Opened),
		})
	}
	if more != 0 {
		d.Next = v.with("before", strconv.FormatInt(int64(more), 10))
	}
	return page{title: "Conversations", nav: "conversations", data: d, body: conversationsBody(s, v, d)}, nil
}

// An epochGroup is the turns of one epoch.
type epochGroup struct {
	says  string
	turns []conversationTurn
}

// epochs returns the turns by epoch. A turn that never began stands with those before
// it.
func (d conversationData) epochs() []epochGroup {
	var out []epochGroup
	at := -1
	for _, t := range d.Turns {
		if len(out) == 0 || t.Epoch >= 0 && t.Epoch != at {
			g := epochGroup{says: "Epoch " + strconv.Itoa(t.Epoch)}
			switch why := plain.Began(t.Began); {
			case t.Epoch < 0:
				g.says = "Not begun"
			case why != "":
				g.says += " begins: " + why
			case len(out) == 0:
				g.says += " goes on"
			}
			out, at = append(out, g), t.Epoch
		}
		out[len(out)-1].turns = append(out[len(out)-1].turns, t)
	}
	return out
}

// covers says which turns and which time a summary covers, and who wrote it.
func (x sessionSummary) covers() string {
	s := "It covers the first " + plain.Count(x.Turns, "turn")
	switch {
	case x.from != 0 && x.to != 0:
		s += ", from " + plain.Minute(x.from) + " to " + plain.Minute(x.to) + " UTC"
	case x.to != 0:
		s += ", up to " + plain.Minute(x.to) + " UTC"
	case x.from != 0:
		s += ", from " + plain.Minute(x.from) + " UTC"
	}
	if x.By == earshot.ByDigest {
		return s + ". It was made without a model, as a digest."
	}
	return s + ". It was written by " + plain.Line(cmp.Or(x.By, "a model"), 60) + "."
}

// compared says how what was read compares with the whole history.
func (x conversationSum) compared() string {
	if x.Read == 0 || x.History == 0 {
		return "–"
	}
	return shareOf(x.Read, x.History) + " of " + plain.Number(x.History)
}

// conversationThread returns the thread that a conversation is, "" for a top level.
func conversationThread(id earshot.ConversationID) earshot.MessageID {
	_, thread := visible.StandsIn(id)
	return thread
}
