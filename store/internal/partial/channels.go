package partial

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// PutChannel implements [earshot.Messages]. Of a transient channel the disk learns
// the kind, because a turn that is taken over must know whether it is in a direct
// message; name, topic and purpose are what people wrote.
func (s *Store) PutChannel(ctx context.Context, c earshot.Channel) error {
	if !s.transient(c.Scope()) {
		return s.Store.PutChannel(ctx, c)
	}
	if err := s.memory.PutChannel(ctx, c); err != nil {
		return err
	}
	return s.Store.PutChannel(ctx, earshot.Channel{Platform: c.Platform, Workspace: c.Workspace, ID: c.ID, Kind: c.Kind, AsOf: c.AsOf})
}

// Channel implements [earshot.Messages].
func (s *Store) Channel(ctx context.Context, scope earshot.Scope) (earshot.Channel, error) {
	if s.transient(scope) {
		c, err := s.memory.Channel(ctx, scope)
		if err == nil && c.Kind != "" || err != nil && !errors.Is(err, earshot.ErrNotFound) {
			return c, err
		}
	}
	return s.Store.Channel(ctx, scope)
}

// Channels implements [earshot.Messages].
func (s *Store) Channels(ctx context.Context) ([]earshot.ChannelInfo, error) {
	return s.FindChannels(ctx, earshot.ChannelQuery{})
}

// FindChannels implements [earshot.Messages]. What the memory has of a channel is in
// place of what the disk has of it.
func (s *Store) FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error) {
	heard, err := s.memory.FindChannels(ctx, q)
	if err != nil {
		return nil, err
	}
	var stored []earshot.ChannelInfo
	for of := q; ; {
		page, err := s.Store.FindChannels(ctx, of)
		if err != nil {
			return nil, err
		}
		for _, c := range page {
			if _, err := s.memory.Channel(ctx, c.Scope()); errors.Is(err, earshot.ErrNotFound) {
				stored = append(stored, c)
			} else if err != nil {
				return nil, err
			}
		}
		if q.Limit <= 0 || len(page) < q.Limit || len(stored) >= q.Limit {
			return rule.JoinChannels(q.Limit, stored, heard), nil
		}
		of.After = &page[len(page)-1].Channel
	}
}

// maxHeld bounds how many names the memory holds that the disk does not. More of
// them are forgotten at once; the platform is asked again.
const maxHeld = 20_000

// PutAuthors implements [earshot.Messages]. The disk learns the name of a person
// only once the person has spoken in a channel that it keeps, and of somebody who was
// erased only once they have spoken again.
func (s *Store) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, authors ...earshot.Author) error {
	authors, err := rule.CheckAuthors(p, authors)
	if err != nil || len(authors) == 0 {
		return err
	}
	p, w = rule.ID(p), rule.ID(w)
	ids := make([]earshot.AuthorID, len(authors))
	for i, a := range authors {
		ids[i] = a.ID
	}
	if err := s.follow(ctx); err != nil {
		return err
	}
	list, err := s.Store.Authors(ctx, p, w, ids...)
	if err != nil {
		return err
	}
	known := map[earshot.AuthorID]bool{}
	for _, a := range list {
		known[a.ID] = true
	}
	var keep []earshot.Author
	s.mu.Lock()
	for _, a := range authors {
		if at := (author{p, w, a.ID}); !known[a.ID] && !s.erased[at] && a.Kind != earshot.Bot {
			if len(s.held) >= maxHeld {
				clear(s.held)
			}
			s.held[at] = rule.Author(s.held[at], a)
		} else {
			keep = append(keep, a)
		}
	}
	s.mu.Unlock()
	if len(keep) == 0 {
		return nil
	}
	return s.Store.PutAuthors(ctx, p, w, keep...)
}

// spoke gives the disk the names of people who have spoken in a channel that it
// keeps.
func (s *Store) spoke(ctx context.Context, scope earshot.Scope, messages ...earshot.Message) error {
	var list []earshot.Author
	s.mu.Lock()
	for _, m := range messages {
		at := author{scope.Platform, scope.Workspace, m.Author.ID}
		if a, ok := s.held[at]; ok {
			list = append(list, a)
			delete(s.held, at)
		}
	}
	s.mu.Unlock()
	if len(list) == 0 {
		return nil
	}
	if err := s.Store.PutAuthors(ctx, scope.Platform, scope.Workspace, list...); err != nil {
		return fmt.Errorf("store the names of authors: %w", err)
	}
	return nil
}

// Authors implements [earshot.Messages].
func (s *Store) Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error) {
	if err := s.follow(ctx); err != nil {
		return nil, err
	}
	out, err := s.Store.Authors(ctx, p, w, ids...)
	if err != nil {
		return nil, err
	}
	ids = rule.IDs(ids)
	stored := map[earshot.AuthorID]bool{}
	for _, a := range out {
		stored[a.ID] = true
	}
	s.mu.Lock()
	for at, a := range s.held {
		if at.platform == rule.ID(p) && at.workspace == rule.ID(w) && !stored[a.ID] && (len(ids) == 0 || slices.Contains(ids, a.ID)) {
			out = append(out, a)
		}
	}
	s.mu.Unlock()
	slices.SortFunc(out, func(a, b earshot.Author) int { return cmp.Compare(a.ID, b.ID) })
	return out, nil
}
