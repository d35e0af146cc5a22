package tools

import (
	"context"
	"maps"
	"slices"

	"github.com/earshot-ai/earshot"
)

// A lanedStore is a store of which a Set knows in which lanes the words of what it has
// read are.
type lanedStore struct {
	Store
	set *Set
}

// Newest implements [Store].
func (l lanedStore) Newest(ctx context.Context, s earshot.Scope, part earshot.ChannelPart, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	list, err := l.Store.Newest(ctx, s, part, upTo, limit)
	if err == nil {
		err = l.set.learnLanes(ctx, list)
	}
	return list, err
}

// ByID implements [Store].
func (l lanedStore) ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	list, err := l.Store.ByID(ctx, s, ids...)
	if err == nil {
		err = l.set.learnLanes(ctx, list)
	}
	return list, err
}

// withheldQuote is the kind of a quote whose author's words are out.
const withheldQuote earshot.SharedKind = "withheld"

// learnLanes finds the lanes of the authors of messages, and takes out of the messages, in
// place, the quotes that are not to be shown.
func (s *Set) learnLanes(ctx context.Context, list []earshot.Message) error {
	if s.o.Lanes == nil || len(list) == 0 {
		return nil
	}
	found, err := s.o.Lanes(ctx, list)
	if err != nil {
		return err
	}
	for i := range list {
		if out := func(q earshot.SharedContent) bool { return q.Lane == earshot.LaneOut }; slices.ContainsFunc(list[i].Shared, out) {
			list[i].Shared = slices.Clone(list[i].Shared)
			for k, q := range list[i].Shared {
				if out(q) {
					list[i].Shared[k] = earshot.SharedContent{Kind: withheldQuote}
				}
			}
		}
	}
	s.lanesMu.Lock()
	defer s.lanesMu.Unlock()
	if s.lanes == nil {
		s.lanes = map[earshot.AuthorID]earshot.Lane{}
	}
	maps.Copy(s.lanes, found)
	return nil
}

// laneOf returns the lane of an author of something that was read.
func (s *Set) laneOf(a earshot.Author) earshot.Lane {
	s.lanesMu.Lock()
	defer s.lanesMu.Unlock()
	return s.lanes[a.ID]
}

// withheld reports whether the words of a message's author are out.
func (s *Set) withheld(m earshot.Message) bool { return s.laneOf(m.Author) == earshot.LaneOut }

// withhold returns messages without those whose authors' words are out, and how many these
// are.
func (s *Set) withhold(list []earshot.Message) (shown []earshot.Message, withheld int) {
	shown = slices.DeleteFunc(list, s.withheld)
	return shown, len(list) - len(shown)
}
