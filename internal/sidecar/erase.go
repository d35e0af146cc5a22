package sidecar

import (
	"context"
	"errors"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/erasure"
	"github.com/earshot-ai/earshot/internal/sidecar/access"
	"github.com/earshot-ai/earshot/internal/visible"
)

// promptly is how long an erasure is carried on before the caller gets its answer.
// Longer ones go on by themselves.
const promptly = time.Second

// An Erase says what is to be erased. Channel is where a person's messages are
// erased, and zero for all channels of the workspace; alone it is the channel.
type Erase struct {
	Channel   visible.Place
	Author    earshot.AuthorID
	Workspace earshot.WorkspaceID // of the author, where no channel is named; "" for the caller's only one
	Platform  earshot.Platform
	Forget    bool // what the author says later is not recorded either
	Plan      bool // count, and erase nothing
}

// DeleteMessage deletes one message, as its platform does when somebody deletes it:
// with it go its revisions, and what agents answered that quotes it.
func (s *Service) DeleteMessage(ctx context.Context, p access.Principal, at visible.Place, id earshot.MessageID) error {
	c, err := s.erases(ctx, p, at)
	if err != nil {
		return err
	}
	m, err := s.store.Message(ctx, c.Scope(), id)
	switch {
	case err != nil:
		return err
	case m.Deleted:
		return visible.Absent
	}
	_, err = s.store.Record(ctx, c.Scope(), earshot.Message{ID: id, Time: m.Time, Deleted: true})
	return err
}

// erases returns a channel in which the caller may erase.
func (s *Service) erases(ctx context.Context, p access.Principal, at visible.Place) (earshot.Channel, error) {
	c, err := s.to(p).Resolve(ctx, at)
	if err == nil && (p.ReadOnly || p.Fixed != nil) {
		err = visible.ReadOnly
	}
	return c, err
}

// Erase begins an erasure, and carries it on for a moment; see [earshot.Erasures].
// A caller that reaches some channels only erases in one of them. Where it only
// counts, the erasure has no id.
func (s *Service) Erase(ctx context.Context, p access.Principal, e Erase) (earshot.Erasure, error) {
	of, err := s.erasureOf(ctx, p, e)
	if err != nil {
		return earshot.Erasure{}, err
	}
	if e.Plan {
		removed, err := s.store.PlanErasure(ctx, of)
		return earshot.Erasure{Of: of, Removed: removed}, err
	}
	begun, err := s.store.BeginErasure(ctx, of)
	if err != nil {
		return earshot.Erasure{}, err
	}
	soon, cancel := context.WithTimeout(ctx, promptly)
	defer cancel()
	done, err := erasure.Run(soon, s.store, begun.ID, nil)
	if err != nil && soon.Err() == nil {
		return earshot.Erasure{}, err
	}
	if done.ID == 0 {
		done = begun
	}
	return done, nil
}

// erasureOf returns what the caller asks to erase, within its reach.
func (s *Service) erasureOf(ctx context.Context, p access.Principal, e Erase) (earshot.ErasureOf, error) {
	if e.Channel.Channel != "" {
		c, err := s.erases(ctx, p, e.Channel)
		if err != nil {
			return earshot.ErasureOf{}, err
		}
		of := earshot.ErasureOf{Platform: c.Platform, Workspace: c.Workspace, Channel: c.ID, User: e.Author, Forget: e.Forget}
		return of, s.storesOf(ctx, of)
	}
	w, err := s.writes(p, e.Workspace, e.Platform, "workspace")
	switch {
	case err != nil:
		return earshot.ErasureOf{}, err
	case !p.Reach.AllChannels():
		return earshot.ErasureOf{}, &visible.Refusal{Kind: visible.Forbidden, Code: "channels_only", Path: "channel", Detail: "is required, because this key is for some channels only"}
	case e.Platform == "":
		platforms, err := s.platformsOf(ctx, w, "")
		if err != nil {
			return earshot.ErasureOf{}, err
		}
		if len(platforms) != 1 {
			return earshot.ErasureOf{}, visible.InvalidField("platform", "is required, because the workspace's id is not of one platform")
		}
		e.Platform = platforms[0]
	}
	if p.Kind == access.User && e.Platform == access.OwnPlatform && string(e.Author) != p.Subject {
		// It would reach into conversations that do not exist for this user.
		return earshot.ErasureOf{}, &visible.Refusal{Kind: visible.Forbidden, Code: "foreign_person", Detail: "a user's token erases nobody else from conversations without a channel; use a key"}
	}
	of := earshot.ErasureOf{Platform: e.Platform, Workspace: w, User: e.Author, Forget: e.Forget}
	return of, s.storesOf(ctx, of)
}

// storesOf refuses an erasure of a person of whom nothing is stored, unless they
// are to be forgotten.
func (s *Service) storesOf(ctx context.Context, of earshot.ErasureOf) error {
	if of.Forget || of.User == "" {
		return nil
	}
	_, err := s.store.PlanErasure(ctx, of)
	return err
}

// Erasure returns an erasure that was begun, as far as it has come.
func (s *Service) Erasure(ctx context.Context, p access.Principal, id earshot.ErasureID) (earshot.Erasure, error) {
	e, err := s.store.Erasure(ctx, id)
	if err != nil && !errors.Is(err, earshot.ErrNotFound) {
		return earshot.Erasure{}, err
	}
	scope := earshot.Scope{Platform: e.Of.Platform, Workspace: e.Of.Workspace, Channel: e.Of.Channel}
	if err == nil && p.Fixed == nil && (e.Of.Channel != "" && p.Sees(scope) || e.Of.Channel == "" && p.Reach.HasWorkspace(e.Of.Workspace) && p.Reach.AllChannels()) {
		return e, nil
	}
	return earshot.Erasure{}, visible.Absent
}
