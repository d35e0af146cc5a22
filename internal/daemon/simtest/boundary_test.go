package simtest

import (
	"context"
	"fmt"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/bot"
)

// A boundary is the store of a process that may die: every write is an effect.
// Reads pass, because a dead process cannot use what it reads.
type boundary struct {
	bot.Store
	p *process
}

// seenBy returns the store as a process has it.
func (w *world) seenBy(p *process) earshot.Store {
	b := &boundary{Store: w.store, p: p}
	if w.script.apart {
		return clocked{b}
	}
	return b
}

// A clocked boundary is that of a store with a clock of its own.
type clocked struct{ *boundary }

// Now implements [earshot.Clock].
func (c clocked) Now() time.Time { return c.p.w.now() }

// How long a turn may wait for the platform, and at most for a person whose answer others of
// its conversation are held for, until it is looked at again.
const (
	longest     = 15 * time.Minute
	longestHeld = 25 * time.Minute
)

// booked checks that a process writes a time by the store's clock, so that no other waits
// for a moment that is far away.
func (b *boundary) booked(what string, at earshot.Time) {
	most := longest
	if b.p.w.script.tools {
		most = longestHeld
	}
	if ahead := time.Duration(at-earshot.TimeOf(b.p.w.now())) * time.Microsecond; ahead < -time.Second || ahead > most {
		b.p.w.wrong("%s writes to the store that it has %s %s ahead of the store's clock", b.p.name, what, ahead)
	}
}

// Close leaves the store open: the world owns it.
func (b *boundary) Close() error { return nil }

func with[T any](b *boundary, name string, about any, do func() (T, error)) (out T, err error) {
	err = b.p.effect(name, fmt.Sprint(about), func() (err error) {
		out, err = do()
		return err
	})
	return out, err
}

func (b *boundary) PutChannel(ctx context.Context, c earshot.Channel) error {
	return b.p.effect("PutChannel", string(c.ID), func() error { return b.Store.PutChannel(ctx, c) })
}

func (b *boundary) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, list ...earshot.Author) error {
	return b.p.effect("PutAuthors", "", func() error { return b.Store.PutAuthors(ctx, p, w, list...) })
}

func (b *boundary) PutCoverage(ctx context.Context, s earshot.Scope, list ...earshot.Coverage) error {
	return b.p.uncounted(func() error { return b.Store.PutCoverage(ctx, s, list...) })
}

func (b *boundary) Record(ctx context.Context, s earshot.Scope, list ...earshot.Message) ([]earshot.RecordResult, error) {
	about := string(s.Channel)
	if len(list) > 0 {
		about += " " + string(list[0].ID)
	}
	return with(b, "Record", about, func() ([]earshot.RecordResult, error) { return b.Store.Record(ctx, s, list...) })
}

func (b *boundary) Accept(ctx context.Context, s earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.AcceptResult, error) {
	return with(b, "Accept", e.Delivery+" "+string(e.Message.ID), func() (earshot.AcceptResult, error) { return b.Store.Accept(ctx, s, e, ask) })
}

func (b *boundary) Erase(ctx context.Context, s earshot.Scope) error {
	return b.p.effect("Erase", string(s.Channel), func() error { return b.Store.Erase(ctx, s) })
}

func (b *boundary) PutBlob(ctx context.Context, s earshot.Scope, of earshot.MessageID, id earshot.ArtifactID, blob earshot.Blob) error {
	return b.p.effect("PutBlob", string(id), func() error { return b.Store.PutBlob(ctx, s, of, id, blob) })
}

// A claimed lease and its turns.
type claimed struct {
	lease earshot.Lease
	turns []earshot.QueuedTurn
}

// Claim counts as an effect only where it finds a turn: it is called every second.
func (b *boundary) Claim(ctx context.Context, agent earshot.AgentID, owner string, now earshot.Time, hold time.Duration) (earshot.Lease, []earshot.QueuedTurn, error) {
	if !b.p.alive() {
		return earshot.Lease{}, nil, errDead
	}
	open, err := b.p.w.open(ctx)
	if err != nil || open == 0 {
		return earshot.Lease{}, nil, earshot.ErrNotFound
	}
	b.booked("claimed a lease", now)
	c, err := with(b, "Claim", "", func() (c claimed, err error) {
		c.lease, c.turns, err = b.Store.Claim(ctx, agent, owner, now, hold)
		return c, err
	})
	return c.lease, c.turns, err
}

func (b *boundary) Renew(ctx context.Context, l earshot.Lease, now earshot.Time, hold time.Duration) (earshot.Lease, error) {
	b.booked("renewed a lease", now)
	return with(b, "Renew", l.Conversation.Name, func() (earshot.Lease, error) { return b.Store.Renew(ctx, l, now, hold) })
}

func (b *boundary) Release(ctx context.Context, l earshot.Lease, notBefore earshot.Time) error {
	if notBefore != 0 {
		b.booked("put off a turn", notBefore)
	}
	return b.p.effect("Release", l.Conversation.Name, func() error { return b.Store.Release(ctx, l, notBefore) })
}

func (b *boundary) Begin(ctx context.Context, l earshot.Lease, id earshot.TurnID, p earshot.Prompt) error {
	return b.p.effect("Begin", fmt.Sprint(id), func() error { return b.Store.Begin(ctx, l, id, p) })
}

func (b *boundary) AddStep(ctx context.Context, l earshot.Lease, id earshot.TurnID, s earshot.Step, posts ...earshot.Post) error {
	return b.p.effect("AddStep", fmt.Sprint(id, s.N, s.Kind), func() error { return b.Store.AddStep(ctx, l, id, s, posts...) })
}

func (b *boundary) PutPost(ctx context.Context, l earshot.Lease, p earshot.Post) error {
	return b.p.effect("PutPost", fmt.Sprint(p.Turn, p.Chunk, p.State), func() error { return b.Store.PutPost(ctx, l, p) })
}

func (b *boundary) Confirm(ctx context.Context, s earshot.Scope, key string, id earshot.MessageID) error {
	return b.p.effect("Confirm", key, func() error { return b.Store.Confirm(ctx, s, key, id) })
}

func (b *boundary) Finish(ctx context.Context, l earshot.Lease, id earshot.TurnID, state earshot.TurnState, why string, t *earshot.Turn, arrived ...earshot.Arrival) error {
	return b.p.effect("Finish", fmt.Sprint(id, state), func() error { return b.Store.Finish(ctx, l, id, state, why, t, arrived...) })
}

func (b *boundary) Merge(ctx context.Context, l earshot.Lease, into earshot.TurnID, turns ...earshot.TurnID) error {
	return b.p.effect("Merge", fmt.Sprint(into, turns), func() error { return b.Store.Merge(ctx, l, into, turns...) })
}

func (b *boundary) OpenConversation(ctx context.Context, id earshot.ConversationID, key string) (earshot.Conversation, bool, error) {
	made := false
	c, err := with(b, "OpenConversation", id.Name, func() (c earshot.Conversation, err error) {
		c, made, err = b.Store.OpenConversation(ctx, id, key)
		return c, err
	})
	return c, made, err
}

func (b *boundary) MergeMetadata(ctx context.Context, id earshot.ConversationID, patch map[string]*string) (earshot.Conversation, error) {
	return with(b, "MergeMetadata", id.Name, func() (earshot.Conversation, error) { return b.Store.MergeMetadata(ctx, id, patch) })
}

func (b *boundary) AddCalls(ctx context.Context, counts ...earshot.CallCount) error {
	return b.p.effect("AddCalls", "", func() error { return b.Store.AddCalls(ctx, counts...) })
}
