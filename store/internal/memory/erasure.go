package memory

import (
	"cmp"
	"context"
	"slices"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/store/internal/rule"
)

// A barKey names whose words are barred where; an empty channel or author is all of
// them.
type barKey struct {
	workspace
	channel earshot.ChannelID
	author  earshot.AuthorID
}

// bars are what erasures leave behind, at most one of a key.
type bars map[barKey]rule.Bar

// of returns the bars of a channel.
func (b bars) of(s earshot.Scope) rule.Bars {
	var list []rule.Bar
	for at, x := range b {
		if at.workspace == (workspace{s.Platform, s.Workspace}) && (at.channel == "" || at.channel == s.Channel) {
			list = append(list, x)
		}
	}
	return rule.NewBars(list)
}

// names reports whether an author is erased from all of a workspace.
func (b bars) names(w workspace, id earshot.AuthorID) bool {
	_, found := b[barKey{w, "", id}]
	return found
}

// people reports whether somebody is erased from a workspace.
func (b bars) people(w workspace) bool {
	for at := range b {
		if at.workspace == w && at.author != "" {
			return true
		}
	}
	return false
}

func (b bars) set(w workspace, x rule.Bar) {
	at := barKey{w, x.Channel, x.Author}
	x.Until, x.Floor = max(x.Until, b[at].Until), max(x.Floor, b[at].Floor)
	b[at] = x
}

// PlanErasure implements [earshot.Erasures]. The erasure is done to a copy.
func (s *Store) PlanErasure(ctx context.Context, of earshot.ErasureOf) (out earshot.ErasureCounts, err error) {
	if of, err = rule.CheckErasure(of); err != nil {
		return out, err
	}
	err = s.read(ctx, func() error {
		if err := s.knows(of); err != nil {
			return err
		}
		c := s.clone()
		x := c.begin(of)
		if err := x.Work(ctx, (*eraser)(c), c.time(), func() bool { return false }); err != nil {
			return err
		}
		out = c.tally
		return nil
	})
	return out, err
}

// knows returns [earshot.ErrNotFound] where nothing is stored of what of names.
func (s *Store) knows(of earshot.ErasureOf) error {
	scope := earshot.Scope{Platform: of.Platform, Workspace: of.Workspace, Channel: of.Channel}
	c := s.channels[scope]
	if of.User != "" {
		at := workspace{of.Platform, of.Workspace}
		_, named := s.authors[at][of.User]
		if of.Channel == "" && named || s.spokeIn(at, of.Channel, of.User) || s.reacted(at, of.Channel, of.User) || s.did(at, of.Channel, of.User) {
			return nil
		}
		for id, conv := range s.conversations {
			if at == (workspace{id.Scope.Platform, id.Scope.Workspace}) && (of.Channel == "" || of.Channel == id.Scope.Channel) && conv.About.Owner == string(of.User) {
				return nil
			}
		}
		return rule.UnknownPersonError(of.User)
	}
	if c == nil {
		return rule.NoChannel(of.Channel)
	}
	for _, id := range of.Messages {
		if c.byID[id] == nil {
			return rule.NoMessage(id)
		}
	}
	return nil
}

// spoke reports whether a message of an author is stored in a workspace.
func (s *Store) spoke(w workspace, id earshot.AuthorID) bool { return s.spokeIn(w, "", id) }

func (s *Store) spokeIn(w workspace, channel earshot.ChannelID, id earshot.AuthorID) bool {
	return s.last(w, channel, id) != 0
}

// last returns when an author, or anybody, last said something in a channel, or in
// all of them; 0 if never.
func (s *Store) last(w workspace, channel earshot.ChannelID, id earshot.AuthorID) (last earshot.Time) {
	for at, c := range s.channels {
		if at.Platform != w.platform || at.Workspace != w.id || channel != "" && channel != at.Channel {
			continue
		}
		for _, m := range c.whole {
			if id == "" || m.Author.ID == id {
				last = max(last, m.Time)
			}
		}
	}
	return last
}

// BeginErasure implements [earshot.Erasures].
func (s *Store) BeginErasure(ctx context.Context, of earshot.ErasureOf) (out earshot.Erasure, err error) {
	if of, err = rule.CheckErasure(of); err != nil {
		return out, err
	}
	err = s.write(ctx, func() error {
		for _, x := range s.erasures {
			if x.Ended == 0 && rule.SameErasure(x.Of, of) {
				out = exportErasure(x)
				return nil
			}
		}
		x := s.begin(of)
		if of.Before != 0 { // the channel's earlier ones have nothing to say any more
			s.erasures = slices.DeleteFunc(s.erasures, func(y *rule.Erasure) bool {
				return y.Of.Before != 0 && y.Ended != 0 && y.Of.Platform == of.Platform && y.Of.Workspace == of.Workspace && y.Of.Channel == of.Channel
			})
		}
		s.erasures = append(s.erasures, x)
		out = exportErasure(x)
		return nil
	})
	return out, err
}

// begin returns a new erasure, and sets its bar.
func (s *Store) begin(of earshot.ErasureOf) *rule.Erasure {
	w := workspace{of.Platform, of.Workspace}
	x, bar, ok := rule.BeginErasure(of, s.last(w, of.Channel, of.User), s.time())
	if ok {
		s.bars.set(w, bar)
	}
	x.ID = 1
	if n := len(s.erasures); n > 0 {
		x.ID = s.erasures[n-1].ID + 1
	}
	return &x
}

func exportErasure(x *rule.Erasure) earshot.Erasure {
	out := x.Erasure
	out.Of.Messages = slices.Clone(out.Of.Messages)
	return out
}

// StepErasure implements [earshot.Erasures].
func (s *Store) StepErasure(ctx context.Context, id earshot.ErasureID) (out earshot.Erasure, err error) {
	err = s.write(ctx, func() error {
		x, err := s.erasure(id)
		if err != nil {
			return err
		}
		s.tally = earshot.ErasureCounts{}
		enough := rule.StepBudget()
		err = x.Work(context.WithoutCancel(ctx), (*eraser)(s), s.time(), enough)
		rule.AddCounts(&x.Removed, s.tally)
		out = exportErasure(x)
		return err
	})
	return out, err
}

// Erasure implements [earshot.Erasures].
func (s *Store) Erasure(ctx context.Context, id earshot.ErasureID) (out earshot.Erasure, err error) {
	err = s.read(ctx, func() error {
		x, err := s.erasure(id)
		if err == nil {
			out = exportErasure(x)
		}
		return err
	})
	return out, err
}

// erasure returns the erasure with an id.
func (s *Store) erasure(id earshot.ErasureID) (*rule.Erasure, error) {
	i, ok := slices.BinarySearchFunc(s.erasures, id, func(x *rule.Erasure, id earshot.ErasureID) int { return cmp.Compare(x.ID, id) })
	if !ok {
		return nil, rule.NoErasure(id)
	}
	return s.erasures[i], nil
}

// ErasureLog implements [earshot.Erasures].
func (s *Store) ErasureLog(ctx context.Context, open bool, limit int) (out []earshot.Erasure, err error) {
	err = s.read(ctx, func() error {
		for _, x := range slices.Backward(s.erasures) {
			if limit > 0 && len(out) == limit {
				break
			}
			if !open || x.Ended == 0 {
				out = append(out, exportErasure(x))
			}
		}
		return nil
	})
	return out, err
}

// Remember implements [earshot.Erasures].
func (s *Store) Remember(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, user earshot.AuthorID) error {
	at := workspace{rule.ID(p), rule.ID(w)}
	user = rule.ID(user)
	return s.write(ctx, func() error {
		for key, x := range s.bars {
			if key.workspace == at && key.author == user && x.Until == rule.Forever {
				x.Until = s.time()
				s.bars[key] = x
			}
		}
		return nil
	})
}
