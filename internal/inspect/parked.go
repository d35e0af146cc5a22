package inspect

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
	"github.com/earshot-ai/earshot/internal/explain"
	"github.com/earshot-ai/earshot/internal/plain"
)

// A parkedData is what waits for an operator: parked and failed turns, newest first.
type parkedData struct {
	Turns   []waitingTurn `json:"turns"`
	Looked  int           `json:"looked"`
	Stopped bool          `json:"stopped"`
	Next    string        `json:"next,omitempty"`
	Done    *turnDone     `json:"done,omitempty"` // the turn that was opened again or discarded last

	problem  string // why the filters select nothing
	channels []channelChoice
	operator bool
}

// A waitingTurn is a turn that waits, with what its bot has posted or was about to.
type waitingTurn struct {
	turnRow
	Asked     string        `json:"asked,omitempty"` // the question; "" when it is deleted
	Since     string        `json:"since"`           // when it was parked, or failed
	Tries     int           `json:"tries"`
	Posts     []waitingPost `json:"posts"`
	Retryable bool          `json:"retryable"` // its question is still there

	scope  earshot.Scope
	author earshot.Author
	since  earshot.Time
}

// A waitingPost is a post of a turn that waits.
type waitingPost struct {
	Kind    bot.PostKind      `json:"kind,omitempty"`
	State   earshot.PostState `json:"state"`
	Text    string            `json:"text,omitempty"` // "" when it was erased
	Message earshot.MessageID `json:"message,omitempty"`
	Tries   int               `json:"tries"`
	Updated string            `json:"updated"`

	updated earshot.Time
}

// A turnDone says what has become of a turn that an operator has just changed.
type turnDone struct {
	ID    earshot.TurnID    `json:"id"`
	State earshot.TurnState `json:"state"`
	Why   string            `json:"why,omitempty"`
}

// parkedPage is how many turns one page has: each has its texts.
const parkedPage = 20

// parked lists what waits for an operator.
func (s *server) parked(v *visit) (page, error) {
	f := explain.TurnFilter{Posts: true}
	f.Channel, f.Limit = v.place(), parkedPage
	outcome := v.query("outcome")
	switch outcome {
	case "", "waiting":
		outcome = "waiting"
	case "parked", "failed":
	default:
		return page{}, invalidParam("outcome", "must be parked, failed or waiting: nothing else waits for an operator")
	}
	var err error
	if f.States, err = statesOf(outcome); err != nil {
		return page{}, err
	}
	if f.Before, err = turnNumber(v.query("before"), "before"); err != nil {
		return page{}, err
	}
	l, err := s.Reader.TurnList(v.Context(), v.caller, f)
	problem, err := v.filterProblem(err)
	if err != nil {
		return page{}, err
	}
	d := parkedData{Turns: []waitingTurn{}, Looked: l.Looked, Stopped: l.Stopped, problem: problem, operator: v.operator()}
	for _, r := range l.Rows {
		d.Turns = append(d.Turns, waitingOf(r))
	}
	if l.Before != 0 {
		d.Next = v.with("before", strconv.FormatInt(int64(l.Before), 10))
	}
	if d.Done, err = s.changedTurn(v); err != nil {
		return page{}, err
	}
	if d.channels, err = s.choices(v); err != nil {
		return page{}, err
	}
	return page{title: "Parked", nav: "parked", data: d, body: parkedBody(v, d)}, nil
}

// changedTurn returns the turn that the address says was changed, as it is now.
func (s *server) changedTurn(v *visit) (*turnDone, error) {
	id, err := turnNumber(v.query("done"), "done")
	if err != nil || id == 0 {
		return nil, err
	}
	t, err := s.Reader.Record(v.Context(), v.caller, id, false)
	if err != nil {
		return nil, err
	}
	return &turnDone{id, t.Queued.State, plain.Line(t.Queued.Why, 300)}, nil
}

// says tells an operator what has become of the turn.
func (d turnDone) says() string {
	if d.State == earshot.TurnDropped {
		return "It is dropped (" + d.Why + "). Nobody answers it."
	}
	return "It is " + string(d.State) + " now: the bot that runs over this store answers it next."
}

func turnNumber(x, name string) (earshot.TurnID, error) {
	if x == "" {
		return 0, nil
	}
	n, err := strconv.ParseInt(x, 10, 64)
	if err != nil || n < 1 {
		return 0, invalidParam(name, "must be the number of a turn")
	}
	return earshot.TurnID(n), nil
}

// waitingOf describes a turn that waits.
func waitingOf(r explain.TurnRow) waitingTurn {
	q := r.Queued
	w := waitingTurn{
		turnRow: rowOf(r), Since: q.Updated.String(), Tries: q.Tries, Posts: []waitingPost{}, Retryable: r.Question != nil,
		scope: q.Conversation.Scope, since: q.Updated,
	}
	if r.Question != nil {
		w.Asked, w.author = plain.Clean(plain.Readable(r.Question.Text)), r.Question.Author
	}
	for _, p := range r.Posts {
		w.Posts = append(w.Posts, waitingPost{bot.KindOf(p), p.State, plain.Clean(p.Text), p.Message, p.Tries, p.Updated.String(), p.Updated})
	}
	return w
}

// uncertain reports whether a post may have arrived and nobody knows.
func (w waitingTurn) uncertain() bool {
	for _, p := range w.Posts {
		if p.State == earshot.PostAmbiguous || p.State == earshot.PostSending {
			return true
		}
	}
	return false
}

// means says what it means that the turn waits.
func (w waitingTurn) means() string {
	if w.State == earshot.TurnParked {
		return "The answer was sent, and nobody could find out whether it arrived. Sending it again might show it twice, so the bot did nothing more."
	}
	return "There is no answer. The person was told once that something went wrong."
}

// advice says what an operator looks at before they decide.
func (w waitingTurn) advice() []string {
	var list []string
	switch {
	case w.uncertain():
		list = append(list, "Look in the channel, below the question, for the text of the posts that are marked ambiguous.",
			"If it is there, discard the turn.", "If it is not there, open the turn again. If you overlooked it, people see the answer twice.")
	case w.State == earshot.TurnFailed:
		list = append(list, "Read the cause and mend it first, such as a key or a limit; else the turn fails again and the person is told again.",
			"If the question needs no answer any more, discard the turn.")
	default:
		list = append(list, "Look in the channel whether the answer is there. If it is, discard the turn; else open it again.")
	}
	if !w.Retryable {
		return []string{"The question is deleted, so nobody can answer it any more: the turn can only be discarded."}
	}
	return list
}

// postWords says what a post is for and how far it came.
func (p waitingPost) words() string {
	kind := map[bot.PostKind]string{
		bot.PostReply: "Answer", bot.PostPlaceholder: "Placeholder", bot.PostApology: "Apology", bot.PostPrivate: "Apology that only the person sees",
		bot.PostQuestion: "Question back", bot.PostNotice: "Notice in the channel", bot.PostAway: "Notice that only the person sees", bot.PostLimit: "Notice of a limit",
	}[p.Kind]
	if kind == "" {
		kind = "Post"
	}
	return kind
}

// postMeans says what the state of a post means.
func postMeans(s earshot.PostState) string {
	return map[earshot.PostState]string{
		earshot.PostPlanned:   "it was not sent yet",
		earshot.PostSending:   "it was being sent; whether it arrived is not known",
		earshot.PostSent:      "it arrived",
		earshot.PostAmbiguous: "it was sent; whether it arrived is not known",
		earshot.PostFailed:    "it did not arrive",
	}[s]
}

func postSymbol(s earshot.PostState) string {
	switch s {
	case earshot.PostSent:
		return "✓"
	case earshot.PostFailed:
		return "✕"
	case earshot.PostPlanned:
		return "…"
	}
	return "?"
}

// retry opens a turn again.
func (s *server) retry(ctx context.Context, v *visit) (string, error) {
	id, err := turnNumber(v.PathValue("id"), "id")
	if err == nil {
		_, err = s.Reader.Retry(ctx, v.caller, id)
	}
	return doneAt(id), err
}

// discard ends a turn for good.
func (s *server) discard(ctx context.Context, v *visit) (string, error) {
	id, err := turnNumber(v.PathValue("id"), "id")
	if err == nil {
		_, err = s.Reader.Discard(ctx, v.caller, id, strings.TrimSpace(v.PostFormValue("reason")))
	}
	return doneAt(id), err
}

// stop ends a turn that is still answered.
func (s *server) stop(ctx context.Context, v *visit) (string, error) {
	id, err := turnNumber(v.PathValue("id"), "id")
	if err == nil {
		_, err = s.Reader.Stop(ctx, v.caller, id)
	}
	return turnLink(id), err
}

func doneAt(id earshot.TurnID) string {
	return linkTo("/parked", "done", strconv.FormatInt(int64(id), 10))
}

// lists adds the lists of turns, and what an operator does to a turn. They have no
// pictures, whose addresses would be those of turns.
func (s *server) lists(mux router) {
	for path, f := range map[string]view{"/turns": s.turns, "/parked": s.parked} {
		mux.Handle("GET "+path, s.known(func(w http.ResponseWriter, v *visit) { s.answer(w, v, f, asPage) }))
		mux.Handle("GET "+path+".json", s.known(func(w http.ResponseWriter, v *visit) { s.answer(w, v, f, asJSON) }))
	}
	s.change(mux, "/turns/{id}/retry", s.retry)
	s.change(mux, "/turns/{id}/discard", s.discard)
	s.change(mux, "/turns/{id}/stop", s.stop)
}

func (w waitingTurn) number() string { return strconv.FormatInt(int64(w.ID), 10) }

// part names a part of the turn's card.
func (w waitingTurn) part(name string) string { return "turn-" + w.number() + "-" + name }

func formatTimes(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}
