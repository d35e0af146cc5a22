package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"github.com/earshot-ai/earshot"
)

// A turnReader is a turn whose model has read a message, with what is still stored
// of it and with its replies, which may quote the message.
type turnReader struct {
	Turn         earshot.TurnID    `json:"turn"`
	State        earshot.TurnState `json:"state"`
	Conversation string            `json:"conversation"`
	Holds        []string          `json:"holds"` // input, journal, posts, session: what is stored besides the replies
	Replies      []replyJSON       `json:"replies"`
}

// A replyJSON is a stored reply of the bot's.
type replyJSON struct {
	Message earshot.MessageID `json:"message"`
	Quotes  bool              `json:"quotes"` // it shares quotedWords consecutive words; false for a deleted message, whose words are not known
}

// readers returns the turns of a channel whose model has read a message, oldest
// first: the prompt showed it, a tool found it, the turn answers it, or the session
// has it from an earlier turn. texts are the stored texts of the message.
func (l turnStore) readers(ctx context.Context, s earshot.Scope, id earshot.MessageID, texts []string) ([]turnReader, error) {
	turns, err := l.turnsOf(ctx, s)
	if err != nil {
		return nil, err
	}
	type session struct {
		conversation earshot.ConversationID
		epoch        int
	}
	read := map[session]bool{}
	var out []turnReader
	for _, t := range turns {
		committed, err := l.turns.Committed(ctx, operator, t)
		if err != nil {
			return nil, err
		}
		at := session{t.Conversation, t.Epoch}
		if t.Anchor != id && !read[at] && !hasReadMessage(committed, id) {
			continue
		}
		if committed != nil {
			read[at] = true
		}
		r, err := l.reader(ctx, t, committed, texts)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// turnsOf returns all turns of a channel, oldest first.
func (l turnStore) turnsOf(ctx context.Context, s earshot.Scope) ([]earshot.QueuedTurn, error) {
	const page = 1000
	var out []earshot.QueuedTurn
	for q := (earshot.TurnQuery{Scope: &s, Limit: page}); ; q.Before = out[len(out)-1].ID {
		list, err := l.store.QueuedTurns(ctx, q)
		if err != nil {
			return nil, err
		}
		if out = append(out, list...); len(list) < page {
			slices.Reverse(out)
			return out, nil
		}
	}
}

// hasReadMessage reports whether a turn's model has read the message or a snippet of it.
func hasReadMessage(t *earshot.Turn, id earshot.MessageID) bool {
	if t == nil {
		return false
	}
	return slices.ContainsFunc(t.Shown, func(s earshot.ShownRevision) bool { return s.ID == id }) ||
		slices.ContainsFunc(t.Ledger, func(r earshot.LedgerRow) bool { return r.ID == id && r.Verdict != earshot.Out })
}

// reader describes a turn that has read a message.
func (l turnStore) reader(ctx context.Context, t earshot.QueuedTurn, committed *earshot.Turn, texts []string) (turnReader, error) {
	r := turnReader{Turn: t.ID, State: t.State, Conversation: t.Conversation.Name, Holds: []string{}, Replies: []replyJSON{}}
	hold := func(what string, holds bool) {
		if holds {
			r.Holds = append(r.Holds, what)
		}
	}
	whole, err := l.store.QueuedTurn(ctx, t.ID)
	if err != nil {
		return r, err
	}
	steps, err := l.store.Steps(ctx, t.ID)
	if err != nil {
		return r, err
	}
	posts, err := l.store.Posts(ctx, t.ID)
	if err != nil {
		return r, err
	}
	hold("input", whole.Input != nil)
	hold("journal", slices.ContainsFunc(steps, func(s earshot.Step) bool { return s.Data != nil }))
	hold("posts", slices.ContainsFunc(posts, func(p earshot.Post) bool { return p.Text != "" }))
	var ids []earshot.MessageID
	for _, p := range posts {
		ids = append(ids, p.Message)
	}
	if committed != nil {
		hold("session", len(committed.Session) > 0)
		ids = append(ids, committed.Answer.Replies...)
	}
	slices.Sort(ids)
	ids = slices.DeleteFunc(slices.Compact(ids), func(id earshot.MessageID) bool { return id == "" })
	if len(ids) == 0 {
		return r, nil
	}
	replies, err := l.store.ByID(ctx, t.Conversation.Scope, ids...)
	for _, m := range replies {
		if !m.Deleted {
			quotes := slices.ContainsFunc(texts, func(text string) bool { return quotesFrom(m.Text, text) })
			r.Replies = append(r.Replies, replyJSON{m.ID, quotes})
		}
	}
	return r, err
}

// textsOf returns the stored texts of a message, older revisions included.
func (l turnStore) textsOf(ctx context.Context, s earshot.Scope, id earshot.MessageID) ([]string, error) {
	revisions, err := l.store.Revisions(ctx, s, id)
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		return nil, err
	}
	var texts []string
	for _, m := range revisions {
		if !m.Deleted {
			texts = append(texts, m.Text)
		}
	}
	return texts, nil
}

// quotedWords is the number of consecutive words that two texts must share for one
// to be a quote of the other.
const quotedWords = 5

// quotesFrom reports whether two texts share quotedWords consecutive words, or all
// of source where that is shorter. Case and punctuation do not count.
func quotesFrom(text, source string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
	}
	from := words(source)
	n := min(quotedWords, len(from))
	if n == 0 {
		return false
	}
	in := " " + strings.Join(words(text), " ") + " "
	for i := 0; i+n <= len(from); i++ {
		if strings.Contains(in, " "+strings.Join(from[i:i+n], " ")+" ") {
			return true
		}
	}
	return false
}
