// Package tools has the tools with which a model looks further in the channel
// that it is asked in. The channel is fixed when they are made: no tool has an
// argument for it, and what is elsewhere does not exist.
//
//	index := tools.NewIndex(store, 0)
//	set := tools.ForChannel(scope, store, index, anchor.Position(), &tools.Options{Identity: self})
//	request.Tools = set.Tools()
//	answer, err := set.Call(ctx, "channel_context", `{"intent": "the migration"}`)
//
// Nothing that stands after the anchor is found, nor what is deleted. What is
// not there and what must not be seen give the same bytes. What is there and
// not known, because nobody could load it, is said in the answer: unknown is
// not empty.
package tools

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/earshot-ai/earshot"
	"github.com/earshot-ai/earshot/internal/zones"
	"github.com/earshot-ai/earshot/llm"
	"github.com/earshot-ai/earshot/search"
)

// The names of the tools.
const (
	ChannelContext     = "channel_context"
	ChannelMessages    = "channel_messages"
	ConversationSearch = "conversation_search"
)

// The defaults of [Options].
const (
	DefaultMaxBytes  = 64 << 10
	DefaultFetchTime = 3 * time.Second
)

// An Index finds messages by their words, in the channels of one store. It is
// safe for concurrent use, and made once for all sets over the store.
type Index struct{ search finder }

// A finder finds messages of one channel.
type finder interface {
	Search(ctx context.Context, s earshot.Scope, q search.Query) ([]search.Hit, error)
}

// A Store is what the tools need of an [earshot.Store].
type Store interface {
	Newest(ctx context.Context, s earshot.Scope, part earshot.Part, upTo earshot.Position, limit int) ([]earshot.Message, error)
	Range(ctx context.Context, s earshot.Scope, part earshot.Part, from, to earshot.Position) iter.Seq2[earshot.Message, error]
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
	Count(ctx context.Context, s earshot.Scope, part earshot.Part, upTo earshot.Position) (earshot.Count, error)
	Activity(ctx context.Context, s earshot.Scope, upTo earshot.Position, roots ...earshot.MessageID) (map[earshot.MessageID]earshot.Activity, error)
	Coverage(ctx context.Context, s earshot.Scope) ([]earshot.Coverage, error)
}

// An Indexed is what an index needs of an [earshot.Store].
type Indexed interface {
	Terms(ctx context.Context, s earshot.Scope, seq int64) iter.Seq2[earshot.Terms, error]
	ByID(ctx context.Context, s earshot.Scope, ids ...earshot.MessageID) ([]earshot.Message, error)
}

// NewIndex returns an index over a store. maxBytes bounds what it holds in
// memory; 0 means 256 MiB. A store that finds messages itself, as a
// *search.Searcher does, is asked instead, so that one index serves all.
func NewIndex(st Indexed, maxBytes int64) *Index {
	if f, ok := st.(finder); ok {
		return &Index{f}
	}
	return &Index{search.New(st, &search.Options{MaxBytes: maxBytes})}
}

// Options are what a set may be told. Zero fields mean the defaults.
type Options struct {
	Identity earshot.Identity  // the agent; its messages carry its name
	Known    []earshot.Message // of the prompt: people are told apart from those there
	Names    []earshot.Named   // of whom the conversation has named, the prompt included: they keep these names
	Zone     string            // IANA name: of dates in arguments and times in answers; "" means UTC
	MaxBytes int               // of an answer; default: [DefaultMaxBytes]

	// Fetcher brings into the store what it lacks; nil: what it has is all
	// that can be had. FetchTime bounds that for one call of a tool; default:
	// [DefaultFetchTime].
	Fetcher   Fetcher
	FetchTime time.Duration

	// Media loads a file of a message as a model can be given it. Where the
	// error has a method Reason() string, the model is told these words. nil: no
	// file is given.
	Media func(ctx context.Context, of earshot.MessageID, f earshot.File) (llm.Media, error)
	// Given reports whether the model holds a file, by its id or by the hash of
	// its bytes: from the session, the prompt or an earlier call of this turn.
	// It is asked before a file is loaded, and again once it is. nil: the model
	// holds what this set has given.
	Given func(f earshot.File) bool

	// Turns has the turns of Conversation, which conversation_search looks
	// through; nil: it finds none. A conversation of another channel has none.
	Turns        Turns
	Conversation earshot.ConversationID
}

// A Fetcher brings history into the store. What it cannot have it leaves there
// as coverage. It is asked for what a tool was asked for, in a channel that the
// set is bound to, and for threads only of which the store knows something. An
// error means that nothing is known of the outcome. It is safe for concurrent
// use. platform/backfill's Filler is one.
type Fetcher interface {
	// FetchThread sees to it that the store has a thread's root and its newest
	// replies, up to a position.
	FetchThread(ctx context.Context, s earshot.Scope, root earshot.MessageID, upTo earshot.Position) error
	// FetchSince sees to it that the store has what was said at the channel's
	// top level since a time, up to a position.
	FetchSince(ctx context.Context, s earshot.Scope, since earshot.Time, upTo earshot.Position) error
}

// Turns is the part of [earshot.Turns] that conversation_search reads.
type Turns interface {
	Turns(ctx context.Context, id earshot.ConversationID, limit int) ([]earshot.Turn, error)
}

// A Set is the tools of one channel, up to one message. It is safe for
// concurrent use. It is made anew for every turn.
type Set struct {
	scope earshot.Scope
	store Store
	index *Index
	at    earshot.Position
	zone  *time.Location
	o     Options

	mu    sync.Mutex // guards what follows
	given map[earshot.ArtifactID]bool
	files fileScan
}

// An Answer is what a tool said to one call.
type Answer struct {
	JSON   string // compact, at most Options.MaxBytes
	Failed bool   // JSON tells the model what went wrong
	// Shows are the messages of which anything is in it: their text, or a file.
	// It must be forgotten when one of them is deleted.
	Shows []earshot.Message
	// Media are the files whose content belongs to the answer, behind JSON.
	Media []llm.Media
}

// ForChannel returns the tools of a channel. Nothing after at is found, and at
// itself is not searched for; the zero Position is no bound.
func ForChannel(scope earshot.Scope, st Store, index *Index, at earshot.Position, o *Options) *Set {
	s := &Set{scope: scope, store: st, index: index, at: at, zone: time.UTC}
	if o != nil {
		s.o = *o
	}
	if s.o.MaxBytes <= 0 {
		s.o.MaxBytes = DefaultMaxBytes
	}
	if s.o.FetchTime <= 0 {
		s.o.FetchTime = DefaultFetchTime
	}
	if zone, err := zones.Load(s.o.Zone); err == nil {
		s.zone = zone
	}
	return s
}

// Tools returns the tools as a model is told of them: always the same.
func (s *Set) Tools() []llm.Tool { return Tools() }

// Call runs a tool. args are the arguments as the model wrote them; what is
// wrong with them, or an unknown tool, is a failed answer. The error is the
// store's, or ctx's.
func (s *Set) Call(ctx context.Context, name, args string) (Answer, error) {
	var a Answer
	var err error
	switch name {
	case ChannelContext:
		a, err = s.context(ctx, args)
	case ChannelMessages:
		a, err = s.messages(ctx, args)
	case ConversationSearch:
		a, err = s.past(ctx, args)
	default:
		err = refuse("there is no such tool", "use "+ChannelContext+", "+ChannelMessages+" or "+ConversationSearch)
	}
	var r *refusal
	if errors.As(err, &r) {
		return r.answer(s.o.MaxBytes), nil
	}
	if err != nil {
		return Answer{}, fmt.Errorf("tool %s: %w", name, err)
	}
	return a, nil
}

// visible reports whether a message may be seen.
func (s *Set) visible(m earshot.Message) bool {
	return !m.Deleted && (s.at.IsZero() || m.Position().Compare(s.at) <= 0)
}

// ts writes a time for the model, as the prompt's zone has it.
func (s *Set) ts(t earshot.Time) string {
	if t == 0 {
		return ""
	}
	return t.UTC().In(s.zone).Format("2006-01-02T15:04:05.999999Z07:00")
}
