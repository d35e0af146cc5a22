package tools

import (
	"context"
	"slices"
	"strings"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/assemble"
	"github.com/earshot-ai/earshot/search"
	"github.com/earshot-ai/earshot/search/index"
)

// The answer of conversation_search.
type (
	pastAnswer struct {
		Results  []pastTurn   `json:"results"` // the best first
		Omitted  int          `json:"omitted,omitzero"`
		Coverage pastCoverage `json:"coverage"`
	}
	pastCoverage struct {
		TurnsScanned int       `json:"turns_scanned"`
		TimeRange    *[]string `json:"time_range"`
		OlderTurns   bool      `json:"older_turns,omitzero"` // there are more, and they were not searched
	}
	// A pastTurn is a turn. Where its question was deleted, MessageID, Author and
	// Question are empty.
	pastTurn struct {
		Turn        int                 `json:"turn"`
		TS          string              `json:"ts"`
		MessageID   string              `json:"message_id,omitzero"` // of the question
		Author      *assemble.AuthorRef `json:"author,omitzero"`
		Question    string              `json:"question"`
		Answer      string              `json:"answer"`
		IsTruncated bool                `json:"is_truncated"` // question or answer is cut, and ends in …
	}
)

// Bounds of what is searched and shown.
const (
	maxPast     = 500 // turns
	maxQuestion = 400 // graphemes
	maxAnswer   = 1200
)

// A turnText is a turn with its messages as the store has them now.
type turnText struct {
	turn     earshot.Turn
	time     earshot.Time
	question *earshot.Message
	answers  []earshot.Message
}

// past searches the turns of this conversation. It searches the stored messages
// of question and answer, so that it finds neither what was deleted nor what tools
// answered.
func (s *Set) past(ctx context.Context, raw string) (Answer, error) {
	var args pastArgs
	if err := decodeArgs(raw, &args); err != nil {
		return Answer{}, err
	}
	query, err := requireWords("query", args.Query)
	if err != nil {
		return Answer{}, err
	}
	limit, err := limitArg("limit", args.Limit, defTurns, maxTurns)
	if err != nil {
		return Answer{}, err
	}
	turns, more, err := s.turns(ctx)
	if err != nil {
		return Answer{}, err
	}
	out := pastAnswer{Results: []pastTurn{}, Coverage: pastCoverage{TurnsScanned: len(turns), OlderTurns: more}}
	if n := len(turns); n > 0 {
		out.Coverage.TimeRange = &[]string{s.ts(turns[0].time), s.ts(turns[n-1].time)}
	}
	var best []turnText
	for _, i := range s.rank(query, turns, limit) {
		best = append(best, turns[i])
	}
	rows := s.pastRows(best)
	out.Omitted = len(rows)
	room := s.o.MaxBytes - encodedLen(out)
	out.Omitted = 0
	var shows []earshot.Message
	for i, row := range rows {
		if room -= encodedLen(row) + 1; room < 0 {
			out.Omitted = len(rows) - i
			break
		}
		out.Results = append(out.Results, row)
		if q := best[i].question; q != nil {
			shows = append(shows, *q)
		}
		shows = append(shows, best[i].answers...)
	}
	if len(rows) > 0 && len(out.Results) == 0 {
		return Answer{}, tooLong
	}
	return s.write(out, shows)
}

// turns returns the conversation's turns whose questions stand at or before s.at,
// the oldest first, and whether there are older ones that were not read. An answer
// that was posted after s.at is included: the next question may have been asked
// while it was being written.
func (s *Set) turns(ctx context.Context) (out []turnText, more bool, err error) {
	if s.o.Turns == nil || s.o.Conversation.Scope != s.scope {
		return nil, false, nil
	}
	list, err := s.o.Turns.Turns(ctx, s.o.Conversation, maxPast+1)
	if err != nil {
		return nil, false, err
	}
	if more = len(list) > maxPast; more {
		list = list[1:]
	}
	var ids []earshot.MessageID
	for _, t := range list {
		ids = append(append(ids, t.Answer.Anchor), t.Answer.Replies...)
	}
	if len(ids) == 0 {
		return nil, false, nil
	}
	messages, err := s.store.ByID(ctx, s.scope, ids...)
	if err != nil {
		return nil, false, err
	}
	byID := make(map[earshot.MessageID]earshot.Message, len(messages))
	for _, m := range messages {
		byID[m.ID] = m
	}
	for _, t := range list {
		anchor, ok := byID[t.Answer.Anchor]
		if !ok || t.Answer.Anchor == s.at.ID || !s.at.IsZero() && anchor.Position().Compare(s.at) > 0 {
			continue
		}
		x := turnText{turn: t, time: anchor.Time}
		if !anchor.Deleted {
			x.question = &anchor
		}
		for _, id := range t.Answer.Replies {
			if m, ok := byID[id]; ok && !m.Deleted {
				x.answers = append(x.answers, m)
			}
		}
		if x.question != nil || len(x.answers) > 0 {
			out = append(out, x)
		}
	}
	return out, more, nil
}

// rank returns the indices of the turns that match a query best, the best first.
func (s *Set) rank(query string, turns []turnText, limit int) []int {
	x := index.New()
	var cut index.Cutter
	byID := map[earshot.MessageID]int{}
	for i, t := range turns {
		id := t.turn.Answer.Anchor
		byID[id] = i
		var terms []string
		for _, m := range t.messages() {
			terms = append(terms, cut.Terms(m.Text)...)
		}
		x.Add(earshot.Terms{ID: id, Seq: int64(i + 1), Time: t.time, Terms: terms})
	}
	at := s.at.Time
	if n := len(turns); at == 0 && n > 0 {
		at = turns[n-1].time
	}
	var places []int
	for _, h := range x.Search(search.Query{Text: query, At: at, Limit: limit}) {
		places = append(places, byID[h.ID])
	}
	return places
}

// messages returns the question, if there is one, and the answers.
func (t turnText) messages() []earshot.Message {
	if t.question == nil {
		return t.answers
	}
	return append([]earshot.Message{*t.question}, t.answers...)
}

// pastRows returns turns as the answer shows them.
func (s *Set) pastRows(turns []turnText) []pastTurn {
	var all []earshot.Message
	for _, t := range turns {
		all = append(all, t.messages()...)
	}
	texts, _ := s.describe(all, nil)
	rows := make([]pastTurn, len(turns))
	for i, t := range turns {
		row := pastTurn{Turn: t.turn.Number, TS: s.ts(t.time)}
		cut := false
		if t.question != nil {
			q := texts[0]
			texts = texts[1:]
			row.MessageID, row.Author = q.MessageID, &q.Author
			row.Question, cut = shorten(q.whole, maxQuestion)
		}
		var parts []string
		for range t.answers {
			parts = append(parts, texts[0].whole)
			texts = texts[1:]
		}
		row.Answer, row.IsTruncated = shorten(strings.Join(parts, "\n"), maxAnswer)
		row.IsTruncated = row.IsTruncated || cut
		rows[i] = row
	}
	return slices.Clip(rows)
}
