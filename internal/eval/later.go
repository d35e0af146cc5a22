package eval

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/gather"
	"github.com/earshot-ai/earshot/internal/eval/chats"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/store"
)

// LaterOptions say how [Later] plays sessions. Counter is required; zero values of the
// rest mean the defaults.
type LaterOptions struct {
	Counter assemble.Counter
	Policy  assemble.Policy // default: standard
	Budget  assemble.Budget // default: [assemble.DefaultBudget]
	Turns   []int           // at which turn of its session a query is asked; default 2, 10, 40, 100
	Every   int             // one in so many messages of people is a question before it; default 5
	// Progress is told after each session how many were played, of how many.
	Progress func(done, of int)
}

func (o LaterOptions) withDefaults() LaterOptions {
	if o.Policy.Name == "" && o.Policy.First == nil {
		o.Policy = assemble.Standard()
	}
	if o.Budget == (assemble.Budget{}) {
		o.Budget = assemble.DefaultBudget()
	}
	if o.Turns == nil {
		o.Turns = []int{2, 10, 40, 100}
	}
	o.Every = cmp.Or(o.Every, 5)
	if o.Progress == nil {
		o.Progress = func(int, int) {}
	}
	return o
}

// A LaterRow is what the model had of the evidence when queries were asked at one turn
// of a session. Shares are 0 to 1, of the messages that hold the answers.
type LaterRow struct {
	Turn    int `json:"turn"`
	Queries int `json:"queries"` // those before which enough was said for so many turns
	// Before is of what was said before the session, Within of what was said in it and in
	// its last epoch, Ended of what was said in an epoch of it that has ended.
	Before ShownShare `json:"before"`
	Within ShownShare `json:"within"`
	Ended  ShownShare `json:"ended"`
	Epochs float64    `json:"epochs"`  // of a session, the mean
	Prompt float64    `json:"prompt"`  // tokens of the query's prompt, the mean
	Price  float64    `json:"charged"` // tokens of all prompts of the session, a tenth of those that a prompt shares with the one before; the mean
	Full   float64    `json:"full"`    // the same of a bot that sends the whole thread, with the same system text
}

// A ShownShare is how much of some messages was shown.
type ShownShare struct {
	Gold  int     `json:"gold"`
	Shown float64 `json:"shown"`
}

func (s *ShownShare) add(shown bool) {
	s.Gold++
	if shown {
		s.Shown++
	}
}

func (s *ShownShare) average() {
	if s.Gold > 0 {
		s.Shown /= float64(s.Gold)
	}
}

// Later asks each query at later turns of a session: the messages right before it are
// played as a thread in which one in some of them asks the agent, whose answers are
// always the same, and the query is the last question there. What is older stands in
// the channel above. No model is asked.
func Later(ctx context.Context, tasks []chats.Task, o LaterOptions) ([]LaterRow, error) {
	o = o.withDefaults()
	done, of := 0, 0
	for _, t := range tasks {
		of += len(t.Queries) * len(o.Turns)
	}
	rows := make([]LaterRow, len(o.Turns))
	for i, turn := range o.Turns {
		rows[i].Turn = turn
		for _, t := range tasks {
			for _, q := range t.Queries {
				if err := rows[i].play(ctx, t, q, o); err != nil {
					return nil, fmt.Errorf("query %d at turn %d: %w", q.Number, turn, err)
				}
				done++
				o.Progress(done, of)
			}
		}
		rows[i].average()
	}
	return rows, nil
}

func (r *LaterRow) average() {
	r.Before.average()
	r.Within.average()
	r.Ended.average()
	if n := float64(r.Queries); n > 0 {
		r.Epochs, r.Prompt, r.Price, r.Full = r.Epochs/n, r.Prompt/n, r.Price/n, r.Full/n
	}
}

// play plays the session of one query, unless too little was said before it.
func (r *LaterRow) play(ctx context.Context, t chats.Task, q chats.Query, o LaterOptions) error {
	if len(q.Gold) == 0 {
		return nil
	}
	all := t.Conversation.Messages
	older, _ := slices.BinarySearchFunc(all, q.At, func(m chats.Message, at earshot.Time) int { return cmp.Compare(m.Time, at) })
	begin, questions := older, 0
	for people := 0; begin > 0 && questions < r.Turn-1; begin-- {
		if isQuestion(all[begin-1]) {
			if people++; people%o.Every == 0 {
				questions++
			}
		}
	}
	if questions < r.Turn-1 {
		return nil
	}
	s, err := openSession(ctx, all[:begin], o)
	if err != nil {
		return err
	}
	defer s.store.Close()
	people := 0
	for _, m := range all[begin:older] {
		if isQuestion(m) {
			people++
		}
		// The one that begins the thread asks first, so that the session begins with it.
		if err := s.hear(ctx, m.Stored(), isQuestion(m) && people%o.Every == 1%o.Every && s.turns < r.Turn-1); err != nil {
			return err
		}
	}
	anchor := earshot.Message{ID: earshot.MessageID(fmt.Sprintf("earshot.question.%d", q.Number)), Time: q.At, Author: q.Author(), Text: q.Text}
	if err := s.hear(ctx, anchor, true); err != nil {
		return err
	}
	r.count(s, q, all[begin:older])
	return nil
}

// count adds what the last prompt of a session has of the gold.
func (r *LaterRow) count(s *session, q chats.Query, thread []chats.Message) {
	shown := map[earshot.MessageID]bool{}
	for _, x := range s.state.Shown {
		shown[x.ID] = true
	}
	r.Queries++
	r.Epochs += float64(s.epochs)
	r.Prompt += float64(tokensOf(s.before))
	r.Price += s.charged
	r.Full += s.full
	for _, id := range q.Gold {
		at := slices.IndexFunc(thread, func(m chats.Message) bool { return m.ID == id })
		switch {
		case at < 0:
			r.Before.add(shown[id])
		case s.epochAt[id] == s.epochs:
			r.Within.add(shown[id])
		default:
			r.Ended.add(shown[id])
		}
	}
}

// A session is a thread in which the agent is asked again and again.
type session struct {
	LaterOptions
	store  earshot.Store
	finder *search.Searcher
	root   earshot.MessageID
	last   earshot.Time
	state  *assemble.ConversationState // nil: nothing was asked yet
	turns  int
	epochs int
	// epochAt is the epoch of the first turn after each message of the thread, and since
	// the messages after the last turn.
	epochAt map[earshot.MessageID]int
	since   []earshot.MessageID

	scale   *pieceCounter
	before  []piece // the prompt of the turn before
	thread  []piece // what a bot that sends the whole thread sends
	sent    []piece // what it sent last
	charged float64
	full    float64
}

// openSession returns a session over a channel in which older was said.
func openSession(ctx context.Context, older []chats.Message, o LaterOptions) (*session, error) {
	st, err := store.Open(ctx, "memory:", nil)
	if err != nil {
		return nil, err
	}
	s := &session{LaterOptions: o, store: st, finder: search.New(st, nil), scale: newScale(o.Counter), epochAt: map[earshot.MessageID]int{}, epochs: 1}
	list := make([]earshot.Message, len(older))
	for i, m := range older {
		list[i] = m.Stored()
		s.last = max(s.last, list[i].Time)
	}
	if err := st.PutChannel(ctx, replayChannel); err != nil {
		return nil, err
	}
	_, err = st.Record(ctx, replayChannel.Scope(), list...)
	return s, err
}

// hear records the thread's next message, and answers it where it asks. Times rise: some
// data has times of whole minutes.
func (s *session) hear(ctx context.Context, m earshot.Message, asks bool) error {
	m.Time = max(m.Time, s.last+1000)
	m.ReplyTo = ""
	if m.Thread = s.root; s.root == "" {
		s.root = m.ID
	}
	if asks {
		m.Text = fmt.Sprintf("<@%s> %s", replayed.ID, m.Text)
		m.Mentions = []earshot.AuthorID{replayed.ID}
	}
	if err := s.record(ctx, m); err != nil || !asks {
		return err
	}
	return s.answer(ctx, m)
}

func (s *session) record(ctx context.Context, m earshot.Message) error {
	s.last = m.Time
	s.since = append(s.since, m.ID)
	if m.Author.Kind != earshot.System {
		s.thread = append(s.thread, s.scale.piece(earshot.User, m.Author.Name+": "+m.Text+"\n"))
	}
	_, err := s.store.Record(ctx, replayChannel.Scope(), m)
	return err
}

// answer makes the prompt of a question, and what is remembered of the turn.
func (s *session) answer(ctx context.Context, m earshot.Message) error {
	in, res, err := gather.Turn(ctx, s.store, gather.Request{
		Channel: replayChannel, Anchor: m.ID, Identity: replayed, Policy: s.Policy, Budget: s.Budget, Counter: s.Counter, Finder: s.finder, State: s.state,
	})
	if err != nil {
		return err
	}
	request, err := promptRequest(res)
	if err != nil {
		return err
	}
	now, err := s.scale.request(request)
	if err != nil {
		return err
	}
	s.charged += promptCost(tokensOf(now), s.scale.shared(s.before, now))
	s.before = now
	whole := append([]piece{s.scale.piece("", request.System)}, s.thread...)
	s.full += promptCost(tokensOf(whole), s.scale.shared(s.sent, whole))
	s.sent = whole
	if s.turns++; s.state != nil && res.Next.Epoch != s.state.Epoch {
		s.epochs++
	}
	for _, id := range s.since {
		s.epochAt[id] = s.epochs
	}
	s.since = nil
	reply := earshot.Message{ID: answerID(m.ID, 0), Time: m.Time + 1, Thread: s.root, Text: scriptedAnswer, Author: earshot.Author{ID: replayed.ID, Name: replayed.Name, Kind: earshot.Bot}}
	s.state = nextConversation(in, res, s.state, reply)
	return s.record(ctx, reply)
}

// promptCost returns what a prompt costs, in tokens of the full price.
func promptCost(prompt, cached int) float64 {
	return float64(prompt-cached) + cachedPrice*float64(cached)
}

// nextConversation returns what is remembered after a turn that got an answer.
func nextConversation(in assemble.Input, res assemble.Result, before *assemble.ConversationState, reply earshot.Message) *assemble.ConversationState {
	c := &assemble.ConversationState{
		Cursor: res.Next.Cursor, Epoch: res.Next.Epoch, Shown: append(slices.Clone(res.Next.Shown), earshot.ShownRevision{ID: reply.ID, Revision: reply.Edited}),
		Attached: res.Next.Attached, Names: res.Next.Names,
	}
	if before != nil {
		c.Turns = slices.Clone(before.Turns)
		if before.Epoch == c.Epoch {
			c.Shown = slices.Concat(before.Shown, c.Shown)
			c.Attached = slices.Concat(before.Attached, c.Attached)
			c.Names = slices.Concat(before.Names, c.Names)
		}
	}
	c.Turns = append(c.Turns, earshot.Answer{Anchor: in.Anchor, Replies: []earshot.MessageID{reply.ID}})
	if in.Policy.Session {
		c.Form = in.Policy.Frame
		for _, x := range res.Messages {
			c.Session = append(c.Session, earshot.SessionEntry{Role: x.Role, Text: x.Text, Media: x.Media})
		}
		c.Session = append(c.Session, earshot.SessionEntry{Role: earshot.Assistant, Text: reply.Text})
	}
	return c
}
