package history_test

import (
	"context"
	"fmt"
	"log"
	"slices"
	"sync"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/history"
)

// A shelf is a store for messages alone, over a map.
type shelf struct {
	mu       sync.Mutex // guards what follows
	seq      int64
	channels map[earshot.Scope]map[earshot.MessageID]earshot.Message
}

func newShelf() *shelf {
	return &shelf{channels: map[earshot.Scope]map[earshot.MessageID]earshot.Message{}}
}

// Record keeps the newest revision of each message, and what is deleted stays deleted.
func (s *shelf) Record(_ context.Context, at earshot.Scope, list ...earshot.Message) ([]earshot.RecordResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.channels[at] == nil {
		s.channels[at] = map[earshot.MessageID]earshot.Message{}
	}
	out := make([]earshot.RecordResult, len(list))
	for i, m := range list {
		was, known := s.channels[at][m.ID]
		change := earshot.New
		switch {
		case known && (was.Deleted || !m.Deleted && m.Edited <= was.Edited):
			out[i] = earshot.RecordResult{ID: m.ID, Change: earshot.Same, Seq: was.Seq}
			continue
		case m.Deleted:
			m, change = earshot.Message{ID: m.ID, Time: was.Time, Deleted: true}, earshot.Gone
		case known:
			change = earshot.Edited
		}
		s.seq++
		m.Seq = s.seq
		s.channels[at][m.ID] = m
		out[i] = earshot.RecordResult{ID: m.ID, Change: change, Seq: m.Seq}
	}
	return out, nil
}

func (s *shelf) ByID(_ context.Context, at earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	return s.those(at, func(m earshot.Message) bool { return slices.Contains(ids, m.ID) }), nil
}

func (s *shelf) Newest(_ context.Context, at earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	list := s.those(at, func(m earshot.Message) bool {
		within := part.IsWhole() || m.Root() == part.Thread() || m.ID == part.Thread()
		return within && !m.Deleted && (upTo.IsZero() || m.Position().Compare(upTo) <= 0)
	})
	return list[max(0, len(list)-limit):], nil
}

func (s *shelf) Since(_ context.Context, at earshot.Scope, seq int64, limit int) ([]earshot.Message, error) {
	list := s.those(at, func(m earshot.Message) bool { return m.Seq > seq })
	slices.SortFunc(list, func(x, y earshot.Message) int { return int(x.Seq - y.Seq) })
	if limit > 0 {
		list = list[:min(limit, len(list))]
	}
	return list, nil
}

// those returns the messages of a channel that are asked for, in the order in which they
// were said.
func (s *shelf) those(at earshot.Scope, asked func(earshot.Message) bool) []earshot.Message {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []earshot.Message
	for _, m := range s.channels[at] {
		if asked(m) {
			list = append(list, m)
		}
	}
	slices.SortFunc(list, func(x, y earshot.Message) int { return x.Position().Compare(y.Position()) })
	return list
}

// A program that keeps its messages itself brings four methods.
func ExampleStore() {
	ctx := context.Background()
	h := history.New(newShelf(), earshot.Identity{ID: "ops", Name: "ops"}, nil)
	chat := history.Conversation{Channel: earshot.Channel{Platform: "myapp", ID: "deploys"}}
	alice := earshot.Author{ID: "U1", Name: "Alice", Kind: earshot.Human}
	_, err := h.Append(ctx, chat,
		earshot.Message{ID: "1", Time: 1, Author: alice, Text: "lunch at noon?"},
		earshot.Message{ID: "2", Time: 2, Author: alice, Text: "<@ops> why does import 7 hang?"},
		earshot.Message{ID: "3", Time: 3, Author: h.Author(), Text: "It waits for a lock.", ReplyTo: "2"},
		earshot.Message{ID: "4", Time: 4, Author: alice, Text: "<@ops> and import 8?"})
	if err != nil {
		log.Fatal(err)
	}
	prompt, err := h.Prompt(ctx, chat, "4")
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range prompt.Messages {
		fmt.Printf("%s: %s\n", m.Role, m.Text)
	}
	found, err := h.Search(ctx, chat, "lunch", nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("found:", found.Hits[0].Message.Text)
	// Output:
	// user: Alice: @ops why does import 7 hang?
	// assistant: It waits for a lock.
	// user: Alice: @ops and import 8?
	// found: lunch at noon?
}
