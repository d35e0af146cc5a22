package sidecar_test

import (
	"context"
	"iter"
	"sync"

	"github.com/earshot-ai/earshot"
)

// A between is a store in which something happens between two calls: before the call
// numbered at, counted from 1, it runs do once. It counts the calls by method.
type between struct {
	earshot.Store
	mu    sync.Mutex
	calls int
	of    map[string]int
	rows  int // channels that were read
	at    int
	do    func()
}

// from counts the calls from here on, and has do run before the nth.
func (b *between) from(n int, do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls, b.at, b.do, b.of, b.rows = 0, n, do, map[string]int{}, 0
}

// called returns how many calls there were, in all and of each method.
func (b *between) called() (int, map[string]int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.calls, b.of
}

func (b *between) step(method string) earshot.Store {
	b.mu.Lock()
	b.calls++
	if b.of != nil {
		b.of[method]++
	}
	do := b.do
	if b.calls != b.at {
		do = nil
	}
	b.mu.Unlock()
	if do != nil {
		do()
	}
	return b.Store
}

func (b *between) PutChannel(ctx context.Context, c earshot.Channel) error {
	return b.step("PutChannel").PutChannel(ctx, c)
}

func (b *between) Channel(ctx context.Context, s earshot.Scope) (earshot.Channel, error) {
	return b.step("Channel").Channel(ctx, s)
}

func (b *between) Channels(ctx context.Context) ([]earshot.ChannelInfo, error) {
	list, err := b.step("Channels").Channels(ctx)
	b.mu.Lock()
	b.rows += len(list)
	b.mu.Unlock()
	return list, err
}

func (b *between) FindChannels(ctx context.Context, q earshot.ChannelQuery) ([]earshot.ChannelInfo, error) {
	list, err := b.step("FindChannels").FindChannels(ctx, q)
	b.mu.Lock()
	b.rows += len(list)
	b.mu.Unlock()
	return list, err
}

func (b *between) PutAuthors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, list ...earshot.Author) error {
	return b.step("PutAuthors").PutAuthors(ctx, p, w, list...)
}

func (b *between) Authors(ctx context.Context, p earshot.Platform, w earshot.WorkspaceID, ids ...earshot.AuthorID) ([]earshot.Author, error) {
	return b.step("Authors").Authors(ctx, p, w, ids...)
}

func (b *between) Record(ctx context.Context, s earshot.Scope, list ...earshot.Message) ([]earshot.Recorded, error) {
	return b.step("Record").Record(ctx, s, list...)
}

func (b *between) Tell(ctx context.Context, s earshot.Scope, list ...earshot.Message) ([]earshot.Recorded, error) {
	return b.step("Tell").Tell(ctx, s, list...)
}

func (b *between) React(ctx context.Context, s earshot.Scope, x earshot.Reacted) (earshot.Recorded, error) {
	return b.step("React").React(ctx, s, x)
}

func (b *between) Accept(ctx context.Context, s earshot.Scope, e earshot.Event, ask *earshot.ConversationID) (earshot.Accepted, error) {
	return b.step("Accept").Accept(ctx, s, e, ask)
}

func (b *between) Message(ctx context.Context, s earshot.Scope, id earshot.MessageID) (earshot.Message, error) {
	return b.step("Message").Message(ctx, s, id)
}

func (b *between) ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error) {
	return b.step("ByID").ByID(ctx, s, ids...)
}

func (b *between) Newest(ctx context.Context, s earshot.Scope, part earshot.Part, upTo earshot.Position, limit int) ([]earshot.Message, error) {
	return b.step("Newest").Newest(ctx, s, part, upTo, limit)
}

func (b *between) Range(ctx context.Context, s earshot.Scope, part earshot.Part, from, to earshot.Position) iter.Seq2[earshot.Message, error] {
	return b.step("Range").Range(ctx, s, part, from, to)
}

func (b *between) Since(ctx context.Context, s earshot.Scope, seq int64, limit int) ([]earshot.Message, error) {
	return b.step("Since").Since(ctx, s, seq, limit)
}

func (b *between) Replying(ctx context.Context, s earshot.Scope, upTo earshot.Position, ids ...earshot.MessageID) ([]earshot.Message, error) {
	return b.step("Replying").Replying(ctx, s, upTo, ids...)
}

func (b *between) Revisions(ctx context.Context, s earshot.Scope, id earshot.MessageID) ([]earshot.Message, error) {
	return b.step("Revisions").Revisions(ctx, s, id)
}

func (b *between) Activity(ctx context.Context, s earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error) {
	return b.step("Activity").Activity(ctx, s, upTo, roots...)
}

func (b *between) Count(ctx context.Context, s earshot.Scope, part earshot.Part, upTo earshot.Position) (earshot.Count, error) {
	return b.step("Count").Count(ctx, s, part, upTo)
}

func (b *between) Coverage(ctx context.Context, s earshot.Scope) ([]earshot.Coverage, error) {
	return b.step("Coverage").Coverage(ctx, s)
}

func (b *between) CreateConversation(ctx context.Context, c earshot.Conversation, key string) (earshot.Conversation, bool, error) {
	return b.step("CreateConversation").CreateConversation(ctx, c, key)
}

func (b *between) Conversation(ctx context.Context, id earshot.ConversationID) (earshot.Conversation, error) {
	return b.step("Conversation").Conversation(ctx, id)
}

func (b *between) MergeMetadata(ctx context.Context, id earshot.ConversationID, patch map[string]*string) (earshot.Conversation, error) {
	return b.step("MergeMetadata").MergeMetadata(ctx, id, patch)
}

func (b *between) Manifest(ctx context.Context, id earshot.ConversationID) (earshot.Manifest, error) {
	return b.step("Manifest").Manifest(ctx, id)
}

func (b *between) Session(ctx context.Context, id earshot.ConversationID) ([]earshot.SessionEntry, error) {
	return b.step("Session").Session(ctx, id)
}

func (b *between) Summary(ctx context.Context, id earshot.ConversationID) (earshot.Summary, error) {
	return b.step("Summary").Summary(ctx, id)
}

func (b *between) Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error) {
	return b.step("Turns").Turns(ctx, id, limit)
}

func (b *between) Turn(ctx context.Context, id earshot.ConversationID, number int) (earshot.Turn, error) {
	return b.step("Turn").Turn(ctx, id, number)
}

func (b *between) QueuedTurn(ctx context.Context, id earshot.TurnID) (earshot.QueuedTurn, error) {
	return b.step("QueuedTurn").QueuedTurn(ctx, id)
}

func (b *between) QueuedTurns(ctx context.Context, q earshot.TurnQuery) ([]earshot.QueuedTurn, error) {
	return b.step("QueuedTurns").QueuedTurns(ctx, q)
}

func (b *between) Posts(ctx context.Context, id earshot.TurnID) ([]earshot.Post, error) {
	return b.step("Posts").Posts(ctx, id)
}

func (b *between) Steps(ctx context.Context, id earshot.TurnID) ([]earshot.Step, error) {
	return b.step("Steps").Steps(ctx, id)
}

func (b *between) OpenDraft(ctx context.Context, d earshot.Draft) (earshot.Draft, error) {
	return b.step("OpenDraft").OpenDraft(ctx, d)
}

func (b *between) Draft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	return b.step("Draft").Draft(ctx, id)
}

func (b *between) CommitDraft(ctx context.Context, id earshot.TurnID, t earshot.Turn, now earshot.Time, arrived ...earshot.Message) (earshot.Draft, error) {
	return b.step("CommitDraft").CommitDraft(ctx, id, t, now, arrived...)
}

func (b *between) AbortDraft(ctx context.Context, id earshot.TurnID) (earshot.Draft, error) {
	return b.step("AbortDraft").AbortDraft(ctx, id)
}

func (b *between) Notes(ctx context.Context, prefix string, limit int) ([]earshot.Note, error) {
	return b.step("Notes").Notes(ctx, prefix, limit)
}
